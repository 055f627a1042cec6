"""Checks of lab 01: perplexity and counts."""

from __future__ import annotations

import math

import torch

from helpers.course.checks.lab01.common import (
    SUM,
    course_counts,
    course_likelihood,
    lab,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial


def _perplexity(probabilities: list[float]) -> float:
    if 0 in probabilities:
        return math.inf
    return math.exp(-sum(map(math.log, probabilities)) / len(probabilities))


@lab.task(_perplexity)
def perplexity(trial: Trial) -> None:
    hint = f"The N-th root of 1 / (p1 p2 ... pN). {see(1, 'Perplexity')}"
    for given, value in (([0.5, 0.25, 0.125], 4.0), ([0.1] * 7, 10.0), ([1.0], 1.0)):
        rule = "ten equally likely digits have perplexity 10" if value == 10 else "by hand"
        trial.equals(trial.call(list(given)), value, rule, hint, given=given)
    drawn = (0.05 + 0.95 * torch.rand(trial.integer(3, 30), generator=trial.generator)).tolist()
    trial.equals(trial.call(list(drawn)), _perplexity(drawn), "any text", hint, given=drawn)
    given = "5,000 tokens of probability 0.01"
    hint = "A product of 5,000 small numbers is 0 in floating point: add logarithms instead."
    got = trial.call([0.01] * 5000, given=given, hint=hint)
    trial.equals(got, 100.0, "a long text does not underflow", hint, given=given)
    hint = "The logarithm of 0 is an error in Python: what is the limit?"
    got = trial.call([0.5, 0.0], hint=hint)
    rule = "an impossible token makes it infinite"
    trial.equals(got, math.inf, rule, hint, given=[0.5, 0.0])


@lab.task(course_likelihood)
def maximum_likelihood(trial: Trial) -> None:
    counts = {"a": {"b": 3, "c": 1}, "b": {"a": 2}}
    trial.equals(
        trial.call(counts, "a"),
        {"b": 0.75, "c": 0.25},
        "relative frequencies",
        "c(a b) over the count of everything that follows a, not over the whole text. "
        + see(2, "n-grams by maximum likelihood"),
        given=f"{counts}, context 'a'",
    )
    hint = "Maximum likelihood would divide 0 by 0 there; and do not make an entry by looking."
    trial.equals(
        trial.call(counts, "x", hint=hint),
        {},
        "a context never seen has no distribution: an empty dictionary",
        hint,
        given=f"{counts}, context 'x'",
    )
    counts = course_counts(trial.text(300, "abcd"), 3)
    for context in ("ab", "cc"):
        trial.equals(
            trial.call(counts, context),
            course_likelihood(counts, context),
            "random counts",
            SUM,
            given=f"random counts, context {context!r}",
        )
