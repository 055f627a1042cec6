"""Checks of lab 01: add-k and interpolation."""

from __future__ import annotations

from collections.abc import Iterator

from helpers.course.checks.lab01.common import course_counts, lab
from helpers.course.checks.lab01.counting import maximum_likelihood
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn


def _smoothed(trial: Trial) -> Iterator[Case]:
    counts = {"a": {"b": 3, "c": 1}}
    rule, given = "add-1 by hand", f"{counts}, context 'a', vocabulary 'abcd', k = 1"
    yield Case(rule, counts, "a", "abcd", 1.0, given=given)
    rule = "a context never seen gives every symbol the same chance"
    only = "With no counts at all, only the k are left; and do not make an entry by looking."
    given = f"{counts}, context 'z', vocabulary 'abcd', k = 0.5"
    yield Case(rule, counts, "z", "abcd", 0.5, given=given, hint=only)
    drawn, k = course_counts(trial.text(200, "abcd"), 2), trial.integer(1, 30) / 20
    given = f"random counts, context 'b', vocabulary 'abcdef', k = {k}"
    yield Case("random counts", drawn, "b", "abcdef", k, given=given)


@turn(
    lab,
    "Every symbol gets k more, so what divides grows by k times how many there are: add up your "
    "probabilities. And a symbol that never followed the context is no key in its row.",
    cases=_smoothed,
    slips="""
    return add_k(counts, context, vocabulary, k) if context in counts else {}
        An empty dictionary was the rule of task 2. Smoothed, a context that was never seen has a \
        distribution, too: with no counts at all, only the k are left.
    """,
)
def add_k(counts, context, vocabulary, k):
    row = counts.get(context, {})
    total = sum(row.values()) + k * len(vocabulary)
    return {symbol: (row.get(symbol, 0) + k) / total for symbol in vocabulary}


_WHERE = see(2, "Interpolation and backoff")


def _mixtures(trial: Trial) -> Iterator[Case]:
    tables = [course_counts("abab", n) for n in (1, 2)]
    for n, context, rule, hint in (
        (1, "", "single characters mixed with the uniform distribution",
         f"The lowest order mixes with 1 / V, V the size of the vocabulary. {_WHERE}"),
        (1, "a", "single characters after a text",
         "With n = 1 nothing stands before: its context is empty, whatever the text is. And "
         "text[-0:] is the whole text, not an empty one."),
        (2, "a", "pairs mixed with the mixture below",
         "The longest context gets the weight, and all orders below it share 1 - weight. "
         f"{_WHERE}"),
        (2, "c", "a context never seen leaves the mixture below as it is",
         "Mixing with a distribution that is all zeros would lose a part of the probability."),
    ):  # fmt: skip
        given = f"counts of 'abab' up to n = {n}, context {context!r}, vocabulary 'abc', "
        given += "weight 0.25"
        yield Case(rule, tables[:n], context, "abc", 0.25, given=given, hint=hint)
    tables = [course_counts(trial.text(150, "abcd"), n) for n in (1, 2, 3, 4)]
    weight = trial.integer(1, 10) / 10
    for context in ("abcab", "ab", ""):
        given = f"random counts up to n = 4, context {context!r}, weight {weight}"
        yield Case("random counts", tables, context, "abcde", weight, given=given)


@turn(
    lab,
    "An n-gram's context is the last n - 1 characters; a shorter text has fewer orders.",
    cases=_mixtures,
    slips="""
    weight * likely.get(s, 0) + (1 - weight) * p[s] => \
    (1 - weight) * likely.get(s, 0) + weight * p[s]
        The weight is the longest context's; what is below gets 1 - weight.
    p = {s: weight * likely.get(s, 0) + => p = {s: p[s] if s not in likely else weight * likely[s] +
        A symbol that never followed the context keeps 1 - weight of what it had, not all of it: \
        mix every symbol of the vocabulary.
    """,
)
def interpolate(tables, context, vocabulary, weight):
    p = dict.fromkeys(vocabulary, 1 / len(vocabulary))
    for n, counts in enumerate(tables, 1):
        if n - 1 > len(context):
            break
        likely = maximum_likelihood(counts, context[len(context) - (n - 1) :])
        if likely:
            p = {s: weight * likely.get(s, 0) + (1 - weight) * p[s] for s in vocabulary}
    return p
