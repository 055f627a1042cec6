"""Your turn with what Gemma does differently: a window, shared keys and values, two norms."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_12_gemma")
SINGLE = 1e-5  # tolerance of single precision


def lengths_and_windows(draw):
    yield Case("by hand: the last row of 4 with a window of 2 is 0, 0, 1, 1", 4, 2)
    yield Case("a window of 1: each sees itself alone", 3, 1)
    yield Case("a window longer than the text: the causal mask", 3, 9)
    for _ in range(2):
        T = draw.integer(5, 9)
        yield Case("any length and window", T, draw.integer(2, T - 1))


@turn(
    turns,
    "Query t may look at key s if s is not later, and is one of the W last: t - W < s <= t. "
    + see(9, "The future is not to be looked at"),
    cases=lengths_and_windows,
    slips="""
    (s > t - W) & (s <= t) => s <= t
        This is the causal mask, without a window: keys that are W or more tokens back are hidden.
    s > t - W => s >= t - W
        One key too many: the window of W tokens counts the query's own.
    (s > t - W) & (s <= t) => (t - s).abs() < W
        The window reaches into the future as well.
    & => |
        A key must lie in the window *and* not in the future.
    (s > t - W) & (s <= t) => (t > s - W) & (t <= s)
        Rows ask and columns are asked: here it is the other way round.
    """,
)
def window_mask(T, W):
    """(T, T), True where the query of row t may look at key s: at itself and W - 1 before it."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s > t - W) & (s <= t)


def heads_that_share(draw):
    for rule, H, G in (("all heads share one", 4, 1), ("two groups", 4, 2), ("none shares", 3, 3)):
        B, T, K = 2, draw.integer(3, 5), draw.integer(2, 4)
        q = draw.normal(B, H, T, K, dtype=torch.float32)
        k, v = (draw.normal(B, G, T, K, dtype=torch.float32) for _ in range(2))
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        yield Case(rule, q, k, v, mask, given=f"q {tuple(q.shape)}, k and v {tuple(k.shape)}")


@turn(
    turns,
    "Give every head its keys: repeat each of the G along the axis of heads, H/G times, one after "
    "the other. The rest is attention as before. " + see(9, "Several heads at once"),
    cases=heads_that_share,
    tolerance=SINGLE,
    slips="""
    k = k.repeat_interleave(H // G, 1) => k = k.repeat(1, H // G, 1, 1)
        With two groups, heads 0 and 1 share the first: repeat each group's keys in a row (0 0 1 1),
        not the sequence of groups (0 1 0 1).
    math.sqrt(q.shape[-1]) => 1
        The scores are not divided by the root of the number of features of a head.
    ~mask => mask
        True means may be looked at: fill the scores where the mask is False.
    softmax(-1) => softmax(-2)
        The weights of one query sum to 1: the softmax goes over the keys, the last axis.
    """,
)
def grouped_attention(q, k, v, mask):
    """q (B, H, T, K), k and v (B, G, T, K), mask (T, T) -> (B, H, T, K); H/G heads share a key."""
    H, G = q.shape[1], k.shape[1]
    k = k.repeat_interleave(H // G, 1)
    v = v.repeat_interleave(H // G, 1)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ v


def parts_with_norms(draw):
    for rule in ("any part", "another part"):
        x, matrix = draw.normal(2, 3, 4), draw.normal(4, 4)
        gains = [1 + draw.normal(4).abs() for _ in range(2)]
        before, after = (
            lambda y, g=g: y / y.square().mean(-1, keepdim=True).sqrt() * g for g in gains
        )
        yield Case(
            rule, x, lambda y, m=matrix: torch.tanh(y @ m), before, after,
            given="x (2, 3, 4), a layer of tanh, and two RMSNorms with different gains",
        )  # fmt: skip


@turn(
    turns,
    "The part reads a normalized copy of the stream; what it gives is normalized once more, and "
    "then added to the stream. " + see(11, "Residual connections: add, do not replace"),
    cases=parts_with_norms,
    slips="""
    x + after(part(before(x))) => after(x + part(before(x)))
        Here the stream itself is normalized, as in a post-norm block. Only what is added to it is.
    x + after(part(before(x))) => x + part(before(x))
        That is the pre-norm block of the Transformer: the second norm is missing.
    x + after(part(before(x))) => after(part(before(x)))
        Nothing carries x past the part: add to the stream, do not replace it.
    after(part(before(x))) => before(part(after(x)))
        The two norms are exchanged; each has a gain of its own.
    """,
)
def add_normed(x, part, before, after):
    """Half a block: x (B, T, D) -> x plus the normalized output of a part, which reads a norm."""
    return x + after(part(before(x)))
