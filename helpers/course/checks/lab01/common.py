"""What the checks of lab 01 share: the lab, and n-gram counts.

A text is a string, whose tokens are characters, or a tuple of words. ``counts[context][symbol]``
says how often a symbol follows a context of n - 1 symbols, which is a slice of the text; a
distribution is a dictionary from symbols to probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from helpers.course.checks.lab import Lab

lab = Lab("lab01")

Counts = Mapping[Any, Mapping[str, int]]
Distribution = dict[str, float]

SUM = "Add up your probabilities for one context: what divides the counts must be their own sum."
EMPTY = "Try it by hand on a text of one or two characters."


def course_counts(text: Sequence, n: int) -> dict[Any, Counter]:
    """How often each symbol follows each context of n - 1 symbols."""
    counts: dict[Any, Counter] = {}
    for i in range(len(text) - n + 1):
        counts.setdefault(text[i : i + n - 1], Counter())[text[i + n - 1]] += 1
    return counts


def is_rows(value: object) -> bool:
    """Whether it is a dictionary of dictionaries."""
    return isinstance(value, Mapping) and all(isinstance(row, Mapping) for row in value.values())


def course_likelihood(counts: Counts, context: str) -> Distribution:
    """Relative frequencies; empty for a context never seen."""
    row = counts.get(context, {})
    total = sum(row.values())
    return {symbol: count / total for symbol, count in row.items()}
