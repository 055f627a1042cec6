"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== update_belief
forgets | belief * B[:, x] => B[:, x] | Multiply the belief
a row of B | B[:, x] => B[x] | each state emits x

== next_inputs
coins of its own | coins < epsilon => torch.rand(len(coins), \
    generator=torch.Generator().manual_seed(1)) < epsilon | handed in
one coin | torch.where(coins < epsilon, true, own) => true if coins[0] < epsilon else own \
    | Each row has its own coin
""")

REWRITES = rewrites("""
== update_belief | a loop
def update_belief(belief, x, A, B):
    seen = [float(belief[i] * B[i, x]) for i in range(len(belief))]
    total = sum(seen)
    new = torch.zeros_like(belief)
    for i, weight in enumerate(seen):
        new += weight / total * A[i]
    return new

== next_inputs | a loop
def next_inputs(true, own, epsilon, coins):
    rows = [t if c < epsilon else o for t, o, c in zip(true, own, coins)]
    return torch.stack(rows)
""")
