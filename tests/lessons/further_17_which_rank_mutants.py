"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [Mutant("best_possible", "by absolute values", "** 2", "** 3", "add up their squares")]

REWRITES = [
    Rewrite(
        "best_possible",
        "by the best matrix itself",
        """
def best_possible(difference, r):
    U, S, V = torch.linalg.svd(difference, full_matrices=False)
    best = U[:, :r] @ torch.diag(S[:r]) @ V[:r]
    return ((difference - best) ** 2).sum()
""",
    ),
]
