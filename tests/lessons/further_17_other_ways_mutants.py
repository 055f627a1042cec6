"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== adapter
twice x | return x + => return 2 * x + | Down with W1
""")

REWRITES = rewrites("""
== adapter | by linear
def adapter(x, W1, b1, W2, b2):
    narrow = F.gelu(F.linear(x, W1, b1))
    return F.linear(narrow, W2, b2) + x
""")
