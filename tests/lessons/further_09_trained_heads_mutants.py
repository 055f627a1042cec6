"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS: list[Mutant] = []

REWRITES = [
    Rewrite(
        "to_mark",
        "by loops",
        """
def to_mark(looks, marks):
    total, n = 0, 0
    for b in range(marks.shape[0]):
        for t in range(marks.shape[1]):
            if marks[b, t] >= 0:
                total, n = total + looks[:, :, b, t, marks[b, t]], n + 1
    return total / n
""",
    ),
]
