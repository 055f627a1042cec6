"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== route
from one | dim=-1), chosen => dim=-1), chosen + 1 | k largest logits
""")

REWRITES = rewrites("""
== route | by sorting
def route(logits, k):
    order = logits.argsort(dim=-1, descending=True)[:, :k]
    weights = logits.softmax(dim=-1).gather(1, order)
    return weights / weights.sum(dim=-1, keepdim=True), order
""")
