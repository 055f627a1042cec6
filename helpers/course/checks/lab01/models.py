"""Checks of lab 01: the choice of a model, and Kneser-Ney smoothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from helpers.course.checks.lab01.common import Distribution, course_counts, is_rows, lab
from helpers.course.checks.lab01.measuring import course_bits
from helpers.course.checks.lab01.smoothing import course_mixture
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial


def _choose(train: str, validation: str, vocabulary: str, orders, weights) -> tuple[int, float]:
    def bits(n: int, weight: float) -> float:
        tables = [course_counts(train, order) for order in range(1, n + 1)]
        return course_bits(
            lambda context: course_mixture(tables, context, vocabulary, weight), validation, n
        )

    return min(((n, w) for n in orders for w in weights), key=lambda pair: bits(*pair))


@lab.task(_choose)
def choose(trial: Trial) -> None:
    train = "the cat sat on the mat and the rat sat on the hat " * 6
    validation = "the rat on the mat sat and the cat "
    cases = [(train, validation)]
    cases.append((trial.text(400, "ab") + train, trial.text(60, "ab") + validation))
    for train, validation in cases:
        vocabulary = "".join(sorted(set(train)))
        orders, weights = [1, 2, 3, 5], [0.2, 0.9]
        hint = "Give the order first and then the weight, and hand back the pair."
        got = trial.call(
            train, validation, vocabulary, orders, weights, given="two short texts", hint=hint
        )
        trial.equals(
            got,
            _choose(train, validation, vocabulary, orders, weights),
            "the setting with the fewest bits on the validation text",
            "Count on the training text, measure on the other, and try every pair; the longest "
            "context is not the best one. " + see(2, "Perplexity against n"),
            given="two short texts, orders 1, 2, 3, 5, weights 0.2 and 0.9",
        )


def _kneser_ney(text: str, vocabulary: str, discount: float) -> dict[str, Distribution]:
    pairs = course_counts(text, 2)
    before = Counter(symbol for row in pairs.values() for symbol in row)
    kinds = sum(before.values())
    p = {}
    for context in vocabulary:
        row = pairs.get(context, {})
        total = sum(row.values())
        free = discount * len(row) / total if total else 1.0
        p[context] = {
            s: (max(row.get(s, 0) - discount, 0) / total if total else 0) + free * before[s] / kinds
            for s in vocabulary
        }
    return p


@lab.task(_kneser_ney)
def kneser_ney(trial: Trial) -> None:
    where = see(2, "Kneser-Ney: in how many contexts?")
    text = "abacabad"
    got = trial.call(text, "abcd", 0.5)
    given = f"the text {text!r}, vocabulary 'abcd', discount 0.5"
    expected = _kneser_ney(text, "abcd", 0.5)
    trial.holds(
        is_rows(got) and set(got) == set("abcd"),
        "one distribution for every symbol of the vocabulary as context",
        "The dictionary has a row for every context, also for one that nothing follows.",
        given=given,
        got=list(got) if isinstance(got, Mapping) else got,
        expected=list("abcd"),
    )
    for context in "abcd":
        if isinstance(got[context], Mapping) and got[context]:
            trial.equals(
                float(sum(got[context].values())),
                1.0,
                "every row sums to 1",
                "What the discounts take away, d times the number of different followers over the "
                f"context's count, is what the lower order shares out. {where}",
                given=f"{given}, context {context!r}",
            )
    kinds = (
        "The lower order asks after how many different characters a symbol stands, not how often "
        f"it occurs. {where}"
    )
    for name in ("d", "a"):
        rule = "a context never followed gets the lower order" if name == "d" else "by hand"
        trial.equals(got[name], expected[name], rule, kinds, given=f"{given}, context {name!r}")
    text, discount = trial.text(200, "abcdd"), trial.integer(1, 9) / 10
    got = trial.call(text, "abcde", discount)
    expected = _kneser_ney(text, "abcde", discount)
    given = f"a random text of 200 characters, discount {discount}"
    trial.equals(got, expected, "random text", kinds, given=given)
