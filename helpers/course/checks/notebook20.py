"""Your turn in notebook20: what it is about."""

from collections import Counter

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook20")


def counted(draw):
    yield Case("by hand", Counter("banana"))
    yield Case("any text", Counter(draw.text(40, "abcde")))


@turn(
    turns,
    "The count of a symbol over the sum of all counts.",
    cases=counted,
    slips="""
    sum(counts.values()) => len(counts)
        You divide by the number of different symbols, not by the number of all.
    / total =>
        These are counts: a frequency lies between 0 and 1.
    """,
)
def relative_frequencies(counts):
    """P(w) for every symbol w, from how often each occurred."""
    total = sum(counts.values())
    return {symbol: count / total for symbol, count in counts.items()}
