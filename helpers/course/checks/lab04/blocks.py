"""Checks of lab 04, task 8: causal attention in blocks of queries and keys.

Shape letters: T positions, K width of a query, Kv of a value. Checks compute in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.describing import describe
from helpers.course.checks.lab04.common import KERNELS, SCALE, ask, in_double, lab
from helpers.course.checks.lab04.one_head import causal_mask, masked_attention
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips
from helpers.course.checks.watching import Operations

PRODUCTS = ("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "baddbmm", "einsum", "mv", "dot")


def _attention_in_blocks(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    T, K = q.shape[-2:]
    outputs = []
    for i in range(0, T, block):
        queries = q[..., i : i + block, :] / math.sqrt(K)
        m = torch.full_like(queries[..., :1], -math.inf)
        sums, o = torch.zeros_like(m), 0.0
        for j in range(0, i + 1, block):
            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
            if j == i:
                scores = scores.masked_fill(~causal_mask.fallback(*scores.shape[-2:]), -math.inf)
            new = torch.maximum(m, scores.amax(-1, keepdim=True))
            powers, factor = (scores - new).exp(), (m - new).exp()
            sums = sums * factor + powers.sum(-1, keepdim=True)
            o = o * factor + powers @ v[..., j : j + block, :]
            m = new
        outputs.append(o / sums)
    return torch.cat(outputs, -2)


_SLIPS = Slips(
    _attention_in_blocks,
    f"""
    / math.sqrt(K) =>
        {SCALE}
    range(0, i + 1, block) => range(i, i + 1, block)
        A query sees the keys of all earlier blocks, too, not those of its own alone.
    if j == i: => if False:
        In the block on the diagonal a query sees its own key and earlier ones.
    range(0, i + 1, block) => range(0, T, block)
        Later keys are seen: blocks behind that of the queries are left out.
    if j == i: => if True:
        Only the block on the diagonal needs a mask: earlier ones are seen whole.
    sums * factor => sums ;; o * factor => o
    sums * factor => sums
    o * factor => o
        When a larger score comes, what was added up before refers to the old largest one: both the
        sum of the powers and the sum of the values are multiplied by the same factor then.
    o / sums => o
        At the end the sum of the values is divided by the sum of the powers.
    """,
)


def _exact(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    T = q.shape[-2]
    return masked_attention.fallback(q, k, v, causal_mask.fallback(T, T))[0]


def _wrong(*arguments: Any) -> Iterator[tuple[Tensor, str]]:
    """What the slips give, where all of it are numbers."""
    for version, hint in _SLIPS:
        with suppress(RuntimeError):  # a mask that does not fit
            if (value := version(*arguments)).isfinite().all():
                yield value, hint


@lab.task(_attention_in_blocks, without=KERNELS)
def attention_in_blocks(trial: Trial) -> None:
    where = (
        "For each block of queries go through the blocks of keys, with three things in hand: the "
    )
    where += "largest score so far, the sum of the powers, the sum of values times powers. "
    where += see(9, "Softmax, a selection that can be learned")
    ragged = "The last block may be shorter than the others: take the sizes from the slices."
    front = "There may be dimensions in front of T and K, such as heads: count from the end."
    large = "e^1000 is infinite: the largest score so far is subtracted in every block, and no "
    large += "power is larger than 1; that of the newest block alone may be smaller. What is the "
    large += "largest score before there is any?"

    nan = "NaN is infinity times 0, or infinity minus infinity. Which way round is the factor, old "
    nan += "minus new or new minus old? And what is the largest score before there is any?"

    def try_on(q, k, v, block: int, rule: str, hint: str, given: str = "") -> None:
        given = given or f"q {tuple(q.shape)}, v {tuple(v.shape)}, block = {block}"
        got = ask(trial, q, k, v, block, given=given, hint=hint)
        expected = _exact(q, k, v)
        if isinstance(got, tuple | list) and len(got) == 2:
            hint = (
                "The output alone is asked for: the weights of all pairs are never there at once."
            )
            trial.holds(False, "the output comes back", hint, given=given)
        slips = in_double(expected, _wrong(q, k, v, block))
        if hint is where and isinstance(got, Tensor) and got.isnan().any():
            hint = nan
        trial.equals(got, expected, rule, hint, slips=slips, given=given)

    q, k = torch.ones(3, 1).double(), torch.tensor([[1.0], [2.0], [3.0]]).double().log()
    v = torch.tensor([[6.0], [3.0], [10.0]]).double()
    given = f"e^score = 1, 2, 3 for all three queries, v = {describe(v)}, block = "
    try_on(q, k, v, 3, "by hand, one block", where, f"{given}3")
    try_on(q, k, v, 1, "by hand, blocks of one", where, f"{given}1")
    T, K = 4 * trial.integer(2, 4), trial.integer(3, 6)
    q, k, v = 2 * trial.normal(T, K), trial.normal(T, K), trial.normal(T, K + 2)
    try_on(q, k, v, 4, "blocks that fit", where)
    try_on(q, k, v, 5 if T != 15 else 7, "a shorter block at the end", ragged)
    try_on(q, k, v, T + 3, "a block longer than the text", ragged)
    x = [trial.normal(2, 3, 7, K) for _ in range(3)]
    try_on(*x, 3, "texts and heads in front", front)
    scores = torch.tensor([[-900.0], [1000.0], [0.0], [1001.0], [-1000.0]]).double()
    given = f"scores {describe(scores.flatten())} for all queries, block = 2"
    ones = torch.ones(5, 1).double()
    try_on(ones, scores, trial.normal(5, 2), 2, "large scores", large, given)
    try_on(ones, -scores.abs() - 800, trial.normal(5, 2), 2, "scores far below 0", large,
           "scores from -800 to -1801, block = 2")  # fmt: skip
    single = [trial.normal(6, 4).float() for _ in range(3)]
    got = ask(trial, *single, 4, hint=where)
    kind = "The output has the dtype of v: what you make is made in it, too."
    trial.holds(getattr(got, "dtype", None) == torch.float32, "single precision stays so", kind)
    _is_small(trial, trial.answer)


def _is_small(trial: Trial, answer: Callable) -> None:
    """The scores of few pairs are there at once, each is computed once, those of the future never.

    With one number in a query and in a value, a block of scores is larger than anything else.
    """
    T, block = 128, 16
    q, k, v = (trial.normal(T, 1) for _ in range(3))
    given = f"T = {T}, block = {block}, K = 1"
    with Operations() as operations:
        trial.run(answer, q, k, v, block, given=given)
    largest, most = max(math.prod(shape) for _, shape in operations.results), block**2
    rule = "no more scores at once than those of a block of queries and a block of keys"
    size = "T x T numbers are not there at once, nor block x T: queries and keys both come in "
    size += "blocks, and the mask, too."
    what = f"{given}; the largest tensor that is made"
    trial.holds(
        largest <= most, rule, size, given=what, got=largest, expected=f"at most {block} x {block}"
    )
    products = [shape for name, shape in operations.results if name in PRODUCTS]
    blocks = T // block
    scores, pairs = products.count((block, block)), blocks * (blocks + 1) // 2
    hint = "The scores of a block of queries and a block of keys are one product of matrices, and "
    hint += "the values times the powers another, without loops inside a block."
    if scores == blocks**2:
        hint = "A block of keys behind that of the queries is masked as a whole: it need not be "
        hint += "computed."
    elif scores == 2 * pairs:
        hint = (
            "The scores of each block are computed twice, first for the largest one and then for "
        )
        hint += "the powers. Once will do: what was added up before is corrected by a factor."
    rule = "two products of matrices for each pair of blocks, none for those of the future"
    got, expected = len(products), f"at most {2 * pairs}"
    what = f"{given}: products of matrices, for {pairs} pairs of blocks"
    trial.holds(len(products) <= 2 * pairs, rule, hint, given=what, got=got, expected=expected)


attention_in_blocks.slips = _SLIPS
