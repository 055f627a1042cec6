"""Your turn with positions: the sinusoid's table, RoPE's rotation, ALiBi's bias, a window."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook10")
ROPE = see(10, "RoPE: turn the queries and the keys")


def sizes(draw):
    yield Case("three hands, at the positions 0 to 2", 3, 6)  # with two, some slips are alike
    yield Case("by hand: position 2 has the angles 2 and 0.02", 3, 4)
    yield Case("one hand turns by one radian for each position", 7, 2)
    for _ in range(3):
        yield Case("any size", draw.integer(5, 60), 2 * draw.integer(3, 20))


@turn(
    turns,
    "First omega, one number for each of the D/2 hands; then all angles, omega times t, a row for "
    "each position; their sines go to the columns 0, 2, 4, ..., their cosines to 1, 3, 5, ... "
    + see(10, "The sinusoid: a clock with many hands"),
    cases=sizes,
    tolerance=1e-4,
    slips="""
    10000.0 ** (-torch.arange(0, D, 2) / D) => 10000.0 ** (-torch.arange(D // 2) / D)
        The exponent is -2i/D: hand i of the D/2 hands gets 2i, that is 0, 2, 4, ...
    10000.0 ** (-torch.arange(0, D, 2) / D) => 10000.0 ** (torch.arange(0, D, 2) / D)
        The hands get faster here: the exponent is negative.
    10000.0 ** (-torch.arange(0, D, 2) / D) => 10000.0 ** (-2 * torch.arange(0, D, 2) / D)
        Twice too much: the exponent is -2i/D with i = 0 .. D/2 - 1, so -torch.arange(0, D, 2) / D.
    j = torch.arange(D); a = torch.arange(T)[:, None] * 10000.0 ** (-j / D); \
    return torch.where(j % 2 == 0, a.sin(), a.cos())
        A hand has one speed: the columns 2i and 2i+1 have the same omega.
    torch.arange(T)[ => torch.arange(1, T + 1)[
        Positions count from 0: at position 0 all hands stand at twelve, so its sines are 0.
    = angles.sin(), angles.cos() => = angles.cos(), angles.sin()
        Sine and cosine are exchanged: here the sine comes first.
    P[:, 0::2], P[:, 1::2] = => P[:, : D // 2], P[:, D // 2 :] =
        The sine and the cosine of a hand stand side by side: columns 0 and 1 belong to hand 0.
    return P => return P.T
        A row is a position, a column a number of its vector.
    """,
)
def sinusoid(T, D):
    """The sinusoid of the positions 0 .. T-1, a row for each: (T, D), D even."""
    omega = 10000.0 ** (-torch.arange(0, D, 2) / D)  # (D/2,), one for each hand
    angles = torch.arange(T)[:, None] * omega  # (T, D/2)
    P = torch.zeros(T, D)
    P[:, 0::2], P[:, 1::2] = angles.sin(), angles.cos()
    return P


def points(draw):
    same, single = torch.tensor([[1.0, 0.0]] * 4), {"dtype": torch.float32}
    yield Case("by hand: (1, 0) at the positions 0 to 3, turned by 30 degrees each", same,
               math.pi / 6)  # fmt: skip
    yield Case("any points", draw.normal(5, 2, **single), 0.7)
    yield Case("axes in front: texts and heads", draw.normal(2, 3, 6, 2, **single), 0.3)
    for _ in range(2):
        any_points = draw.normal(draw.integer(3, 9), 2, **single)
        yield Case("any points", any_points, abs(draw.normal(1).item()))


@turn(
    turns,
    "One angle for each position, theta times t; then the two numbers of the formula, from the old "
    f"a and the old b, side by side again. {ROPE}",
    cases=points,
    tolerance=1e-4,
    slips="""
    a * angle.cos() - b * angle.sin() => a * angle.cos() + b * angle.sin() ;; \
    a * angle.sin() + b * angle.cos() => b * angle.cos() - a * angle.sin()
        This turns the other way: (1, 0) goes towards (0, 1).
    a * angle.cos() - b * angle.sin() => a * angle.cos() + b * angle.sin()
        A rotation has one minus sign, in the first number; else lengths change.
    theta * torch.arange(x.shape[-2]) => theta * torch.arange(1, x.shape[-2] + 1)
        Positions count from 0: the first row stays as it is.
    theta * torch.arange(x.shape[-2]) => theta * math.pi / 180 * torch.arange(x.shape[-2])
        theta is in radians already: cos and sin take radians.
    a * angle.sin() + b * angle.cos() => first * angle.sin() + b * angle.cos()
        Both numbers are made of the old a, as it was before the turn.
    [first, second] => [second, first]
        The two numbers are exchanged.
    torch.stack([first, second], dim=-1) => torch.cat([first, second], dim=-1)
        torch.cat writes all second numbers behind all first ones; torch.stack makes pairs.
    """,
)
def rotate_pair(x, theta):
    """x (..., T, 2), points at the positions 0 .. T-1: each turned by theta times its position."""
    angle = theta * torch.arange(x.shape[-2])  # (T,)
    a, b = x[..., 0], x[..., 1]
    first = a * angle.cos() - b * angle.sin()
    second = a * angle.sin() + b * angle.cos()
    return torch.stack([first, second], dim=-1)


def slopes(draw):
    yield Case("by hand: the last row is -1, -0.5, 0", 0.5, 3)
    for _ in range(3):
        yield Case("any slope, any size", 2.0 ** -draw.integer(2, 6), draw.integer(4, 9))


@turn(
    turns,
    "-slope * (t - s), with the query's t down the rows, and -inf where s > t. "
    + see(10, "ALiBi: a score that falls with the distance"),
    cases=slopes,
    slips="""
    -slope => slope
        The sign: like this the farthest key gets the highest score.
    .masked_fill(distance < 0, -math.inf) =>
        The keys of the future get a higher score here, or are lowered like those of the past; they
        belong at -inf.
    -math.inf => 0.0
        A 0 does not hide a key: exp(0) = 1. The keys of the future belong at -inf.
    return -slope * (torch.arange(T)[:, None] - torch.arange(T)) \
    + torch.ones(T, T).triu(1) * -math.inf
        0 times infinity is nan: write -inf with masked_fill or torch.where.
    -math.inf => -1e9
        Nearly: a very low number hides a key, too, but -inf makes its weight exactly 0.
    -slope * distance => slope * t.expand(T, T)
        A bias that grows with the key's position has the same softmax, but here the distance is
        asked for: -slope * (t - s), which is 0 on the diagonal.
    distance < 0 => distance <= 0
        A position sees itself, at distance 0: only s > t is the future.
    """,
)
def alibi_bias(slope, T):
    """What is added to the scores of T queries (rows) and T keys (columns): (T, T)."""
    t = torch.arange(T)
    distance = t[:, None] - t  # t - s
    return (-slope * distance).masked_fill(distance < 0, -math.inf)


def widths(draw):
    yield Case("by hand: each sees itself and the one before", 4, 2)
    for _ in range(3):
        yield Case("any size, any width", draw.integer(5, 10), draw.integer(2, 4))


@turn(
    turns,
    "The distance t - s of the query's row t and the key's column s is at least 0 and less than "
    "width. " + see(10, "Longer than in training"),
    cases=widths,
    slips="""
    < width => <= width
        One key too many: the query's own position is one of the width.
    < width => < width - 1
        One key too few: with the query's own position there are width of them.
    (distance >= 0) & =>
        This looks into the future as well: t - s must not be negative.
    return ~window_mask(T, width)
        True means that the key is seen, not hidden.
    t[:, None] - t => t - t[:, None]
        A row is a query, a column a key: t - s.
    & (distance < width) =>
        That is the causal mask: keys further back than the window are still seen.
    distance >= 0 => distance > 0
        The query's own position is seen, too: the distance may be 0.
    return window_mask(T, width).float()
        A mask is of bool: True and False, not 1.0 and 0.0.
    """,
)
def window_mask(T, width):
    """(T, T) of bool: True where the query (row) sees the key (column)."""
    t = torch.arange(T)
    distance = t[:, None] - t
    return (distance >= 0) & (distance < width)
