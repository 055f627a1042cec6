"""Your turn with encoders: a gap, a pair of texts, masking, its loss, what ELECTRA asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook15")
Slip = tuple[Callable[..., Any], str]
BOTH = see(15, "How much is the right side worth?")
READS = see(15, "What an encoder reads")
MASKING = see(15, "Masking")
LOSS = see(15, "Train it against a known floor")
FOUND = see(15, "Optional: more questions per token, ELECTRA")


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
