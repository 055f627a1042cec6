"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== summand
rows of both | W2[:, mine] => W2[mine] | same columns of W2
""")

REWRITES = rewrites("""
== summand | in pieces
def summand(x, W1, W2, rank, world):
    hidden = F.gelu(F.linear(x, W1.chunk(world)[rank]))
    return F.linear(hidden, W2.chunk(world, dim=1)[rank])
""")
