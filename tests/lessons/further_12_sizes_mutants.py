"""Other right answers to the further notebook 12, sizes."""

from tests.labs.mutation import Rewrite

# All wrong answers are slips.
MUTANTS = []

REWRITES = [
    Rewrite(
        "count_parameters",
        "collected",
        """
def count_parameters(V, T, L, D):
    return (V + T + 2) * D + L * (12 * D * D + 13 * D)
""",
    ),
    Rewrite(
        "expert_layer",
        "what is left out",
        """
def expert_layer(D, F, experts, chosen, shared):
    all_of_them = D * (3 * F * (experts + shared) + experts)
    return all_of_them, all_of_them - 3 * D * F * (experts - chosen)
""",
    ),
]
