"""Other answers to the further notebook 12, published weights."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "translate",
        "through the tensors",
        "for theirs, ours in names.items():\n        tensor = tensors[theirs]",
        "for theirs, tensor in tensors.items():\n        ours = names[theirs]",
        "holds a mask",
    ),
]

REWRITES = [
    Rewrite(
        "translate",
        "split along the columns, then turned",
        """
def translate(tensors, names):
    state = {}
    for theirs, ours in names.items():
        parts = tensors[theirs].chunk(len(ours), dim=-1) if len(ours) > 1 else [tensors[theirs]]
        for name, part in zip(ours, parts):
            turned = theirs[:2] == "h." and part.dim() == 2
            state[name] = part.t().contiguous() if turned else part
    return state
""",
    ),
]
