"""Other right answers to the further notebook 11, depth, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== filter_normalized
the weights themselves | direction / direction.norm(dim=1, keepdim=True) * W.norm(dim=1, \
    keepdim=True) => W | Divide each row
""")

REWRITES = rewrites("""
== filter_normalized | by squares
def filter_normalized(direction, W):
    factors = (W**2).sum(1, keepdim=True) / (direction**2).sum(1, keepdim=True)
    return direction * factors.sqrt()
""")
