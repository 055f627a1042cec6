"""Checks of lab 05, task 10: a difference over seeds, with its spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from helpers.course.checks.lab05.common import lab
from helpers.course.checks.trial import Trial


def _paired(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    return statistics.mean(gaps), statistics.stdev(gaps) / math.sqrt(len(gaps))


@lab.task(_paired)
def paired(trial: Trial) -> None:
    usual = "Subtract seed by seed; the mean of these n gaps, and their deviation over root n."
    first = [2.0, 3.0, 4.0], [1.0, 3.6, 2.5]
    n = trial.integer(4, 8)
    rough = 2 * trial.normal(n)
    second = [x.tolist() for x in (rough + 0.1 * trial.normal(n), rough + 0.1 * trial.normal(n))]
    for (a, b), rule in ((first, "by hand"), (second, "any numbers")):
        given = f"a = {[round(x, 3) for x in a]}, b = {[round(x, 3) for x in b]}"
        got = trial.call(a, b, given=given)
        fine = isinstance(got, tuple | list) and len(got) == 2
        hint = "Two numbers: return mean, standard_error."
        trial.holds(fine, "it hands back two numbers", hint, given=given, got=got)
        mean, error = _paired(a, b)
        gaps = [x - y for x, y in zip(a, b, strict=True)]
        root, deviation = math.sqrt(len(gaps)), statistics.stdev(gaps)
        apart = math.sqrt((statistics.variance(a) + statistics.variance(b)) / len(a))
        trial.equals(
            got[0], mean, f"the mean of a - b, {rule}", usual, given=given,
            slips=[
                (-mean, "a - b, not b - a."),
                (statistics.mean(map(abs, gaps)), "With their signs: no absolute values."),
                (statistics.median(gaps), "The mean, not the median."),
            ],
        )  # fmt: skip
        trial.equals(
            got[1], error, f"the standard error of the paired differences, {rule}", usual,
            given=given,
            slips=[
                (deviation, "That is the deviation of single gaps; a mean of n is surer: divide by "
                 "the root of n."),
                (statistics.pstdev(gaps) / root, "From few gaps the deviation is estimated with "
                 "n - 1: statistics.stdev."),
                (statistics.pstdev(gaps), "Divide by n - 1 inside the root, and by the root of n."),
                (deviation / len(gaps), "By the root of n, not by n."),
                (error**2, "The root is missing: an error has the unit of the numbers."),
                (apart, "The seeds are pairs: what both runs of a seed share drops out of their "
                 "gap, and only the gaps' own deviation counts."),
            ],
        )  # fmt: skip
