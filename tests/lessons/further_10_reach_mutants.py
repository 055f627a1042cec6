"""Other right answers to the further notebook 10, reach."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== new_base | by its speed
def new_base(base, d_k, factor):
    exponent = (d_k - 2) / d_k
    slowest = base**-exponent / factor
    return slowest ** (-1 / exponent)
""")
