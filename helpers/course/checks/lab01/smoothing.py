"""Checks of lab 01: add-k and interpolation."""

from __future__ import annotations

from helpers.course.checks.lab01.common import (
    SUM,
    Counts,
    Distribution,
    course_counts,
    course_likelihood,
    lab,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips


def _add_k(counts: Counts, context: str, vocabulary: str, k: float) -> Distribution:
    row = counts.get(context, {})
    total = sum(row.values()) + k * len(vocabulary)
    return {symbol: (row.get(symbol, 0) + k) / total for symbol in vocabulary}


@lab.task(_add_k)
def add_k(trial: Trial) -> None:
    counts = {"a": {"b": 3, "c": 1}}
    k_everywhere = "Every symbol gets k more, so what divides grows by k times how many there are."
    missing = "Which error is it? A symbol that never followed the context is no key in its row."
    trial.equals(
        trial.call(counts, "a", "abcd", 1.0, hint=missing),
        {"a": 1 / 8, "b": 4 / 8, "c": 2 / 8, "d": 1 / 8},
        "add-1 by hand",
        k_everywhere,
        given=f"{counts}, context 'a', vocabulary 'abcd', k = 1",
    )
    hint = "With no counts at all, only the k are left; and do not make an entry by looking."
    empty = (
        "An empty dictionary was the rule of task 2. Smoothed, a context that was never seen has a "
        "distribution, too: with no counts at all, only the k are left."
    )
    trial.equals(
        trial.call(counts, "z", "abcd", 0.5, hint=hint),
        dict.fromkeys("abcd", 0.25),
        "a context never seen gives every symbol the same chance",
        hint,
        slips=[({}, empty)],
        given=f"{counts}, context 'z', vocabulary 'abcd', k = 0.5",
    )
    counts, k = course_counts(trial.text(200, "abcd"), 2), trial.integer(1, 30) / 20
    got = trial.call(counts, "b", "abcdef", k)
    given = f"random counts, context 'b', vocabulary 'abcdef', k = {k}"
    trial.equals(got, _add_k(counts, "b", "abcdef", k), "random counts", k_everywhere, given=given)
    trial.equals(sum(got.values()), 1.0, "it sums to 1", SUM, given=given)


def course_mixture(tables: list[Counts], context: str, vocabulary: str, weight: float):
    p = dict.fromkeys(vocabulary, 1 / len(vocabulary))
    for n, counts in enumerate(tables, 1):
        if n - 1 > len(context):
            break
        row = course_likelihood(counts, context[len(context) - (n - 1) :])
        if row:
            p = {s: weight * row.get(s, 0) + (1 - weight) * p[s] for s in vocabulary}
    return p


_MIXTURE_SLIPS = Slips(
    course_mixture,
    """
    weight * row.get(s, 0) + (1 - weight) * p[s] => (1 - weight) * row.get(s, 0) + weight * p[s]
        The weight is the longest context's; what is below gets 1 - weight.
    p = {s: weight * row.get(s, 0) + => p = {s: p[s] if s not in row else weight * row[s] +
        A symbol that never followed the context keeps 1 - weight of what it had, not all of it: mix
        every symbol of the vocabulary.
    """,
)


@lab.task(course_mixture)
def interpolate(trial: Trial) -> None:
    where = see(2, "Interpolation and backoff")
    tables = [course_counts("abab", n) for n in (1, 2)]
    uniform = f"The lowest order mixes with 1 / V, V the size of the vocabulary. {where}"
    weight = 0.25

    def try_by_hand(n: int, context: str, rule: str, hint: str) -> None:
        arguments = (tables[:n], context, "abc", weight)
        trial.equals(
            trial.call(*arguments),
            course_mixture(*arguments),
            rule,
            hint,
            slips=((slip(*arguments), words) for slip, words in _MIXTURE_SLIPS),
            given=f"counts of 'abab' up to n = {n}, context {context!r}, vocabulary 'abc', "
            f"weight {weight}",
        )

    try_by_hand(1, "", "single characters mixed with the uniform distribution", uniform)
    newest = (
        "With n = 1 nothing stands before: its context is empty, whatever the text is. And "
        "text[-0:] is the whole text, not an empty one."
    )
    try_by_hand(1, "a", "single characters after a text", newest)
    shared = (
        f"The longest context gets the weight, and all orders below it share 1 - weight. {where}"
    )
    try_by_hand(2, "a", "pairs mixed with the mixture below", shared)
    lost = "Mixing with a distribution that is all zeros would lose a part of the probability."
    try_by_hand(2, "c", "a context never seen leaves the mixture below as it is", lost)
    tables = [course_counts(trial.text(150, "abcd"), n) for n in (1, 2, 3, 4)]
    weight = trial.integer(1, 10) / 10
    for context in ("abcab", "ab", ""):
        given = f"random counts up to n = 4, context {context!r}, weight {weight}"
        got = trial.call(tables, context, "abcde", weight)
        expected = course_mixture(tables, context, "abcde", weight)
        newest = (
            "An n-gram's context is the last n - 1 characters; a shorter text has fewer orders."
        )
        trial.equals(got, expected, "random counts", newest, given=given)
        trial.equals(sum(got.values()), 1.0, "it sums to 1", where, given=given)


interpolate.slips = _MIXTURE_SLIPS
