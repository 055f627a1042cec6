"""Checks of lab 04, task 1: attention on paper."""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab04.common import ask, lab
from helpers.course.checks.trial import Trial

ROUNDED = 2e-3  # a number computed from weights of three decimals may be so far off


def numbers() -> dict[str, list[int]]:
    """Scores and values of the task on paper, from the class's variant."""
    generator = lab.generator("by hand")
    # Of these numbers no three make the result of a known slip the right one.
    return {
        name: [choices[i] for i in torch.randperm(4, generator=generator)[:3].tolist()]
        for name, choices in (("scores", (1, 2, 3, 5)), ("values", (1, 4, 6, 10)))
    }


def _by_hand() -> dict[str, float]:
    scores, values = (torch.tensor(x, dtype=torch.float64) for x in numbers().values())
    a, seen = scores.softmax(0), scores[:2].softmax(0)
    return {
        "first weight": float(a[0]),
        "output": float(a @ values),
        "output, all scores + 100": float(a @ values),
        "output, third masked": float(seen @ values[:2]),
    }


def _slips_by_hand() -> dict[str, list[tuple[float, str]]]:
    """For each number what known slips give, and their hints."""
    scores, values = (torch.tensor(x, dtype=torch.float64) for x in numbers().values())
    a, e = scores.softmax(0), scores.exp()
    share = "A share of the scores themselves is no softmax: take e to the power of each first."
    best = "The value of the largest score is the hard choice; the soft one mixes all three."
    even = "The mean with equal weights leaves the scores out: weight each value."
    before = "The weights of what is left sum to 1 again: the mask comes before the softmax."
    zero = "A masked score is -infinity. A score of 0 still counts: e to the power of 0 is 1."
    unmasked = "This is what comes of all three: the third is not to be seen."
    hidden = scores * torch.tensor([1.0, 1.0, 0.0])
    total = max(float(scores.sum()), 1.0)
    outputs = [(float(values[scores.argmax()]), best), (float(values.mean()), even)]
    return {
        "first weight": [
            (float(scores[0]) / total, share),
            (100 * float(a[0]), "A weight is a share of 1, and not of 100."),
            (float(e[0]), "The exponentials are divided by their sum."),
        ],
        "output": [*outputs, (float(scores @ values) / total, share)],
        "output, all scores + 100": outputs,
        "output, third masked": [
            (float(a[:2] @ values[:2]), before),
            (float(hidden.softmax(0) @ values), zero),
            (float(a @ values), unmasked),
        ],
    }


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_slips_by_hand", "fallback"])
def by_hand(trial: Trial) -> None:
    hints = {
        "first weight": "e to the power of the first score, over the sum of all three such powers.",
        "output": "Each value times its weight, all added up.",
        "output, all scores + 100": "What does a factor e^100 above and below the line do?",
        "output, third masked": "Two scores are left, and their two weights sum to 1.",
    }
    got, expected, slips = ask(trial), _by_hand(), _slips_by_hand()
    scores, values = numbers().values()
    trial.named(got, expected)
    given = f"scores {scores}, values {values}"
    for name, value in expected.items():
        mine, number = got[name], "A number is asked for: no text, no list, not None."
        mine = mine.item() if isinstance(mine, Tensor) and mine.numel() == 1 else mine
        fine = isinstance(mine, int | float)
        trial.holds(fine, "each of them is a number", number, given=name, got=repr(mine))
        digits = (
            "Close: carry more decimals on the way." if abs(mine - value) < 2e-2 else hints[name]
        )
        hint = known_slip(mine, slips[name], ROUNDED) or digits
        trial.holds(abs(mine - value) < ROUNDED, name, hint, given=given, got=mine)
