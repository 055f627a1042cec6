"""Checks of lab 06, tasks 4 and 5: a head that points into a passage, and the best span."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import announce
from helpers.course.checks.lab06.common import PAIRS, lab, on_its_device, without_loops
from helpers.course.checks.trial import NOTHING, Complaint, NotAttempted, Trial
from helpers.course.checks.watching import Operations
from helpers.data.reader_tasks import Question
from helpers.device import time_for
from helpers.inference import answers

SEP, PAD, CLS = 3, 0, 1
MINUTES = 5  # that a training for the leaderboard may take on a machine of speed 1


class _SpanHead(nn.Module):
    def __init__(self, D: int) -> None:
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states: Tensor, tokens: Tensor, segments: Tensor, sep: int) -> Tensor:
        inside = (segments == 1) & (tokens != sep)
        return self.output(states).transpose(1, 2).masked_fill(~inside[:, None], -math.inf)

    def loss(self, logits: Tensor, spans: Tensor) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), spans.flatten())


def _pairs(trial: Trial, B: int) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens and segments of padded pairs, and a span in each passage."""
    rows, parts, spans = [], [], []
    for _ in range(B):
        asked, told = trial.integer(2, 5), trial.integer(3, 8)
        words = trial.integers(10, 60, asked + told).tolist()
        rows.append(torch.tensor([CLS, *words[:asked], SEP, *words[asked:], SEP]))
        parts.append(torch.tensor([0] * (asked + 2) + [1] * (told + 1)))
        first = trial.integer(0, told)
        last = trial.integer(first, told)
        spans.append([asked + 2 + first, asked + 2 + last])
    pad = torch.nn.utils.rnn.pad_sequence
    return (
        pad(rows, batch_first=True, padding_value=PAD),
        pad(parts, batch_first=True),
        torch.tensor(spans),
    )


