"""Checks of lab 04, task 5: rotary positions."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips
from helpers.course.checks.lab04.common import ask, lab, without_loops
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models import positions


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
    trial.holds(
        (here - there).abs().max() < 1e-3,
        "scores of the same q and k know the distance only",
        where,
    )
    try_on(trial.normal(3, 4).float(), 0, "single precision stays so")
    without_loops(trial, lambda n: (trial.normal(n, n, n, n),))


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
