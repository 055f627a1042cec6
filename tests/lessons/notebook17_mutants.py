"""Plausible wrong answers to notebook 17, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # answer_only
    Mutant("answer_only", "one too many", "(len(prompt) - 1)", "len(prompt)", "further on"),
    Mutant(
        "answer_only",
        "one answer token lost",
        "[-100] * (len(prompt) - 1) + [*answer, end]",
        "[-100] * len(prompt) + [*answer, end][1:]",
        "already predicts the first one",
    ),
    Mutant(
        "answer_only",
        "no mask",
        "[-100] * (len(prompt) - 1) + [*answer, end]",
        "tokens[1:]",
        "predicted, too",
    ),
    Mutant("answer_only", "zeros", "[-100]", "[0]", "id of a token"),
    Mutant("answer_only", "the end is hidden", "+ [*answer, end]", "+ [*answer, -100]", "ends"),
    Mutant("answer_only", "reads the end", "tokens[:-1]", "tokens", "of one length"),
    Mutant(
        "answer_only",
        "not shifted",
        "[-100] * (len(prompt) - 1) + [*answer, end]",
        "[-100] * len(prompt) + answer",
        "one position further on",
    ),
    Mutant(
        "answer_only",
        "the prompt is learned",
        "[-100] * (len(prompt) - 1) + [*answer, end]",
        "[*prompt[1:]] + [-100] * (len(answer) + 1)",
        "the other way round",
    ),
    Mutant(
        "answer_only",
        "nothing is read",
        "    return tokens[:-1], [-100] * (len(prompt) - 1) + [*answer, end]",
        "    return [prompt[-1], *answer], [*answer, end]",
        "has to be read",
    ),
    # count_lora
    Mutant("count_lora", "the map itself", "r * (d + k)", "d * k", "frozen"),
    Mutant("count_lora", "a product", "(d + k)", "d * k", "added, not multiplied"),
    Mutant("count_lora", "rank 1", "r * (d + k)", "d + k", "a rank of 1"),
    Mutant("count_lora", "A alone", "(d + k)", "k", "A alone"),
    Mutant("count_lora", "B alone", "(d + k)", "d", "B alone"),
    Mutant("count_lora", "square maps", "(d + k)", "(d + d)", "k need not be d"),
    Mutant("count_lora", "square maps of k", "(d + k)", "(k + k)", "d need not be k"),
    Mutant("count_lora", "with W", "r * (d + k)", "r * (d + k) + d * k", "A and B alone"),
    Mutant("count_lora", "a middle", "r * (d + k)", "r * (d + k) + r * r", "nothing between"),
    # lora
    Mutant("lora", "no factor", "alpha / len(A) * ", "", "alpha / r"),
    Mutant("lora", "not divided", "alpha / len(A)", "alpha", "divide by the rank"),
    Mutant(
        "lora",
        "all of it scaled",
        "x @ W.T + alpha / len(A) * (x @ A.T @ B.T)",
        "alpha / len(A) * (x @ W.T + x @ A.T @ B.T)",
        "Only the update",
    ),
    Mutant("lora", "no W", "x @ W.T + ", "", "frozen W gives is missing"),
    Mutant("lora", "a minus", "W.T + ", "W.T - ", "is added"),
    Mutant("lora", "the rank of W", "len(A)", "len(W)", "not that of W"),
    Mutant("lora", "the columns of A", "len(A)", "A.shape[1]", "the number of rows of A"),
    Mutant("lora", "upside down", "alpha / len(A)", "len(A) / alpha", "not r / alpha"),
    Mutant("lora", "no update", " + alpha / len(A) * (x @ A.T @ B.T)", "", "goes through A and B"),
    Mutant("lora", "a GELU", "(x @ A.T @ B.T)", "(F.gelu(x @ A.T) @ B.T)", "no non-linearity"),
    # merge
    Mutant("merge", "no factor", "alpha / len(A) * ", "", "here as well"),
    Mutant("merge", "not divided", "alpha / len(A)", "alpha", "divide by the rank"),
    Mutant("merge", "no W", "W + ", "", "W itself is missing"),
    Mutant(
        "merge",
        "all scaled",
        "W + alpha / len(A) * (B @ A)",
        "alpha / len(A) * (W + B @ A)",
        "W stays as it is",
    ),
    Mutant("merge", "a minus", "W + ", "W - ", "takes the update out"),
    Mutant("merge", "the rank of W", "len(A)", "len(W)", "not that of W"),
    Mutant("merge", "transposed", "(B @ A)", "(A.T @ B.T)", "as it is"),
    Mutant(
        "merge",
        "a product of both",
        "W + alpha / len(A) * (B @ A)",
        "W @ (alpha / len(A) * (B @ A))",
        "added",
    ),
    # adapter
    Mutant("adapter", "no residual", "x + F", "F", "residual connection is missing"),
    Mutant("adapter", "linear", "F.gelu(x @ W1.T + b1)", "(x @ W1.T + b1)", "GELU between"),
    Mutant("adapter", "another function", "F.gelu(x", "torch.relu(x", "is a GELU"),
    Mutant("adapter", "no second bias", " + b2", "", "second bias"),
    Mutant("adapter", "no first bias", " + b1", "", "first bias"),
    Mutant(
        "adapter",
        "GELU at the end",
        "F.gelu(x @ W1.T + b1) @ W2.T + b2",
        "F.gelu((x @ W1.T + b1) @ W2.T + b2)",
        "in the narrow layer",
    ),
    Mutant(
        "adapter",
        "times x",
        "x + F.gelu(x @ W1.T + b1) @ W2.T + b2",
        "x * (F.gelu(x @ W1.T + b1) @ W2.T + b2)",
        "added to x",
    ),
    # quiet_start
    Mutant("quiet_start", "both drawn", "torch.zeros(D, m)", "torch.randn(D, m)", "has to be zero"),
    Mutant(
        "quiet_start",
        "both zero",
        "torch.randn(m, D) / D**0.5",
        "torch.zeros(m, D)",
        "never learns",
    ),
    Mutant("quiet_start", "all alike", "torch.randn(m, D)", "torch.ones(m, D)", "All rows of W1"),
    Mutant(
        "quiet_start",
        "turned round",
        "torch.randn(m, D) / D**0.5, torch.zeros(D, m)",
        "torch.randn(D, m) / D**0.5, torch.zeros(m, D)",
        "turned round",
    ),
    Mutant(
        "quiet_start",
        "the first is zero",
        "torch.randn(m, D) / D**0.5, torch.zeros(D, m)",
        "torch.zeros(m, D), torch.randn(D, m)",
        "the last matrix",
    ),
    Mutant("quiet_start", "one of two", ", torch.zeros(D, m)", "", "two tensors"),
    Mutant("quiet_start", "huge", "/ D**0.5", "* 1000", "too large or too small"),
    # best_possible
    Mutant("best_possible", "no squares", " ** 2", "", "square the singular values"),
    Mutant("best_possible", "what is taken", "[r:]", "[:r]", "can take away"),
    Mutant("best_possible", "one too far", "[r:]", "[r + 1:]", "begins at index r"),
    Mutant("best_possible", "a mean", ".sum()", ".mean()", "added up"),
    Mutant("best_possible", "a root", ".sum()", ".sum().sqrt()", "without a root"),
    Mutant("best_possible", "no rank", "[r:]", "", "without any update"),
    Mutant("best_possible", "the smallest", "[r:]", "[-r:]", "r smallest"),
    # worth
    Mutant("worth", "turned round", "others - own", "own - others", "turned round"),
    Mutant("worth", "no sign", "others - own", "(others - own).abs()", "Keep the sign"),
    Mutant("worth", "a quotient", "others - own", "others / own", "subtracted"),
    Mutant("worth", "of single answers", " / len(gain) ** 0.5", "", "surer"),
    Mutant("worth", "by n", " ** 0.5", "", "not by n"),
    Mutant("worth", "with n", "gain.std()", "gain.std(correction=0)", "with n - 1"),
    Mutant(
        "worth", "its square", "gain.std() / len(gain) ** 0.5", "gain.var() / len(gain)", "root"
    ),
    Mutant(
        "worth",
        "not paired",
        "gain.std() / len(gain) ** 0.5",
        "((own.var() + others.var()) / len(own)) ** 0.5",
        "as a pair",
    ),
    Mutant("worth", "a sum", "gain.mean()", "gain.sum()", "this is the sum"),
    Mutant("worth", "the mean alone", ", gain.std() / len(gain) ** 0.5", "", "two numbers"),
    Mutant(
        "worth",
        "all gains",
        "gain.mean(), gain.std() / len(gain) ** 0.5",
        "gain, gain",
        "two numbers",
    ),
    # with_old_text
    Mutant("with_old_text", "skips tasks", "new(3 * turn + place)", "new(step)", "left out"),
    Mutant("with_old_text", "skips old text", "old(turn)", "old(step)", "as well"),
    Mutant(
        "with_old_text",
        "skips both",
        "old(turn) if place == 3 else new(3 * turn + place)",
        "old(step) if place == 3 else new(step)",
        "each by itself",
    ),
    Mutant(
        "with_old_text",
        "old text first",
        "old(turn) if place == 3 else new(3 * turn + place)",
        "old(turn) if place == 0 else new(3 * turn + place - 1)",
        "come first",
    ),
    Mutant(
        "with_old_text",
        "every third",
        "divmod(step, 4)\n    return old(turn) if place == 3 else new(3 * turn + place)",
        "divmod(step, 3)\n    return old(turn) if place == 2 else new(2 * turn + place)",
        "every third",
    ),
    Mutant(
        "with_old_text",
        "turned round",
        "old(turn) if place == 3 else new(3 * turn + place)",
        "new(turn) if place == 3 else old(3 * turn + place)",
        "other way round",
    ),
    Mutant(
        "with_old_text",
        "no old text",
        "old(turn) if place == 3 else new(3 * turn + place)",
        "new(step)",
        "No step",
    ),
    Mutant(
        "with_old_text",
        "two batches",
        "old(turn) if place == 3 else new(3 * turn + place)",
        "(new(3 * turn + place), old(turn))[place == 3]",
        "one batch",
    ),
]

REWRITES = [
    Rewrite(
        "answer_only",
        "by a loop",
        """def answer_only(prompt, answer, end):
    tokens = list(prompt) + list(answer) + [end]
    targets = tokens[1:]
    for i in range(len(prompt) - 1):
        targets[i] = -100
    return tokens[:-1], targets
