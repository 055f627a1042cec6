"""Checks of lab 03, first part: the network on paper."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from helpers.course.checks.lab03.common import lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import DECIMALS, Trial


def numbers() -> dict[str, float | list[float]]:
    """The network of the task on paper, from the class's variant: one unit, three symbols."""
    generator = lab.generator("by hand")

    def tenths(low: int, high: int) -> float:
        return int(torch.randint(low, high + 1, (1,), generator=generator)) / 10

    while True:
        n = {
            "w_x": tenths(6, 15),
            "w_h": tenths(4, 9),
            "b": -tenths(1, 4),
            "x": [-tenths(5, 12), tenths(6, 15), tenths(6, 15)],
            "w_y": -tenths(4, 12),
            "b_y": tenths(3, 9),
        }
        found = _elman(n)
        if found["h_2"] >= 0.3 and found["h_3"] != found["h_2"] and found["logit"] < -0.15:
            return n


def _elman(n: Mapping) -> dict[str, float]:
    h, states = 0.0, {}
    for t, x in enumerate(n["x"], 1):
        states[f"h_{t}"] = h = max(0.0, n["w_x"] * x + n["w_h"] * h + n["b"])
    logit = n["w_y"] * h + n["b_y"]
    return {**states, "logit": logit, "P(balanced)": 1 / (1 + math.exp(-logit))}


def _by_hand() -> dict[str, float]:
    return _elman(numbers())


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_elman", "fallback"])
def by_hand(trial: Trial) -> None:
    where = see(6, "The lecture's network and its data")
    hints = {
        "h_1": f"h_0 is 0. What does ReLU make of a negative number? {where}",
        "h_2": f"Step 2 has the same three weights; what is left of step 1 in it? {where}",
        "h_3": f"Step 3 reads its own x, and w_h times the state after step 2; then b. {where}",
        "logit": "The output is linear: w_y times the last state, plus b_y, and no ReLU. A logit "
        "may be negative. To three decimals.",
        "P(balanced)": "The logistic function of the logit z: 1 / (1 + e^-z), to three decimals.",
    }
    got, expected = trial.call(), _by_hand()
    given = ", ".join(f"{name} = {value}" for name, value in numbers().items())
    trial.named(got, expected)
    found = {name: _number(value) for name, value in got.items()}
    for name, number in found.items():
        hint = f"What stands at {name!r} is no number; write it without quotation marks."
        trial.holds(number is not None, "five numbers", hint, got=repr(got[name]))
    for name, value in expected.items():
        close = abs(found[name] - value) < DECIMALS
        trial.holds(close, name, hints[name], given=given, got=got[name])


def _number(value: object) -> float | None:
    try:
        return None if isinstance(value, str) else float(value)
    except (TypeError, ValueError, RuntimeError):
        return None
