"""Your turn with rotations: means along diagonals, and a score of RoPE from the distance."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_10_rotations")


def square_matrices(draw):
    hand = torch.tensor([[1.0, 9.0, 8.0], [2.0, 3.0, 7.0], [6.0, 4.0, 5.0]]).double()
    yield Case("by hand: 3, 3, 6", hand)
    for T in (draw.integer(4, 9) for _ in range(3)):
        yield Case("any square matrix", draw.normal(T, T))


@turn(
    turns,
    "A.diagonal(-delta) holds all A[t, s] with t - s = delta; their mean, for delta = 0 to T - 1. "
    + see(10, "The sinusoid: a clock with many hands"),
    cases=square_matrices,
    slips="""
    -delta => delta
        On that side of the diagonal keys lie in the future: t - s = delta, so s = t - delta.
    .mean() => .sum()
        That is the sum of each diagonal; far distances have fewer pairs, so take the mean.
    .mean() => .sum() / len(A)
        A diagonal has T - delta entries, not T: divide by their number.
    range(len(A)) => range(1, len(A))
        The distance 0, a position and itself, comes first.
    return A[-1].flip(0)
        That is the last row alone, or the first column alone; take the mean over all pairs.
    return A.mean(0)
        That is the mean of each column or row, a key's or a query's position, not a distance.
    """,
)
def by_distance(A):
    """A (T, T), rows look back at columns -> (T,): the means of all A[t, s] with t - s = delta."""
    return torch.stack([A.diagonal(-delta).mean() for delta in range(len(A))])


def pairs(draw):
    q, k = torch.tensor([1.0, 0.3]), torch.tensor([0.8, -0.6])
    yield Case("at distance 0, a dot product", q, k, 0.5, 0)
    yield Case("the example, distance 2", q, k, 0.5, 2)
    for _ in range(4):
        theta, distance = 0.1 + abs(draw.normal(1).item()), draw.integer(1, 30)
        q, k = draw.normal(2, 2, dtype=torch.float32)
        yield Case("any pair, any distance", q, k, theta, distance)


@turn(
    turns,
    "a is the plain dot product of q and k. For b, turn k by -90 degrees, (k1, k2) becomes "
    "(k2, -k1), and take its dot product with q. " + see(10, "RoPE: turn the queries and the keys"),
    cases=pairs,
    tolerance=1e-4,
    slips="""
    q[0] * k[1] - q[1] * k[0] => q[1] * k[0] - q[0] * k[1]
        b has the other sign: this is the score of a key that stands behind the query.
    + b * math.sin(theta * distance) =>
        b is missing: unless q and k point the same way, the crest is not at distance 0.
    return score_by_distance(q, k, theta, 1)
        The angle grows with the distance: theta times distance.
    k[1] - q[1] => k[1] + q[1]
        b is a difference: in q1 k2 - q2 k1 one of the products has a minus.
    return a * math.cos => a, b = b, a; return a * math.cos
        a and b have changed places: at distance 0 the score is the plain dot product.
    return score_by_distance(q, k, math.radians(theta), distance)
        theta is in radians already: math.cos takes radians.
    """,
)
def score_by_distance(q, k, theta, distance):
    """The score (a tensor) of a query q (2,) and a key k (2,) `distance` positions before it."""
    a = q[0] * k[0] + q[1] * k[1]
    b = q[0] * k[1] - q[1] * k[0]
    return a * math.cos(theta * distance) + b * math.sin(theta * distance)
