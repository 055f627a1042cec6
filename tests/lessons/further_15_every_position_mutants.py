"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== discriminator_task | with a clone
def discriminator_task(tokens, sampled, chosen):
    read = tokens.clone()
    read[chosen] = sampled[chosen]
    return read, chosen & (sampled != tokens)
""")
