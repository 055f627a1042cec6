"""Other right answers to the further notebook 08, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== error_rate
or | found & truth => found | truth | the links in both tables
""")

REWRITES = rewrites("""
== error_rate | a tensor
def error_rate(found, truth):
    right = torch.logical_and(found, truth).sum()
    return 1 - (right + right) / (found.sum() + truth.sum())

== paired_effects | by the others
def paired_effects(table, k, one, other):
    sides = [
        {kind[:k] + kind[k + 1 :]: x for kind, x in table.items() if kind[k] == value}
        for value in (one, other)
    ]
    return [sides[0][rest] - sides[1][rest] for rest in sides[0]]
""")
