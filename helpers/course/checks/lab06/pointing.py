"""Checks of lab 06, tasks 2 and 3: a head that points into a passage, and the best span."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab06.common import lab, on_its_device
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.course.checks.turn import Case, turn
from helpers.course.checks.watching import Operations

SEP, PAD, CLS = 3, 0, 1
D = 6  # the width of the states in the checks

_TURN = "That is (B, T, 2): the two rows of logits come first, then the tokens; transpose(1, 2)."
_SHAPES = "The logits are (B, 2, T) after transpose(1, 2), and a mask (B, T) fits as mask[:, None]."
_ZERO = "A logit of 0 is not impossible: e to the power of 0 is 1. Outside it is -infinity."
_OUTSIDE = (
    "In the passage the logits are those of self.output(states). Everything else is -infinity: the "
    "question, all marks, the [SEP] behind the passage, and the padding. Pairs have different "
    "lengths, so these are found by `segments` and `tokens`, and not by their positions. Put "
    "-infinity in with masked_fill or where: 0 times infinity is NaN."
)
_MEAN = (
    "The mean of the two cross-entropies, of the first token and of the last one, over all texts. "
    "cross_entropy wants a row of logits for each target: (2 B, T) and (2 B,), by flatten(0, 1) "
    "and flatten()."
)
_NAN = "NaN comes of 0 times infinity: take cross_entropy, or log_softmax and gather."


def pairs(trial: Trial, B: int) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens and segments (B, T) of padded pairs, and a span in each passage, (B, 2)."""
    rows, parts, spans = [], [], []
    for _ in range(B):
        asked, told = trial.integer(2, 5), trial.integer(3, 8)
        words = trial.integers(10, 60, asked + told).tolist()
        rows.append(torch.tensor([CLS, *words[:asked], SEP, *words[asked:], SEP]))
        parts.append(torch.tensor([0] * (asked + 2) + [1] * (told + 1)))
        first = trial.integer(0, told)
        spans.append([asked + 2 + first, asked + 2 + trial.integer(first, told)])
    pad = nn.utils.rnn.pad_sequence
    tokens = pad(rows, batch_first=True, padding_value=PAD)
    return tokens, pad(parts, batch_first=True), torch.tensor(spans)


def _made(answer: Callable, weight: Tensor, bias: Tensor) -> nn.Module:
    """A head with these weights, in float64."""
    if not (isinstance(answer, type) and issubclass(answer, nn.Module)):
        hint = "The class itself is checked, class SpanHead(nn.Module)."
        raise Complaint("it is a class made from nn.Module", hint)
    head = answer(D)
    found = {name: tuple(p.shape) for name, p in head.named_parameters()}
    if found != {"output.weight": (2, D), "output.bias": (2,)}:
        hint = "self.output = nn.Linear(D, 2): two vectors, two biases, and no other parameters."
        raise Complaint("its parameters", hint, f"SpanHead({D})", f"{found}")
    head.double().load_state_dict({"output.weight": weight, "output.bias": bias})
    return head


def _logits(answer: Callable, weights: tuple[Tensor, Tensor], *read: Any) -> Tensor:
    with torch.no_grad():
        return _made(answer, *weights)(*read)


def _loss(answer: Callable, weights: tuple[Tensor, Tensor], logits: Tensor, spans: Tensor) -> dict:
    """The loss of these logits, and its gradient."""
    logits = logits.clone().requires_grad_()
    try:
        loss = _made(answer, *weights).loss(logits, spans)
    except NotImplementedError as error:
        words = "forward is right; `loss` still raises NotImplementedError."
        raise Complaint("there is a loss, too", words) from error
    if loss is None:
        raise Complaint("there is a loss, too", NOTHING)
    if not isinstance(loss, Tensor) or loss.dim() or not loss.requires_grad:
        hint = f"{_MEAN} A tensor comes back: .item(), .data and detach() cut its graph."
        raise Complaint("the loss is one number with a gradient", hint, got=str(loss))
    (gradient,) = torch.autograd.grad(loss, logits)
    return {"loss": loss.detach(), "gradient": gradient}