""",
    ),
    Rewrite(
        "count_lora",
        "A and B by themselves",
        """def count_lora(shapes, r):
    count = 0
    for d, k in shapes.values():
        count += r * k
        count += d * r
    return count
""",
    ),
    Rewrite(
        "lora",
        "with F.linear",
        """def lora(x, W, A, B, alpha):
    r = A.shape[0]
    return F.linear(x, W) + F.linear(F.linear(x, A), B) * (alpha / r)
""",
    ),
    Rewrite(
        "lora",
        "merged on the way",
        """def lora(x, W, A, B, alpha):
    return x @ (W + alpha / A.shape[0] * B @ A).T
""",
    ),
    Rewrite(
        "merge",
        "in two lines",
        """def merge(W, A, B, alpha):
    update = torch.einsum("dr,rk->dk", B, A)
    return update * alpha / B.shape[1] + W
""",
    ),
    Rewrite(
        "adapter",
        "with F.linear",
        """def adapter(x, W1, b1, W2, b2):
    narrow = F.gelu(F.linear(x, W1, b1))
    return F.linear(narrow, W2, b2) + x
""",
    ),
    Rewrite(
        "quiet_start",
        "uniform",
        """def quiet_start(D, m):
    W1 = torch.empty(m, D).uniform_(-1, 1) * (3 / D) ** 0.5
    return W1, torch.zeros((D, m))
""",
    ),
    Rewrite(
        "best_possible",
        "by the whole decomposition",
        """def best_possible(difference, r):
    U, S, V = torch.linalg.svd(difference, full_matrices=False)
    S[:r] = 0
    return ((U @ torch.diag(S) @ V) ** 2).sum()
""",
    ),
    Rewrite(
        "worth",
        "by hand, as plain numbers",
        """def worth(own, others):
    gains = [b - a for a, b in zip(own.tolist(), others.tolist())]
    n, mean = len(gains), sum(gains) / len(gains)
    return mean, (sum((g - mean) ** 2 for g in gains) / (n - 1) / n) ** 0.5
""",
    ),
    Rewrite(
        "with_old_text",
        "by counting the old steps",
        """def with_old_text(new, old, step):
    if step % 4 == 3:
        return old(step // 4)
    return new(step - (step + 1) // 4)
""",
    ),
]
