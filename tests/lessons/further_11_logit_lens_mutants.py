"""Other right answers to the further notebook 11, logit lens, and wrong ones beside its slips."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== logit_lens
norm twice | norm(x) => norm(norm(x)) | after its last block
""")

REWRITES = rewrites("""
== logit_lens | by hand
def logit_lens(x, norm, output):
    chances = output(norm(x)).exp()
    return chances / chances.sum(dim=-1, keepdim=True)
""")
