"""Your turn with positions: digits, shifts, diagonals, a wave, a bias, a window."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook10")


def tables(draw):
    corners = [[0.0, 0.0], [9.0, 0.0], [0.0, 2.0], [7.0, 8.0], [0.0, 0.0]]
    for rule, P in (
        ("by hand: 9 and 1", [[0.0, -7.0], [3.0, -3.0], [9.0, 5.0], [9.0, 6.0]]),
        ("negative entries count", [[1.0, -8.0], [4.0, -4.0], [2.0, 0.5]]),
        ("two equal rows are at distance 0", corners),
    ):
        yield Case(rule, torch.tensor(P).double())
    for _ in range(3):
        yield Case("any table", draw.normal(draw.integer(5, 12), draw.integer(1, 5)))


@turn(
    turns,
    "Two plain numbers: the largest of P.abs(), and the smallest distance of two different rows. "
    + see(10, "Candidates, and why they fail"),
    cases=tables,
    slips="""
    distances.fill_diagonal_(math.inf) => pass
        A row is at distance 0 from itself: leave the diagonal out before you take the minimum.
    P.abs().max() => P.max()
        A large negative entry is large, too: take the absolute value.
    P.abs().max() => P.norm(dim=1).max()
        That is the length of the longest row; the largest single entry is asked for.
    distances.min() => torch.cdist(P, P).max()
        These are the two rows that are farthest apart; the nearest two are asked for.
    distances.min() => (P[1:] - P[:-1]).norm(dim=1).min()
        Neighbours only: any two positions may be near each other. Take all pairs.
    distances.min() => distances[distances > 0].min()
        Two equal rows are at distance 0, and that is the case we look for: leave out the diagonal,
        not the zeros.
    distances.min().item() => distances.min().item() ** 2
        That is the squared distance: take the root, as torch.cdist does.
    return judge(P)[::-1]
        The largest value comes first, then the distance.
    """,
)
def judge(P):
    """P (T, D) -> its largest absolute value, and the distance of its two nearest rows."""
    distances = torch.cdist(P, P)
    distances.fill_diagonal_(math.inf)  # a row is no neighbour of itself
    return P.abs().max().item(), distances.min().item()


def sizes(draw):
    yield Case("by hand: 6 is the row (0, 1, 1)", 8, 3)
    yield Case("a digit that is never needed stays 0", 5, 4)
    for _ in range(3):
        yield Case("any size", draw.integer(9, 40), draw.integer(4, 7))


@turn(
    turns,
    "Divide the position by 2 to the power j, without a remainder; the digit says whether the "
    "result is odd. " + see(10, "Candidates, and why they fail"),
    cases=sizes,
    slips="""
    torch.arange(bits) => torch.arange(bits).flip(0)
        The order of the columns is turned round: the lowest digit stands in column 0.
    torch.arange(T)[ => torch.arange(1, T + 1)[
        Positions count from 0: the first row is all zeros.
    .float() => .float().T
        A row is a position, a column a digit.
    % 2 =>
        That is the number without its last digits; a digit is 0 or 1: is it odd?
    t // 2**j % 2 => t % 2**j
        A remainder keeps the lower digits; divide first, then take the remainder of 2.
    t // 2**j % 2 => t & 2**j
        Right digits, but each still has its weight 1, 2, 4, ...: entries are 0 or 1.
    % 2 => % 2 == 0
        Zeros and ones are exchanged.
    .float() =>
    .float() => .bool()
        Floats are asked for, 0.0 and 1.0: positions are added up.
    """,
)
def binary(T, bits):
    """The binary digits of 0 .. T-1 as a table (T, bits) of float32, the lowest first."""
    t, j = torch.arange(T)[:, None], torch.arange(bits)
    return (t // 2**j % 2).float()


def angles(draw):
    yield Case("by 0, nothing moves", 0.0)
    yield Case("a quarter turn", math.pi / 2)
    for _ in range(3):
        yield Case("any angle", draw.normal(1).item())


@turn(
    turns,
    "The first row makes sin(a+b) of sin a and cos a, the second makes cos(a+b): read the four "
    "factors off the addition theorems. " + see(10, "A shift is a rotation"),
    cases=angles,
    slips="""
    [[c, s], [-s, c]] => [[c, -s], [s, c]]
        This turns back, by -b. The sine comes first here; the minus stands where the new cosine is
        made.
    -s => s
        A minus sign is missing: cos(a+b) = cos b cos a - sin b sin a.
    [[c, s], [-s, c]] => [[s, c], [c, -s]]
    [[c, s], [-s, c]] => [[s, c], [c, s]]
        With b = 0 nothing moves: the matrix must then be 1 on the diagonal.
    return shift_pair(math.radians(b))
        The angle b is in radians already: math.cos takes radians.
    , dtype=torch.float64 =>
        float64 is asked for: dtype=torch.float64.
    """,
)
def shift_pair(b):
    """The matrix (2, 2), float64, that makes (sin(a+b), cos(a+b)) of (sin a, cos a)."""
    c, s = math.cos(b), math.sin(b)
    return torch.tensor([[c, s], [-s, c]], dtype=torch.float64)


def square_matrices(draw):
    hand = torch.tensor([[1.0, 9.0, 8.0], [2.0, 3.0, 7.0], [6.0, 4.0, 5.0]]).double()
    yield Case("by hand: 3, 3, 6", hand)
    for T in (draw.integer(4, 9) for _ in range(3)):
        yield Case("any square matrix", draw.normal(T, T))


@turn(
    turns,
    "A.diagonal(-delta) holds all A[i, j] with i - j = delta; their mean, for delta = 0 to T - 1. "
    + see(10, "What a dot product of two positions tells"),
    cases=square_matrices,
    slips="""
    -delta => delta
        On that side of the diagonal keys lie in the future: i - j = delta, so j = i - delta.
    .mean() => .sum()
        That is the sum of each diagonal; far distances have fewer pairs, so take the mean.
    .mean() => .sum() / len(A)
        A diagonal has T - delta entries, not T: divide by their number.
    range(len(A)) => range(1, len(A))
        The distance 0, a position and itself, comes first.
    return A[-1].flip(0)
    .mean() => [0]
        That is the last row alone, or the first column alone; take the mean over all pairs.
    return A.mean(0)
    return A.mean(1)
        That is the mean of each column or row, a key's or a query's position, not a distance.
    """,
)
def by_distance(A):
    """A (T, T), rows look back at columns -> (T,), of A's dtype: means where i - j = delta."""
    return torch.stack([A.diagonal(-delta).mean() for delta in range(len(A))])


def pairs(draw):
    q, k = torch.tensor([1.0, 0.3]).double(), torch.tensor([0.8, -0.6]).double()
    yield Case("at distance 0, a dot product", q, k, 0.5, 0)
    yield Case("the example, distance 2", q, k, 0.5, 2)
    for _ in range(4):
        theta, distance = 0.1 + abs(draw.normal(1).item()), draw.integer(1, 30)
        yield Case("any pair, any distance", draw.normal(2), draw.normal(2), theta, distance)


@turn(
    turns,
    "a is the plain dot product of q and k. For b, turn k by -90 degrees, (k1, k2) becomes "
    "(k2, -k1), and take its dot product with q. " + see(10, "RoPE: turn the queries and the keys"),
    cases=pairs,
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
    k[0] + q[1] => k[0] - q[1]
        At distance 0 the score is the plain dot product, q1 k1 + q2 k2.
    return score_by_distance(q, k, math.radians(theta), distance)
        theta is in radians already: math.cos takes radians.
    """,
)
def score_by_distance(q, k, theta, distance):
    """The score (a tensor) of a query q (2,) and a key k (2,) `distance` positions before it."""
    a = q[0] * k[0] + q[1] * k[1]
    b = q[0] * k[1] - q[1] * k[0]
    return a * math.cos(theta * distance) + b * math.sin(theta * distance)


def slopes(draw):
    yield Case("by hand: the last row is -1, -0.5, 0", 0.5, 3)
    for _ in range(3):
        yield Case("any slope, any size", 2.0 ** -draw.integer(2, 6), draw.integer(4, 9))


@turn(
    turns,
    "-slope * (i - j), with the query's i down the rows, and -inf where j > i. "
    + see(10, "ALiBi: a score that falls with the distance"),
    cases=slopes,
    slips="""
    -slope => slope
        The sign: like this the farthest key gets the highest score.
    .masked_fill(distance < 0, -math.inf) =>
    return -slope * (torch.arange(T)[:, None] - torch.arange(T)).abs()
        The keys of the future get a higher score here, or are lowered like those of the past; they
        belong at -inf.
    -math.inf => 0.0
        A 0 does not hide a key: exp(0) = 1. The keys of the future belong at -inf.
    -math.inf => -1e9
        Nearly: a very low number hides a key, too, but -inf makes its weight exactly 0.
    -slope * distance => slope * t.expand(T, T)
        A bias that grows with the key's position has the same softmax, but here the distance is
        asked for: -slope * (i - j), which is 0 on the diagonal.
    t[:, None] - t => t - t[:, None]
        A row is a query, a column a key: i - j.
    return alibi_bias(1.0, T)
        Each head has a slope of its own, the first argument; here it is 1.
    distance < 0 => distance <= 0
        A position sees itself, at distance 0: only j > i is the future.
    distance < 0 => distance >= 0
        The wrong side is hidden: the future are the keys with j > i.
    -slope * distance => -slope * t[:, None].expand(T, T)
    -slope * distance => -slope * t.expand(T, T)
        That is the query's position, or the key's position; the distance i - j is asked for.
    """,
)
def alibi_bias(slope, T):
    """What is added to the scores of T queries (rows) and T keys (columns): (T, T)."""
    t = torch.arange(T)
    distance = t[:, None] - t  # i - j
    return (-slope * distance).masked_fill(distance < 0, -math.inf)


def widths(draw):
    yield Case("by hand: each sees itself and the one before", 4, 2)
    for _ in range(3):
        yield Case("any size, any width", draw.integer(5, 10), draw.integer(2, 4))


@turn(
    turns,
    "The distance i - j of the query's row i and the key's column j is at least 0 and less than "
    "width. " + see(10, "Longer than in training"),
    cases=widths,
    slips="""
    < width => <= width
        One key too many: the query's own position is one of the width.
    < width => < width - 1
        One key too few: with the query's own position there are width of them.
    (distance >= 0) & =>
    (distance >= 0) & (distance < width) => distance.abs() < width
        This looks into the future as well: i - j must not be negative.
    return ~window_mask(T, width)
        True means that the key is seen, not hidden.
    t[:, None] - t => t - t[:, None]
        A row is a query, a column a key: i - j.
    & (distance < width) =>
        That is the causal mask: keys further back than the window are still seen.
    (distance < width) => (t[:, None] // width == t // width)
        These are blocks of width positions side by side; the window slides along with every query.
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
