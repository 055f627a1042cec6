"""Your turn with fine-tuning: the loss on answers, LoRA, merging, adapters, a floor, replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook17")
Slip = tuple[Callable[..., Any], str]
ANSWERS = see(17, "The loss counts the answer alone")
COUNTING = see(17, "How many weights is that?")
UPDATE = see(17, "LoRA: add a thin product")
MERGING = see(17, "Merge it, and it costs nothing")
IDENTITY = see(17, "An adapter begins as the identity")
RANK = see(17, "Which rank is enough?")
WORTH = see(17, "What is a prompt worth?")
REPLAY = see(17, "Keep what it knew")


def _answer_only(prompt: list[int], answer: list[int], end: int) -> tuple[list[int], list[int]]:
    tokens = [*prompt, *answer, end]
    return tokens[:-1], [-100] * (len(prompt) - 1) + [*answer, end]


@turns.task(_answer_only)
def answer_only(trial: Trial) -> None:
    hint = (
        "What is read is prompt and answer; what is predicted stands one position further on, and "
        f"is -100 wherever it still belongs to the prompt. {ANSWERS}"
    )

    def text(prompt: list[int], answer: list[int], end: int) -> list[int]:
        return [*prompt, *answer, end]

    def of(
        targets: Callable[..., list[int]], inputs: Callable[..., list[int]] | None = None
    ) -> Callable[..., tuple[list[int], list[int]]]:
        def slip(prompt: list[int], answer: list[int], end: int) -> tuple[list[int], list[int]]:
            read = text(prompt, answer, end)[:-1] if inputs is None else inputs(prompt, answer, end)
            return read, targets(prompt, answer, end)

        return slip

    slips: list[Slip] = [
        (
            of(lambda p, a, e: [-100] * len(p) + [*a, e][1:]),
            "The last token of the prompt already predicts the first one of the answer: only the "
            "targets before it are -100.",
        ),
        (
            of(lambda p, a, e: [*p[1:], *a, e]),
            "Here the prompt is predicted, too: its targets are to be -100.",
        ),
        (
            of(lambda p, a, e: [-100] * len(p) + a),
            "The targets stand one position further on than what is read, and they end in `end`.",
        ),
        (
            of(lambda p, a, e: [0] * (len(p) - 1) + [*a, e]),
            "0 is the id of a token. What the loss is to pass over is -100.",
        ),
        (
            of(lambda p, a, e: [*p[1:]] + [-100] * (len(a) + 1)),
            "These are the targets of the prompt, and those of the answer are hidden: the other "
            "way round.",
        ),
        (
            of(lambda p, a, e: [-100] * (len(p) - 1) + [*a, -100]),
            "The model has to learn where an answer ends: `end` is a target, too.",
        ),
        (
            of(lambda p, a, e: [-100] * (len(p) - 1) + [*a, e], lambda p, a, e: text(p, a, e)),
            "Inputs and targets are of one length: nothing follows `end`, so it is not read.",
        ),
        (
            of(lambda p, a, e: [-100] * len(p) + [*a, e], lambda p, a, e: text(p, a, e)),
            "These targets are not shifted: each position predicts the token that comes next.",
        ),
        (
            of(lambda p, a, e: [*a, e], lambda p, a, e: [p[-1], *a]),
            "The prompt has to be read: only its targets are left out.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    given = "prompt [0, 7, 8, 9], answer [21, 22], end = 0"
    rule = "four tokens of prompt, two of answer"
    trial.agrees(_answer_only, [0, 7, 8, 9], [21, 22], 0, rule=rule, given=given, **look)
    given = "prompt [5], answer [6], end = 0"
    trial.agrees(_answer_only, [5], [6], 0, rule="the shortest text", given=given, **look)
    prompt = trial.integers(10, 99, trial.integer(3, 9)).tolist()
    answer = trial.integers(10, 99, trial.integer(2, 6)).tolist()
    given = f"prompt {prompt}, answer {answer}, end = 3"
    trial.agrees(_answer_only, prompt, answer, 3, rule="any text", given=given, **look)


def _count_lora(shapes: Mapping[str, tuple[int, int]], r: int) -> int:
    return sum(r * (d + k) for d, k in shapes.values())


@turns.task(_count_lora)
def count_lora(trial: Trial) -> None:
    hint = (
        "Each map of shape (d, k) gets A with r rows and k columns and B with d rows and r "
        f"columns; add up both, over all maps. {COUNTING}"
    )
    slips: list[Slip] = [
        (
            lambda shapes, r: sum(d * k for d, k in shapes.values()),
            "These are the weights of the maps themselves, which are frozen.",
        ),
        (
            lambda shapes, r: sum(r * d * k for d, k in shapes.values()),
            "A has r k weights and B has d r: they are added, not multiplied.",
        ),
        (
            lambda shapes, r: sum(d + k for d, k in shapes.values()),
            "That is a rank of 1: with rank r there are r rows in A and r columns in B.",
        ),
        (
            lambda shapes, r: sum(r * k for d, k in shapes.values()),
            "That is A alone; B, with d rows and r columns, is trained, too.",
        ),
        (
            lambda shapes, r: sum(r * d for d, k in shapes.values()),
            "That is B alone; A, with r rows and k columns, is trained, too.",
        ),
        (
            lambda shapes, r: sum(2 * r * d for d, k in shapes.values()),
            "A has k columns, and k need not be d.",
        ),
        (
            lambda shapes, r: sum(2 * r * k for d, k in shapes.values()),
            "B has d rows, and d need not be k.",
        ),
        (
            lambda shapes, r: sum(r * (d + k) + d * k for d, k in shapes.values()),
            "The weights of the maps themselves are frozen: count A and B alone.",
        ),
        (
            lambda shapes, r: sum(r * (d + k) + r * r for d, k in shapes.values()),
            "There are two matrices, A and B, and nothing between them.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    shapes = {"up": (6, 4), "down": (4, 6), "value": (2, 4)}
    trial.agrees(_count_lora, shapes, 3, rule="several maps", given=f"{shapes}, r = 3", **look)
    given = "one map (768, 768), r = 8"
    rule = "the paper's example: 12,288"
    trial.agrees(_count_lora, {"query": (768, 768)}, 8, rule=rule, given=given, **look)
    sizes = trial.integers(2, 40, 3, 2).tolist()
    shapes = {name: (d, k) for name, (d, k) in zip("abc", sizes, strict=True)}
    trial.agrees(_count_lora, shapes, 2, rule="any maps", given=f"{shapes}, r = 2", **look)


def _lora(x: Tensor, W: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    return x @ W.T + alpha / len(A) * (x @ A.T @ B.T)


def _maps(trial: Trial, d: int, k: int, r: int) -> tuple[Tensor, Tensor, Tensor]:
    return trial.normal(d, k), trial.normal(r, k), trial.normal(d, r)


@turns.task(_lora)
def lora(trial: Trial) -> None:
    hint = (
        "x goes two ways, whose results are added: through W, and through A and then B, times "
        f"alpha / r. The vectors are rows, so each matrix is transposed. {UPDATE}"
    )
    slips: list[Slip] = [
        (
            lambda x, W, A, B, alpha: x @ W.T + x @ A.T @ B.T,
            "The update is multiplied by alpha / r.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T + alpha * x @ A.T @ B.T,
            "The factor is alpha / r: divide by the rank, the number of rows of A.",
        ),
        (
            lambda x, W, A, B, alpha: alpha / len(A) * (x @ W.T + x @ A.T @ B.T),
            "Only the update is multiplied by alpha / r: what W gives stays as it is.",
        ),
        (
            lambda x, W, A, B, alpha: alpha / len(A) * (x @ A.T @ B.T),
            "What the frozen W gives is missing: the update is added to it.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T - alpha / len(A) * (x @ A.T @ B.T),
            "The update is added.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T + alpha / len(W) * (x @ A.T @ B.T),
            "r is the number of rows of A, not that of W.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T + alpha / A.shape[1] * (x @ A.T @ B.T),
            "r is the number of rows of A, not of its columns (nor of those of W).",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T + len(A) / alpha * (x @ A.T @ B.T),
            "The factor is alpha / r, not r / alpha.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T,
            "The update is missing: x goes through A and B, too.",
        ),
        (
            lambda x, W, A, B, alpha: x @ W.T + alpha / len(A) * (F.gelu(x @ A.T) @ B.T),
            "There is no non-linearity between A and B: that is why they can be merged.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    numbers: tuple[Tensor, ...] = tuple(
        torch.tensor(rows, dtype=torch.float64)
        for rows in ([[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0]], [[2.0], [0.0]])
    )
    given = "x = (1, 2), W the identity, A = (1, 1), B = (2, 0), alpha = 0.5"
    trial.agrees(_lora, *numbers, 0.5, rule="it gives what the pencil gives", given=given, **look)
    for B, d, k, r, alpha in ((1, 3, 5, 2, 8.0), (4, 6, 4, 3, 2.0)):
        x = trial.normal(B, k)
        given = f"x ({B}, {k}), W ({d}, {k}), r = {r}, alpha = {alpha:g}"
        parts = _maps(trial, d, k, r)
        trial.agrees(_lora, x, *parts, alpha, rule="any matrices", given=given, **look)
    x, parts = trial.normal(2, 3, 5), _maps(trial, 4, 5, 2)
    given = "x (2, 3, 5), W (4, 5), r = 2, alpha = 3"
    trial.agrees(_lora, x, *parts, 3.0, rule="x of any shape (..., k)", given=given, **look)


def _merge(W: Tensor, A: Tensor, B: Tensor, alpha: float) -> Tensor:
    return W + alpha / len(A) * (B @ A)


@turns.task(_merge)
def merge(trial: Trial) -> None:
    hint = (
        f"Add to W one matrix of its own shape, the product of B and A times alpha / r. {MERGING}"
    )
    slips: list[Slip] = [
        (lambda W, A, B, alpha: W + B @ A, "The update is multiplied by alpha / r, here as well."),
        (
            lambda W, A, B, alpha: W + alpha * (B @ A),
            "The factor is alpha / r: divide by the rank, the number of rows of A.",
        ),
        (
            lambda W, A, B, alpha: alpha / len(A) * (B @ A),
            "W itself is missing: the update is added to it.",
        ),
        (
            lambda W, A, B, alpha: alpha / len(A) * (W + B @ A),
            "W stays as it is: only the update is multiplied.",
        ),
        (
            lambda W, A, B, alpha: W - alpha / len(A) * (B @ A),
            "That takes the update out again: merging adds it.",
        ),
        (
            lambda W, A, B, alpha: W + alpha / len(A) * (B @ A).T,
            "The product of B and A has the shape of W as it is.",
        ),
        (
            lambda W, A, B, alpha: W + alpha / len(A) * (A.T @ B.T),
            "B stands at the left: (B A) x first multiplies x by A.",
        ),
        (
            lambda W, A, B, alpha: W + alpha / len(W) * (B @ A),
            "r is the number of rows of A, not that of W.",
        ),
        (
            lambda W, A, B, alpha: W @ (alpha / len(A) * (B @ A)),
            "The two matrices are added, not multiplied.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    numbers = tuple(
        torch.tensor(rows, dtype=torch.float64)
        for rows in ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0]], [[2.0], [0.0]])
    )
    given = "W the identity, A = (1, 1), B = (2, 0), alpha = 0.5"
    trial.agrees(_merge, *numbers, 0.5, rule="it gives what the pencil gives", given=given, **look)
    for d, k, r, alpha in ((4, 4, 2, 8.0), (3, 6, 1, 2.0), (6, 5, 3, 1.0)):
        given = f"W ({d}, {k}), r = {r}, alpha = {alpha:g}"
        parts = _maps(trial, d, k, r)
        trial.agrees(_merge, *parts, alpha, rule="any matrices", given=given, **look)


def _adapter(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    return x + F.gelu(x @ W1.T + b1) @ W2.T + b2


@turns.task(_adapter)
def adapter(trial: Trial) -> None:
    hint = (
        "Down with W1 and b1, a GELU, up with W2 and b2, and the residual connection around all of "
        f"it. {IDENTITY}"
    )
    slips: list[Slip] = [
        (
            lambda x, W1, b1, W2, b2: F.gelu(x @ W1.T + b1) @ W2.T + b2,
            "The residual connection is missing: with W2 = 0 nothing of x would be left.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + (x @ W1.T + b1) @ W2.T + b2,
            "The GELU between the two matrices is missing.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + F.gelu(F.gelu(x @ W1.T + b1) @ W2.T + b2),
            "The non-linearity stands between the two matrices only.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + F.gelu((x @ W1.T + b1) @ W2.T + b2),
            "The non-linearity stands between the two matrices, in the narrow layer.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + torch.relu(x @ W1.T + b1) @ W2.T + b2,
            "The non-linearity is a GELU here: F.gelu.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + F.gelu(x @ W1.T + b1) @ W2.T,
            "The second bias is missing.",
        ),
        (
            lambda x, W1, b1, W2, b2: x + F.gelu(x @ W1.T) @ W2.T + b2,
            "The first bias is missing.",
        ),
        (
            lambda x, W1, b1, W2, b2: F.gelu(x + (x @ W1.T + b1) @ W2.T + b2),
            "The residual connection goes around everything: nothing is done to x itself.",
        ),
        (
            lambda x, W1, b1, W2, b2: x * (F.gelu(x @ W1.T + b1) @ W2.T + b2),
            "What the two matrices give is added to x.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for B, D, m in ((1, 4, 2), (3, 5, 1), (2, 6, 3)):
        parts = [trial.normal(m, D), trial.normal(m), trial.normal(D, m), trial.normal(D)]
        given = f"x ({B}, {D}), width m = {m}"
        rule = "any matrices"
        trial.agrees(_adapter, trial.normal(B, D), *parts, rule=rule, given=given, **look)
    x = trial.normal(2, 3, 4)
    parts = [trial.normal(2, 4), trial.normal(2), torch.zeros(4, 2).double(), torch.zeros(4)]
    parts[3] = parts[3].double()
    given = "x (2, 3, 4), W2 and b2 zero"
    trial.agrees(_adapter, x, *parts, rule="the identity where W2 = 0", given=given, **look)


def _quiet_start(D: int, m: int) -> tuple[Tensor, Tensor]:
    return torch.randn(m, D) / D**0.5, torch.zeros(D, m)


@turns.task(_quiet_start)
def quiet_start(trial: Trial) -> None:
    hint = (
        "Two matrices, W1 (m, D) and W2 (D, m): the second one is zero, and the first one is "
        f"drawn. {IDENTITY}"
    )
    for D, m in ((6, 2), (16, 5)):
        given = f"D = {D}, m = {m}"
        got = trial.call(D, m, given=given, hint=hint)
        pair = isinstance(got, tuple | list) and len(got) == 2
        pair = pair and all(isinstance(part, Tensor) for part in got)
        words = "Hand back two tensors: W1 and W2."
        trial.holds(pair, "two matrices", words, given=given, got=got)
        W1, W2 = (part.detach() for part in got)
        shapes = (tuple(W1.shape), tuple(W2.shape))
        turned = shapes == ((D, m), (m, D))
        words = (
            "These are turned round: W1 goes down, from D numbers to m, so it has m rows."
            if turned
            else f"W1 is (m, D) and W2 is (D, m). {IDENTITY}"
        )
        fits = shapes == ((m, D), (D, m))
        trial.holds(fits, "their shapes", words, given=given, got=shapes, expected=((m, D), (D, m)))
        if not bool(W2.any()) and not bool(W1.any()):
            words = (
                "With both at zero the adapter never learns more than b2: the gradient of W2 "
                "holds the narrow layer, which is gelu(0) = 0, and that of W1 holds W2."
            )
            trial.holds(False, "it can learn", words, given=given, got="both are zero")
        words = (
            "It is W2, the last matrix, that has to be zero: then x + W2 (...) is x, whatever W1 "
            "holds."
        )
        trial.holds(not bool(W2.any()), "it begins as the identity", words, given=given, got=W2)
        alike = torch.equal(W1, W1[:1].expand_as(W1))
        words = (
            "All rows of W1 are equal, so all m units get the same gradients and stay equal: draw "
            "them at random."
        )
        trial.holds(not alike, "its units differ", words, given=given, got=W1)
        usual = float(W1.double().square().mean().sqrt())
        words = (
            "These numbers are far too large or too small: draw them with a standard deviation of "
            "about 1 / sqrt(D)."
        )
        trial.holds(0.02 < usual * D**0.5 < 20, "their size", words, given=given, got=W1)


def _best_possible(difference: Tensor, r: int) -> Tensor:
    return (torch.linalg.svdvals(difference)[r:] ** 2).sum()


@turns.task(_best_possible)
def best_possible(trial: Trial) -> None:
    hint = (
        "The best matrix of rank r keeps the r largest singular values. What is left are the "
        f"others: add up their squares. {RANK}"
    )

    def values(difference: Tensor) -> Tensor:
        return torch.linalg.svdvals(difference)

    slips: list[Slip] = [
        (
            lambda D, r: values(D)[r:].sum(),
            "A sum of squares is asked for: square the singular values first.",
        ),
        (
            lambda D, r: (values(D)[:r] ** 2).sum(),
            "That is what rank r can take away; what is left are the singular values behind the "
            "first r.",
        ),
        (
            lambda D, r: (values(D)[r + 1 :] ** 2).sum(),
            "With rank r the first r singular values are gone, and no more: what is left begins "
            "at index r.",
        ),
        (
            lambda D, r: (values(D)[r - 1 :] ** 2).sum(),
            "With rank r the first r singular values are gone: what is left begins at index r.",
        ),
        (
            lambda D, r: (values(D)[r:] ** 2).mean(),
            "The squares are added up, as the loss adds up the squares of all coordinates.",
        ),
        (
            lambda D, r: (values(D)[r:] ** 2).sum().sqrt(),
            "The loss is the sum of squares itself, without a root.",
        ),
        (lambda D, r: (D**2).sum(), "That is the loss without any update, r = 0."),
        (
            lambda D, r: (torch.linalg.svdvals(D)[-r:] ** 2).sum(),
            "These are the r smallest; what is left are all of them but the r largest.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    D = torch.diag(torch.tensor([7.0, 5, 4, 3, 2, 1], dtype=torch.float64))
    given = "a diagonal matrix with 7, 5, 4, 3, 2, 1"
    rule = "by hand: 16 + 9 + 4 + 1"
    trial.agrees(_best_possible, D, 2, rule=rule, given=given + ", r = 2", **look)
    trial.agrees(_best_possible, D, 0, rule="without an update", given=given + ", r = 0", **look)
    D = trial.normal(5, 7)
    for r in (2, 4):
        given = f"a random matrix (5, 7), r = {r}"
        trial.agrees(_best_possible, D, r, rule="any matrix", given=given, **look)
    rule = "a rank that is large enough leaves nothing"
    D = trial.normal(6, 2) @ trial.normal(2, 6)
    given = "a product of (6, 2) and (2, 6), r = 2"
    trial.agrees(_best_possible, D, 2, rule=rule, given=given, **look)


def _worth(own: Tensor, others: Tensor) -> tuple[float, float]:
    gain = others - own
    return float(gain.mean()), float(gain.std()) / len(gain) ** 0.5


@turns.task(_worth)
def worth(trial: Trial) -> None:
    hint = (
        "First the differences, one for each answer; then their mean, and their standard deviation "
        f"divided by the square root of their number. {WORTH}"
    )

    def of(gain: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., tuple[float, float]]:
        return lambda own, others: _worth(0 * own, gain(own, others))

    def error(spread: Callable[..., Any]) -> Callable[..., tuple[float, float]]:
        return lambda own, others: (
            float((others - own).mean()),
            float(spread(others - own, own, others)),
        )

    slips: list[Slip] = [
        (
            of(lambda own, others: own - others),
            "The sign is turned round: where the other prompt makes the answer more surprising, "
            "the right prompt is worth something.",
        ),
        (
            of(lambda own, others: (others - own).abs()),
            "Keep the sign of each difference: by chance the other prompt may be the better one.",
        ),
        (
            of(lambda own, others: others / own),
            "Bits are subtracted, not divided: a difference of bits is a quotient of chances.",
        ),
        (
            error(lambda gain, own, others: gain.std()),
            "That is the standard deviation of single answers. The mean of n of them is surer: "
            "divide by the square root of n.",
        ),
        (
            error(lambda gain, own, others: gain.std() / len(gain)),
            "The standard deviation is divided by the square root of n, not by n.",
        ),
        (
            error(lambda gain, own, others: gain.std(correction=0) / len(gain) ** 0.5),
            "The standard deviation is that with n - 1, as `std` of a tensor has it.",
        ),
        (
            error(lambda gain, own, others: gain.var() / len(gain)),
            "This is the square of the standard error: take the root.",
        ),
        (
            error(lambda g, own, others: ((own.var() + others.var()) / len(own)) ** 0.5),
            "The two numbers of an answer belong together, as a pair: take the differences first, "
            "and then their standard deviation. What makes one answer harder than another drops "
            "out.",
        ),
        (
            lambda own, others: (
                float((others - own).sum()),
                _worth(own, others)[1],
            ),
            "The mean is asked for, and this is the sum.",
        ),
    ]
    shared = trial.normal(12).abs() * 20
    cases = [
        ("by hand", torch.tensor([2.0, 5, 4]), torch.tensor([6.0, 6, 8])),
        ("any bits", shared + trial.normal(12).abs(), shared + 3 * trial.normal(12).abs()),
    ]
    for rule, own, others in cases:
        given = f"own = {own.numpy().round(2)}, others = {others.numpy().round(2)}"
        got = trial.call(own, others, given=given, hint=hint)
        pair = isinstance(got, tuple | list) and len(got) == 2
        pair = pair and all(torch.as_tensor(part).numel() == 1 for part in got)
        words = f"Hand back two numbers: the mean and its standard error. {WORTH}"
        trial.holds(pair, "two numbers", words, given=given, got=got)
        found = tuple(float(part) for part in got)
        wrong = [(slip(own, others), words) for slip, words in slips]
        expected = _worth(own, others)
        trial.equals(found, expected, rule, hint, slips=wrong, given=given, tolerance=1e-5)


Numbered = Callable[[int], int]


def _with_old_text(new: Numbered, old: Numbered, step: int) -> int:
    turn, place = divmod(step, 4)
    return old(turn) if place == 3 else new(3 * turn + place)


@turns.task(_with_old_text)
def with_old_text(trial: Trial) -> None:
    hint = (
        "In each turn of four steps three are on the task, and the fourth is on old text; "
        f"both go on counting where they stopped. {REPLAY}"
    )
    steps, asked = range(12), []

    def new(n: int) -> int:
        asked.append(n)
        return n

    def old(n: int) -> int:
        asked.append(n)
        return 100 + n

    slips: list[Slip] = [
        (
            lambda new, old, step: old(step // 4) if step % 4 == 3 else new(step),
            "The task's batches with the numbers 3, 7, 11 are left out: count how many steps on "
            "the task came before this one.",
        ),
        (
            lambda new, old, step: old(step) if step % 4 == 3 else new(step - step // 4),
            "The old batches are to be numbered 0, 1, 2, ... as well: count the turns.",
        ),
        (
            lambda new, old, step: old(step) if step % 4 == 3 else new(step),
            "Both kinds leave batches out: count the task's steps and the old ones each by itself.",
        ),
        (
            lambda new, old, step: (
                old(step // 4) if step % 4 == 0 else new(3 * (step // 4) + step % 4 - 1)
            ),
            "Three steps on the task come first, and then one on old text.",
        ),
        (
            lambda new, old, step: old(step // 3) if step % 3 == 2 else new(step - step // 3),
            "Here every third step is on old text; three steps on the task stand before each.",
        ),
        (
            lambda new, old, step: old(step // 5) if step % 5 == 4 else new(step - step // 5),
            "Here four steps on the task stand before one on old text.",
        ),
        (
            lambda new, old, step: (
                new(step // 4) if step % 4 == 3 else old(3 * (step // 4) + step % 4)
            ),
            "It is the other way round: three steps on the task, one on old text.",
        ),
        (lambda new, old, step: new(step), "No step is on old text."),
    ]
    found = []
    for step in steps:
        asked.clear()
        given = f"step = {step}, new(n) = n, old(n) = 100 + n"
        got = trial.call(new, old, step, given=given, hint=hint)
        words = "Ask `new` or `old` for one batch, and hand that back."
        trial.holds(len(asked) == 1, "one batch", words, given=given, got=got)
        found.append(got)
    wrong = [([slip(new, old, step) for step in steps], words) for slip, words in slips]
    expected = [_with_old_text(new, old, step) for step in steps]
    given = "steps 0 to 11, new(n) = n, old(n) = 100 + n"
    trial.equals(found, expected, "three and one", hint, slips=wrong, given=given)
