"""Checks of lab 04, tasks 2 to 4: softmax, masks and attention.

Shape letters: B batch, T queries, S keys, H heads, D d_model, K width of a head. A mask has one
meaning: True = may attend. Checks compute in float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.course.checks.describing import describe
from helpers.course.checks.lab04.common import (
    FUTURE,
    KERNELS,
    MEANING,
    SCALE,
    ask,
    gradients_of,
    in_double,
    lab,
    output_and_weights,
    without_loops,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models import attention as course

SOFTMAX = ("softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin", "logsumexp")


def _stable_softmax(x: Tensor) -> Tensor:
    return x.softmax(-1)


@lab.task(_stable_softmax, without=[*SOFTMAX, *KERNELS])
def stable_softmax(trial: Trial) -> None:
    where = "e to the power of each number, over the sum of its row. "
    where += see(9, "Softmax, a selection that can be learned")
    rows = "Every row of the last dimension has a sum of its own. Which dimension is added up?"
    lost = "What belongs to a row, its sum or its largest number, is spread over the columns here: "
    lost += "keepdim=True keeps its dimension."
    missing = "This is the logarithm of the weights."
    none = "NaN is 0 / 0 here: every power has become 0. What is subtracted from a row has to come "
    none += "from this row: a fixed number may lie far above all of its numbers."
    sizes = "x may have any number of dimensions: the last one is counted from the end."

    def try_on(x: Tensor, rule: str, hint: str) -> None:
        slips = []
        for e in (x.exp(), (x - x.amax(-1, keepdim=True)).exp()) if x.abs().max() < 100 else ():
            slips += [(e / e.sum(), rows), ((e / e.sum(-1, keepdim=True)).log(), missing)]
            if x.dim() > 1 and x.shape[-1] == x.shape[-2]:
                slips += [(e / e.sum(-2, keepdim=True), rows), (e / e.sum(-1), lost)]
        if x.dim() == 2 and x.shape[0] == x.shape[1]:
            e = (x - x.amax(-1)).exp()
            slips += [(e / e.sum(-1, keepdim=True), lost), (e / e.sum(-1), lost)]
        slips += [(torch.ones_like(x), rows)]
        slips += [(torch.full_like(x, math.nan), none)] if x.abs().max() < 100 else []
        expected = x.softmax(-1)
        slips = in_double(expected, slips) if x.dtype == torch.float64 else ()
        trial.equals(ask(trial, x, hint=sizes), expected, rule, hint, slips=slips, given=x)

    try_on(torch.tensor([1.0, 2.0, 3.0]).double().log(), "by hand: 1/6, 2/6, 3/6", where)
    try_on(trial.normal(3, 3), "each row of a matrix on its own", where)
    try_on(trial.normal(2, 3, 4, 5), "any number of dimensions", rows)
    try_on(trial.normal(1), "one number has the weight 1", rows)
    large = "e^1000 is infinite in floating point. What may you subtract from all numbers of a "
    large += "row, without changing its softmax, so that no power is large?"
    try_on(torch.tensor([1000.0, 1001.0, 999.0]).double(), "large numbers", large)
    try_on(torch.tensor([5000.0, 0.0, 0.0]).double(), "one number far above the others", large)
    own = "Rows may lie far apart: subtract something from each row that belongs to that row."
    x = torch.tensor([[1000.0, 1001.0], [-1001.0, -1000.0]]).double()
    try_on(x, "rows of very different size", own)
    hidden = "e to the power of -infinity is 0, without your doing anything: does what you "
    hidden += "subtract stay finite?"
    x = torch.tensor([[0.0, -math.inf, 0.0], [-math.inf, -math.inf, 7.0]]).double()
    try_on(x, "-inf gets the weight 0", hidden)
    x = 300 * trial.normal(trial.integer(2, 6), trial.integer(2, 9))
    try_on(x.masked_fill(x < -200, -math.inf), "random numbers", own)
    try_on(trial.normal(2, 3).float(), "single precision stays so", "The result has x's dtype.")
    x, factor = trial.normal(3, 4).requires_grad_(), trial.normal(3, 4)
    given = f"x {tuple(x.shape)} that asks for a gradient"
    (got,) = gradients_of(trial, ask(trial, x, given=given) * factor, [x], "x", given)
    (expected,) = torch.autograd.grad((x.softmax(-1) * factor).sum(), x)
    through = (
        "The weights agree and the gradient does not: is something detached that depends on x?"
    )
    trial.equals(got, expected, "the gradient by x", through, given=given)
    without_loops(trial, lambda n: (trial.normal(n, n, n),))


def _causal_mask(T: int, S: int) -> Tensor:
    return course.causal_mask(T, S)


@lab.task(_causal_mask)
def causal_mask(trial: Trial) -> None:
    last = "The queries are the last T of the S positions: query 0 stands at position S - T. Draw "
    last += "two queries and five keys on paper."
    own = "A position may look at itself: the word that stands there has been read."
    past = "No query may see a later position; all see what came before."
    kind = "A mask holds True and False: torch.bool, and no numbers."
    shape = "A row for each of the T queries, a column for each of the S positions."

    def try_on(T: int, S: int, rule: str, hint: str) -> None:
        given, ones = f"T = {T}, S = {S}", torch.ones(T, S, dtype=torch.bool)
        expected = _causal_mask(T, S)
        slips = [
            (~expected, MEANING),
            (ones.tril(S - T - 1), own),
            (~ones.tril(S - T - 1), MEANING),
            (ones.tril(), last),
        ]
        got = ask(trial, T, S)
        if isinstance(got, Tensor):
            hint = hint if got.shape == expected.shape else f"{shape} {hint}"
            hint = hint if got.dtype == torch.bool else kind
        trial.equals(got, expected, rule, hint, slips=slips, given=given)

    try_on(3, 3, "three words", past)
    try_on(2, 5, "two queries, the last of five positions", last)
    try_on(1, 4, "the last position sees all", last)
    try_on(1, 1, "a single word sees itself", own)
    T = trial.integer(3, 9)
    try_on(T, T + trial.integer(1, 6), "any T and S", last)


def _masked_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    return course.attend_with_weights(q, k, v, mask)


BEFORE = "A weight set to zero after the softmax leaves a row whose sum is not 1: the forbidden "
BEFORE += f"scores must be gone before it. {FUTURE}"


@lab.task(_masked_attention, without=KERNELS)
def masked_attention(trial: Trial) -> None:
    front = "In front of T and K there may be more dimensions, such as heads: only the last two of "
    front += "k change places, and the softmax runs over the last."
    wrong = f"{SCALE} Which dimension of q is K, when there are more in front?"
    over = "The weights of one query sum to 1 over the keys: which dimension is that?"
    of_values = f"{SCALE} This is divided by the root of Kv, the length of a value."
    vanished = "All weights are 0: 0 times infinity is NaN, and somebody has put 0 in its place. A "
    vanished += "score that is not allowed is put in the place of the old one, not multiplied."
    infinite = "0 times infinity is NaN: what is no number is put in its place, not multiplied."
    nothing = (
        "A score of 0 is not nothing: e to the power of 0 is 1. Which score gets the weight 0?"
    )

    def try_on(q, k, v, mask: Tensor, rule: str, otherwise: str, given: str = "") -> None:
        given = given or f"q {tuple(q.shape)}, k {tuple(k.shape)}, mask {tuple(mask.shape)}"
        output, weights = _masked_attention(q, k, v, mask)
        raw = course.attention_scores(q, k, 1.0)
        scores = raw / math.sqrt(q.shape[-1])
        inside = torch.where(mask, raw, -math.inf)
        slips = [
            (scores.softmax(-1) * mask, BEFORE),
            (scores.masked_fill(mask, -math.inf).softmax(-1), MEANING),
            ((scores * mask).softmax(-1), nothing),
            (scores.softmax(-1), "The mask does nothing here."),
            *(
                (value, over)
                for value in (inside.softmax(-2), (scores.masked_fill(~mask, -1e30)).softmax(-2))
            ),
            (inside.softmax(-1), SCALE),
            ((inside * math.sqrt(q.shape[-1])).softmax(-1), f"{SCALE} This is multiplied."),
            ((inside / q.shape[-1]).softmax(-1), f"{SCALE} This is divided by K itself."),
            *(
                ((inside / n**0.5).softmax(-1), words)
                for n, words in [(v.shape[-1], of_values), *((n, wrong) for n in q.shape[:-1])]
                if n != q.shape[-1]
            ),
        ]
        slips = slips if q.shape[-2] > 1 else []  # a single query could be several of them
        hint = front if q.dim() > 2 else "The mask is a tensor of bools, one for each score."
        got = ask(trial, q, k, v, mask, given=given, hint=hint)
        mine, found = output_and_weights(trial, got, output, weights)
        hint = otherwise
        if otherwise is BEFORE and isinstance(found, Tensor):
            hint = infinite if found.isnan().all() else otherwise if found.any() else vanished
        slips = in_double(weights, slips)
        trial.equals(found, weights, rule, hint, slips=slips, given=f"{given}: the weights")
        slips, what = in_double(output), f"{given}: the output"
        trial.equals(mine, output, rule, otherwise, slips=slips, given=what)

    q, k = torch.ones(2, 1).double(), torch.tensor([[1.0], [2.0], [3.0]]).double().log()
    v, mask = torch.tensor([[3.0], [6.0], [100.0]]).double(), _causal_mask(3, 3)[:2]
    given = f"e^score = 1, 2, 3 for both queries, v = {describe(v)}, mask {mask.tolist()}"
    try_on(q, k, v, mask, "by hand", BEFORE, given)
    q, mask = q[:1], torch.tensor([[False, True]])
    rule, given = "a large score that is masked", "scores 800 and 0, the first one masked"
    after = "The masked key still takes part in the softmax: as its largest score, or as a power, "
    after += (
        "which is infinite here. 0 / 0 or 0 times infinity is left then, and dividing afterwards "
    )
    after += "comes too late. Mask before the softmax."
    try_on(q, torch.tensor([[800.0], [0.0]]).double(), v[:2], mask, rule, after, given)
    rule, given = "a small score beside a masked one", "scores 0 and -900, the first one masked"
    small = "However small a number is that you put in place of a masked score, another score may "
    small += "be smaller: take -infinity."
    try_on(q, torch.tensor([[0.0], [-900.0]]).double(), v[:2], mask, rule, small, given)
    B, H, T, S, K = 2, 3, trial.integer(4, 6), trial.integer(6, 9), 4
    q, k, v = trial.normal(B, H, T, K), trial.normal(B, H, S, K), trial.normal(B, H, S, 7)
    try_on(q, k, v, _causal_mask(T, S), "with heads", front)
    lengths = torch.tensor([2, S])
    hint = "The mask is broadcast to the scores: its sizes of 1 stand for all heads or queries."
    try_on(q, k, v, course.padding_mask(lengths, S), "a mask with dimensions of size 1", hint)
    mask = _causal_mask(T, S).clone()
    mask[1] = False
    empty = "A softmax over nothing but -infinity is 0 / 0, and one over equally small numbers "
    empty += "shares out evenly: give these rows zeros."
    try_on(q, k, v, mask, "a query that may see nothing gets zeros", empty)
    _same_gradients(trial, q, k, v, mask)
    also = "What you call counts, too: is there a loop in stable_softmax?"
    without_loops(
        trial,
        lambda n: (*(trial.normal(n, n, n, n) for _ in range(3)), _causal_mask(n, n)),
        also,
    )


def _same_gradients(trial: Trial, *arguments: Tensor) -> None:
    q, k, v, mask = arguments
    factor, given = trial.normal(*q.shape[:-1], v.shape[-1]), "a mask with a row of False"
    expected, got = [], []
    for function, gradients in ((_masked_attention, expected), (trial.answer, got)):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        output = trial.run(function, *inputs, mask, given=given)[0]
        gradients += gradients_of(trial, output * factor, inputs, "q, k and v", given)
    nan = "The output looks right, and the gradient is NaN: 0 / 0 did arise, was covered up "
    nan += "afterwards, and the way back leads through it. Keep an empty row's scores finite, and "
    nan += "clear its weights at the end."
    for name, mine, theirs in zip("qkv", got, expected, strict=True):
        rule = "gradients without NaN, also where a query sees nothing"
        trial.equals(mine, theirs, rule, nan, given=f"{given}, gradient of {name}")