def _heads(trial: Trial) -> Iterator[Case]:
    for B in (1, 5):
        tokens, segments, spans = pairs(trial, B)
        weights = trial.normal(2, D), trial.normal(2)
        states, given = trial.normal(*tokens.shape, D), f"B = {B}, tokens {tuple(tokens.shape)}"
        read = states, tokens, segments, SEP
        rule = "logits (B, 2, T), -infinity outside of the passage"
        yield Case(rule, _logits, weights, *read, given=given, hint=_OUTSIDE)
    logits = _logits(SpanHead.fallback, weights, *read)
    given = f"logits {tuple(logits.shape)}, spans {tuple(spans.shape)}"
    yield Case("the loss and its gradient", _loss, weights, logits, spans, given=given)


def _head_on_its_device(trial: Trial) -> None:
    tokens, segments, _ = (x.to("meta") for x in pairs(trial, 5))
    head = trial.run(trial.answer, D).to("meta")
    states = torch.zeros(*tokens.shape, D, device="meta")
    given = "the head and all that it reads on another device"
    on_its_device(trial, lambda: head(states, tokens, segments, SEP), given)


@turn(
    lab,
    f"{_MEAN} {_NAN}",
    cases=_heads,
    call=lambda answer, part, *arguments: part(answer, *arguments),
    also=_head_on_its_device,
    errors={"must match": f"{_SHAPES} {_OUTSIDE}"},
    slips=f"""
    self.output(states).transpose(1, 2) => self.output(states) ;; \
    ~inside[:, None] => ~inside[..., None]
        {_TURN}
    logits.masked_fill(~inside[:, None], -math.inf) => logits
        An answer stands in the passage: all other positions have the logit -infinity.
    .transpose(1, 2) => .reshape(len(states), 2, -1)
        view and reshape deal the numbers out anew, so that starts and ends are mixed up: exchange
        the dimensions with transpose.
    -math.inf => 0.0
        {_ZERO}
    -math.inf => -1e9
        -infinity itself is asked for, -math.inf, and no large negative number.
    (segments == 1) & (tokens != sep) => segments == 1
    (tokens != sep) => (tokens != 2046)
        The [SEP] behind the passage is no part of it, although its segment is 1. Its id is the
        `sep` that is handed over, which need not be that of this notebook.
    (segments == 1) & (tokens != sep) => tokens != sep
        Positions of the question have the segment 0, and no answer stands there.
    segments == 1 => segments == 0
        The passage is the second text: its segment is 1.
    ~inside[:, None] => inside[:, None]
        masked_fill fills where its mask is True: that is outside of the passage.
    -math.inf) => -math.inf).log_softmax(-1)
        Logits are asked for, no log-probabilities.
    spans.flatten()) => spans.flatten(), reduction="sum")
        The mean over the texts is asked for, not the sum.
    logits.flatten(0, 1), spans.flatten() => logits[:, 0], spans[:, 0]
        The last token of the answer has a loss, too.
    logits.flatten(0, 1), spans.flatten() => logits[:, 1], spans[:, 1]
        The first token of the answer has a loss, too.
    spans.flatten()) => spans.flip(1).flatten())
        Row 0 of the logits is for the first token, row 1 for the last one.
    F.cross_entropy(logits.flatten(0, 1), spans.flatten()) => \
    -logits.gather(2, spans[..., None]).mean()
        Logits are no logarithms of probabilities yet: log_softmax makes them so.
    """,
)
class SpanHead(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states, tokens, segments, sep):
        inside = (segments == 1) & (tokens != sep)
        logits = self.output(states).transpose(1, 2)
        return logits.masked_fill(~inside[:, None], -math.inf)

    def loss(self, logits, spans):
        return F.cross_entropy(logits.flatten(0, 1), spans.flatten())


_NEAR = (
    "For each beginning only `limit` ends come into question, the next ones: lay them beside it, "
    "(B, T, limit), as the text says, or go through the lengths 1 to limit, and shift. Two tensors "
    "of whole numbers come back, (B,) each: divide with //."
)


