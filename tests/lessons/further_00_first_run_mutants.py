"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== by_differences
never lowered again | x.clone() => x | changed in place
a large rise | raised[k] += h => raised[k] += 2 * h | copy x
""")

REWRITES = rewrites("""
== same_letters | two loops
def same_letters(a, b):
    return torch.tensor([[int(x == y) for y in b] for x in a])

== by_differences | to both sides, with an identity
def by_differences(f, x, h=1e-6):
    steps = h * torch.eye(len(x), dtype=x.dtype)
    return torch.tensor([(f(x + step) - f(x - step)) / (2 * h) for step in steps])
""")
