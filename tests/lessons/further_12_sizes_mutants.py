"""Other right answers to the further notebook 12, sizes."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== block_parameters | collected
def block_parameters(D, H, K, G, F, gated):
    return D * (2 * K * (H + G) + (2 + gated) * F)

== expert_layer | what is left out
def expert_layer(D, F, experts, chosen, shared):
    all_of_them = D * (3 * F * (experts + shared) + experts)
    return all_of_them, all_of_them - 3 * D * F * (experts - chosen)
""")
