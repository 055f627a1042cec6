"""Checks of lab 06, task 1: masking, a span and a mark on paper."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab06.common import MASKING, lab
from helpers.course.checks.trial import Trial

ROUNDED = 2e-3
_SHARES = ((20, (60, 30, 10)), (25, (60, 20, 20)), (40, (60, 25, 15)), (20, (70, 20, 10)))
_MARKS = (
    ("red boat by pier", ("old red boat", "boat")),
    ("six good knots", ("knots", "six knots he tied")),
    ("wet net and rope", ("net", "wet net with old rope")),
    ("bread from mill", ("bread", "warm bread from old mill")),
)


def numbers() -> dict[str, Any]:
    """The numbers of the task on paper, from the class's variant."""
    generator = lab.generator("by hand")

    def one_of(n: int) -> int:
        return int(torch.randint(n, (1,), generator=generator))

    share, kinds = _SHARES[one_of(4)]
    answer, truths = _MARKS[one_of(4)]
    while True:
        starts, ends = (torch.randint(-2, 8, (5,), generator=generator).tolist() for _ in range(2))
        sums = _sums(starts, ends)
        if len(set(sums.values())) == len(sums):  # no slip gives the right number
            break
    return {
        "tokens": 1000 * (2 + one_of(4)),
        "words": 4 + one_of(3),
        "share, %": share,
        "kinds, %": kinds,
        "starts": starts,
        "ends": ends,
        "answer": answer,
        "truths": truths,
    }


def _sums(starts: list[int], ends: list[int]) -> dict[str, int]:
    """The best sum for positions 1 to 4, at most two tokens, and what known slips give."""

    def best(first: int, most: int, ordered: bool = True) -> int:
        return max(
            starts[i] + ends[j]
            for i in range(first, 5)
            for j in range(first, 5)
            if not ordered or i <= j < i + most
        )

    return {
        "right": best(1, 2),
        "question too": best(0, 2),
        "any length": best(1, 5),
        "any order": best(1, 5, ordered=False),
        "one token": best(1, 1),
    }


def _f1(answer: str, truth: str) -> float:
    mine, theirs = answer.split(), truth.split()
    return 2 * len(set(mine) & set(theirs)) / (len(mine) + len(theirs))


def _by_hand() -> dict[str, float]:
    given = numbers()
    asked = given["tokens"] * given["share, %"] / 100
    masked, swapped, kept = (part / 100 for part in given["kinds, %"])
    return {
        "read as [MASK]": asked * masked,
        "asked, and the right word is read": asked * (kept + swapped / given["words"]),
        "best sum": float(_sums(given["starts"], given["ends"])["right"]),
        "F1": max(_f1(given["answer"], truth) for truth in given["truths"]),
    }


def _slips() -> dict[str, list[tuple[float, str]]]:
    given = numbers()
    N, share = given["tokens"], given["share, %"] / 100
    asked, (masked, swapped, kept) = N * share, (part / 100 for part in given["kinds, %"])
    sums = _sums(given["starts"], given["ends"])
    scores = [_f1(given["answer"], truth) for truth in given["truths"]]
    common = [len({*given["answer"].split()} & {*t.split()}) for t in given["truths"]]
    length = len(given["answer"].split())
    of_all = "The three shares are shares of the chosen tokens, and not of all tokens."
    forgotten = "A random word is the right one in one of so many cases as there are words."
    return {
        "read as [MASK]": [
            (N * masked, of_all),
            (asked, "That many are chosen. Only a part of them becomes [MASK]."),
        ],
        "asked, and the right word is read": [
            (asked * kept, forgotten),
            (N * kept, of_all),
            (N * (kept + swapped / given["words"]), of_all),
            (asked * (kept + swapped), "A random word is usually another one."),
            (N - asked * (masked + swapped), "Only chosen tokens are asked for."),
        ],
        "best sum": [
            (sums["question too"], "Token 0 belongs to the question: no answer stands there."),
            (sums["any length"], "An answer has at most two tokens here."),
            (sums["any order"], "An answer does not end before it begins."),
            (sums["one token"], "An answer may have two tokens, too."),
        ],
        "F1": [
            (sum(scores) / len(scores), "Of several right answers the best one counts, no mean."),
            (min(scores), "Of several right answers the best one counts."),
            (max(common) / length, "That is the precision; F1 divides by both lengths."),
            (100 * max(scores), "F1 is a number from 0 to 1, not in per cent."),
            (max(scores) / 2, "The common words count twice: 2 c / (n + m)."),
        ],
    }


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_slips", "fallback"])
def by_hand(trial: Trial) -> None:
    hints = {
        "read as [MASK]": f"Chosen tokens, times the share of [MASK] among them. {MASKING}",
        "asked, and the right word is read": "Chosen, and left as it is; or chosen, and the random "
        f"word happens to be the right one. {MASKING}",
        "best sum": "Of all spans of one or two tokens among 1 to 4, the largest start + end.",
        "F1": "2 c / (n + m) for each of the truths, with c common words, n and m the lengths; the "
        "largest.",
    }
    got, expected, slips = trial.call(given="by_hand()"), _by_hand(), _slips()
    trial.named(got, expected)
    given = ", ".join(f"{name} {value}" for name, value in numbers().items())
    for name, value in expected.items():
        mine, number = got[name], "A number is asked for: no text, no list, not None."
        mine = mine.item() if isinstance(mine, Tensor) and mine.numel() == 1 else mine
        fine = isinstance(mine, int | float) and not isinstance(mine, bool)
        trial.holds(fine, "each of them is a number", number, given=name, got=repr(mine))
        near = ROUNDED * max(1.0, abs(value) / 100)
        hint = hints[name]
        if abs(mine - value) >= near:
            hint = known_slip(mine, slips[name], ROUNDED) or hint
        trial.holds(abs(mine - value) < near, name, hint, given=given, got=mine)
