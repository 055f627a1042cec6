"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== best_possible
by absolute values | ** 2 => ** 3 | add up their squares
""")

REWRITES = rewrites("""
== best_possible | by the best matrix itself
def best_possible(difference, r):
    U, S, V = torch.linalg.svd(difference, full_matrices=False)
    best = U[:, :r] @ torch.diag(S[:r]) @ V[:r]
    return ((difference - best) ** 2).sum()
""")
