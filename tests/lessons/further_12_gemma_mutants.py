"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS: list[Mutant] = []

REWRITES = [
    Rewrite(
        "window_mask",
        "two triangles",
        """
def window_mask(T, W):
    return torch.ones(T, T, dtype=torch.bool).tril().triu(1 - W)
""",
    ),
    Rewrite(
        "grouped_attention",
        "group by group",
        """
def grouped_attention(q, k, v, mask):
    outputs = []
    for g in range(k.shape[1]):
        n = q.shape[1] // k.shape[1]
        scores = q[:, g * n : (g + 1) * n] @ k[:, g : g + 1].transpose(2, 3) / k.shape[3] ** 0.5
        outputs.append(scores.masked_fill(mask == 0, float("-inf")).softmax(-1) @ v[:, g : g + 1])
    return torch.cat(outputs, 1)
""",
    ),
    Rewrite(
        "add_normed",
        "step by step",
        """
def add_normed(x, part, before, after):
    y = before(x)
    y = part(y)
    y = after(y)
    return x + y
""",
    ),
]
