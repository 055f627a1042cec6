"""Checks of lab 01: perplexity and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from helpers.course.checks.lab01.common import SUM, UNDERFLOW, course_counts, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn


def _probabilities(trial: Trial) -> Iterator[Case]:
    yield Case("by hand", [0.5, 0.25, 0.125])
    yield Case("ten equally likely digits have perplexity 10", [0.1] * 7)
    yield Case("by hand", [1.0])
    drawn = 0.05 + 0.95 * torch.rand(trial.integer(3, 30), generator=trial.generator)
    yield Case("any text", drawn.tolist())
    given = "5,000 tokens of probability 0.01"
    yield Case("a long text does not underflow", [0.01] * 5000, given=given, hint=UNDERFLOW)
    limit = "The logarithm of 0 is an error in Python: what is the limit?"
    yield Case("an impossible token makes it infinite", [0.5, 0.0], hint=limit)


@turn(
    lab, f"The N-th root of 1 / (p1 p2 ... pN). {see(1, 'Perplexity')}", cases=_probabilities
)  # fmt: skip
def perplexity(probabilities):
    if 0 in probabilities:
        return math.inf
    return math.exp(-sum(math.log(p) for p in probabilities) / len(probabilities))


def _rows(trial: Trial) -> Iterator[Case]:
    counts = {"a": {"b": 3, "c": 1}, "b": {"a": 2}}
    yield Case("relative frequencies", counts, "a")
    never = "Maximum likelihood would divide 0 by 0 there; and do not make an entry by looking."
    rule = "a context never seen has no distribution: an empty dictionary"
    yield Case(rule, counts, "x", hint=never)
    drawn = course_counts(trial.text(300, "abcd"), 3)
    for context in ("ab", "cc"):
        given = f"random counts, context {context!r}"
        yield Case("random counts", drawn, context, given=given, hint=SUM)


@turn(
    lab,
    "c(a b) over the count of everything that follows a, not over the whole text. "
    + see(2, "n-grams by maximum likelihood"),
    cases=_rows,
)
def maximum_likelihood(counts, context):
    row = counts.get(context, {})
    total = sum(row.values())
    return {symbol: count / total for symbol, count in row.items()}
