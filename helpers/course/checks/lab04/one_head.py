"""Checks of lab 04, tasks 1 to 3: a softmax, a mask, and both together.

Shape letters: B texts, T queries, S keys, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from helpers.course.checks.lab04.common import (
    ERRORS,
    KERNELS,
    MEANING,
    lab,
    with_gradient,
    without_loops,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import padding_mask

SOFTMAX = ("softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin", "logsumexp")

_LARGE = (
    "e^1000 is infinite in floating point, and infinity over infinity is NaN. What may you "
    "subtract from all numbers of a row, without changing its softmax, so that no power is large?"
)
_OWN = (
    "Rows may lie far apart, and where all powers of a row have become 0 there is 0 / 0: subtract "
    "from each row something that belongs to this row."
)
_ROWS = "Every row of the last dimension has a sum of its own. Which dimension is added up?"
_HIDDEN = (
    "e to the power of -infinity is 0, without your doing anything: does what you subtract stay "
    "finite?"
)
_THROUGH = "The weights agree and the gradient does not: is something detached that depends on x?"


def _scores(trial: Trial) -> Iterator[Case]:
    where = "e to the power of each number, over the sum of its row. "
    where += see(9, "Softmax, a selection that can be learned")
    thirds = torch.tensor([1.0, 2.0, 3.0]).double().log()
    yield Case("by hand", thirds, given="the logarithms of 1, 2, 3", hint=where)
    yield Case("each row of a matrix on its own", trial.normal(3, 3), hint=_ROWS)
    x = trial.normal(2, 3, 4, 5)
    yield Case("any number of dimensions", x, hint=f"{_ROWS} It is counted from the end.")
    yield Case("one number has the weight 1", trial.normal(1), hint=_ROWS)
    for rule, hint, numbers in (
        ("large numbers", _LARGE, [1000.0, 1001.0, 999.0]),
        ("one number far above the others", _LARGE, [5000.0, 0.0, 0.0]),
        ("rows of very different size", _OWN, [[1000.0, 1001.0], [-1001.0, -1000.0]]),
        ("-inf gets the weight 0", _HIDDEN, [[0.0, -math.inf, 0.0], [-math.inf, -math.inf, 7.0]]),
    ):
        yield Case(rule, torch.tensor(numbers, dtype=torch.float64), hint=hint)
    x = 300 * trial.normal(trial.integer(2, 6), trial.integer(2, 9))
    yield Case("random numbers", x.masked_fill(x < -200, -math.inf), hint=_OWN)
    x = trial.normal(2, 3).float()
    yield Case("single precision stays so", x)


@turn(
    lab,
    _THROUGH,
    cases=_scores,
    call=with_gradient,
    errors=ERRORS,
    also=lambda trial: without_loops(trial, lambda n: (trial.normal(n, n, n),)),
    without=[*SOFTMAX, *KERNELS],
    slips=f"""
    x - x.amax(-1, keepdim=True) => x
        {_LARGE}
    x.amax(-1, keepdim=True) => x.max()
        {_OWN}
    e.sum(-1, keepdim=True) => e.sum()
        {_ROWS}
    e.sum(-1, keepdim=True) => e.sum(-1)
    x.amax(-1, keepdim=True) => x.amax(-1) ;; e.sum(-1, keepdim=True) => e.sum(-1)
        What belongs to a row, its sum or its largest number, is spread over the columns here: \
        keepdim=True keeps its dimension.
    e / e.sum(-1, keepdim=True) => (e / e.sum(-1, keepdim=True)).log()
        This is the logarithm of the weights.
    e.sum(-1, keepdim=True) => e.sum(-1, keepdim=True).detach()
        {_THROUGH}
    """,
)
def stable_softmax(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


_LAST = (
    "The queries are the last T of the S positions: query 0 stands at position S - T. Draw two "
    "queries and five keys on paper."
)


def _sizes(trial: Trial) -> Iterator[Case]:
    yield Case("three words", 3, 3)
    yield Case("two queries, the last of five positions", 2, 5)
    yield Case("the last position sees all", 1, 4)
    yield Case("a single word sees itself", 1, 1)
    T = trial.integer(3, 9)
    yield Case("any T and S", T, T + trial.integer(1, 6))


@turn(
    lab,
    _LAST,
    cases=_sizes,
    slips=f"""
    <= query => > query
        {MEANING}
    <= query => < query
        A position may look at itself: the word that stands there has been read.
    torch.arange(S - T, S) => torch.arange(T)
        {_LAST}
    torch.arange(S) <= query => (torch.arange(S) <= query) | True
        No query may see a later position; all see what came before.
    """,
)
def causal_mask(T, S):
    query = torch.arange(S - T, S)[:, None]
    return torch.arange(S) <= query


_BEFORE = (
    "A weight set to zero after the softmax leaves a row whose sum is not 1: the forbidden scores "
    "must be gone before it. " + see(9, "Why before the softmax?")
)
_LATE = (
    "The masked score still takes part in the softmax. Where it is large, all others become 0, and "
    "dividing afterwards, 0 / 0, comes too late: mask before the softmax."
)
_ZERO = "A score of 0 is not nothing: e to the power of 0 is 1. Which score gets the weight 0?"
_SMALL = (
    "However small a number is that you put in place of a masked score, another score may be "
    "smaller: take -infinity."
)
_EMPTY = (
    "A softmax over nothing but -infinity is 0 / 0, and one over equally small numbers shares out "
    "evenly: give these rows zeros."
)
_COVERED = (
    "The weights look right, and the gradient is NaN: 0 / 0 did arise, was covered up afterwards, "
    "and the way back leads through it. Keep an empty row's scores finite, and clear its weights "
    "at the end."
)
_AXES = (
    "The mask is broadcast to the scores: its sizes of 1 stand for all heads or queries. And the "
    "softmax runs over the keys, the last dimension."
)


def _masked(trial: Trial) -> Iterator[Case]:
    hand = torch.tensor([[1.0, 2.0, 3.0]]).double().log().repeat(2, 1)
    mask = torch.ones(2, 3, dtype=torch.bool).tril()
    given = f"both rows the logarithms of 1, 2, 3, mask {mask.tolist()}"
    yield Case("by hand", hand, mask, given=given, hint=_BEFORE)
    first = torch.tensor([[False, True]])
    for rule, hint, numbers in (
        ("a large score that is masked", _LATE, [[800.0, 0.0]]),
        ("a small score beside a masked one", _SMALL, [[0.0, -900.0]]),
    ):
        given = f"scores {numbers}, the first one masked"
        yield Case(rule, torch.tensor(numbers).double(), first, given=given, hint=hint)
    B, H, T, S = 2, 3, trial.integer(4, 6), trial.integer(6, 9)
    scores, causal = trial.normal(B, H, T, S), torch.ones(T, S, dtype=torch.bool).tril(S - T)
    shapes = f"scores ({B}, {H}, {T}, {S})"
    yield Case("with heads", scores, causal, given=f"{shapes}, a causal mask", hint=_AXES)
    padding = padding_mask(torch.tensor([2, S]), S)
    given = f"{shapes}, mask {tuple(padding.shape)}"
    yield Case("a mask with dimensions of size 1", scores, padding, given=given, hint=_AXES)
    mask = causal.clone()
    mask[1] = False
    given = f"{shapes}, a mask whose row 1 is False throughout"
    yield Case("a query that may see nothing gets zeros", scores, mask, given=given, hint=_EMPTY)
    one = scores[0, 0].float()
    yield Case("single precision stays so", one, mask, given="single precision")


def _masked_at_once(trial: Trial) -> None:
    also = "What you call counts, too: is there a loop in stable_softmax?"
    without_loops(
        trial,
        lambda n: (trial.normal(n, n, n, n), torch.ones(n, n, dtype=torch.bool).tril()),
        also,
    )


@turn(
    lab,
    _COVERED,
    cases=_masked,
    call=with_gradient,
    errors=ERRORS,
    also=_masked_at_once,
    without=KERNELS,
    slips=f"""
    -math.inf => -100.0 ;; stable_softmax(hidden) * some => stable_softmax(hidden) * mask
        {_SMALL}
    return stable_softmax(hidden) * some => left = stable_softmax(scores) * mask ; \
    return left / left.sum(-1, keepdim=True).clamp(min=1e-9)
        {_LATE}
    -math.inf => 0.0 ;; stable_softmax(hidden) * some => stable_softmax(hidden) * mask
        {_ZERO}
    stable_softmax(hidden) * some => stable_softmax(scores) * mask
        {_BEFORE}
    scores.masked_fill(~mask & some, -math.inf) => scores * mask + ~mask * -math.inf
    scores.masked_fill(~mask & some, -math.inf) => scores * mask + ~mask * -math.inf ;; \
    stable_softmax(hidden) * some => stable_softmax(hidden).nan_to_num()
        0 times infinity is NaN: a score that is not allowed is put in the place of the old one, \
        not multiplied.
    -math.inf => -100.0
        {_SMALL}
    ~mask & some => mask
        {MEANING}
    -math.inf => 0.0
        {_ZERO}
    ~mask & some => ~mask ;; stable_softmax(hidden) * some => stable_softmax(hidden)
        {_EMPTY}
    scores.masked_fill(~mask & some, -math.inf) => scores + torch.where(mask, 0.0, -math.inf) ;; \
    stable_softmax(hidden) * some => stable_softmax(hidden).nan_to_num()
        {_COVERED}
    stable_softmax(hidden) => stable_softmax(hidden.mT).mT
        The weights of one query sum to 1 over the keys: which dimension is that?
    """,
)
def masked_weights(scores, mask):
    some = mask.any(-1, keepdim=True)
    hidden = scores.masked_fill(~mask & some, -math.inf)
    return stable_softmax(hidden) * some