@lab.task(_SpanHead)
def SpanHead(trial: Trial) -> None:
    D = 6
    made = isinstance(trial.answer, type) and issubclass(trial.answer, nn.Module)
    trial.holds(made, "it is a class made from nn.Module",
                "The class itself is checked, class SpanHead(nn.Module).")  # fmt: skip
    mine = trial.call(D, given=f"SpanHead({D})")
    found = {name: tuple(p.shape) for name, p in mine.named_parameters()}
    expected = {"output.weight": (2, D), "output.bias": (2,)}
    hint = "self.output = nn.Linear(D, 2): two vectors and two biases, and no other parameters."
    trial.equals(found, expected, "its parameters", hint, given=f"SpanHead({D})")
    tokens, segments, spans = _pairs(trial, 5)
    B, T = tokens.shape
    states = trial.normal(B, T, D)
    ours = _SpanHead(D).double()
    with torch.no_grad():
        for p in ours.parameters():
            p.copy_(trial.normal(*p.shape))
    mine.double().load_state_dict(ours.state_dict())
    given = f"5 pairs, D = {D}, tokens {tuple(tokens.shape)}, of different lengths"
    shape = (
        f"output(states) has the shape (B, T, 2); (B, 2, T) is asked for: transpose(1, 2). {PAIRS}"
    )
    with torch.no_grad():
        got = trial.run(mine, states, tokens, segments, SEP, given=given, hint=shape)
        raw = ours.output(states)
        wanted = ours(states, tokens, segments, SEP)
    plain, inside = raw.transpose(1, 2), ((segments == 1) & (tokens != SEP))[:, None]
    after = (tokens == SEP).cumsum(1)[:, None] >= 1
    turn = "That is (B, T, 2): the two rows of logits come first, then the tokens; transpose(1, 2)."
    slips = [
        (raw, turn),
        (raw.masked_fill(~inside.transpose(1, 2), -math.inf), turn),
        (plain, "An answer stands in the passage: all other positions have the logit -infinity."),
        (
            raw.reshape(B, 2, T).masked_fill(~inside, -math.inf),
            "view and reshape deal the numbers out anew, so that starts and ends are mixed up: "
            "exchange the dimensions with transpose.",
        ),
        (
            plain.masked_fill(~inside, 0.0),
            "A logit of 0 is not impossible: e to the power of 0 is 1. Outside it is -infinity.",
        ),
        (
            plain * inside,
            "A logit of 0 is not impossible: e to the power of 0 is 1. Outside it is -infinity.",
        ),
        (
            plain.masked_fill((segments == 0)[:, None], -math.inf),
            f"The [SEP] behind the passage is no part of it, although its segment is 1. Its id is "
            f"the `sep` that is handed over, which need not be that of this notebook. {PAIRS}",
        ),
        (
            plain.masked_fill((tokens == SEP)[:, None], -math.inf),
            f"Positions of the question have the segment 0, and no answer stands there. {PAIRS}",
        ),
        (
            plain.masked_fill(~((segments == 0) & (tokens != SEP))[:, None], -math.inf),
            f"The passage is the second text: its segment is 1. {PAIRS}",
        ),
        (
            plain.masked_fill(inside, -math.inf),
            "masked_fill fills where its mask is True: that is outside of the passage.",
        ),
        (
            plain.masked_fill(~(after & (tokens != SEP)[:, None]), -math.inf),
            "Shorter pairs end in [PAD], whose segment is 0: no answer stands there, either.",
        ),
        (wanted.log_softmax(-1), "Logits are asked for, no log-probabilities."),
        (wanted.softmax(-1), "Logits are asked for, no probabilities."),
    ]
    trial.equals(got, wanted, "logits (B, 2, T), -infinity outside of the passage",
                 _of_logits(got, wanted, shape), slips=slips, given=given)  # fmt: skip
    spread = wanted.clone().requires_grad_()
    try:
        loss = trial.run(mine.loss, spread, spans, given="logits (B, 2, T) and spans (B, 2)",
                         hint="cross_entropy wants a row of logits for each target: (2 B, T) and "
                         "(2 B,) after flatten(0, 1) and flatten().")  # fmt: skip
    except NotAttempted as error:
        words = "forward is right; `loss` still raises NotImplementedError."
        raise Complaint("there is a loss, too", words) from error
    truth = ours.loss(wanted, spans)
    log_p = wanted.log_softmax(-1).gather(2, spans[..., None])[..., 0]  # (B, 2)
    twisted = wanted.log_softmax(-1).gather(2, spans.flip(1)[..., None])[..., 0]
    part = "The mean of the two cross-entropies, of the first token and of the last one, over all "
    part += "texts."
    slips = [
        (-log_p.sum(1).mean(), "The two cross-entropies are averaged, not added."),
        (-log_p.sum(), "The mean over the texts is asked for, not the sum."),
        (-log_p[:, 0].mean(), "The last token of the answer has a loss, too."),
        (-log_p[:, 1].mean(), "The first token of the answer has a loss, too."),
        (-twisted.mean(), "Row 0 of the logits is for the first token, row 1 for the last one."),
        (log_p.mean(), "A loss becomes smaller as the probability grows: the minus is missing."),
        (-log_p.exp().mean(), "The logarithm is missing."),
    ]
    trial.holds(isinstance(loss, Tensor) and loss.dim() == 0, "the loss is one number", part,
                got=loss)  # fmt: skip
    trial.equals(loss.detach(), truth, "the loss", part, slips=slips, given=given)
    trial.holds(loss.requires_grad, "the loss has a gradient",
                "Something cuts the graph: .item(), .data or detach().")  # fmt: skip
    (gradient,) = torch.autograd.grad(loss, spread)
    trial.holds(gradient.isfinite().all(), "its gradient is finite", "NaN comes of infinity minus "
                "infinity, or of 0 times infinity: take cross_entropy or log_softmax.")  # fmt: skip
    meta = mine.float().to("meta")
    on_its_device(
        trial,
        lambda: meta(states.float().to("meta"), tokens.to("meta"), segments.to("meta"), SEP),
        "the head and all that it reads on another device",
    )


def _of_logits(got: object, wanted: Tensor, shape: str) -> str:
    """What to think about where logits are not those wanted, and no known slip made them."""
    if not isinstance(got, Tensor) or got.shape != wanted.shape:
        return shape
    if got.isnan().any():
        return (
            "NaN comes of 0 times infinity, or of infinity minus infinity: put -infinity in with "
            "masked_fill or where, and multiply nothing by it."
        )
    inside = wanted.isfinite()
    if not torch.allclose(got[inside].to(wanted), wanted[inside]):
        return (
            "In the passage the logits are those of self.output(states), and nothing else is done "
            "to them."
        )
    if not got[~inside].isfinite().any():  # +infinity
        return "Outside of the passage it is minus infinity, -math.inf."
    if got[~inside].max() < -100:
        return "-infinity itself is asked for, -math.inf, and no large negative number."
    return (
        "Everything outside of the passage is -infinity: the question, all marks, the [SEP] behind "
        "the passage, and the padding. Pairs have different lengths, so these are found by "
        f"`segments` and `tokens`, and not by their positions. {PAIRS}"
    )


