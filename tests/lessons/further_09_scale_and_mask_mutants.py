"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== one_output
plain mean | p / total * v => v / len(V) | add up the values with these weights
""")

REWRITES = rewrites("""
== one_output | vectors
def one_output(q, K, V):
    powers = torch.stack([(q * k).sum() for k in K]).exp()
    return (powers[:, None] * V).sum(0) / powers.sum()

== one_output | three loops, filled
def one_output(q, K, V):
    powers, out = torch.zeros(len(K)), torch.zeros(V.shape[1])
    for s in range(len(K)):
        score = 0.0
        for i in range(len(q)):
            score = score + q[i] * K[s, i]
        powers[s] = math.exp(score)
    for s in range(len(K)):
        for j in range(V.shape[1]):
            out[j] += powers[s] / powers.sum() * V[s, j]
    return out

== prefix_mask | the corner alone
def prefix_mask(prefix, T):
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
    mask[:prefix, :prefix] = True
    return mask

== prefix_mask | by positions
def prefix_mask(prefix, T):
    at = torch.arange(T)
    return (at[None] <= at[:, None]) | (at < prefix)
""")
