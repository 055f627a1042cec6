"""Other right answers to the further notebook on the price of memory, and other wrong ones."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== expected_excess | row by row
def expected_excess(n, V, N):
    contexts = 1
    for _ in range(n - 1):
        contexts *= V
    return contexts * (V - 1) / N / math.log(4)
""")
