"""Your turn with positions: digits, shifts, diagonals, a wave, a bias, a window."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook10")
Slip = tuple[Callable, str]
CANDIDATES = see(10, "Candidates, and why they fail")
ROPE = see(10, "RoPE: turn the queries and the keys")
ALIBI = see(10, "ALiBi: a score that falls with the distance")


def _judge(P: Tensor) -> tuple[float, float]:
    distances = torch.cdist(P, P)
    distances.fill_diagonal_(math.inf)
    return P.abs().max().item(), distances.min().item()


@turns.task(_judge)
def judge(trial: Trial) -> None:
    hint = (
        "Two plain numbers: the largest of P.abs(), and the smallest distance of two different "
        f"rows. {CANDIDATES}"
    )
    own = "A row is at distance 0 from itself: leave the diagonal out before you take the minimum."
    slips: list[Slip] = [
        (lambda P: (P.abs().max().item(), torch.cdist(P, P).min().item()), own),
        (
            lambda P: (P.max().item(), _judge(P)[1]),
            "A large negative entry is large, too: take the absolute value.",
        ),
        (
            lambda P: (P.norm(dim=1).max().item(), _judge(P)[1]),
            "That is the length of the longest row; the largest single entry is asked for.",
        ),
        (
            lambda P: (_judge(P)[0], torch.cdist(P, P).max().item()),
            "These are the two rows that are farthest apart; the nearest two are asked for.",
        ),
        (
            lambda P: (_judge(P)[0], (P[1:] - P[:-1]).norm(dim=1).min().item()),
            "Neighbours only: any two positions may be near each other. Take all pairs.",
        ),
        (
            lambda P: (_judge(P)[0], (d := torch.cdist(P, P))[d > 0].min().item()),
            "Two equal rows are at distance 0, and that is the case we look for: leave out the "
            "diagonal, not the zeros.",
        ),
        (
            lambda P: (_judge(P)[0], _judge(P)[1] ** 2),
            "That is the squared distance: take the root, as torch.cdist does.",
        ),
        (lambda P: _judge(P)[::-1], "The largest value comes first, then the distance."),
    ]
    look = {"hint": hint, "slips": slips}
    hand = torch.tensor([[0.0, -7.0], [3.0, -3.0], [9.0, 5.0], [9.0, 6.0]]).double()
    trial.agrees(_judge, hand, rule="by hand: 9 and 1", **look)
    loud = torch.tensor([[1.0, -8.0], [4.0, -4.0], [2.0, 0.5]]).double()
    trial.agrees(_judge, loud, rule="negative entries count", **look)
    corners = [[0.0, 0.0], [9.0, 0.0], [0.0, 2.0], [7.0, 8.0], [0.0, 0.0]]
    round_trip = torch.tensor(corners).double()
    trial.agrees(_judge, round_trip, rule="two equal rows are at distance 0", **look)
    for _ in range(3):
        P = trial.normal(trial.integer(5, 12), trial.integer(1, 5))
        trial.agrees(_judge, P, rule="any table", **look)


def _binary(T: int, bits: int) -> Tensor:
    t, j = torch.arange(T)[:, None], torch.arange(bits)
    return (t // 2**j % 2).float()


@turns.task(_binary)
def binary(trial: Trial) -> None:
    hint = (
        "Divide the position by 2 to the power j, without a remainder; the digit says whether the "
        f"result is odd. {CANDIDATES}"
    )
    slips: list[Slip] = [
        (
            lambda T, bits: _binary(T, bits).flip(1),
            "The order of the columns is turned round: the lowest digit stands in column 0.",
        ),
        (
            lambda T, bits: _binary(T + 1, bits)[1:],
            "Positions count from 0: the first row is all zeros.",
        ),
        (lambda T, bits: _binary(T, bits).T, "A row is a position, a column a digit."),
        (
            lambda T, bits: torch.arange(T)[:, None].float() // 2 ** torch.arange(bits),
            "That is the number without its last digits; a digit is 0 or 1: is it odd?",
        ),
        (
            lambda T, bits: (torch.arange(T)[:, None] % 2 ** torch.arange(bits)).float(),
            "A remainder keeps the lower digits; divide first, then take the remainder of 2.",
        ),
        (
            lambda T, bits: (torch.arange(T)[:, None] & 2 ** torch.arange(bits)).float(),
            "Right digits, but each still has its weight 1, 2, 4, ...: entries are 0 or 1.",
        ),
        (
            lambda T, bits: (
                torch.arange(T)[:, None] // (2 * torch.arange(bits)).clamp(min=1) % 2
            ).float(),
            "2 * j grows by steps of two; the digits belong to the powers 2 ** j.",
        ),
        (lambda T, bits: 1 - _binary(T, bits), "Zeros and ones are exchanged."),
        (lambda T, bits: _binary(T, bits).long(), "Floats are asked for: positions are added up."),
        (lambda T, bits: _binary(T, bits).bool(), "Floats are asked for, 0.0 and 1.0."),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_binary, 8, 3, rule="by hand: 6 is the row (0, 1, 1)", **look)
    trial.agrees(_binary, 5, 4, rule="a digit that is never needed stays 0", **look)
    for _ in range(3):
        T, bits = trial.integer(9, 40), trial.integer(4, 7)
        trial.agrees(_binary, T, bits, rule="any size", **look)


def _shift_pair(b: float) -> Tensor:
    c, s = math.cos(b), math.sin(b)
    return torch.tensor([[c, s], [-s, c]], dtype=torch.float64)


@turns.task(_shift_pair)
def shift_pair(trial: Trial) -> None:
    hint = (
        "The first row makes sin(a+b) of sin a and cos a, the second makes cos(a+b): read the "
        "four factors off the addition theorems. " + see(10, "A shift is a rotation")
    )
    slips: list[Slip] = [
        (
            lambda b: _shift_pair(b).T,
            "This turns back, by -b. The sine comes first here; the minus stands where the new "
            "cosine is made.",
        ),
        (
            lambda b: torch.tensor(
                [[math.cos(b), math.sin(b)], [math.sin(b), math.cos(b)]]
            ).double(),
            "A minus sign is missing: cos(a+b) = cos b cos a - sin b sin a.",
        ),
        (
            lambda b: torch.tensor(
                [[math.sin(b), math.cos(b)], [math.cos(b), -math.sin(b)]]
            ).double(),
            "With b = 0 nothing moves: the matrix must then be 1 on the diagonal.",
        ),
        (
            lambda b: torch.tensor(
                [[math.sin(b), math.cos(b)], [math.cos(b), math.sin(b)]]
            ).double(),
            "With b = 0 nothing moves: the matrix must then be 1 on the diagonal.",
        ),
        (
            lambda b: _shift_pair(math.radians(b)),
            "The angle b is in radians already: math.cos takes radians.",
        ),
        (lambda b: _shift_pair(b).float(), "float64 is asked for: dtype=torch.float64."),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_shift_pair, 0.0, rule="by 0, nothing moves", **look)
    trial.agrees(_shift_pair, math.pi / 2, rule="a quarter turn", **look)
    for _ in range(3):
        b = float(trial.normal(1).item())
        trial.agrees(_shift_pair, b, rule="any angle", **look)


def _by_distance(A: Tensor) -> Tensor:
    return torch.stack([A.diagonal(-delta).mean() for delta in range(len(A))])


@turns.task(_by_distance)
def by_distance(trial: Trial) -> None:
    hint = (
        "A.diagonal(-delta) holds all A[i, j] with i - j = delta; their mean, for delta = 0 to "
        f"T - 1. {see(10, 'What a dot product of two positions tells')}"
    )
    slips: list[Slip] = [
        (
            lambda A: torch.stack([A.diagonal(delta).mean() for delta in range(len(A))]),
            "On that side of the diagonal keys lie in the future: i - j = delta, so j = i - delta.",
        ),
        (
            lambda A: torch.stack([A.diagonal(-delta).sum() for delta in range(len(A))]),
            "That is the sum of each diagonal; far distances have fewer pairs, so take the mean.",
        ),
        (
            lambda A: torch.stack([A.diagonal(-delta).sum() / len(A) for delta in range(len(A))]),
            "A diagonal has T - delta entries, not T: divide by their number.",
        ),
        (
            lambda A: torch.stack([A.diagonal(-delta).mean() for delta in range(1, len(A))]),
            "The distance 0, a position and itself, comes first.",
        ),
        (lambda A: A.flip(1)[-1], "That is the last row alone; take the mean over all queries."),
        (lambda A: A.mean(0), "That is the mean of each column, a key's position, not a distance."),
        (lambda A: A[:, 0], "That is the first column alone: key 0. Take the mean over all pairs."),
        (lambda A: A.mean(1), "That is the mean of each row, a query's position, not a distance."),
    ]
    look = {"hint": hint, "slips": slips}
    hand = torch.tensor([[1.0, 9.0, 8.0], [2.0, 3.0, 7.0], [6.0, 4.0, 5.0]]).double()
    trial.agrees(_by_distance, hand, rule="by hand: 3, 3, 6", **look)
    for _ in range(3):
        T = trial.integer(4, 9)
        trial.agrees(_by_distance, trial.normal(T, T), rule="any square matrix", **look)


def _score_by_distance(q: Tensor, k: Tensor, theta: float, distance: float) -> Tensor:
    a, b = q[0] * k[0] + q[1] * k[1], q[0] * k[1] - q[1] * k[0]
    return a * math.cos(theta * distance) + b * math.sin(theta * distance)


@turns.task(_score_by_distance)
def score_by_distance(trial: Trial) -> None:
    hint = (
        "a is the plain dot product of q and k. For b, turn k by -90 degrees, (k1, k2) becomes "
        f"(k2, -k1), and take its dot product with q. {ROPE}"
    )

    def wave(q: Tensor, k: Tensor, angle: float, sign: float = 1.0) -> Tensor:
        a, b = q[0] * k[0] + q[1] * k[1], q[0] * k[1] - q[1] * k[0]
        return a * math.cos(angle) + sign * b * math.sin(angle)

    slips: list[Slip] = [
        (
            lambda q, k, theta, d: wave(q, k, theta * d, -1),
            "b has the other sign: this is the score of a key that stands behind the query.",
        ),
        (
            lambda q, k, theta, d: (q @ k) * math.cos(theta * d),
            "b is missing: unless q and k point the same way, the crest is not at distance 0.",
        ),
        (
            lambda q, k, theta, d: wave(q, k, theta),
            "The angle grows with the distance: theta times distance.",
        ),
        (
            lambda q, k, theta, d: (
                (q @ k) * math.cos(theta * d) + (q[0] * k[1] + q[1] * k[0]) * math.sin(theta * d)
            ),
            "b is a difference: in q1 k2 - q2 k1 one of the products has a minus.",
        ),
        (
            lambda q, k, theta, d: (
                (q[0] * k[1] - q[1] * k[0]) * math.cos(theta * d) + (q @ k) * math.sin(theta * d)
            ),
            "a and b have changed places: at distance 0 the score is the plain dot product.",
        ),
        (
            lambda q, k, theta, d: (
                (q[0] * k[0] - q[1] * k[1]) * math.cos(theta * d)
                + (q[0] * k[1] - q[1] * k[0]) * math.sin(theta * d)
            ),
            "At distance 0 the score is the plain dot product, q1 k1 + q2 k2.",
        ),
        (
            lambda q, k, theta, d: wave(q, k, math.radians(theta * d)),
            "theta is in radians already: math.cos takes radians.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    q, k = torch.tensor([1.0, 0.3]).double(), torch.tensor([0.8, -0.6]).double()
    trial.agrees(_score_by_distance, q, k, 0.5, 0, rule="at distance 0, a dot product", **look)
    trial.agrees(_score_by_distance, q, k, 0.5, 2, rule="the example, distance 2", **look)
    for _ in range(4):
        theta, distance = 0.1 + abs(float(trial.normal(1).item())), trial.integer(1, 30)
        arguments = trial.normal(2), trial.normal(2), theta, distance
        trial.agrees(_score_by_distance, *arguments, rule="any pair, any distance", **look)


def _alibi_bias(slope: float, T: int) -> Tensor:
    t = torch.arange(T)
    distance = t[:, None] - t
    return (-slope * distance).masked_fill(distance < 0, -math.inf)


@turns.task(_alibi_bias)
def alibi_bias(trial: Trial) -> None:
    hint = f"-slope * (i - j), with the query's i down the rows, and -inf where j > i. {ALIBI}"

    def plain(slope: float, T: int) -> Tensor:
        t = torch.arange(T)
        return -slope * (t[:, None] - t)

    slips: list[Slip] = [
        (
            lambda slope, T: (-plain(slope, T)).masked_fill(~_lower(T), -math.inf),
            "The sign: like this the farthest key gets the highest score.",
        ),
        (plain, "The keys of the future get a higher score here; they belong at -inf."),
        (
            lambda slope, T: plain(slope, T).tril(),
            "A 0 does not hide a key: exp(0) = 1. The keys of the future belong at -inf.",
        ),
        (
            lambda slope, T: -plain(slope, T).abs(),
            "That lowers the keys of the future like those of the past; they belong at -inf.",
        ),
        (
            lambda slope, T: _alibi_bias(slope, T).clamp(min=-1e9),
            "Nearly: a very low number hides a key, too, but -inf makes its weight exactly 0.",
        ),
        (
            lambda slope, T: torch.where(_lower(T), slope * torch.arange(T), -math.inf),
            "A bias that grows with the key's position has the same softmax, but here the distance "
            "is asked for: -slope * (i - j), which is 0 on the diagonal.",
        ),
        (lambda slope, T: _alibi_bias(slope, T).T, "A row is a query, a column a key: i - j."),
        (
            lambda slope, T: _alibi_bias(1.0, T),
            "Each head has a slope of its own, the first argument; here it is 1.",
        ),
        (
            lambda slope, T: _alibi_bias(slope, T).masked_fill(torch.eye(T).bool(), -math.inf),
            "A position sees itself, at distance 0: only j > i is the future.",
        ),
        (
            lambda slope, T: _alibi_bias(slope, T).exp(),
            "These are the factors that a softmax would make of it; the biases are asked for.",
        ),
        (
            lambda slope, T: plain(slope, T).masked_fill(_lower(T), -math.inf),
            "The wrong side is hidden: the future are the keys with j > i.",
        ),
        (
            lambda slope, T: torch.where(_lower(T), -slope * torch.arange(T)[:, None], -math.inf),
            "That is the query's position; the distance i - j is asked for.",
        ),
        (
            lambda slope, T: torch.where(_lower(T), -slope * torch.arange(T), -math.inf),
            "That is the key's position; the distance i - j is asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_alibi_bias, 0.5, 3, rule="by hand: the last row is -1, -0.5, 0", **look)
    for _ in range(3):
        slope = 2.0 ** -trial.integer(2, 6)
        trial.agrees(_alibi_bias, slope, trial.integer(4, 9), rule="any slope, any size", **look)


def _lower(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def _window_mask(T: int, width: int) -> Tensor:
    t = torch.arange(T)
    distance = t[:, None] - t
    return (distance >= 0) & (distance < width)


@turns.task(_window_mask)
def window_mask(trial: Trial) -> None:
    hint = (
        "The distance i - j of the query's row i and the key's column j is at least 0 and less "
        f"than width. {see(10, 'Longer than in training')}"
    )
    slips: list[Slip] = [
        (
            lambda T, width: _window_mask(T, width + 1),
            "One key too many: the query's own position is one of the width.",
        ),
        (
            lambda T, width: _window_mask(T, width - 1),
            "One key too few: with the query's own position there are width of them.",
        ),
        (
            lambda T, width: (torch.arange(T)[:, None] - torch.arange(T)).abs() < width,
            "This looks into the future as well: i - j must not be negative.",
        ),
        (
            lambda T, width: (torch.arange(T)[:, None] - torch.arange(T)) < width,
            "This looks into the future as well: i - j must not be negative.",
        ),
        (lambda T, width: ~_window_mask(T, width), "True means that the key is seen, not hidden."),
        (lambda T, width: _window_mask(T, width).T, "A row is a query, a column a key: i - j."),
        (
            lambda T, width: _lower(T),
            "That is the causal mask: keys further back than the window are still seen.",
        ),
        (
            lambda T, width: _lower(T) & (torch.arange(T) < width),
            "These are the first positions of the text; the window moves along with the query.",
        ),
        (
            lambda T, width: (
                _lower(T) & (torch.arange(T)[:, None] // width == torch.arange(T) // width)
            ),
            "These are blocks of width positions side by side; the window slides along with every "
            "query.",
        ),
        (
            lambda T, width: _window_mask(T, width) & ~torch.eye(T).bool(),
            "The query's own position is seen, too: the distance may be 0.",
        ),
        (
            lambda T, width: _window_mask(T, width).float(),
            "A mask is of bool: True and False, not 1.0 and 0.0.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_window_mask, 4, 2, rule="by hand: each sees itself and the one before", **look)
    for _ in range(3):
        T = trial.integer(5, 10)
        trial.agrees(_window_mask, T, trial.integer(2, 4), rule="any size, any width", **look)
