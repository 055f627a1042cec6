"""Checks of lab 04, tasks 8 to 10: order, the sinusoid, and rotations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips
from helpers.course.checks.lab04.common import ask, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models import positions


def _order_gap(f: Callable[[Tensor], Tensor], x: Tensor, order: Tensor) -> float:
    return (f(x[order]) - f(x)[order]).abs().max().item()


@lab.task(_order_gap)
def order_gap(trial: Trial) -> None:
    moves = "The outputs move with the words: compare f of the shuffled words with the shuffled "
    moves += "outputs of f, both in the same order. " + see(9, "A bag of words")

    def try_on(f: Callable, x: Tensor, order: Tensor, rule: str, given: str) -> None:
        a, b = f(x[order]), f(x)[order]
        back = f(x)[order.argsort()]
        gap, largest = a - b, "The largest difference is asked for, not their mean, sum or norm."
        size = "A difference may be negative: its size counts."
        shuffled = "This compares texts, and f is not used: compare what f makes of them."
        inverse = "Here the second is put into the inverse order: index both with order."
        slips = [
            ((a - f(x)).abs().max(), moves),
            ((a - back).abs().max(), inverse),
            *((value, largest) for value in (gap.abs().mean(), gap.norm(), gap.abs().sum())),
            *((value, size) for value in (gap.max(), (-gap).max())),
            ((x[order] - x).abs().max(), shuffled),
            ((gap**2).max(), "The size of the difference is asked for, not its square."),
        ]
        slips = [(float(value), hint) for value, hint in slips]
        rows = "x and f(x) have a row for each word; order says which word comes where."
        got = ask(trial, f, x, order, given=given, hint=rows)
        single = not isinstance(got, bool) and getattr(got, "numel", lambda: 1)() == 1
        hint = moves if single else "One number is asked for: how large the gap is."
        trial.equals(got, _order_gap(f, x, order), rule, hint, slips=slips, given=given)

    def sums(x: Tensor) -> Tensor:
        return x.cumsum(0)

    # Of these numbers no known slip makes the same as another, or the right one.
    x, order = torch.tensor([[2.0], [3.0], [4.0], [5.0]]).double(), torch.tensor([1, 3, 0, 2])
    given = "f adds up the words so far, x = [[2], [3], [4], [5]], order = [1, 3, 0, 2]"
    try_on(sums, x, order, "by hand: 3, 8, 10, 14 against 5, 14, 2, 9", given)
    given = "the same with the opposite sign"
    try_on(lambda x: -sums(x), x, order, "by hand, with the opposite sign", given)
    x, order = trial.normal(6, 3), torch.tensor([3, 5, 0, 1, 4, 2])
    given = "f doubles every word, six words of three features"
    try_on(lambda x: 2 * x, x, order, "0 for what each word gets on its own", given)
    given = "f gives every word the mean of all, six words of three features"
    try_on(lambda x: x.mean(0).expand_as(x), x, order, "0 for a mean of all words", given)
    order = torch.randperm(6, generator=trial.generator)
    order = order.roll(1) if order.tolist() == sorted(order.tolist()) else order
    place = torch.arange(6.0).double()[:, None]
    try_on(lambda x: x * place, x, order, "a random order", "f multiplies a word with its place")


def _sinusoidal_table(T: int, d_model: int) -> Tensor:
    return positions.sinusoidal_table(T, d_model)


LECTURE = [
    [0.000, 1.000, 0.000, 1.000, 0.000],
    [0.841, 0.540, 0.025, 1.000, 0.001],
    [0.909, -0.416, 0.050, 0.999, 0.001],
    [0.141, -0.990, 0.075, 0.997, 0.002],
    [-0.757, -0.654, 0.100, 0.995, 0.003],
]  # CMU 11-785, lecture 19: a row for each of the positions 0 to 4


@lab.task(_sinusoidal_table)
def sinusoidal_table(trial: Trial) -> None:
    where = "Column 2i is a sine and column 2i + 1 a cosine of the same angle. "
    where += see(10, "The sinusoid: a clock with many hands")
    rows = "A row for each of T positions, a column for each of d_model dimensions."
    odd = "With an odd width the last sine has no cosine. How many pairs begin?"

    def try_on(T: int, D: int, rule: str) -> None:
        place, j = torch.arange(T).double()[:, None], torch.arange(D)

        def table(exponent: Tensor, first: int = 0, place: Tensor = place) -> Tensor:
            angles = place * 10000.0 ** -(exponent / D)
            return torch.where((j + first) % 2 == 0, angles.sin(), angles.cos())

        pair, half = 2 * (j // 2), (D + 1) // 2
        angles = place * 10000.0 ** -(pair[::2] / D)
        cosine_first = "Even columns, from 0 on, hold sines; odd ones cosines."
        exponent = "The exponent is 2i / d_model, where i is the number of the pair, and both "
        exponent += "columns of a pair share it. Write down i for the columns 0 to 4."
        side = "Sine and cosine stand side by side, not in two halves."
        slips = [
            (table(pair, 1), cosine_first),
            *((table(wrong), exponent) for wrong in (j, j // 2, 2 * j)),
            (table(pair, 0, place + 1), "Positions count from 0: the first row is 0, 1, ..."),
            (torch.cat([angles.sin(), angles.cos()[:, : D - half]], 1), side),
            ((place * 10000.0 ** -(pair / D)).sin(), "Odd columns are cosines."),
        ]
        expected = positions.sinusoidal_table(T, D, dtype=torch.float64)
        if T == D:
            slips.append((expected.T, "A row is a position, a column a dimension."))
        given = f"T = {T}, d_model = {D}"
        got = ask(trial, T, D, given=given, hint=odd if D % 2 else rows)
        got = got.double() if isinstance(got, Tensor) and got.is_floating_point() else got
        hint = where
        if isinstance(got, Tensor) and not got.is_floating_point():
            hint = "Whole numbers cannot hold a sine: which dtype has your table?"
        elif isinstance(got, Tensor) and got.shape != expected.shape:
            hint = odd if got.shape in ((T, D - 1), (T, D + 1)) else rows
        elif isinstance(got, Tensor) and not got.isfinite().all():
            hint = (
                "NaN or infinity: print the exponents and the powers. 10000 is raised to a power, "
                "which whole numbers may not hold."
            )
        trial.equals(got, expected, rule, hint, slips=slips, given=given, tolerance=1e-4)
        if (T, D) == (5, 5):
            slide = torch.tensor(LECTURE).double()
            trial.holds((got - slide).abs().max() < 6e-4, "the lecture's table to the digit", where)

    try_on(5, 5, "five positions, five dimensions")
    try_on(1, 4, "position 0")
    try_on(trial.integer(6, 40), 2 * trial.integer(2, 9), "an even width")
    try_on(trial.integer(6, 40), 2 * trial.integer(2, 9) + 1, "an odd width")
    try_on(3, 1, "a single dimension")


@cache
def _rotary(K: int) -> positions.RotaryPositions:
    return positions.RotaryPositions(K)


def _rotate(x: Tensor, start: int = 0) -> Tensor:
    return _rotary(x.shape[-1]).rotate(x, start)


@lab.task(_rotate)
def rotate(trial: Trial) -> None:
    where = "Features 2i and 2i + 1 are a point of the plane, and the angle is the position times "
    where += "10000^(-2i/K). " + see(10, "RoPE: turn the queries and the keys")

    place = "Row t of x has the position start + t; there are as many positions as rows."

    def try_on(x: Tensor, start: int, rule: str, given: str = "") -> None:
        given = given or f"x {tuple(x.shape)}, start = {start}"
        front = "There may be dimensions in front of T and K: both are counted from the end."
        hint = front if x.dim() > 2 else place if start else where
        got = ask(trial, x, given=given, hint=hint, **({"start": start} if start else {}))
        hint, slips = where, _rotary_slips(x, start)
        if isinstance(got, Tensor) and got.dtype != x.dtype:
            hint, slips = "The result has the dtype of x: bring cosines and sines to it.", ()
        elif isinstance(got, Tensor) and got.shape != x.shape:
            hint = f"The result has the shape of x. {where}"
        expected = _rotate(x, start)
        trial.equals(got, expected, rule, hint, slips=slips, given=given, tolerance=1e-4)

    x = torch.tensor([[1.0, 2.0], [1.0, 2.0]]).double()
    given = "[[1, 2], [1, 2]], K = 2: the angles are 0 and 1"
    try_on(x, 0, "by hand: the same point, turned by 0 and by 1", given)
    x = torch.tensor([[3.0, 4.0]]).double()
    try_on(x, 2, "positions count from start", "[[3, 4]], start = 2: the angle is 2")
    x = trial.normal(trial.integer(3, 6), 8)
    try_on(x, 0, "four pairs, each with an angle of its own")
    q, k = trial.normal(2, 3, 5, 6), trial.normal(2, 3, 5, 6)
    try_on(q, 0, "heads in front of positions")
    far = trial.integer(20, 100)
    try_on(q, far, "any start")
    turned = [ask(trial, y, start=s) for s in (0, far) for y in (q, k)]
    norms = (turned[0].norm(dim=-1) - q.norm(dim=-1)).abs().max()
    trial.holds(norms < 1e-4, "norms stay", where, got=norms)
    here, there = (a @ b.mT for a, b in (turned[:2], turned[2:]))
    trial.holds((here - there).abs().max() < 1e-3, "scores know the distance only", where)
    try_on(trial.normal(3, 4).float(), 0, "single precision stays so")


def _rotary_slips(x: Tensor, start: int) -> Slips:
    """What known slips make of x."""
    T, K = x.shape[-2:]
    i, place = torch.arange(K // 2).double(), start + torch.arange(T).double()[:, None]
    a, b = x[..., ::2], x[..., 1::2]
    halves = x[..., : K // 2], x[..., K // 2 :]

    def turn(speed: Tensor, place: Tensor = place, pair=(a, b), signs=(-1, 1)) -> list[Tensor]:
        c, s = (place * speed).cos(), (place * speed).sin()
        return [c * pair[0] + signs[0] * s * pair[1], signs[1] * s * pair[0] + c * pair[1]]

    def side_by_side(parts: list[Tensor]) -> Tensor:
        return torch.stack(parts, -1).flatten(-2)

    speed = 10000.0 ** (-2 * i / K)
    new, added = turn(speed)[0], positions.sinusoidal_table(T, K, start=start, dtype=x.dtype)
    other_way = "This turns the other way: (1, 0) goes towards (0, 1)."
    minus = "A rotation has one minus sign, else lengths change: which of the four terms has it?"
    no_start = "Position t of the input stands at start + t: start does nothing here."
    from_0 = "Positions count from 0: without start, the first row stays as it is."
    halved = "Neighbours are turned together, 0 with 1, 2 with 3; these are halves."
    torn = "The pairs are right; their two parts must go back to where they came from."
    alike = "Every pair has a speed of its own; here all turn alike."
    exponent = "The speed of pair i is 10000^(-2i/K), i = 0, 1, ..., K/2 - 1."
    overwritten = (
        "The new a is used where the old one belongs: both sums need a and b as they were."
    )
    still = "All positions turn by the same angle: it grows with the position."
    return [
        (side_by_side(turn(speed, signs=(1, -1))), other_way),
        (side_by_side(turn(speed, signs=(1, 1))), minus),
        (side_by_side(turn(speed, signs=(-1, -1))), minus),
        (side_by_side(turn(speed, place - start)), no_start),
        (side_by_side(turn(speed, place + 1)), from_0),
        (torch.cat(turn(speed, pair=halves), -1), halved),
        (torch.cat(turn(speed), -1), torn),
        (side_by_side(turn(torch.ones_like(speed))), alike),
        (side_by_side(turn(10000.0 ** (-i / K))), exponent),
        (side_by_side(turn(10000.0 ** (-4 * i / K))), exponent),
        (side_by_side(turn(speed, torch.ones_like(place))), still),
        (side_by_side([new, (place * speed).sin() * new + (place * speed).cos() * b]), overwritten),
        (x + added, "Nothing is added to x here: its pairs are turned."),
        (x, "Nothing has turned."),
    ]
