"""Checks of lab 08, task 1: three answers, on paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab08.common import BEST, DPO, lab
from helpers.course.checks.trial import DECIMALS, Trial

Three = tuple[float, float, float]
_REFERENCES = ((0.5, 0.4, 0.1), (0.5, 0.3, 0.2), (0.7, 0.2, 0.1), (0.4, 0.4, 0.2))
_POLICIES = ((0.2, 0.3, 0.5), (0.3, 0.1, 0.6), (0.1, 0.5, 0.4), (0.35, 0.2, 0.45))


def numbers() -> dict[str, Any]:
    """The numbers of the task on paper, from the class's variant; c has the greatest reward."""
    generator = lab.generator("by hand")

    def one_of(*values: Any) -> Any:
        return values[int(torch.randint(len(values), (1,), generator=generator))]

    return {
        "reference": one_of(*_REFERENCES),
        "reward": (0.0, one_of(0.5, 1.0), one_of(1.5, 2.0, 2.5)),
        "beta": one_of(0.5, 0.8, 2.0),
        "policy": one_of(*_POLICIES),
    }


def _kl(p: Three, q: Three) -> float:
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def five(n: dict[str, Any], *, power: Callable = lambda r, beta: r / beta, price: float = 1.0,
         value: Callable = lambda z, beta: beta * math.log(z), distance: Callable = _kl,
         scale: float | None = None, ref: bool = True, other: int = 0,
) -> dict[str, float]:  # fmt: skip
    """The five numbers; what is named changes one step, as slips do."""
    p, r, beta, pi = n["reference"], n["reward"], n["beta"], n["policy"]
    tilted = [x * math.exp(power(y, beta)) for x, y in zip(p, r, strict=True)]
    sums = [0.0, p[0], p[0] + p[1], 1.0]
    two = [high**2 - low**2 for low, high in itertools.pairwise(sums)]
    gaps = [math.log(x / (y if ref else 1.0)) for x, y in zip(pi, p, strict=True)]
    margin = (beta if scale is None else scale) * (gaps[2] - gaps[other])
    return {
        "best": tilted[2] / sum(tilted),
        "J": value(sum(tilted), beta),
        "always c": r[2] + price * beta * math.log(p[2]),
        "best of 2": distance(two, p),
        "preferred": 1 / (1 + math.exp(-margin)),
    }


def _three() -> dict[str, float]:
    return five(numbers())


_TILT = "The reward is divided by beta: a small beta tilts more."
_SLIPS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "best": [
        ({"power": lambda r, beta: r * beta}, _TILT),
        ({"power": lambda r, _: r}, _TILT),
        ({"power": lambda _, beta: 0.0}, "That is the reference itself: tilt it."),
    ],
    "J": [
        ({"value": lambda z, _: math.log(z)}, "The greatest J is beta times log Z."),
        ({"value": lambda z, beta: beta * z}, "The greatest J holds the logarithm of Z."),
        ({"power": lambda r, beta: r * beta}, _TILT),
        ({"power": lambda r, _: r}, _TILT),
    ],
    "always c": [
        ({"price": 0.0}, "That is the reward alone: this policy has left the reference far behind, "
         "and that has a price."),
        ({"price": -1.0}, "The price is subtracted: a KL divergence is never negative."),
    ],
    "best of 2": [
        ({"distance": lambda p, q: _kl(q, p)}, "The other way round: the mean is over what best of "
         "2 writes."),
        ({"distance": lambda p, q: _kl(p, q) / math.log(2)}, "Nats: the natural logarithm."),
        ({"distance": lambda *_: math.log(2) - 0.5}, "log n - (n - 1) / n is a bound. It is the "
         "divergence only where no two texts can be the same."),
    ],
    "preferred": [
        ({"ref": False}, f"The reference is missing: a reward is beta log (pi / pi_ref). {DPO}"),
        ({"ref": False, "scale": 1.0}, "These are the probabilities of writing them: the reward "
         f"is beta log (pi / pi_ref). {DPO}"),
        ({"scale": 1.0}, "The factor beta is missing."),
        ({"other": 1}, "c is compared with a, not with b."),
    ],
}  # fmt: skip
_HINTS = {
    "best": f"pi_ref(c) e^(r(c) / beta), over the sum of the three. {BEST}",
    "J": f"beta log Z, where Z is the sum of pi_ref e^(r / beta). {BEST}",
    "always c": "Its mean reward is r(c). In the sum that is its KL divergence one term is left.",
    "best of 2": "c comes out unless both texts are a or b; a comes out if both are a. Then the "
    "KL divergence of these three numbers from the reference.",
    "preferred": f"Bradley and Terry's sigmoid of a difference of rewards beta log (pi / pi_ref), "
    f"of c and of a. {DPO}",
}


def slips_of(name: str) -> list[tuple[float, str]]:
    """What known slips make of one number."""
    found = [(five(numbers(), **change)[name], hint) for change, hint in _SLIPS[name]]
    if name in ("best", "preferred"):
        found.append((1 - _three()[name], "That is the probability of the contrary."))
    return found


@lab.task(_three, uses=["check"], without=["_three", "five", "fallback"], lent=False)
def three_answers(trial: Trial) -> None:
    got, expected = trial.call(given="three_answers()"), _three()
    trial.named(got, expected)
    given = ", ".join(f"{name} {value}" for name, value in numbers().items())
    for name, value in expected.items():
        mine, number = got[name], "A number is asked for: no text, no list, not None."
        mine = mine.item() if isinstance(mine, Tensor) and mine.numel() == 1 else mine
        fine = isinstance(mine, int | float) and not isinstance(mine, bool)
        trial.holds(fine, "each of them is a number", number, given=name, got=repr(mine))
        near = abs(mine - value) < DECIMALS
        hint = "" if near else known_slip(mine, slips_of(name), DECIMALS) or _HINTS[name]
        trial.holds(near, name, hint, given=given, got=mine)
