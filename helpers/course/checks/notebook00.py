"""Your turn with first steps: a count, shapes, broadcasting, softmax, the loss, a step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NotAttempted, Trial

turns = Lab("notebook00")
Shape = tuple[int, ...]


def _share_of(text: str, letter: str) -> float:
    return text.count(letter) / len(text)


@turns.task(_share_of)
def share_of(trial: Trial) -> None:
    hint = "text.count(letter) says how often it occurs; a share is that, divided by len(text)."
    slips = [
        (
            lambda text, letter: text.count(letter),
            "That is how often the letter occurs; which share of all characters is it?",
        ),
        (
            lambda text, letter: 100 * _share_of(text, letter),
            "A share lies between 0 and 1; per cent are made where it is printed.",
        ),
        (
            lambda text, letter: text.count(letter) // len(text),
            "0 came out, because // throws away what is behind the point: divide with a single /.",
        ),
        (
            lambda text, letter: text.count(letter) / len(set(text)),
            "You divide by the number of different characters; the text is longer than that.",
        ),
        (
            lambda text, letter: text.count(letter) / len(text.replace(" ", "")),
            "A space is a character like any other: divide by len(text).",
        ),
        (
            lambda text, letter: 1 - _share_of(text, letter),
            "That is the share of all the other characters.",
        ),
    ]
    by_hand = {"rule": "it gives what the pencil gives", "hint": hint, "slips": slips}
    for text, letter in (("the sea the sea", "e"), ("the sea the sea", "s")):
        trial.agrees(_share_of, text, letter, **by_hand)
    drawn = trial.text(40, "abc ")
    for letter in "cz":
        rule = "and for any text, also where the letter does not occur"
        trial.agrees(_share_of, drawn, letter, rule=rule, hint=hint, slips=slips)


def _shapes(B: int, T: int, D: int, V: int) -> dict[str, Shape]:
    return {
        "ids[0]": (T,),
        "ids[:, :-1]": (B, T - 1),
        "table[ids]": (B, T, D),
        "table[ids] @ W": (B, T, V),
        "scores[:, -1]": (B, V),
        "scores.argmax(dim=-1)": (B, T),
        "scores.softmax(dim=-1)": (B, T, V),
        "table[ids].mean(dim=1)": (B, D),
        "scores.flatten(0, 1)": (B * T, V),
    }


# What to think about, for each line of the drill.
_SHAPE_HINTS = {
    "ids[0]": "A single index picks one text of the B, and its axis is gone: what is left of it?",
    "ids[:, :-1]": "':' keeps all B texts; ':-1' leaves out the last token of each.",
    "table[ids]": "Every id is replaced by its row of the table: D numbers where one id stood.",
    "table[ids] @ W": "A matrix product with (D, V) works on the last axis alone: D becomes V.",
    "scores[:, -1]": "-1 picks the last position of every text, and the axis T is gone.",
    "scores.argmax(dim=-1)": "dim=-1 is the axis that disappears: one winner for every position.",
    "scores.softmax(dim=-1)": "Softmax changes the numbers, and keeps every one of them.",
    "table[ids].mean(dim=1)": "dim=1 is the axis that disappears: a mean over the T tokens.",
    "scores.flatten(0, 1)": "The axes 0 and 1 are joined into one: how many positions are there?",
}


@turns.task(_shapes)
def shapes(trial: Trial) -> None:
    for B, T, D, V in ((2, 5, 11, 27), (3, 7, 13, 19)):
        expected = _shapes(B, T, D, V)
        got = trial.call(B, T, D, V)
        trial.named(got, list(expected))
        if all(got[name] is Ellipsis for name in list(expected)[1:]):  # the first one is given
            raise NotAttempted
        for name, shape in expected.items():
            given = f"B = {B}, T = {T}, D = {D}, V = {V}"
            mine = got[name]
            what = "a shape is a tuple: write (T,) for one axis, (B, T) for two, and so on."
            shaped = isinstance(mine, tuple | list) and all(isinstance(n, int) for n in mine)
            empty = "Three dots are left on this line. " if mine is Ellipsis else ""
            trial.holds(
                shaped,
                f"{name} has a shape in your dictionary",
                f"{empty}{what[0].upper()}{what[1:]}",
                given=given,
                got=mine,
            )
            hint = f"{_SHAPE_HINTS[name]} {see(0, 'A drill in reading shapes')}"
            rule = "all nine shapes" if tuple(mine) == shape else f"the shape of {name}"
            trial.holds(
                tuple(mine) == shape, rule, hint, given=given, got=tuple(mine), expected=shape
            )


def _same_letters(a: Tensor, b: Tensor) -> Tensor:
    return a[:, None] == b[None, :]


@turns.task(_same_letters)
def same_letters(trial: Trial) -> None:
    hint = (
        "a[:, None] is a column (N, 1) and b[None, :] a row (1, M); compare them with ==. "
        f"{see(0, 'Broadcasting: every letter with every letter')}"
    )
    slips: list[tuple[Callable, str]] = [
        (lambda a, b: _same_letters(b, a), "Rows belong to a, columns to b; yours are swapped."),
        (
            lambda a, b: a == b,
            "That compares the first with the first, the second with the second, and so on. Here "
            "every letter of a meets every letter of b.",
        ),
        (
            lambda a, b: a[:, None] != b[None, :],
            "True where the letters are the same: yours is true where they differ.",
        ),
        (
            lambda a, b: a[:, None] - b[None, :],
            "The difference is 0 where the letters are the same: compare with == instead.",
        ),
        (
            lambda a, b: (a[:, None] == b[None, :]).any(1),
            "That says which letters of a occur in b at all: keep the whole table (N, M).",
        ),
    ]
    cases = [
        (
            torch.tensor([1, 2, 2]),
            torch.tensor([2, 1, 1]),
            "by hand, where both have the same length",
        ),
        (torch.tensor([1, 2, 3]), torch.tensor([3, 1]), "with N = 3 and M = 2"),
        (trial.integers(0, 4, 6), trial.integers(0, 4, 9), "and for random letters"),
    ]
    for a, b, rule in cases:
        got = trial.call(a, b, hint=hint)
        expected = _same_letters(a, b)
        wrong = []
        for slip, words in slips:
            with suppress(RuntimeError):  # two lengths that do not fit
                wrong.append((slip(a, b), words))
        number = isinstance(got, Tensor) and got.shape == expected.shape
        if number and got.dtype != torch.bool and torch.equal(got.double(), expected.double()):
            got = got.bool()  # ones and zeros say the same
        trial.equals(got, expected, rule, hint, slips=wrong, given=f"a = {a}, b = {b}")


def _to_probabilities(scores: Tensor) -> Tensor:
    powers = scores.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


@turns.task(_to_probabilities, without=["softmax", "log_softmax", "Softmax"])
def to_probabilities(trial: Trial) -> None:
    where = see(0, "Softmax: from scores to probabilities")
    hint = (
        f"First exp, then divide by the sum over the last axis, dim=-1, with keepdim=True. {where}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda s: s.exp() / s.exp().sum(),
            "All of them together sum to 1, but each position needs a sum of its own: dim=-1.",
        ),
        (
            lambda s: s.exp() / s.exp().sum(dim=0, keepdim=True),
            "You sum over the first axis; the letters stand on the last one, dim=-1.",
        ),
        (
            lambda s: s / s.sum(dim=-1, keepdim=True),
            "Scores may be negative: exp makes them positive before they are divided.",
        ),
        (lambda s: s.exp(), "Positive they are; now divide them by their sum."),
        (
            lambda s: s.exp() / s.exp().max(dim=-1, keepdim=True).values,
            "You divide by the largest one; what should sum to 1 is divided by its sum.",
        ),
        (
            lambda s: _to_probabilities(-s),
            "A higher score stands for a higher probability: the sign is the other way round.",
        ),
    ]
    shape = (
        "Without keepdim=True the sum has lost an axis, (B, T) instead of (B, T, 1), and meets the "
        "wrong axis of the scores."
    )
    by_hand = torch.tensor([[0.0, 1.0986123], [0.0, 0.0]], dtype=torch.float64)  # log 3
    for scores, rule in (
        (by_hand[:1], "the scores 0 and log 3 give 1/4 and 3/4"),
        (by_hand, "each row by itself"),
        (trial.normal(2, 3, 5), "and for scores (B, T, V)"),
    ):
        got = trial.call(scores, hint=shape)
        wrong = []
        for slip, words in slips:
            with suppress(RuntimeError):
                wrong.append((slip(scores), words))
        unlike = isinstance(got, Tensor) and got.shape == scores.shape
        lost = (
            scores.exp() / scores.exp().sum(dim=-1) if scores.shape[0] == 2 == scores.dim() else 0
        )
        wrong.append((lost, shape))
        expected = _to_probabilities(scores)
        trial.equals(got, expected, rule, hint if unlike else shape, slips=wrong, given=scores)


def _loss_of(p: Tensor, targets: Tensor) -> Tensor:
    return -p[torch.arange(len(targets)), targets].log().mean()


@turns.task(_loss_of, without=["cross_entropy", "nll_loss"])
def loss_of(trial: Trial) -> None:
    where = see(0, "The loss: what a prediction cost")
    hint = (
        "Pick the probability of the right letter in every row, p[torch.arange(N), targets]; take "
        f"the logarithm, the mean, and the minus sign. {where}"
    )
    slips: list[tuple[Callable, str]] = [
        (lambda p, t: -_loss_of(p, t), "The logarithm of a probability is negative: add a minus."),
        (
            lambda p, t: _loss_of(p, t) * len(t),
            "That is the sum over the predictions; a loss is their mean.",
        ),
        (
            lambda p, t: -p[torch.arange(len(t)), t].log2().mean(),
            "Here the logarithm is the natural one, .log(); yours is to the base 2.",
        ),
        (
            lambda p, t: -p[:, t].log().mean(),
            "p[:, targets] takes every row with every target: go through both together with "
            "p[torch.arange(N), targets].",
        ),
        (
            lambda p, t: -p.max(dim=-1).values.log().mean(),
            "That is the letter that the model holds for likeliest; asked is the one that came.",
        ),
        (
            lambda p, t: -p[torch.arange(len(t)), t].mean().log(),
            "First the logarithm of each, then the mean: yours is the logarithm of the mean.",
        ),
        (
            lambda p, t: -p.log().mean(),
            "That is the mean over all letters; only the one that came counts in a row.",
        ),
        (
            lambda p, t: 1 - p[torch.arange(len(t)), t].mean(),
            "How far from 1 is a fair idea, but the loss is the logarithm.",
        ),
    ]
    p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]], dtype=torch.float64)
    N, V = 7, 4
    drawn = _to_probabilities(trial.normal(N, V))
    for probabilities, targets, rule in (
        (p, torch.tensor([1, 0]), "1/4 and 1/8 for the right letters: the mean of log 4 and log 8"),
        (drawn, trial.integers(0, V, N), "and for any predictions (N, V)"),
    ):
        got = trial.call(probabilities, targets, hint=hint)
        wrong = []
        for slip, words in slips:
            with suppress(RuntimeError, IndexError):
                wrong.append((float(slip(probabilities, targets)), words))
        many = isinstance(got, Tensor) and got.numel() != 1
        each = "One number comes out, the mean over all N predictions."
        trial.holds(not many, "one number", each, given=probabilities, got=got)
        expected = float(_loss_of(probabilities, targets))
        given = f"p = {probabilities}, targets = {targets}"
        trial.equals(got, expected, rule, hint, slips=wrong, given=given)


def _training_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor
) -> float:
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@turns.task(_training_step)
def training_step(trial: Trial) -> None:
    V = len(" abcdefghijklmnopqrstuvwxyz")  # as in the notebook: scores.view(-1, V) is right, too
    begin = trial.normal(V, V, dtype=torch.float32)
    batches = [(trial.integers(0, V, 2, 5), trial.integers(0, V, 2, 5)) for _ in range(3)]
    where = see(0, "One step of training")

    called: set[str] = set()  # in the last three steps

    def three_steps(step: Callable) -> tuple[list, Tensor]:
        table = nn.Embedding(V, V)
        with torch.no_grad():
            table.weight.copy_(begin)
        optimizer = torch.optim.SGD(table.parameters(), lr=2.0)
        called.clear()
        table.weight.register_hook(lambda _: called.add("backward"))
        optimizer.register_step_post_hook(lambda *_: called.add("step"))
        return [step(table, optimizer, *batch) for batch in batches], table.weight.detach()

    given = "a table of scores, an optimizer that goes down the slope, three batches"
    shape = "cross_entropy takes scores (N, V) and targets (N,): flatten both. " + where
    losses, weight = three_steps(
        lambda *arguments: trial.run(trial.answer, *arguments, given=given, hint=shape)
    )
    in_vain = called == {"backward", "step"}
    wanted, moved = three_steps(_training_step)
    form = "loss.item() makes a plain number of the loss: hand that back."
    numbers = all(isinstance(loss, float) for loss in losses)
    trial.holds(numbers, "the loss is a number", form, given=given, got=losses[0])
    still = "The table has not moved: a step ends with optimizer.step(), after loss.backward()."
    if in_vain:
        still = (
            "The gradients were emptied between backward and step, so there was nothing to move "
            "by: zero_grad comes before backward."
        )
    trial.holds(not torch.equal(weight, begin), "the table moves", still, given=given)
    slips = []
    for wrong, words in (
        (
            _grows,
            "The gradient of each step is added to that of the step before: zero_grad empties it.",
        ),
        (_loss_after, "That is the loss after the step; hand back the one that was walked down."),
        (_summed, "The loss is the mean over all B T predictions, not their sum."),
        (_up, "The table went up the slope, and the loss with it: the sign is wrong somewhere."),
        (
            _softmax_twice,
            "cross_entropy takes the softmax itself: hand it the scores, not probabilities.",
        ),
        (_last_only, "Every position is a prediction, not only the last one of each text."),
    ):
        losses_of_slip, weight_of_slip = three_steps(wrong)
        slips.append(([*losses_of_slip, weight_of_slip], words))
    order = f"The order is: scores, loss, zero_grad, backward, step. {where}"
    trial.equals(
        [*losses, weight],
        [*wanted, moved],
        "three steps, each from where the last one ended",
        order,
        slips=slips,
        given=given,
        tolerance=1e-5,
    )


def _grows(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


def _loss_after(model, optimizer, inputs, targets):
    _training_step(model, optimizer, inputs, targets)
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()


def _descend(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def _summed(model, optimizer, inputs, targets):
    scores = model(inputs).flatten(0, 1)
    return _descend(optimizer, F.cross_entropy(scores, targets.flatten(), reduction="sum"))


def _up(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    return -_descend(optimizer, -loss)


def _softmax_twice(model, optimizer, inputs, targets):
    p = model(inputs).flatten(0, 1).softmax(-1)
    return _descend(optimizer, F.cross_entropy(p, targets.flatten()))


def _last_only(model, optimizer, inputs, targets):
    return _descend(optimizer, F.cross_entropy(model(inputs)[:, -1], targets[:, -1]))
