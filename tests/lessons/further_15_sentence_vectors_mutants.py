"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant("ranks", "counts in columns", ".sum(1)", ".sum(0)", "In each row count"),
]

REWRITES = [
    Rewrite(
        "text_vectors",
        "text by text",
        """def text_vectors(h, keep):
    means = torch.stack([states[kept].mean(0) for states, kept in zip(h, keep)])
    return means / means.norm(dim=1, keepdim=True)
""",
    ),
    Rewrite(
        "ranks",
        "a sum over the row",
        """def ranks(scores):
    return torch.stack([(row >= row[i]).sum() for i, row in enumerate(scores)])
""",
    ),
    Rewrite(
        "contrastive_loss",
        "by its formula",
        """def contrastive_loss(a, b, temperature):
    s = a @ b.T / temperature
    return (s.logsumexp(1) - s.diag()).mean()
""",
    ),
]
