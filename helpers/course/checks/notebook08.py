"""Your turn with translation: read, write, score, look back, judge, compare, search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook08")
Slip = tuple[Callable, str]
Cell = Callable[[Tensor, Tensor], Tensor]
Step = Callable[[Tensor, Any], tuple[Tensor, Any]]
Found = tuple[float, tuple[int, ...]]
Table = dict[tuple[str, ...], float]

ENCODER = see(8, "Encoder and decoder")
GREEDY = see(8, "From logits to a sentence")
ADDITIVE = see(8, "The additive score")
CONTEXT = see(8, "Weights, and the context vector")
DOT = see(8, "The dot-product score")
RATE = see(8, "A number for the whole picture")
EFFECTS = see(8, "Score, time of the look, or feeding?")
BEAM = see(8, "Optional: greedy, or with a beam?")


def _parts(trial: Trial, V: int, D: int, H: int) -> tuple[Callable, Cell, Callable]:
    """An embedding, a cell and an output layer with random weights."""
    E, W_x, W_h, W_y = (trial.normal(*size) for size in ((V, D), (H, D), (H, H), (V, H)))
    return (
        lambda ids: E[ids],
        lambda x, h: torch.tanh(torch.addmm(h @ W_h.T, x, W_x.T)),  # rows only, as nn.GRUCell
        lambda h: h @ W_y.T,
    )


def _encode(words: Tensor, embed: Callable, cell: Cell, h: Tensor) -> Tensor:
    for x in embed(words):
        h = cell(x[None], h)
    return h


@turns.task(_encode)
def encode(trial: Trial) -> None:
    hint = (
        "Take the embedded words one after another, x[None] with the shape (1, D), and let the "
        f"cell make the new h from x and the old h. {ENCODER}"
    )
    slips: list[Slip] = [
        (
            lambda w, embed, cell, h: cell(embed(w)[-1][None], h),
            "Only the last word is read: every word needs a step of the cell.",
        ),
        (
            lambda w, embed, cell, h: cell(embed(w)[:1], h),
            "The loop ends after the first word: return h after the last one.",
        ),
        (
            lambda w, embed, cell, h: _encode(w.flip(0), embed, cell, h),
            "The words are read from the end: begin with the first.",
        ),
        (
            lambda w, embed, cell, h: cell(embed(w[-1])[None], torch.zeros_like(h)),
            "The old state is lost: hand h to the cell, and keep what it gives back.",
        ),
        (
            lambda w, embed, cell, h: torch.cat([cell(x[None], h) for x in embed(w)]),
            "The last state alone is asked for, and every step starts from the state before it.",
        ),
        (
            lambda w, embed, cell, h: cell(embed(w).mean(0)[None], h),
            "The words are averaged, so their order is lost: take a step for each of them.",
        ),
        (
            lambda w, embed, cell, h: _encode(w, embed, cell, torch.zeros_like(h)),
            "Begin with the h that is handed in.",
        ),
    ]
    for S, H in ((1, 3), (4, 3), (6, 5)):
        embed, cell, _ = _parts(trial, 9, 4, H)
        words, h = trial.integers(0, 9, S), trial.normal(1, H)
        rule = "one word" if S == 1 else "every word is read, in its order"
        given = f"{S} words, a random cell with H = {H}"
        trial.agrees(_encode, words, embed, cell, h, rule=rule, hint=hint, slips=slips, given=given)


def _decoder_step(
    y: Tensor, s: Tensor, embed: Callable, cell: Cell, output: Callable
) -> tuple[Tensor, Tensor]:
    s = cell(embed(y), s)
    return output(s), s


@turns.task(_decoder_step)
def decoder_step(trial: Trial) -> None:
    hint = (
        "First the new state, from the embedded word and the old state; then the logits from the "
        f"new state. Return both, the logits first. {ENCODER}"
    )
    slips: list[Slip] = [
        (
            lambda y, s, embed, cell, output: _decoder_step(y, s, embed, cell, output)[::-1],
            "The logits come first, then the new state.",
        ),
        (
            lambda y, s, embed, cell, output: (output(s), cell(embed(y), s)),
            "These are the logits of the old state, which has not read y: take the new one.",
        ),
        (
            lambda y, s, embed, cell, output: (output(cell(embed(y), s)), s),
            "The old state is handed back: the next step must go on from the new one.",
        ),
        (
            lambda y, s, embed, cell, output: (
                output(cell(embed(y), s)).softmax(-1),
                cell(embed(y), s),
            ),
            "Logits are asked for: the softmax comes later, in the loss.",
        ),
        (
            lambda y, s, embed, cell, output: (
                output(cell(embed(y), s)).log_softmax(-1),
                cell(embed(y), s),
            ),
            "Logits are asked for: the logarithm of the softmax comes later, in the loss.",
        ),
        (
            lambda y, s, embed, cell, output: output(cell(embed(y), s)),
            "The state is missing: return two things, the logits and the new state.",
        ),
        (
            lambda y, s, embed, cell, output: _decoder_step(
                y, torch.zeros_like(s), embed, cell, output
            ),
            "The old state s is not used: all that is known of the sentence would be lost.",
        ),
    ]
    for B, H in ((1, 3), (4, 5)):
        given = f"{B} sentences, random layers with H = {H}"
        parts = _parts(trial, 7, 4, H)
        arguments = (trial.integers(0, 7, B), trial.normal(B, H), *parts)
        rule = "one step" if B == 1 else "a batch of sentences"
        trial.agrees(_decoder_step, *arguments, rule=rule, hint=hint, slips=slips, given=given)


def _greedy(step: Step, s: Any, bos: int, eos: int, longest: int) -> list[int]:
    y, words = bos, []
    while len(words) < longest:
        logits, s = step(torch.tensor([y]), s)
        y = int(logits[0].argmax())
        if y == eos:
            break
        words.append(y)
    return words


def _teller(words: Sequence[int], vocab: int, bos: int) -> Step:
    """A decoder that surely says these words if it reads what it wrote; its state counts them."""
    before = [bos, *words]

    def step(y: Tensor, s: Any) -> tuple[Tensor, Any]:
        logits = torch.zeros(1, vocab)
        right = s < len(words) and int(y) == before[s]
        logits[0, words[s] if right else vocab - 1] = 5.0
        return logits, s + 1

    return step


@turns.task(_greedy)
def greedy(trial: Trial) -> None:
    hint = (
        "Begin with y = bos. In each round take a step from y and s, let y be the word with the "
        f"largest logit, stop if it is eos, and keep it otherwise. {GREEDY}"
    )
    V, bos, eos = 8, 1, 2

    def say(rule: str, told: Sequence[int], longest: int, expected: list[int]) -> None:
        given = f"a decoder that says {list(told)}, longest = {longest}, bos = 1, eos = 2"
        step = _teller(told, V, bos)
        got = trial.call(step, 0, bos, eos, longest, given=given, hint=hint)
        alone = f"A list of {len(expected)} word ids is asked for. {hint}"
        got = got.tolist() if isinstance(got, Tensor) else got
        trial.holds(isinstance(got, list), rule, alone, given=given, got=got, expected=expected)
        got = [int(word) for word in got]
        slips = [
            ([*expected, eos], "eos is a mark and no word: leave it out."),
            ([bos, *expected], "bos was given, not written: leave it out."),
            (
                expected[:-1] if len(expected) == longest else [],
                "The last word is cut off: when `longest` is reached, no eos stands at the end.",
            ),
            (expected[:1], "It ends after the first word: return what was written after the loop."),
            (
                [expected[0], *[V - 1] * (longest - 1)] if expected else [],
                "The word that was written must be read in the next step, with the new state: y "
                "and s have to change in every round.",
            ),
            (
                [expected[0]] * longest if expected else [],
                "Every round says the same: keep the new state, and let y be the new word.",
            ),
            (
                [*expected, eos, *[V - 1] * longest][:longest],
                "It does not stop at eos.",
            ),
            ([int(word) for word in told if word != eos], "It must stop after `longest` words."),
        ]
        wrong = [(value, words) for value, words in slips if value != expected]
        trial.equals(got, expected, rule, hint, slips=wrong, given=given)

    say("it reads what it has written", [4, 6, 3, 5, eos], 9, [4, 6, 3, 5])
    say("it stops at eos", [5, 3, eos, 4, 4], 9, [5, 3])
    say("it stops after the longest", [3, 4, 5, 6, 3, 4, eos], 3, [3, 4, 5])
    say("an empty sentence", [eos, 4], 5, [])


def _additive(s: Tensor, Uh: Tensor, W: Tensor, v: Tensor, slip: str = "") -> Tensor:
    Ws = s @ (W if slip == "W" else W.T)
    sums = Ws[:, :, None] + Uh[:, None]
    if slip == "product":
        sums = Ws[:, :, None] * Uh[:, None]
    if slip == "no s":
        sums = Uh[:, None].expand_as(sums)
    if slip == "linear":
        return sums @ v
    if slip == "two":
        return (Ws.tanh()[:, :, None] + Uh.tanh()[:, None]) @ v
    if slip == "outside":
        return torch.tanh(sums @ v)
    if slip == "no v":
        return torch.tanh(sums).sum(-1)
    if slip == "softmax":
        return (torch.tanh(sums) @ v).softmax(-1)
    if slip == "turned":
        return (torch.tanh(sums) @ v).transpose(1, 2)
    return torch.tanh(sums) @ v


@turns.task(_additive)
def additive_scores(trial: Trial) -> None:
    hint = (
        "W s for all states is s @ W.T, with the shape (B, T, A). Put an axis of length 1 into it "
        "for the French words, [:, :, None], and one into Uh for the English ones, [:, None]; then "
        f"they add up to (B, T, S, A). {ADDITIVE}"
    )

    def slip(name: str, words: str) -> Slip:
        return lambda s, Uh, W, v: _additive(s, Uh, W, v, name), words

    slips = [
        slip("W", "A row of s times W transposed: s @ W.T."),
        slip("product", "The two are added, which is why it is called additive."),
        slip("no s", "The decoder's state is not used, so every English word looks alike."),
        slip("linear", "tanh is missing. Without it the part with s would shift all scores alike."),
        slip("two", "One tanh of the sum: with two, s would shift all scores alike."),
        slip("outside", "tanh stands inside, before the product with v."),
        slip("no v", "The numbers are added up without weights: multiply by v."),
        slip("softmax", "Scores are asked for; the softmax comes in the next task."),
        slip("turned", "A row belongs to an English word, a column to a French one: (B, T, S)."),
    ]
    look = {"hint": hint, "slips": slips}
    s = torch.tensor([[[0.5, 2.0]]], dtype=torch.double)
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], dtype=torch.double)
    W, v = torch.eye(2, dtype=torch.double), torch.ones(2, dtype=torch.double)
    trial.agrees(_additive, s, 2 * h, W, v, rule="by hand: 1.951, 1.461, 0.059", **look)
    for B, T, S, H in ((2, 3, 3, 3), (3, 2, 5, 4)):
        sizes = ((B, T, H), (B, S, 3), (3, H), (3,))
        given = f"B = {B}, T = {T}, S = {S}, A = 3, H = {H}, random numbers"
        numbers = [trial.normal(*size) for size in sizes]
        trial.agrees(_additive, *numbers, rule="it is the formula", given=given, **look)


def _dot(s: Tensor, h: Tensor) -> Tensor:
    return s @ h.transpose(1, 2)


@turns.task(_dot)
def dot_scores(trial: Trial) -> None:
    hint = (
        "Entry (t, i) is the dot product of row t of s and row i of h: one product of matrices, "
        f"with h transposed in its last two axes. {DOT}"
    )
    slips: list[Slip] = [
        (lambda s, h: h @ s.transpose(1, 2), "A row belongs to an English word: s comes first."),
        (
            lambda s, h: _dot(s, h) / s.shape[-1] ** 0.5,
            "No scaling here: the lecture's score is the plain dot product.",
        ),
        (lambda s, h: _dot(s, h).softmax(-1), "Scores are asked for: no softmax yet."),
        (
            lambda s, h: _dot(s / s.norm(dim=-1, keepdim=True), h / h.norm(dim=-1, keepdim=True)),
            "That is the cosine: the lengths are not divided away.",
        ),
        (lambda s, h: s @ h, "Transpose h: rows of s meet rows of h."),
        (
            lambda s, h: (s[:, :, None] - h[:, None]).norm(dim=-1),
            "That is the distance: multiply entry by entry and add up.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    s = torch.tensor([[[0.5, 2.0]]], dtype=torch.double)
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], dtype=torch.double)
    trial.agrees(_dot, s, h, rule="by hand: 0.5, 2, -0.5", **look)
    for B, T, S, H in ((2, 3, 3, 3), (3, 2, 5, 4)):
        given = f"B = {B}, T = {T}, S = {S}, H = {H}, random numbers"
        numbers = trial.normal(B, T, H), trial.normal(B, S, H)
        trial.agrees(_dot, *numbers, rule="it is the formula", given=given, **look)


def _look_back(scores: Tensor, h: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights @ h, weights


def _weighted(weights: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    return weights @ h, weights


@turns.task(_look_back)
def look_back(trial: Trial) -> None:
    hint = (
        "Put minus infinity where mask is False, take the softmax over the French words, the last "
        f"axis, and multiply the weights with h. Return the contexts, then the weights. {CONTEXT}"
    )
    inf = torch.inf
    slips: list[Slip] = [
        (
            lambda e, h, m: _weighted(e.softmax(-1), h),
            "Padding gets a weight: put minus infinity there before the softmax.",
        ),
        (
            lambda e, h, m: _weighted(e.masked_fill(~m, 0.0).softmax(-1), h),
            "A score of 0 still has a share in the softmax, as exp(0) is 1: take minus infinity.",
        ),
        (
            lambda e, h, m: _weighted(e.masked_fill(m, -inf).softmax(-1), h),
            "The mask is True at words, and these are shut out here: fill where it is ~mask.",
        ),
        (
            lambda e, h, m: _weighted(e.softmax(-1) * m, h),
            "Without the padding the weights no longer sum to 1: mask the scores, not the weights.",
        ),
        (
            lambda e, h, m: _weighted(e.masked_fill(~m, -inf).softmax(1), h),
            "This softmax goes over the English words, axis 1; each of them shares its weight out "
            "over the French words, the last axis.",
        ),
        (
            lambda e, h, m: _weighted(e.masked_fill(~m, 0.0), h),
            "The softmax is missing: scores are no weights.",
        ),
        (
            lambda e, h, m: _weighted(e.masked_fill(~m, -inf), h),
            "The softmax is missing: scores are no weights.",
        ),
        (lambda e, h, m: _look_back(e, h, m)[::-1], "The contexts come first, then the weights."),
        (lambda e, h, m: _look_back(e, h, m)[0], "The weights are missing: return two tensors."),
        (lambda e, h, m: _look_back(e, h, m)[1], "The contexts are missing: weights @ h."),
    ]
    look = {"hint": hint, "slips": slips}
    scores = torch.tensor([[[1.951, 1.461, 0.059]]], dtype=torch.double)
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], dtype=torch.double)
    words = torch.tensor([[[True, True, False]]])
    trial.agrees(_look_back, scores, h, words, rule="padding has no weight", **look)
    words = torch.ones(1, 1, 3, dtype=torch.bool)
    trial.agrees(_look_back, scores, h, words, rule="by hand: (0.481, 0.348)", **look)
    for B, T, S, H in ((3, 3, 3, 3), (3, 2, 5, 4)):
        lengths = torch.tensor([S, S - 1, S - 2])
        mask = (torch.arange(S) < lengths[:, None])[:, None]
        given = f"B = {B}, T = {T}, S = {S}, H = {H}, random numbers, padding in two rows"
        numbers = trial.normal(B, T, S), trial.normal(B, S, H), mask
        trial.agrees(_look_back, *numbers, rule="each row sums to 1", given=given, **look)


def _error_rate(found: Tensor, truth: Tensor) -> float:
    return float(1 - 2 * (found & truth).sum() / (found.sum() + truth.sum()))


@turns.task(_error_rate)
def error_rate(trial: Trial) -> None:
    hint = (
        "Count three things, each with .sum(): the links in both tables (found & truth), the found "
        f"ones and the true ones. {RATE}"
    )
    slips: list[Slip] = [
        (lambda A, S: 1 - _error_rate(A, S), "That is the F1 score: subtract it from 1."),
        (
            lambda A, S: float(1 - (A & S).sum() / (A.sum() + S.sum())),
            "A link in both tables is counted in |A| and in |S|: the numerator needs the factor 2.",
        ),
        (
            lambda A, S: float(1 - (A & S).sum() / A.sum()),
            "That is one minus the precision: links that were missed do not count in it.",
        ),
        (
            lambda A, S: float(1 - (A & S).sum() / S.sum()),
            "That is one minus the recall: links that are wrong do not count in it.",
        ),
        (
            lambda A, S: float((A != S).double().mean()),
            "That is the share of cells that differ, and most cells are empty in both tables.",
        ),
        (
            lambda A, S: float(1 - (A & S).sum() / (A | S).sum()),
            "That divides by the union (the Jaccard distance); here it is |A| + |S|.",
        ),
        (lambda A, S: 100 * _error_rate(A, S), "A share from 0 to 1 is asked for, no per cent."),
    ]
    look = {"hint": hint, "slips": slips}
    truth = torch.tensor([[1, 0, 0], [0, 1, 1]]).bool()
    found = torch.tensor([[1, 0, 0], [1, 0, 0]]).bool()
    answer = trial.answer

    def plain(found: Tensor, truth: Tensor) -> Any:
        value = answer(found, truth)  # a tensor of one number does as well
        return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value

    trial.answer = plain
    trial.agrees(_error_rate, found, truth, rule="by hand: 0.6", **look)
    trial.agrees(_error_rate, truth, truth, rule="the truth itself: 0", hint=hint, slips=slips)
    for _ in range(3):
        A, S = (trial.normal(4, 6) > 0 for _ in range(2))
        A[0, 0] = S[0, 0] = True
        given = f"{int(A.sum())} found and {int(S.sum())} true links, {int((A & S).sum())} in both"
        trial.agrees(_error_rate, A, S, rule="any two tables", given=given, **look)


def _paired(table: Table, k: int, one: str, other: str) -> list[float]:
    return [
        number - table[(*kind[:k], other, *kind[k + 1 :])]
        for kind, number in table.items()
        if kind[k] == one
    ]


@turns.task(_paired)
def paired_effects(trial: Trial) -> None:
    hint = (
        "Go through the networks that have `one` at position k of their tuple. The partner of such "
        "a network has the same tuple with `other` at position k. Put the number of the network, "
        f"less that of its partner, into a list. {EFFECTS}"
    )
    slips: list[Slip] = [
        (
            lambda table, k, one, other: _paired(table, k, other, one),
            "The sign is turned: take the network with `one`, and subtract its partner.",
        ),
        (
            lambda table, k, one, other: [abs(x) for x in _paired(table, k, one, other)],
            "Keep the sign: it says which of the two has the larger number.",
        ),
        (
            lambda table, k, one, other: [
                table[first] - table[second]
                for first in table
                for second in table
                if first[k] == one and second[k] == other
            ],
            "Here other things differ, too: a network has one partner, which is the same but at k.",
        ),
        (
            lambda table, k, one, other: [
                sum(_paired(table, k, one, other)) / len(_paired(table, k, one, other))
            ],
            "That is their mean: all differences are asked for, one for each pair.",
        ),
        (
            lambda table, k, one, other: [n for kind, n in table.items() if kind[k] == one],
            "These are the networks with `one`: subtract the number of each one's partner.",
        ),
    ]
    answer = trial.answer

    def listed(table: Table, k: int, one: str, other: str) -> Any:
        found = answer(table, k, one, other)
        if isinstance(found, Tensor) and found.ndim == 1:
            found = found.tolist()
        return sorted(map(float, found)) if isinstance(found, list | tuple) else found

    def wanted(table: Table, k: int, one: str, other: str) -> list[float]:
        return sorted(_paired(table, k, one, other))

    def in_order(slip: Callable) -> Callable:
        return lambda *arguments: sorted(slip(*arguments))

    trial.answer = listed
    look = {"hint": hint, "slips": [(in_order(slip), words) for slip, words in slips]}
    paper = {("additive", "before"): 40.0, ("additive", "after"): 25.0}
    paper |= {("dot", "before"): 30.0, ("dot", "after"): 14.0}
    given = "the table of the text"
    trial.agrees(
        wanted, paper, 1, "before", "after", rule="by hand: 15 and 16", given=given, **look
    )
    trial.agrees(
        wanted, paper, 0, "additive", "dot", rule="by hand: 10 and 11", given=given, **look
    )
    for k in range(3):
        values = trial.normal(8).tolist()
        kinds = [(a, b, c) for c in "mn" for a in "pq" for b in "rs"]
        one, other = ("pq", "rs", "mn")[k]
        table = dict(zip(kinds, values, strict=True))
        given = f"eight networks, k = {k}, one = {one!r}, other = {other!r}"
        trial.agrees(wanted, table, k, one, other, rule="four pairs", given=given, **look)


def _joined(
    beam: Sequence[Found], log_probs: Callable, width: int, join: Callable[[float, float], float]
) -> list[Found]:
    longer = [
        (join(total, float(log_p)), (*words, word))
        for total, words in beam
        for word, log_p in enumerate(log_probs(words))
    ]
    return sorted(longer, key=lambda found: -found[0])[:width]


def _extend(beam: Sequence[Found], log_probs: Callable, width: int) -> list[Found]:
    return _joined(beam, log_probs, width, lambda total, log_p: total + log_p)


def _each(beam: Sequence[Found], log_probs: Callable, width: int) -> list[Found]:
    return sorted((_extend([one], log_probs, 1)[0] for one in beam), key=lambda f: -f[0])[:width]


@turns.task(_extend)
def extend(trial: Trial) -> None:
    hint = (
        "Make one list of all beginnings that are one word longer, each with the sum of its "
        "log-probability and that of the new word; sort it by this sum, the largest first, and "
        f"keep `width` of them. {BEAM}"
    )
    slips: list[Slip] = [
        (
            lambda beam, p, width: _extend(beam, p, 10**6)[::-1][:width],
            "These are the least probable ones: sort with the largest first.",
        ),
        (
            lambda beam, p, width: _extend(beam[:1], p, width),
            "Only the first beginning goes on: all of them compete.",
        ),
        (
            lambda beam, p, width: _extend([(0.0, words) for _, words in beam], p, width),
            "What the beginning has cost so far is lost: add its log-probability.",
        ),
        (
            lambda beam, p, width: _extend(beam, p, width)[:1],
            "One is left: that is greedy search. Keep `width` of them.",
        ),
        (
            lambda beam, p, width: _joined(beam, p, width, lambda total, log_p: total * log_p),
            "Logarithms of probabilities are added, not multiplied.",
        ),
        (
            lambda beam, p, width: _joined(beam, p, width, lambda total, q: total + math.exp(q)),
            "log_probs gives logarithms already: add them as they are, without exp.",
        ),
        (
            lambda beam, p, width: _joined(beam, p, width, lambda total, q: math.exp(total + q)),
            "Keep the logarithm: the sums are asked for, no probabilities.",
        ),
        (_each, "Each beginning keeps its best word only: sort all of them together."),
        (
            lambda beam, p, width: _extend(beam, p, 10**6),
            "Keep `width` of them: otherwise their number explodes.",
        ),
        (
            lambda beam, p, width: [
                (total, (words[-1],)) for total, words in _extend(beam, p, width)
            ],
            "The words so far are lost: put the new one behind them, (*words, word).",
        ),
    ]
    V = 8  # at least the largest width, so that topk(width) does as well
    tables = trial.normal(V + 1, V).log_softmax(-1)

    def log_probs(words: tuple[int, ...]) -> Tensor:
        return tables[words[-1] if words else V]

    def known(words: tuple[int, ...]) -> Tensor:
        shares = {(): [0.6, 0.4, 0.0], (0,): [0.4, 0.3, 0.3], (1,): [0.05, 0.9, 0.05]}
        return torch.tensor(shares[words], dtype=torch.double).clamp(min=1e-9).log()

    answer = trial.answer

    def listed(beam: Sequence[Found], log_probs: Callable, width: int) -> Any:
        found = answer(beam, log_probs, width)
        if not isinstance(found, list | tuple):
            return found
        return [(float(total), tuple(int(word) for word in words)) for total, words in found]

    trial.answer = listed
    look = {"hint": hint, "slips": slips}
    first: list[Found] = [(0.0, ())]
    second = _extend(first, known, 2)
    given = "beginnings of probability 0.6 and 0.4; the second goes on with 0.9"
    trial.agrees(_extend, second, known, 2, rule="by hand: 0.36, then 0.24", given=given, **look)
    given = "the empty beginning, probabilities 0.6, 0.4, 0"
    trial.agrees(_extend, first, known, 2, rule="the first word", given=given, **look)
    beam = [(float(trial.normal(1)) - 3, tuple(trial.integers(0, V, 2).tolist())) for _ in range(3)]
    beam.sort(key=lambda found: -found[0])
    given = f"three beginnings of two words, {V} words to choose from"
    for width in (1, 3, 6):
        trial.agrees(_extend, beam, log_probs, width, rule="any beam", given=given, **look)
