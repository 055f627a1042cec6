"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "context_pairs",
        "one radius",
        "i, centre in enumerate(tokens):",
        "i, centre in enumerate(tokens):\n        radii = [radii[0]] * len(tokens)",
        "For each position i",
    ),
    Mutant(
        "negative_sampling_loss",
        "true words only",
        "F.logsigmoid(sign * scores)",
        "(is_context * F.logsigmoid(scores))",
        "-log s(-score)",
    ),
    Mutant("negative_sampling_loss", "minus", "return -F", "return F", "-log s(score)"),
    Mutant(
        "ppmi",
        "zeros",
        "torch.where(counts > 0, (counts / expected).log(), 0.0).clamp(min=0)",
        "(counts / expected).log()",
        "PPMI",
    ),
]

REWRITES = [
    Rewrite(
        "context_pairs",
        "all positions",
        """
def context_pairs(tokens, radii):
    n = range(len(tokens))
    return [(tokens[i], tokens[j]) for i in n for j in n if 0 < abs(i - j) <= radii[i]]
""",
    ),
    Rewrite(
        "negative_sampling_loss",
        "binary cross-entropy",
        """
def negative_sampling_loss(scores, is_context):
    total = F.binary_cross_entropy_with_logits(scores, is_context, reduction="sum")
    return total / scores.shape[0]
""",
    ),
    Rewrite(
        "ppmi",
        "shares",
        """
def ppmi(counts):
    p = counts / counts.sum()
    ratio = p / (p.sum(1)[:, None] * p.sum(0)[None])
    return ratio.clamp(min=1).log()
""",
    ),
]
