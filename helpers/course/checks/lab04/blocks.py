"""Checks of lab 04, task 7: causal attention in blocks of queries and keys.

Shape letters: T positions, K width of a query, Kv of a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from helpers.course.checks.describing import describe
from helpers.course.checks.lab04.common import ERRORS, KERNELS, SCALE, lab
from helpers.course.checks.lab04.one_head import causal_mask
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn
from helpers.course.checks.watching import Operations

PRODUCTS = ("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "baddbmm", "einsum", "mv", "dot")

_WAY = (
    "For each block of queries go through the blocks of keys, with three things in hand: the "
    "largest score so far, the sum of the powers, the sum of values times powers. Which way round "
    "is the factor, old minus new or new minus old? Where NaN comes out: what is the largest score "
    "before there is any? " + see(9, "Softmax, a selection that can be learned")
)
_RAGGED = "The last block may be shorter than the others: take the sizes from the slices."
_LARGE = (
    "e^1000 is infinite: the largest score so far is subtracted in every block, and no power is "
    "larger than 1; that of the newest block alone may be smaller. What is the largest score "
    "before there is any?"
)
_FACTOR = (
    "When a larger score comes, what was added up before refers to the old largest one: both the "
    "sum of the powers and the sum of the values are multiplied by the same factor then."
)
_FRONT = "There may be dimensions in front of T and K, such as heads: count from the end."


def _texts(trial: Trial) -> Iterator[Case]:
    q, k = torch.ones(3, 1).double(), torch.tensor([[1.0], [2.0], [3.0]]).double().log()
    v = torch.tensor([[6.0], [3.0], [10.0]]).double()
    given = f"e^score = 1, 2, 3 for all three queries, v = {describe(v)}, block = "
    yield Case("by hand, one block", q, k, v, 3, given=f"{given}3")
    yield Case("by hand, blocks of one", q, k, v, 1, given=f"{given}1")
    T, K = 4 * trial.integer(2, 4), trial.integer(3, 6)
    q, k, v = 2 * trial.normal(T, K), trial.normal(T, K), trial.normal(T, K + 2)
    given = f"q {tuple(q.shape)}, v {tuple(v.shape)}, block = "
    yield Case("blocks that fit", q, k, v, 4, given=f"{given}4")
    for rule, block in (
        ("a shorter block at the end", 5 if T != 15 else 7),
        ("a block longer than the text", T + 3),
    ):
        yield Case(rule, q, k, v, block, given=f"{given}{block}", hint=_RAGGED)
    heads, given = [trial.normal(2, 3, 7, K) for _ in range(3)], f"q (2, 3, 7, {K}), block = 3"
    yield Case("texts and heads in front", *heads, 3, given=given, hint=_FRONT)
    ones, v = torch.ones(5, 1).double(), trial.normal(5, 2)
    scores = torch.tensor([[-900.0], [1000.0], [0.0], [1001.0], [-1000.0]]).double()
    given = f"scores {describe(scores.flatten())} for all queries, block = 2"
    yield Case("large scores", ones, scores, v, 2, given=given, hint=_LARGE)
    low, given = -scores.abs() - 800, "scores from -800 to -1801, block = 2"
    yield Case("scores far below 0", ones, low, v, 2, given=given, hint=_LARGE)
    single = [trial.normal(6, 4).float() for _ in range(3)]
    yield Case("single precision stays so", *single, 4, given="single precision")


def _is_small(trial: Trial) -> None:
    """The scores of few pairs are there at once, each is computed once, those of the future never.

    With one number in a query and in a value, a block of scores is larger than anything else.
    """
    T, block = 128, 16
    q, k, v = (trial.normal(T, 1) for _ in range(3))
    given = f"T = {T}, block = {block}, K = 1"
    with Operations() as operations:
        trial.run(trial.answer, q, k, v, block, given=given)
    largest, most = max(math.prod(shape) for _, shape in operations.results), block**2
    trial.holds(
        largest <= most,
        "no more scores at once than those of a block of queries and a block of keys",
        "T x T numbers are not there at once, nor block x T: queries and keys both come in "
        "blocks, and the mask, too.",
        given=f"{given}; the largest tensor that is made",
        got=largest,
        expected=f"at most {block} x {block}",
    )
    products = [shape for name, shape in operations.results if name in PRODUCTS]
    blocks = T // block
    scores, pairs = products.count((block, block)), blocks * (blocks + 1) // 2
    hint = (
        "The scores of a block of queries and a block of keys are one product of matrices, and "
        "the values times the powers another, without loops inside a block."
    )
    if scores == blocks**2:
        hint = (
            "A block of keys behind that of the queries is masked as a whole: it need not be "
            "computed."
        )
    elif scores == 2 * pairs:
        hint = (
            "The scores of each block are computed twice, first for the largest one and then for "
            "the powers. Once will do: what was added up before is corrected by a factor."
        )
    trial.holds(
        len(products) <= 2 * pairs,
        "two products of matrices for each pair of blocks, none for those of the future",
        hint,
        given=f"{given}: products of matrices, for {pairs} pairs of blocks",
        got=len(products),
        expected=f"at most {2 * pairs}",
    )


@turn(
    lab,
    _WAY,
    cases=_texts,
    errors={**ERRORS, "RuntimeError": f"{_FRONT} {_RAGGED}"},
    also=_is_small,
    without=KERNELS,
    slips=f"""
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
        {_FACTOR}
    o / sums => o
        At the end the sum of the values is divided by the sum of the powers.
    """,
)
def attention_in_blocks(q, k, v, block):
    T, K = q.shape[-2:]
    outputs = []
    for i in range(0, T, block):
        queries = q[..., i : i + block, :] / math.sqrt(K)
        m = torch.full_like(queries[..., :1], -math.inf)
        sums, o = torch.zeros_like(m), 0.0
        for j in range(0, i + 1, block):
            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
            if j == i:
                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)
            new = torch.maximum(m, scores.amax(-1, keepdim=True))
            powers, factor = (scores - new).exp(), (m - new).exp()
            sums = sums * factor + powers.sum(-1, keepdim=True)
            o = o * factor + powers @ v[..., j : j + block, :]
            m = new
        outputs.append(o / sums)
    return torch.cat(outputs, -2)
