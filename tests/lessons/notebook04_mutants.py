"""Plausible wrong answers to notebook 04, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # gradient
    Mutant("gradient", "sum", " / len(a)", "", "sum over the pairs"),
    Mutant("gradient", "no target", "errors[torch.arange(len(b)), b] -= 1", "pass", "what came"),
    Mutant("gradient", "columns", "softmax(dim=1)", "softmax(dim=0)", "along the rows"),
    Mutant(
        "gradient",
        "all columns",
        "errors[torch.arange(len(b)), b] -= 1",
        "errors[:, b] -= 1",
        "every column in every row",
    ),
    Mutant(
        "gradient",
        "mean of a row",
        "/ len(a)",
        "/ torch.bincount(a, minlength=len(Z))[:, None].clamp(1)",
        "mean for each row",
    ),
    Mutant("gradient", "sign", "/ len(a)", "/ -len(a)", "sign is turned round"),
    Mutant("gradient", "other row", "index_add(0, a,", "index_add(0, b,", "not into row b"),
    Mutant("gradient", "scores", "Z[a].softmax(dim=1)", "Z[a].clone()", "no probabilities"),
    Mutant(
        "gradient",
        "repeats lost",
        "return torch.zeros_like(Z).index_add(0, a, errors) / len(a)",
        "grad = torch.zeros_like(Z)\n    grad[a] += errors\n    return grad / len(a)",
        "index_add adds all",
    ),
    Mutant(
        "gradient",
        "one row a pair",
        "return torch.zeros_like(Z).index_add(0, a, errors) / len(a)",
        "return errors",
        "one row for each pair",
    ),
    # factored_loss
    Mutant("factored_loss", "changed places", "(E[a] @ U, b)", "(E[b] @ U, a)", "read is a"),
    Mutant("factored_loss", "sum", "@ U, b)", "@ U, b, reduction='sum')", "mean is asked for"),
    Mutant(
        "factored_loss", "softmax twice", "E[a] @ U,", "(E[a] @ U).softmax(1),", "softmax itself"
    ),
    Mutant(
        "factored_loss",
        "scores",
        "F.cross_entropy(E[a] @ U, b)",
        "-(E[a] @ U)[range(len(b)), b].mean()",
        "after a softmax",
    ),
    Mutant("factored_loss", "sign", "return F", "return -F", "sign is turned round"),
    # context_pairs
    Mutant("context_pairs", "itself", " if j != i", "", "neighbour of itself"),
    Mutant("context_pairs", "one short", " + radii[i] + 1)", " + radii[i])", "is missing"),
    Mutant("context_pairs", "same word", "if j != i", "if tokens[j] != centre", "not words"),
    Mutant(
        "context_pairs", "the right only", "max(0, i - radii[i])", "i", "on the left are missing"
    ),
    Mutant("context_pairs", "from behind", "max(0, i - radii[i])", "i - radii[i]", "Python -1"),
    Mutant("context_pairs", "turned", "(centre, tokens[j])", "(tokens[j], centre)", "comes first"),
    Mutant(
        "context_pairs",
        "one radius",
        "i, centre in enumerate(tokens):",
        "i, centre in enumerate(tokens):\n        radii = [radii[0]] * len(tokens)",
        "radius of its own",
    ),
    # pair_scores
    Mutant("pair_scores", "sigmoid", "[:, :, 0]", "[:, :, 0].sigmoid()", "takes their sigmoid"),
    Mutant(
        "pair_scores",
        "products",
        "torch.bmm(u, v[:, :, None])[:, :, 0]",
        "u * v[:, None]",
        "one number",
    ),
    Mutant(
        "pair_scores",
        "mean",
        "torch.bmm(u, v[:, :, None])[:, :, 0]",
        "(u * v[:, None]).mean(-1)",
        "too small by the factor D",
    ),
    Mutant(
        "pair_scores",
        "cosine",
        "torch.bmm(u, v[:, :, None])[:, :, 0]",
        "F.cosine_similarity(u, v[:, None], dim=-1)",
        "These are cosines",
    ),
    Mutant(
        "pair_scores",
        "all with all",
        "torch.bmm(u, v[:, :, None])[:, :, 0]",
        'torch.einsum("id,jkd->ijk", v, u)',
        "its own only",
    ),
    # negative_sampling_loss
    Mutant(
        "negative_sampling_loss", "mean of words", ".sum(dim=1).mean()", ".mean()", "has their sum"
    ),
    Mutant(
        "negative_sampling_loss",
        "times 0",
        "sign = 2 * is_context - 1",
        "sign = is_context",
        "is lost",
    ),
    Mutant("negative_sampling_loss", "sum", ".sum(dim=1).mean()", ".sum()", "mean is asked for"),
    Mutant("negative_sampling_loss", "no sign", "sign * scores", "scores", "pulled near as well"),
    Mutant(
        "negative_sampling_loss", "changed", "2 * is_context - 1", "1 - 2 * is_context", "places"
    ),
    Mutant(
        "negative_sampling_loss",
        "true words only",
        "F.logsigmoid(sign * scores)",
        "(is_context * F.logsigmoid(scores))",
        "do not enter",
    ),
    Mutant("negative_sampling_loss", "minus", "return -F", "return F", "sign is turned round"),
    Mutant(
        "negative_sampling_loss",
        "outside",
        "F.logsigmoid(sign * scores)",
        "(sign * F.logsigmoid(scores))",
        "minus belongs inside",
    ),
    # ppmi
    Mutant("ppmi", "no P", ".clamp(min=0)", "", "first P of PPMI"),
    Mutant("ppmi", "no total", " / counts.sum()", "", "sum of all counts is missing"),
    Mutant("ppmi", "rows", "dim=1, keepdim=True", "dim=1", "belong to the rows"),
    Mutant("ppmi", "bits", "(counts / expected).log()", "(counts / expected).log2()", "are bits"),
    Mutant(
        "ppmi",
        "no logarithm",
        "(counts / expected).log(), 0.0).clamp(min=0)",
        "(counts / expected), 0.0).clamp(min=0)",
        "logarithm is missing",
    ),
    Mutant(
        "ppmi",
        "zeros",
        "torch.where(counts > 0, (counts / expected).log(), 0.0).clamp(min=0)",
        "(counts / expected).log()",
        "PPMI",
    ),
    # analogy
    Mutant("analogy", "not left out", "cosines[[a, b, c]] = -torch.inf", "pass", "left out"),
    Mutant("analogy", "turned", "unit[b] - unit[a]", "unit[a] - unit[b]", "b - a"),
    Mutant(
        "analogy", "no question", "unit[b] - unit[a] + unit[c]", "unit[c]", "ignores the question"
    ),
    Mutant(
        "analogy",
        "raw sum",
        "unit[b] - unit[a] + unit[c]",
        "vectors[b] - vectors[a] + vectors[c]",
        "before they",
    ),
    Mutant("analogy", "raw", "F.normalize(vectors, dim=1)", "vectors", "long ones win"),
    # window_vectors
    Mutant("window_vectors", "turned", "range(W)]", "reversed(range(W))]", "oldest word"),
    Mutant("window_vectors", "one short", "- W + 1", "- W", "One window is missing"),
    Mutant("window_vectors", "in time", "dim=-1", "dim=1", "one after another in time"),
    Mutant("window_vectors", "standing", "e[:, i : i + T]", "e[:, :T]", "same word stands"),
    Mutant(
        "window_vectors",
        "mean",
        "torch.cat([e[:, i : i + T] for i in range(W)], dim=-1)",
        "torch.stack([e[:, i : i + T] for i in range(W)]).mean(0)",
        "forgets the order",
    ),
    Mutant(
        "window_vectors",
        "mixed",
        "torch.cat([e[:, i : i + T] for i in range(W)], dim=-1)",
        "torch.stack([e[:, i : i + T] for i in range(W)], dim=-1).flatten(2)",
        "different words are mixed",
    ),
    Mutant(
        "window_vectors",
        "not flat",
        "torch.cat([e[:, i : i + T] for i in range(W)], dim=-1)",
        "torch.stack([e[:, i : i + T] for i in range(W)], dim=2)",
        "one of length W D",
    ),
]

REWRITES = [
    Rewrite(
        "gradient",
        "one-hot vectors",
        """
def gradient(Z, a, b):
    V = len(Z)
    read, came = F.one_hot(a, V).to(Z.dtype), F.one_hot(b, V).to(Z.dtype)
    return read.T @ (torch.softmax(read @ Z, -1) - came) / a.numel()
""",
    ),
    Rewrite(
        "factored_loss",
        "log-probabilities",
        """
def factored_loss(E, U, a, b):
    log_p = torch.log_softmax(E[a] @ U, dim=-1)
    return -log_p.gather(1, b[:, None]).mean()
""",
    ),
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
        "pair_scores",
        "einsum",
        """
def pair_scores(v, u):
    return torch.einsum("bd,bkd->bk", v, u)
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
    Rewrite(
        "analogy",
        "sorted",
        """
def analogy(vectors, a, b, c):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    order = (unit @ (unit[b] - unit[a] + unit[c])).argsort(descending=True)
    return next(d for d in order.tolist() if d not in (a, b, c))
""",
    ),
    Rewrite(
        "window_vectors",
        "unfold",
        """
def window_vectors(e, W):
    return e.unfold(1, W, 1).transpose(2, 3).flatten(2)
""",
    ),
]
