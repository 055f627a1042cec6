"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== step_products
twice forward | += n + => += 2 * n + | from the lowest
""")

REWRITES = rewrites("""
== step_products | by sums
def step_products(layers):
    forward = sum(n for n, _ in layers)
    own = sum(n for n, trained in layers if trained)
    lowest = min((i for i, (_, trained) in enumerate(layers) if trained), default=len(layers))
    return forward + own + sum(n for n, _ in layers[lowest + 1 :])
""")
