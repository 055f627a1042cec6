"""Your turn with encoders: gaps, pairs, masking, its loss, ELECTRA; then heads and their marks."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.inference import answers, tagging

turns = Lab("notebook15")
Slip = tuple[Callable[..., Any], str]
Spans = list[tuple[int, int]]
BOTH = see(15, "How much is the right side worth?")
READS = see(15, "What an encoder reads")
MASKING = see(15, "Masking")
LOSS = see(15, "Train it against a known floor")
FOUND = see(15, "Optional: more questions per token, ELECTRA")
HEADS = see(15, "One encoder, four heads")
NAMES = see(15, "Names, token by token")
SPANS = see(15, "Where is the answer?")
FAMILY = see(15, "Optional: the family")


def _fill_gap(before: Tensor, after: Tensor, B: Tensor) -> Tensor:
    belief = before * after
    return belief / belief.sum(-1, keepdim=True) @ B


@turns.task(_fill_gap)
def fill_gap(trial: Trial) -> None:
    hint = (
        "Multiply what both sides say of each place, divide by the sum over the places, and let "
        f"each place emit its sounds. {BOTH}"
    )
    slips: list[Slip] = [
        (lambda a, b, B: (a * b) @ B, "These do not sum to 1: the product is no distribution yet."),
        (lambda a, b, B: a @ B, "That is what the left side alone says; use `after`, too."),
        (
            lambda a, b, B: b / b.sum(-1, keepdim=True) @ B,
            "That is what the right side alone says; use `before`, too.",
        ),
        (
            lambda a, b, B: ((a + b) / (a + b).sum(-1, keepdim=True)) @ B,
            "The two sides are multiplied, not added: a place that one side excludes is excluded.",
        ),
        (
            lambda a, b, B: (a @ B) * (b @ B) / ((a @ B) * (b @ B)).sum(-1, keepdim=True),
            "Combine the two sides place by place; only then go from places to sounds.",
        ),
        (
            lambda a, b, B: a * b / (a * b).sum(-1, keepdim=True),
            "That is the belief about the place; the question was about the sound.",
        ),
        (
            lambda a, b, B: (a * b).softmax(-1) @ B,
            "Divide by the sum, without a softmax: these are probabilities already, not logits.",
        ),
        (
            lambda a, b, B: (a * b / (a * b).sum()) @ B,
            "Each row has a sum of its own: sum(-1, keepdim=True).",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    B = torch.tensor([[0.9, 0.1, 0.0], [0.0, 0.5, 0.5]], dtype=torch.double)
    a, b = torch.tensor([[0.5, 0.5], [0.3, 0.1]], dtype=torch.double)
    trial.agrees(_fill_gap, a, b, B, rule="it gives what the pencil gives", **look)
    a, b = trial.normal(2, 3, 4).softmax(-1), trial.normal(2, 3, 4).exp()
    B = trial.normal(4, 5).softmax(-1)
    trial.agrees(_fill_gap, a[0], b[0], B, rule="it is right for several texts", **look)
    trial.agrees(_fill_gap, a, b, B, rule="it is right for texts and positions", **look)


Pair = tuple[list[int], list[int]]


def _pair(first: list[int], second: list[int], cls: int, sep: int) -> Pair:
    tokens = [cls, *first, sep, *second, sep]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 1)


@turns.task(_pair)
def pair(trial: Trial) -> None:
    hint = f"[CLS] first [SEP] second [SEP]; the first [SEP] still belongs to segment 0. {READS}"

    def segments(first: list[int], second: list[int]) -> list[int]:
        return _pair(first, second, 0, 0)[1]

    slips: list[Slip] = [
        (
            lambda f, s, c, e: ([c, *f, e, *s], segments(f, s)[:-1]),
            "The second text ends with [SEP], too.",
        ),
        (
            lambda f, s, c, e: ([c, *f, *s, e], [0] * (len(f) + 1) + [1] * (len(s) + 1)),
            "A [SEP] stands between the two texts, too.",
        ),
        (
            lambda f, s, c, e: ([c, *f, e, c, *s, e], [0] * (len(f) + 2) + [1] * (len(s) + 2)),
            "There is one [CLS], at the very beginning.",
        ),
        (
            lambda f, s, c, e: ([*f, e, *s, e], [0] * (len(f) + 1) + [1] * (len(s) + 1)),
            "[CLS] is missing: its state is to stand for the whole.",
        ),
        (
            lambda f, s, c, e: (
                [c, *f, e, *s, e],
                [0] * (len(f) + 1) + [1] * (len(s) + 2),
            ),
            "The first [SEP] closes the first text: its segment is 0.",
        ),
        (
            lambda f, s, c, e: ([c, *f, e, *s, e], [0] * len(f) + [1] * len(s)),
            "Every token has a segment, [CLS] and [SEP] too: both lists are of one length.",
        ),
        (
            lambda f, s, c, e: (
                [c, *f, e, *s, e],
                [1] * (len(f) + 2) + [2] * (len(s) + 1),
            ),
            "The segments are called 0 and 1.",
        ),
        (
            lambda f, s, c, e: (
                [c, *f, e, *s, e],
                [1] * (len(f) + 2) + [0] * (len(s) + 1),
            ),
            "The first text is segment 0, the second segment 1.",
        ),
        (
            lambda f, s, c, e: [c, *f, e, *s, e],
            "Hand back both: return tokens, segments.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_pair, [11, 12], [13], 1, 2, rule="a pair by hand", **look)
    drawn = trial.integers(5, 90, 9).tolist()
    trial.agrees(_pair, drawn[:5], drawn[5:], 3, 4, rule="any two texts", **look)
    trial.agrees(_pair, drawn[:1], drawn[1:], 0, 1, rule="a short text and a long one", **look)


def _mask_tokens(
    tokens: Tensor, draw: Tensor, what: Tensor, random: Tensor, mask: int
) -> tuple[Tensor, Tensor]:
    chosen = draw < 0.15
    inputs = torch.where(chosen & (what < 0.8), mask, tokens)
    inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
    return inputs, torch.where(chosen, tokens, -100)


def _masking(
    share: float = 0.15, low: float = 0.8, high: float = 0.9, all_tokens: bool = False
) -> Callable[..., tuple[Tensor, Tensor]]:
    """``_mask_tokens`` with other shares; 80/10/10 of all tokens, if wanted."""

    def masked(t: Tensor, draw: Tensor, what: Tensor, random: Tensor, mask: int):
        chosen = draw < share
        touched = torch.ones_like(chosen) if all_tokens else chosen
        inputs = torch.where(touched & (what < low), mask, t)
        inputs = torch.where(touched & (what >= low) & (what < high), random, inputs)
        return inputs, torch.where(chosen, t, -100)

    return masked


@turns.task(_mask_tokens)
def mask_tokens(trial: Trial) -> None:
    hint = (
        "Chosen is where draw < 0.15. Of the chosen ones: [MASK] where what < 0.8, the random "
        "token from there to 0.9, otherwise the token itself. The target is the token wherever it "
        f"was chosen, and -100 elsewhere. {MASKING}"
    )

    def with_targets(change: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
        def slip(t: Tensor, draw: Tensor, what: Tensor, random: Tensor, mask: int):
            inputs, targets = _mask_tokens(t, draw, what, random, mask)
            return inputs, change(t, inputs, targets, draw, what, mask)

        return slip

    slips: list[Slip] = [
        (
            _masking(all_tokens=True),
            "80 % of *all* tokens are masked here: the three shares are of the chosen 15 %.",
        ),
        (_masking(low=1.0), "All chosen tokens are masked: a tenth of them gets a random token."),
        (
            _masking(high=1.0),
            "All that are not masked get a random token: from what = 0.9 on they stay themselves.",
        ),
        (
            _masking(high=0.8),
            "No token is replaced at random: that is for what from 0.8 to 0.9.",
        ),
        (_masking(share=0.85), "15 % are chosen, not 85 %: where draw is below 0.15."),
        (
            _masking(low=0.8 * 0.15, high=0.9 * 0.15),
            "The three shares are of the chosen tokens: compare `what` with 0.8 and 0.9 as it is.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(i == m, t, -100)),
            "Every *chosen* token is predicted, a random and an unchanged one, too; this "
            "leaves a fifth of them out.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where((d < 0.15) & (w < 0.9), t, -100)),
            "The chosen tokens that were left unchanged are predicted, too.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(i != t, t, -100)),
            "The chosen tokens that were left unchanged are predicted, too.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: t),
            "Only chosen tokens are predicted: the targets of all others are -100.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(d < 0.15, i, -100)),
            "The target is what stood in the text, not what the model reads instead.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(d < 0.15, t, 0)),
            "The targets of the other tokens are -100; 0 is a token.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(d < 0.15, t, m)),
            "The targets of the other tokens are -100; the id of [MASK] is a token.",
        ),
        (
            with_targets(lambda t, i, y, d, w, m: torch.where(d < 0.15, -100, t)),
            "It is the other way round: -100 where nothing was chosen.",
        ),
        (
            lambda *given: _mask_tokens(*given)[::-1],
            "The inputs come first, then the targets.",
        ),
        (lambda *given: _mask_tokens(*given)[0], "Hand back both: return inputs, targets."),
    ]
    look = {"hint": hint, "slips": slips}
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    draw = torch.tensor([[0.10, 0.90, 0.05, 0.14, 0.60]])
    what = torch.tensor([[0.50, 0.10, 0.85, 0.95, 0.50]])
    random = torch.tensor([[2, 2, 2, 2, 2]])
    given = "the five tokens of the text above"
    trial.agrees(_mask_tokens, tokens, draw, what, random, 9, rule="by hand", given=given, **look)
    text = trial.integers(0, 6, 40, 20)
    draw, what = torch.rand(2, 40, 20, generator=trial.generator)
    random = trial.integers(0, 6, 40, 20)
    given = "800 tokens and random numbers"
    trial.agrees(
        _mask_tokens, text, draw, what, random, 6, rule="for any text", given=given, **look
    )


def _masked_loss(logits: Tensor, targets: Tensor) -> Tensor:
    chosen = targets != -100
    log_p = logits[chosen].log_softmax(-1)
    return -log_p[torch.arange(len(log_p)), targets[chosen]].mean()


@turns.task(_masked_loss)
def masked_loss(trial: Trial) -> None:
    hint = (
        "Take the rows of the logits where targets != -100, their log-probabilities, of each row "
        f"the one of its target, and the mean of what is left, with a minus. {LOSS}"
    )

    def costs(logits: Tensor, targets: Tensor) -> Tensor:
        """Of each token, 0 where it was not chosen: (B, T)."""
        log_p = logits.log_softmax(-1)
        found = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
        return torch.where(targets != -100, -found, 0.0)

    def everywhere(logits: Tensor, targets: Tensor) -> Tensor:
        log_p = logits.log_softmax(-1)
        return -log_p.gather(-1, targets.clamp(min=0)[..., None]).mean()

    def not_softmax(logits: Tensor, targets: Tensor) -> Tensor:
        chosen = targets != -100
        return -logits[chosen].gather(-1, targets[chosen][:, None]).mean()

    def not_log(logits: Tensor, targets: Tensor) -> Tensor:
        chosen = targets != -100
        return -logits[chosen].softmax(-1).gather(-1, targets[chosen][:, None]).mean()

    def of_each_text(logits: Tensor, targets: Tensor) -> Tensor:
        return (costs(logits, targets).sum(1) / (targets != -100).sum(1)).mean()

    slips: list[Slip] = [
        (
            lambda x, y: costs(x, y).mean(),
            "You divide by the number of all tokens, and only the chosen ones have a loss.",
        ),
        (lambda x, y: costs(x, y).sum(), "That is the sum; the loss is the mean per chosen token."),
        (everywhere, "Tokens that were not chosen count here: leave out where the target is -100."),
        (lambda x, y: -_masked_loss(x, y), "The sign: log-probabilities are negative."),
        (not_softmax, "These are logits: log_softmax makes log-probabilities of them."),
        (not_log, "The loss is the *logarithm* of the probability, with a minus."),
        (
            lambda x, y: costs(x, y).sum(1).mean(),
            "That is the mean per text; divide by the number of chosen tokens.",
        ),
        (
            lambda x, y: _masked_loss(x, y) / torch.tensor(2.0).log(),
            "That is in bits; the loss of the training stays in nats.",
        ),
        (
            of_each_text,
            "All chosen tokens count alike, in whichever text they stand: one mean over all.",
        ),
        (
            lambda x, y: costs(x, y)[y != -100],
            "The loss is one number: the mean of these.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    logits = torch.tensor([[[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]], dtype=torch.double).log()
    targets = torch.tensor([[0, -100, 1]])
    given = "three tokens with p = (0.75, 0.25), (0.5, 0.5), (0.1, 0.9); targets 0, -100, 1"
    trial.agrees(
        _masked_loss, logits, targets, rule="by hand: (ln 4/3 + ln 10/9) / 2", given=given, **look
    )
    logits = 2 * trial.normal(3, 6, 5)
    targets = torch.full((3, 6), -100)
    targets[0, 1], targets[0, 4], targets[0, 5], targets[1, 0], targets[2, 3] = 3, 0, 4, 2, 1
    given = "random logits (3, 6, 5), five chosen tokens"
    trial.agrees(_masked_loss, logits, targets, rule="for any logits", given=given, **look)


def _discriminator_task(tokens: Tensor, sampled: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    read = torch.where(chosen, sampled, tokens)
    return read, read != tokens


@turns.task(_discriminator_task)
def discriminator_task(trial: Trial) -> None:
    hint = (
        "It reads the samples where a token was chosen and the text elsewhere. Replaced is where "
        f"what it reads differs from the text. {FOUND}"
    )

    def read(tokens: Tensor, sampled: Tensor, chosen: Tensor) -> Tensor:
        return torch.where(chosen, sampled, tokens)

    slips: list[Slip] = [
        (
            lambda t, s, c: (read(t, s, c), c),
            "A sample that happens to be right is the original: compare with the text.",
        ),
        (
            lambda t, s, c: (s, s != t),
            "Samples stand only where a token was chosen; everywhere else the text itself.",
        ),
        (
            lambda t, s, c: (read(t, s, c), s != t),
            "Where nothing was chosen the text is read: it cannot be replaced there.",
        ),
        (
            lambda t, s, c: (read(t, s, c), read(t, s, c) == t),
            "True stands for *replaced*; here it stands for the original.",
        ),
        (
            lambda t, s, c: (torch.where(c, t, s), torch.where(c, t, s) != t),
            "It is the other way round: the samples where a token was chosen.",
        ),
        (
            lambda t, s, c: (t, read(t, s, c) != t),
            "The discriminator reads the text with the samples in it, not the original.",
        ),
        (
            lambda t, s, c: (read(t, s, c), torch.where(c, (s != t).long(), -100)),
            "It is asked at *every* token, at those that were not chosen, too.",
        ),
        (
            lambda t, s, c: (read(t, s, c), (read(t, s, c) != t)[c]),
            "It is asked at *every* token, at those that were not chosen, too.",
        ),
        (lambda t, s, c: read(t, s, c), "Hand back both: return read, replaced."),
        (
            lambda t, s, c: (read(t, s, c) != t, read(t, s, c)),
            "What is read comes first, then where it was replaced.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    tokens = torch.tensor([[0, 1, 2, 3]])
    sampled = torch.tensor([[0, 1, 5, 1]])
    chosen = torch.tensor([[False, True, True, False]])
    given = "text 0 1 2 3, tokens 1 and 2 chosen, samples 0 1 5 1"
    trial.agrees(_discriminator_task, tokens, sampled, chosen, rule="by hand", given=given, **look)
    tokens, sampled = trial.integers(0, 4, 2, 5, 12)
    chosen = torch.rand(5, 12, generator=trial.generator) < 0.4
    trial.agrees(_discriminator_task, tokens, sampled, chosen, rule="for any text", **look)


def _class_logits(
    h: Tensor, W_p: Tensor, b_p: Tensor, W_o: Tensor, b_o: Tensor, mean: bool
) -> Tensor:
    state = h.mean(1) if mean else h[:, 0]
    return torch.tanh(state @ W_p.T + b_p) @ W_o.T + b_o


@turns.task(_class_logits)
def class_logits(trial: Trial) -> None:
    hint = (
        "Take one state of each text, with the shape (B, D): h[:, 0], or with `mean` the mean over "
        f"the tokens; then W_p and b_p, tanh, and last W_o and b_o. {HEADS}"
    )
    once = "The two layers are W_p with tanh, then W_o without."

    def state_of(h: Tensor, mean: bool) -> Tensor:
        return h.mean(1) if mean else h[:, 0]

    slips: list[Slip] = [
        (
            lambda h, *w: _class_logits(h.flip(1), *w),
            "Without `mean` the class is read at [CLS], the first.",
        ),
        (
            lambda h, *w: _class_logits(h, *w[:4], True),
            "Without `mean` only the state of [CLS] is asked for, not the mean over all tokens.",
        ),
        (
            lambda h, *w: _class_logits(h, *w[:4], False),
            "Where `mean` is True, take the mean over the tokens, h.mean(1).",
        ),
        (
            lambda h, *w: _class_logits(h.sum(1, keepdim=True) if w[4] else h, *w),
            "That is the sum of the states; the mean is asked for.",
        ),
        (
            lambda h, *w: torch.tanh(h @ w[0].T + w[1]) @ w[2].T + w[3],
            "These are logits for every token: take one state of each text first, (B, D).",
        ),
        (
            lambda h, *w: (torch.tanh(h @ w[0].T + w[1]) @ w[2].T + w[3]).mean(1),
            "The mean is taken of the states, before W_p and tanh, not of the logits.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o, m: (state_of(h, m) @ W_p.T + b_p) @ W_o.T + b_o,
            "tanh is missing.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o, m: torch.relu(state_of(h, m) @ W_p.T + b_p) @ W_o.T + b_o,
            "The lower layer ends in tanh, not in ReLU.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o, m: torch.tanh(state_of(h, m) @ W_p + b_p) @ W_o.T + b_o,
            "A row times W_p transposed: h @ W_p.T, as nn.Linear does it.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o, m: torch.tanh(state_of(h, m) @ W_p.T) @ W_o.T + b_o,
            "The bias b_p is left out.",
        ),
        (
            lambda h, W_p, b_p, W_o, b_o, m: torch.tanh(state_of(h, m) @ W_p.T + b_p) @ W_o.T,
            "The bias b_o is left out.",
        ),
        (lambda h, *w: torch.tanh(_class_logits(h, *w)), f"The logits are not squashed. {once}"),
        (lambda h, *w: _class_logits(h, *w).softmax(-1), "Logits are asked for, no softmax."),
    ]
    for B, T, D, C, mean in ((1, 3, 2, 3, False), (4, 5, 3, 4, False), (4, 5, 3, 4, True)):
        sizes = ((B, T, D), (D, D), (D,), (C, D), (C,))
        given = f"B = {B}, T = {T}, D = {D}, C = {C}, random numbers, mean = {mean}"
        rule = "the mean of the states" if mean else "one text" if B == 1 else "a batch of texts"
        numbers = [trial.normal(*size) for size in sizes]
        trial.agrees(_class_logits, *numbers, mean, rule=rule, hint=hint, slips=slips, given=given)


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
        ("an answer of no word gives 0", "", "six knots"),
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
