"""Other right answers to the further notebook on compression, and other wrong ones."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== blend | the Counter's total
def blend(row, fallback, m):
    return [(row[x] + m * q) / (row.total() + m) for x, q in enumerate(fallback)]

== blend | a loop
def blend(row, fallback, m):
    p = [m * q for q in fallback]
    for symbol in row:
        p[symbol] = p[symbol] + row[symbol]
    return [x / (m + sum(row.values())) for x in p]
""")
