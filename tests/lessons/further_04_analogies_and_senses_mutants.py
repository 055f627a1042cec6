"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== analogy
the cosine | cosines.argmax() => cosines.max() | Make all rows
""")

REWRITES = rewrites("""
== analogy | sorted
def analogy(vectors, a, b, c):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    order = (unit @ (unit[b] - unit[a] + unit[c])).argsort(descending=True)
    return next(d for d in order.tolist() if d not in (a, b, c))
""")