def _sums(trial: Trial) -> Iterator[Case]:
    by_hand = torch.tensor([[[-3.0, 3.0, 2.0, 1.0, -1.0], [4.0, -2.0, -1.0, -2.0, 3.0]]])
    words = "starts [-3, 3, 2, 1, -1], ends [4, -2, -1, -2, 3], limit = "
    for rule, limit in (("at most 2 tokens", 2), ("at most 3 tokens", 3), ("one token", 1)):
        yield Case(f"by hand, {rule}", by_hand, limit, given=f"{words}{limit}")
    hint = "The limit may be larger than the text: stop at its length T."
    yield Case("a limit beyond the text", by_hand, 9, given=f"{words}9", hint=hint)
    hint = "Behind the end of a text no answer ends: fill up with -infinity. A 0 there is more "
    hint += "than a logit below 0."
    below, given = by_hand - 10, "the same, 10 less everywhere, limit = 2"
    yield Case("all logits below 0", below, 2, given=given, hint=hint)
    for B, T, limit in ((5, 7, 3), (40, 12, 4), (6, 9, 2)):
        logits, given = trial.normal(B, 2, T), f"random logits {(B, 2, T)}, limit = {limit}"
        yield Case("random logits", logits, limit, given=given)
        hidden = logits.masked_fill(torch.rand(B, 1, T, generator=trial.generator) < 0.4, -math.inf)
        hidden[:, :, -1] = logits[:, :, -1] - 9
        given += ", some of them -infinity"
        yield Case("some positions are -infinity", hidden, limit, given=given)


def _few_sums(trial: Trial) -> None:
    """About T times limit sums, in as many operations for a long text, or for many, as for one."""
    counts, B, limit = [], 2, 5
    for size in ((B, 12), (B, 112), (82, 12)):
        given = f"logits ({size[0]}, 2, {size[1]}), limit = {limit}"
        with Operations() as operations:
            trial.run(trial.answer, trial.normal(size[0], 2, size[1]), limit, given=given)
        counts.append(len(operations.results))
        largest = max((math.prod(shape) for _, shape in operations.results), default=0)
        trial.holds(
            largest <= 2 * size[0] * (size[1] + limit) * limit,
            "no more than T times limit sums of a text",
            "A table of all pairs has T times T sums, and most of them are forbidden. " + _NEAR,
            given=given,
            got=f"a tensor of {largest:,} numbers",
        )
    trial.holds(
        max(counts[1:]) <= counts[0] + 20,
        "it is written without a loop over tokens or texts",
        "A loop over the at most `limit` lengths is fine, one over the tokens or the texts is not: "
        "write it for all of them at once.",
        given="12 and 112 tokens in 2 texts, then 82 texts",
        got=f"{counts[0]}, {counts[1]} and {counts[2]} operations of PyTorch",
    )
    far = torch.zeros(2, 2, 9, device="meta")
    said = on_its_device(trial, lambda: trial.answer(far, 3), "logits on another device")
    hint = "tolist(), item() and a loop over a tensor's numbers take them to Python, which does "
    hint += "one after the other: stay with tensors."
    taken = any(words in said for words in ("item()", "copy out of meta", "data-dependent"))
    trial.holds(not taken, "it stays with tensors", hint)


@turn(
    lab,
    _NEAR,
    cases=_sums,
    also=_few_sums,
    without=["best_span"],
    slips="""
    starts, ends = logits.unbind(1) => starts, ends = logits.unbind(1); limit = max(1, limit - 1)
        One token too few: j = i + limit - 1 is still allowed.
    limit - 1 => limit ;; (-1, limit, 1) => (-1, limit + 1, 1) ;; \
    best // limit, best % limit => best // (limit + 1), best % (limit + 1)
        One token too many: from i to j there are j - i + 1 tokens.
    starts, ends = logits.unbind(1) => starts, ends = logits.unbind(1); limit = ends.shape[1]
        These are longer than `limit` tokens.
    + near => + near.masked_fill(torch.arange(limit) == 0, -math.inf)
        An answer may be one token long: j = i is allowed.
    return first, first + further => return starts.argmax(-1), ends.argmax(-1)
        The end may stand before the beginning here, as where each of the two is chosen by itself.
    return first, first + further => first = starts.argmax(-1); \
    return first, first + near[torch.arange(len(first)), first].argmax(-1)
        The best beginning was fixed first: another may have the larger sum.
    value=-math.inf => value=0.0
        Behind the end of a text no answer ends: fill up with -infinity. A 0 there is more than a
        logit below 0.
    first, first + further => first, further
        The position of the last token is asked for, not how far it lies behind the first.
    first, first + further => first + further, first
        The first token comes first, then the last one.
    best // limit, best % limit => best // ends.shape[1], best % ends.shape[1]
        From the number of a pair back to its row: divide by the length of a row, which is `limit`
        here.
    """,
)
def best_spans(logits, limit):
    starts, ends = logits.unbind(1)
    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)
    best = (starts[..., None] + near).flatten(1).argmax(-1)
    first, further = best // limit, best % limit
    return first, first + further
