"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== weight_on | by loops
def weight_on(looks, rows, columns):
    total, n = 0, 0
    for b in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            if rows[b, t]:
                total, n = total + looks[:, :, b, t, columns[b]].sum(-1), n + 1
    return total / n
""")
