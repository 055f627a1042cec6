"""Other right answers to the further notebook on smoothing, and other wrong ones."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== stupid_backoff | step by step
def stupid_backoff(w, context, rows):
    row = rows[len(context) + 1].get(context, {})
    if row.get(w, 0) > 0:
        return row[w] / sum(row.values())
    return 0.4 * stupid_backoff(w, context[1:], rows) if context else 0

== stupid_backoff | rows that are made by asking
def stupid_backoff(w, context, rows):
    factor = 1
    while True:
        row = rows[len(context) + 1][context]
        if row[w]:
            return factor * row[w] / sum(row.values())
        if not context:
            return 0
        factor, context = factor * 0.4, context[1:]

== good_turing | counts of counts
def good_turing(counts, r):
    N = Counter(counts.values())
    return (r + 1) * N[r + 1] / N[r]

== three_discounts | written out
def three_discounts(counts):
    N = Counter(counts.values())
    Y = N[1] / (N[1] + 2 * N[2])
    return [1 - 2 * Y * N[2] / N[1], 2 - 3 * Y * N[3] / N[2], 3 - 4 * Y * N[4] / N[3]]

== modified_kneser_ney | a loop
def modified_kneser_ney(w, row, discounts, lower):
    if not row:
        return lower
    kept = taken = 0
    for word in row:
        D = discounts[2] if row[word] > 2 else discounts[row[word] - 1]
        taken += D
        if word == w:
            kept = row[word] - D
    return (kept + taken * lower) / sum(row.values())
""")
