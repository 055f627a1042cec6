"""Checks of lab 01: perplexity and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch

from helpers.course.checks.lab01.common import (
    EMPTY,
    SUM,
    course_counts,
    course_likelihood,
    is_rows,
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


_LAST = "Is the last n-gram of the text counted, and none that runs over its end?"


def _counting_slips(text: Sequence, n: int, expected: dict) -> Iterator[tuple[dict, str]]:
    yield {a: dict(row) for a, row in course_counts(text[:-1], n).items()}, _LAST
    if isinstance(text, str):
        yield (
            {a: {b: text.count(a + b) for b in row} for a, row in expected.items()},
            "str.count leaves out occurrences that overlap: go from position to position.",
        )


@lab.task(course_counts)
def count_ngrams(trial: Trial) -> None:
    hint = "An n-gram is a context of n - 1 characters and the one that follows it. "
    hint += see(2, "n-grams by maximum likelihood")
    kinds = (
        "Read the kind of error. A text may be a string or a tuple, and a slice, text[i:j], is of "
        "the same kind; is an index out of range, or a key not there yet?"
    )

    def try_on(text: str | tuple[str, ...], n: int, rule: str, hint: str) -> None:
        got = trial.call(text, n, hint=kinds)
        got = {context: dict(row) for context, row in got.items()} if is_rows(got) else got
        expected = {context: dict(row) for context, row in course_counts(text, n).items()}
        slips = _counting_slips(text, n, expected)
        trial.equals(got, expected, rule, hint, slips=slips, given=f"{text!r}, n = {n}")

    try_on("ababb", 2, "pairs by hand", hint)
    try_on("abracadabra", 3, "triples: the context has two characters", hint)
    try_on("banana", 1, "n = 1: the only context is the empty string", hint)
    text = trial.text(trial.integer(20, 60), "abc")
    for n in (2, 3, 4):
        try_on(text, n, "every n-gram once", _LAST)
    slices = "A context is a slice of the text, text[i:j]: of a tuple of words it is a tuple."
    for n in (1, 2, 3):
        try_on(("to", "be", "or", "not", "to", "be"), n, "a tuple of words", slices)
    try_on("ab", 3, "a text shorter than n has none", EMPTY)
    try_on("", 2, "an empty text has none", EMPTY)
    words = tuple(trial.text(100_000, "abcdefghijklmnopqrst"))
    given = "100,000 words, n = 3; one loop through them takes a fraction of a second"
    got = trial.call(words, 3, given=given, seconds=10, hint=kinds)
    total = sum(sum(row.values()) for row in got.values())
    rule = "a long text takes one loop through it"
    trial.equals(total, len(words) - 2, rule, _LAST, given=given)


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
