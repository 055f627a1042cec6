"""Other right answers to further/14_speculative, and wrong ones that are no slip."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== verify | by minimum
def verify(p, q):
    both = torch.minimum(p, q)
    return both / q, (p - both) / (1 - both.sum(-1, keepdim=True))

== one_round | all chances at once
def one_round(drafted, p, q, generator):
    accept, residual = verify(p[:-1], q)
    x = torch.tensor(drafted)
    passed = torch.rand(len(x), generator=generator) < accept[torch.arange(len(x)), x]
    n = int(passed.long().cumprod(0).sum())
    rows = torch.cat([residual, p[-1:]])
    return drafted[:n] + torch.multinomial(rows[n], 1, generator=generator).tolist()
""")
