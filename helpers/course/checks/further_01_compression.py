"""Your turn with compression: counts that are blended with a shorter context."""

from collections import Counter

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_01_compression")


def rows(draw):
    row, fallback = Counter({0: 3, 2: 1}), [0.25, 0.5, 0.25]
    yield Case(
        "it gives what the pencil gives",
        row,
        fallback,
        4.0,
        given=f"row {dict(row)}, fallback {fallback}, m = 4",
    )
    given = f"an empty row, fallback {fallback}, m = 2"
    yield Case("without a count the fallback is all", Counter(), fallback, 2.0, given=given)
    drawn = Counter(draw.integers(0, 5, 30).tolist())
    fallback, m = torch.softmax(draw.normal(6), 0).tolist(), draw.integer(1, 20) / 2
    given = f"random counts, m = {m}"
    yield Case("any counts, and it sums to 1", drawn, fallback, m, given=given)


@turn(
    turns,
    "To the count of each symbol add m times its fallback, then divide by the new total.",
    cases=rows,
    slips="""
    return [row.get(symbol, 0) / sum(row.values()) for symbol in range(len(fallback))]
        The fallback does not occur in it: a symbol never seen gets nothing.
    sum(row.values()) + m => sum(row.values())
        m observations were added, but you divide by the old total.
    m * q => q
        Each symbol gets m times its fallback, not the fallback once.
    m * q => m / len(fallback)
        That gives the same to everybody; the fallback says who gets how much of m.
    sum(row.values()) + m => sum(row.values()) + m * len(fallback)
        The fallback sums to 1, so m times the fallback adds m to the total, not m times V.
    """,
)
def blend(row, fallback, m):
    """P(x | h) for each symbol x, from the counts in row and m imaginary observations."""
    total = sum(row.values()) + m
    return [(row.get(symbol, 0) + m * q) / total for symbol, q in enumerate(fallback)]