def _best_spans(logits: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    starts, ends = logits.unbind(1)
    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
    best = (starts[..., None] + near).flatten(1).argmax(-1)
    return best // limit, best // limit + best % limit


def _span_slips(logits: Tensor, limit: int) -> list[tuple[tuple[Tensor, Tensor], str]]:
    """What known slips choose, and their hints."""
    T = logits.shape[-1]
    starts, ends = logits.unbind(1)
    sums = starts[:, :, None] + ends[:, None]
    place = torch.arange(T)
    wide = place[None] - place[:, None]  # j - i

    def best(allowed: Tensor, sums: Tensor = sums) -> tuple[Tensor, Tensor]:
        found = sums.masked_fill(~allowed, -math.inf).flatten(1).argmax(1)
        return found // T, found % T

    within = (wide >= 0) & (wide < limit)
    alone = starts.argmax(1), ends.argmax(1)
    from_start = torch.where(within[alone[0]], ends, -math.inf).argmax(1)
    from_end = torch.where(within.T[alone[1]], starts, -math.inf).argmax(1)
    right = best(within)
    most, first, last = torch.full_like(starts[:, 0], -math.inf), alone[0], alone[0]
    for n in range(min(limit, T)):
        sums_of, i = (starts[:, : T - n] + ends[:, n:]).max(1)
        better = sums_of > most
        most = torch.where(better, sums_of, most)
        first, last = torch.where(better, i, first), torch.where(better, i + n, last)
    return [
        ((first, last), "Of equal sums the first beginning comes before the shortest: only among "
         "spans with the same beginning the shortest counts."),
        (best((wide >= 0) & (wide < max(1, limit - 1))), "One token too few: j = i + limit - 1 is "
         "still allowed."),
        (alone, "The two were chosen each by itself: then the end may stand before the beginning."),
        ((alone[0], from_start), "The best beginning was fixed first: another may have the "
         "larger sum."),
        ((from_end, alone[1]), "The best end was fixed first: another may have the larger sum."),
        (best(wide >= 0), "These are longer than `limit` tokens."),
        (best((wide >= 0) & (wide <= limit)), "One token too many: from i to j there are j - i + 1 "
         "tokens."),
        (best((wide > 0) & (wide < limit)), "An answer may be one token long: j = i is allowed."),
        (best(wide.abs() < limit), "The end must not stand before the beginning."),
        ((right[0], right[1] - right[0]), "The position of the last token is asked for, not how far"
         " it lies behind the first."),
        ((right[0], right[1] + 1), "The last token itself is asked for, not the one behind it."),
        (right[::-1], "The first token comes first, then the last one."),
        (best(within, starts[:, :, None] * ends[:, None]), "The two logits are added."),
        ((right[0] % limit, right[1]), "From the number of a pair back to its row: divide by the "
         "length of a row, which is `limit` here."),
    ]  # fmt: skip


@lab.task(_best_spans, without=["best_span"])
def best_spans(trial: Trial) -> None:
    hint = (
        "For each beginning only `limit` ends come into question, the next ones. "
        "F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1) lays them beside it, "
        "(B, T, limit); or go through the lengths 1 to limit, and shift."
    )
    pair = "Hand back two tensors of whole numbers, (B,) each: return first, last."

    beyond = (
        "Behind the end of a text no answer ends: fill up with -infinity. A 0 there is more than "
    )
    beyond += "a logit below 0."

    def try_on(rule: str, logits: Tensor, limit: int, given: str, hint: str = hint) -> None:
        got = trial.call(logits, limit, given=given, hint=hint)
        fine = isinstance(got, tuple | list | Tensor) and len(got) == 2
        trial.holds(fine, "two things come back", NOTHING if got is None else pair, got=got)
        wanted = answers.best_span(logits, max_length=limit)
        slips = [
            (torch.stack(value), words)
            for value, words in _span_slips(logits, limit)
            if not torch.equal(torch.stack(value), torch.stack(wanted))
        ]
        shapes = [getattr(part, "shape", None) for part in got]
        trial.holds(shapes == [wanted[0].shape] * 2, "both have the shape (B,)", pair, given=given,
                    got=shapes, expected=[wanted[0].shape] * 2)  # fmt: skip
        kinds = [part.dtype for part in got]
        trial.holds(torch.float not in kinds and torch.double not in kinds, "positions are whole "
                    "numbers", "Divide with //, not with /.", given=given, got=kinds)  # fmt: skip
        mine = torch.stack([part.long() for part in got])
        trial.equals(mine, torch.stack(wanted), rule, hint, slips=slips, given=given)

    by_hand = torch.tensor([[[-2.0, 4.0, 0.0, 2.0, 0.0], [5.0, -1.0, 0.0, 2.0, 3.0]]])
    words = "starts [-2, 4, 0, 2, 0], ends [5, -1, 0, 2, 3], limit = "
    try_on("by hand, at most 2 tokens", by_hand, 2, f"{words}2")
    try_on("by hand, at most 3 tokens", by_hand, 3, f"{words}3")
    try_on("by hand, one token", by_hand, 1, f"{words}1")
    try_on("a limit beyond the text", by_hand, 9, f"{words}9",
           "The limit may be larger than the text: stop at its length T.")  # fmt: skip
    below = -by_hand.abs() - 5
    try_on("all logits below 0", below, 2, "the same, all made negative, limit = 2", beyond)
    for B, T, limit in ((5, 7, 3), (40, 12, 4), (6, 9, 2)):
        logits = trial.normal(B, 2, T)
        given = f"random logits {(B, 2, T)}, limit = {limit}"
        try_on("random logits", logits, limit, given)
        hidden = logits.masked_fill(torch.rand(B, 1, T, generator=trial.generator) < 0.4, -math.inf)
        hidden[:, :, -1] = logits[:, :, -1] - 9
        try_on("some positions are -infinity", hidden, limit, f"{given}, some of them -infinity")
    ties = torch.zeros(2, 2, 5)
    ties[1, :, 0] = -1
    try_on("of equal sums the first, and of these the shortest", ties, 3,
           "logits of 0, in row 1 with -1 at the first token, limit = 3")  # fmt: skip
    never = -math.inf  # beside it equal sums stay equal after a softmax, too
    ties = torch.tensor([[[3.0, never, 2.0, never], [never, 2.0, 3.0, never]]])
    try_on("of equal sums the first beginning", ties, 2,
           "starts [3, -inf, 2, -inf], ends [-inf, 2, 3, -inf], limit = 2: 3 + 2 = 2 + 3",
           "The first beginning comes before the shortest.")  # fmt: skip
    B, T, limit = 2, 96, 5
    with Operations() as operations:
        trial.run(trial.answer, trial.normal(B, 2, T), limit, given=f"T = {T}, limit = {limit}")
    largest = max([math.prod(shape) for _, shape in operations.results], default=0)
    trial.holds(
        largest <= 2 * B * (T + limit) * limit,
        "no more than T times limit sums of a text",
        "A table of all pairs has T times T sums, and most of them are forbidden. " + hint,
        given=f"B = {B}, T = {T}, limit = {limit}; the largest tensor that is made",
        got=f"{largest:,} numbers",
        expected=f"about B T limit = {B * T * limit:,}",
    )
    loops = "A loop over the at most `limit` lengths is fine, one over the tokens or the texts is "
    loops += "not: write it for all of them at once."
    without_loops(trial, lambda n: (trial.normal(2, 2, n), 3), (12, 112), "tokens in a text", loops)
    without_loops(trial, lambda n: (trial.normal(n, 2, 9), 3), (2, 82), "texts in a batch", loops)
    on_its_device(trial, lambda: trial.answer(torch.zeros(2, 2, 9, device="meta"), 3),
                  "logits on another device")  # fmt: skip


def leaderboard(
    head: type, chooser: object, found: Sequence[str], asked: Sequence[Question], took: float
) -> None:
    """Show the F1 of one's own reader on held-back questions, where its parts are one's own.

    Args:
        head, chooser: the student's ``SpanHead`` and ``best_spans``.
        found: an answer to each question.
        asked: the questions.
        took: the seconds of the fine-tuning.
    """
    if head is SpanHead.fallback or chooser is best_spans.fallback:
        print("○ The leaderboard waits for your own head and best spans, tasks 4 and 5.")
    elif took > (allowed := time_for(60 * MINUTES)):
        print(f"No number for the leaderboard: {took:.0f} s are more than {allowed:.0f} s. "
              "On a slow or a busy machine take fewer STEPS.")  # fmt: skip
    elif len(found) != len(asked):
        print(f"No number for the leaderboard: {len(found)} answers to {len(asked)} questions.")
    else:
        marks = [answers.token_f1(a, [q.answer]) for a, q in zip(found, asked, strict=True)]
        announce(100 * sum(marks) / len(marks), "% F1")
