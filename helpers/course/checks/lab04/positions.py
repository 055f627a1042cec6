"""Checks of lab 04, task 4: rotary positions."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from helpers.course.checks.lab04.common import ERRORS, lab, without_loops
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

_ROPE = (
    "Features 2i and 2i + 1 are a point of the plane, and the angle is the position times "
    "10000^(-2i/K). " + see(10, "RoPE: turn the queries and the keys")
)
_MINUS = "A rotation has one minus sign, else lengths change: which of the four terms has it?"
_SPEED = "The speed of pair i is 10000^(-2i/K), i = 0, 1, ..., K/2 - 1."
_ERRORS = {
    **ERRORS,
    "RuntimeError": "There may be dimensions in front of T and K: both are counted from the end. "
    "Row t of x has the position start + t; there are as many positions as rows, and as many "
    "angles in a row as pairs.",
}


def _points(trial: Trial) -> Iterator[Case]:
    x, given = torch.tensor([[1.0, 2.0], [1.0, 2.0]]), "[[1, 2], [1, 2]], K = 2"
    yield Case("by hand, the angles 0 and 1", x.double(), given=given)
    x, given = torch.tensor([[3.0, 4.0]]), "[[3, 4]], start = 2: the angle is 2"
    yield Case("positions count from start", x.double(), 2, given=given)
    x = trial.normal(trial.integer(3, 6), 8)
    yield Case("four pairs, each with an angle of its own", x)
    x = trial.normal(2, 3, 5, 6)
    yield Case("heads in front of positions", x)
    yield Case("any start", x, trial.integer(20, 100))
    yield Case("single precision stays so", trial.normal(3, 4).float())


@turn(
    lab,
    _ROPE,
    cases=_points,
    tolerance=1e-4,
    errors=_ERRORS,
    also=lambda trial: without_loops(trial, lambda n: (trial.normal(n, n, n, n),)),
    slips=f"""
    - b * sin, a * sin + b * cos => + b * sin, b * cos - a * sin
        This turns the other way: (1, 0) goes towards (0, 1).
    a * cos - b * sin => a * cos + b * sin
        {_MINUS}
    start + torch => torch
        Position t of the input stands at start + t: start does nothing here.
    x[..., 0::2], x[..., 1::2] => x.chunk(2, -1) ;; \
    turned.flatten(-2) => torch.cat(turned.unbind(-1), -1)
        Neighbours are turned together, 0 with 1, 2 with 3; these are halves.
    turned.flatten(-2) => torch.cat(turned.unbind(-1), -1)
        The pairs are right; their two parts must go back to where they came from.
    torch.arange(0, K, 2) => torch.arange(K // 2)
        {_SPEED}
    turned = torch.stack([a * cos - b * sin => a = a * cos - b * sin ; turned = torch.stack([a
        The new a is used where the old one belongs: both sums need a and b as they were.
    """,
)
def rotate(x, start=0):
    T, K = x.shape[-2:]
    t = start + torch.arange(T)[:, None]
    angles = t / 10000 ** (torch.arange(0, K, 2) / K)  # (T, K/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
    return turned.flatten(-2)
