"""What the checks of lab 01 share: the lab, and n-gram counts.

A text is a string, whose tokens are characters, or a tuple of words. ``counts[context][symbol]``
says how often a symbol follows a context of n - 1 symbols, which is a slice of the text; a
distribution is a dictionary from symbols to probabilities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from helpers.course.checks.lab import Lab

lab = Lab("lab01")

SUM = "Add up your probabilities for one context: what divides the counts must be their own sum."
UNDERFLOW = "A product of 5,000 small numbers is 0 in floating point: add logarithms instead."


def course_counts(text: Sequence, n: int) -> dict[Any, Counter]:
    """How often each symbol follows each context of n - 1 symbols."""
    counts: dict[Any, Counter] = {}
    for i in range(len(text) - n + 1):
        counts.setdefault(text[i : i + n - 1], Counter())[text[i + n - 1]] += 1
    return counts
