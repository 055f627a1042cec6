"""Other right answers to further/14_names, and wrong ones that are no slip."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== own_part | by columns of the matrix
def own_part(attention, x, h):
    K = x.shape[-1] // attention.n_heads
    of_head = attention.value(x).unflatten(-1, (attention.n_heads, K))[:, h]
    return of_head @ attention.output.weight[:, h * K : (h + 1) * K].T

== induction_score | by indices
def induction_score(weights, n):
    looking = torch.arange(n + 1, 2 * n + 1)
    return float(weights[looking, looking - n + 1].mean())

== copied | in a loop
def copied(text, known, n):
    found, count = 0, 0
    for piece in zip(*(text[i:] for i in range(n))):
        found, count = found + (piece in known), count + 1
    return found / count
""")
