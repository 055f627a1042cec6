"""Your turn with heads on an encoder: a class, names, a span, an answer's F1, and a family's size.

``notebook15`` hands these tasks on.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.inference import answers, tagging

turns = Lab("notebook15_heads")
Slip = tuple[Callable, str]
Spans = list[tuple[int, int]]

HEADS = see(15, "One encoder, four heads")
NAMES = see(15, "Names, token by token")
SPANS = see(15, "Where is the answer?")
FAMILY = see(15, "Optional: the family")


def _class_logits(h: Tensor, W_p: Tensor, b_p: Tensor, W_o: Tensor, b_o: Tensor) -> Tensor:
    return torch.tanh(h[:, 0] @ W_p.T + b_p) @ W_o.T + b_o


@turns.task(_class_logits)
def class_logits(trial: Trial) -> None:
    hint = (
        "Take the states of the first token, h[:, 0] with the shape (B, D); then W_p and b_p, "
        f"tanh, and last W_o and b_o. {HEADS}"
    )
    once = "The two layers are W_p with tanh, then W_o without."
    slips: list[Slip] = [
        (lambda h, *w: _class_logits(h.flip(1), *w), "The class is read at [CLS], the first."),
        (
            lambda h, *w: _class_logits(h.mean(1, keepdim=True), *w),
            "Only the state of [CLS] is asked for, not the mean over all tokens.",
        ),
        (
            lambda h, *w: torch.tanh(h @ w[0].T + w[1]) @ w[2].T + w[3],
            "These are logits for every token: take the state of [CLS] alone, h[:, 0].",
        ),
        (lambda h, W_p, b_p, W_o, b_o: (h[:, 0] @ W_p.T + b_p) @ W_o.T + b_o, "tanh is missing."),
        (
            lambda h, W_p, b_p, W_o, b_o: torch.relu(h[:, 0] @ W_p.T + b_p) @ W_o.T + b_o,
            "The lower layer ends in tanh, not in ReLU.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o: torch.tanh(h[:, 0] @ W_p + b_p) @ W_o.T + b_o,
            "A row times W_p transposed: h @ W_p.T, as nn.Linear does it.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o: torch.tanh(h[:, 0] @ W_p.T) @ W_o.T + b_o,
            "The bias b_p is left out.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o: torch.tanh(h[:, 0] @ W_p.T + b_p) @ W_o.T,
            "The bias b_o is left out.",
        ),
        (lambda h, *w: torch.tanh(_class_logits(h, *w)), f"The logits are not squashed. {once}"),
        (lambda h, *w: _class_logits(h, *w).softmax(-1), "Logits are asked for, no softmax."),
    ]
    for B, T, D, C in ((1, 3, 2, 3), (4, 5, 3, 4)):
        sizes = ((B, T, D), (D, D), (D,), (C, D), (C,))
        given = f"B = {B}, T = {T}, D = {D}, C = {C}, random numbers"
        rule = "one text" if B == 1 else "a batch of texts"
        numbers = [trial.normal(*size) for size in sizes]
        trial.agrees(_class_logits, *numbers, rule=rule, hint=hint, slips=slips, given=given)


def _entities_of(tags: Sequence[str]) -> Spans:
    named = [tag if tag == "O" else f"{tag}-name" for tag in tags]
    return [(entity.first, entity.after) for entity in tagging.entities_of(named)]


def _from_b_only(tags: Sequence[str]) -> Spans:
    """An I without a B before it is passed over."""
    found, inside = [], False
    for place, tag in enumerate(tags):
        if tag == "B":
            found.append((place, place + 1))
        elif tag == "I" and inside:
            found[-1] = (found[-1][0], place + 1)
        inside = tag == "B" or (tag == "I" and inside)
    return found


@turns.task(_entities_of)
def entities_of(trial: Trial) -> None:
    hint = (
        "Go through the tags with their positions. A B begins a new name, and so does an I behind "
        f"an O; an I behind a B or an I makes the last name one token longer. {NAMES}"
    )

    def joined(tags: Sequence[str]) -> Spans:
        return _entities_of(["I" if tag == "B" else tag for tag in tags])

    def one_token(tags: Sequence[str]) -> Spans:
        return [(i, i + 1) for i, tag in enumerate(tags) if tag != "O"]

    def beginnings(tags: Sequence[str]) -> Spans:
        return [(i, i + 1) for i, tag in enumerate(tags) if tag == "B"]

    def at_the_end(tags: Sequence[str]) -> Spans:
        return [(first, after) for first, after in _entities_of(tags) if after < len(tags)]

    slips: list[Slip] = [
        (joined, "Two names side by side are two: a B begins a new one."),
        (one_token, "Every token became a name of its own: an I goes on with the name before it."),
        (beginnings, "The names are cut off behind their first token: an I goes on."),
        (at_the_end, "The name at the end of the text is missing: nothing comes behind it."),
        (_from_b_only, "An I behind an O begins a name, too: a model may forget the B."),
        (
            lambda tags: [(first, after - 1) for first, after in _entities_of(tags)],
            "The second number is the position behind the last token.",
        ),
        (
            lambda tags: [(first + 1, after + 1) for first, after in _entities_of(tags)],
            "Positions count from 0.",
        ),
        (
            lambda tags: [list(range(*span)) for span in _entities_of(tags)],
            "A name is a pair of its first position and the position behind its last one.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    texts = [
        ("one name of one token, one of three", "B O O B I I O"),
        ("the White House is one name", "O O B I O"),
        ("no name at all", "O O O"),
        ("two names side by side", "B B I O"),
        ("a name at the end", "O B I"),
        ("an I without a B", "O I I O B I"),
    ]
    for rule, tags in texts:
        trial.agrees(_entities_of, tags.split(), rule=rule, given=repr(tags.split()), **look)
    draw = random.Random(trial.integer(0, 10_000))
    for _ in range(3):
        tags = draw.choices("BIO", weights=(2, 3, 3), k=9)
        trial.agrees(_entities_of, tags, rule="tags at random", given=repr(tags), **look)


def _best_span(starts: Tensor, ends: Tensor) -> tuple[int, int]:
    i, j = answers.best_span(torch.stack([starts, ends])[None])
    return int(i), int(j)


@turns.task(_best_span)
def best_span(trial: Trial) -> None:
    hint = (
        "starts[:, None] + ends[None] holds the sum for every pair (i, j). Put minus infinity "
        "where j < i, take the argmax, and turn the number back into a row and a column. "
        f"{SPANS}"
    )

    def strict(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        T = len(starts)
        sums = starts[:, None] + ends[None]
        place = int(sums.masked_fill(~torch.ones(T, T).triu(1).bool(), -torch.inf).argmax())
        return divmod(place, T)

    def turned(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        T = len(starts)
        sums = starts[:, None] + ends[None]
        place = int(sums.masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf).argmax())
        return divmod(place, T)

    def product(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        T = len(starts)
        sums = starts[:, None] * ends[None]
        place = int(sums.masked_fill(~torch.ones(T, T).triu().bool(), -torch.inf).argmax())
        return divmod(place, T)

    def first_start(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        i = int(starts.argmax())
        return i, i + int(ends[i:].argmax())

    def last_end(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        j = int(ends.argmax())
        return int(starts[: j + 1].argmax()), j

    def zeros(starts: Tensor, ends: Tensor) -> tuple[int, int]:
        T = len(starts)
        return divmod(int((starts[:, None] + ends[None]).triu().argmax()), T)

    slips: list[Slip] = [
        (
            lambda s, e: (int(s.argmax()), int(e.argmax())),
            "The two were chosen each by itself: then the end may stand before the beginning.",
        ),
        (
            first_start,
            "The best beginning was fixed first: another beginning may have the larger sum.",
        ),
        (last_end, "The best end was fixed first: another end may have the larger sum."),
        (strict, "An answer may be one token long: j = i is allowed."),
        (turned, "Here the end stands before the beginning: keep the pairs with i <= j."),
        (product, "The two logits are added, not multiplied."),
        (zeros, "Forbidden pairs got 0, which is more than a negative sum: use minus infinity."),
        (lambda s, e: _best_span(s, e)[::-1], "The beginning comes first, then the end."),
        (
            lambda s, e: (_best_span(s, e)[0], _best_span(s, e)[1] + 1),
            "The end is the position of the last token, not the one behind it.",
        ),
    ]

    def say(rule: str, starts: Sequence[float], ends: Sequence[float]) -> None:
        numbers = [torch.tensor(x, dtype=torch.double) for x in (starts, ends)]
        got = trial.call(*numbers, given=f"starts {list(starts)}, ends {list(ends)}", hint=hint)
        if isinstance(got, list | tuple) and len(got) == 2:
            got = tuple(int(part) if isinstance(part, Tensor) else part for part in got)
        wrong = []
        for slip, words in slips:
            if (value := slip(*numbers)) != _best_span(*numbers):
                wrong.append((value, words))
        given = f"starts {list(starts)}, ends {list(ends)}"
        trial.equals(got, _best_span(*numbers), rule, hint, slips=wrong, given=given)

    say("by hand: from 1 to 2", (1.0, 4.0, 0.0, 2.0), (3.0, 0.0, 2.0, 1.0))
    say("one token may be the answer", (0.0, 5.0, 0.0), (0.0, 5.0, 1.0))
    say("all logits may be negative", (-5.0, -6.0, -3.0, -9.0), (-4.0, -1.0, -7.0, -8.0))
    say("a second-best beginning may win", (1.0, 2.0, 3.0, 2.9), (0.0, 9.0, 0.0, 4.0))
    for T in (5, 8):
        starts, ends = (trial.normal(T).mul(4).round(decimals=1) for _ in range(2))
        say("random logits", starts.tolist(), ends.tolist())


def _token_f1(answer: Sequence[str], truth: Sequence[str]) -> float:
    common = sum((Counter(answer) & Counter(truth)).values())
    return 2 * common / (len(answer) + len(truth))


@turns.task(_token_f1)
def token_f1(trial: Trial) -> None:
    hint = (
        "Count the common words, each as often as both have it: the sum of Counter(answer) & "
        f"Counter(truth). F1 is twice that by the sum of the two lengths. {SPANS}"
    )

    def common(answer: Sequence[str], truth: Sequence[str]) -> int:
        return sum((Counter(answer) & Counter(truth)).values())

    slips: list[Slip] = [
        (
            lambda a, t: 2 * len(set(a) & set(t)) / (len(set(a)) + len(set(t))),
            "As sets, a word that is said twice counts once: count it as often as both have it.",
        ),
        (
            lambda a, t: 2 * len(set(a) & set(t)) / (len(a) + len(t)),
            "A common word counts as often as both have it: take Counter, not set.",
        ),
        (
            lambda a, t: 2 * sum(word in t for word in a) / (len(a) + len(t)),
            "A word that the answer repeats counts only as often as the truth has it.",
        ),
        (lambda a, t: common(a, t) / len(a), "That is the precision: divide by both lengths."),
        (lambda a, t: common(a, t) / len(t), "That is the recall: divide by both lengths."),
        (lambda a, t: common(a, t) / (len(a) + len(t)), "The factor 2 is missing."),
        (
            lambda a, t: (common(a, t) / len(a) + common(a, t) / len(t)) / 2,
            "The harmonic mean of precision and recall is asked for, not the arithmetic one.",
        ),
        (
            lambda a, t: common(a, t) / len(set(a) | set(t)),
            "That divides by the union of the words (Jaccard): F1 is twice the common ones by the "
            "sum of both lengths.",
        ),
        (lambda a, t: float(a == t), "That is the exact match: half an answer earns half a point."),
    ]
    look = {"hint": hint, "slips": slips}
    texts = [
        ("by hand: 4/7", "six good knots", "six knots he tied"),
        ("by hand: 4/5", "six knots", "six good knots"),
        ("the same words give 1", "by the pump", "by the pump"),
        ("no common word gives 0", "the cook", "at noon"),
        (
            "words are counted as often as both have them",
            "round and round and round",
            "round round",
        ),
        ("a repeated word earns nothing twice", "old old old boat", "old boat"),
    ]
    for rule, answer, truth in texts:
        trial.agrees(_token_f1, answer.split(), truth.split(), rule=rule, **look)
    draw = random.Random(trial.integer(0, 10_000))
    for _ in range(3):
        answer, truth = (draw.choices("abcde", k=draw.randint(2, 7)) for _ in range(2))
        trial.agrees(_token_f1, answer, truth, rule="words at random", **look)


def _parameters(V: int, T: int, S: int, D: int, L: int) -> int:
    embeddings = (V + T + S) * D + 2 * D
    block = 4 * (D * D + D) + 2 * 4 * D * D + 5 * D + 2 * 2 * D
    return embeddings + L * block + D * D + D


@turns.task(_parameters)
def parameters(trial: Trial) -> None:
    hint = (
        "Three tables with D columns and one LayerNorm (2 D) before the first block; in a block "
        "4 (D^2 + D) for attention, 8 D^2 + 5 D for the feed-forward layer and 4 D for two "
        f"LayerNorms; the pooler D^2 + D. {FAMILY}"
    )

    def less(what: Callable[[int, int, int, int, int], int]) -> Callable[..., int]:
        return lambda V, T, S, D, L: _parameters(V, T, S, D, L) - what(V, T, S, D, L)

    slips: list[Slip] = [
        (less(lambda V, T, S, D, L: D * D + D), "The pooler is missing."),
        (less(lambda V, T, S, D, L: 2 * D), "The LayerNorm of the embeddings is missing."),
        (less(lambda V, T, S, D, L: S * D), "The table of the segments is missing."),
        (less(lambda V, T, S, D, L: T * D), "The table of the positions is missing."),
        (
            less(lambda V, T, S, D, L: L * 4 * D),
            "A block has 4 D more: the two LayerNorms, or the biases of attention's four layers.",
        ),
        (less(lambda V, T, S, D, L: L * 2 * D), "A block has two LayerNorms."),
        (less(lambda V, T, S, D, L: L * 9 * D), "The biases of the blocks' layers are missing."),
        (
            less(lambda V, T, S, D, L: L * 5 * D),
            "The biases of the feed-forward layer are missing.",
        ),
        (
            less(lambda V, T, S, D, L: L * (D * D + D)),
            "Attention has four matrices: the fourth joins the heads.",
        ),
        (
            less(lambda V, T, S, D, L: L * 4 * D * D),
            "The feed-forward layer has two matrices, up to 4 D and down again.",
        ),
        (
            less(lambda V, T, S, D, L: -V * D),
            "There is no output matrix of its own here: no head is counted but the pooler.",
        ),
        (
            lambda V, T, S, D, L: (V + T + S) * D + 2 * D + 12 * L * D * D + D * D + D,
            "12 D^2 is the rule of thumb: count biases and LayerNorms, too.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_parameters, 50, 11, 3, 5, 2, rule="small sizes", given="V = 50, T = 11, S = 3, "
        "D = 5, L = 2", **look)  # fmt: skip
    trial.agrees(
        _parameters, 30_522, 512, 2, 768, 12, rule="BERT-base has 109,482,240", given="V = 30,522, "
        "T = 512, S = 2, D = 768, L = 12", **look
    )  # fmt: skip
    for _ in range(2):
        sizes = [trial.integer(low, high) for low, high in ((50, 90), (9, 20), (1, 4), (4, 9))]
        numbers = (*sizes, trial.integer(1, 5))
        given = "V, T, S, D, L = " + ", ".join(map(str, numbers))
        trial.agrees(_parameters, *numbers, rule="other sizes", given=given, **look)
