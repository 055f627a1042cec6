"""Plausible wrong answers to notebook 09, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

SCALED = "K / math.sqrt(K.shape[1])"
MASKED = "scores.masked_fill(future, -math.inf).softmax(1)"

MUTANTS = [
    # one_output
    Mutant("one_output", "no sum", "p / total * v", "p * v", "divide them by their sum"),
    Mutant("one_output", "no powers", "torch.exp(s)", "s", "made positive by the exponential"),
    Mutant(
        "one_output",
        "scores alone",
        "sum(p / total * v for p, v in zip(powers, V))",
        "sum(s * v for s, v in zip(scores, V))",
        "first make weights of the scores",
    ),
    Mutant(
        "one_output",
        "the best alone",
        "sum(p / total * v for p, v in zip(powers, V))",
        "V[scores.index(max(scores))]",
        "value of the best key alone",
    ),
    Mutant("one_output", "plain mean", "p / total * v", "v / len(V)", "That is the plain mean"),
    Mutant(
        "one_output",
        "keys averaged",
        "zip(powers, V)",
        "zip(powers, K)",
        "what is averaged are the values",
    ),
    Mutant(
        "one_output",
        "weights",
        "sum(p / total * v for p, v in zip(powers, V))",
        "torch.stack(powers) / total",
        "These are the weights",
    ),
    Mutant(
        "one_output",
        "scaled too early",
        "torch.exp(s)",
        "torch.exp(s / len(q) ** 0.5)",
        "comes in section 3",
    ),
    # attention_weights
    Mutant("attention_weights", "columns", "softmax(1)", "softmax(0)", "A query is a row"),
    Mutant("attention_weights", "scores", ".softmax(1)", "", "These are the scores"),
    Mutant("attention_weights", "turned", "Q @ K.T", "K @ Q.T", "other way round"),
    Mutant(
        "attention_weights",
        "turned, down the columns",
        "(Q @ K.T).softmax(1)",
        "(K @ Q.T).softmax(0)",
        "weights in a column here",
    ),
    Mutant("attention_weights", "scaled", "Q @ K.T", "Q @ K.T / K.shape[1] ** 0.5", "section 3"),
    Mutant("attention_weights", "powers", ".softmax(1)", ".exp()", "divide each row by its sum"),
    Mutant(
        "attention_weights",
        "shares of scores",
        "(Q @ K.T).softmax(1)",
        "(Q @ K.T) / (Q @ K.T).sum(1, keepdim=True)",
        "Scores may be negative",
    ),
    # scaled_attention
    Mutant("scaled_attention", "no scale", SCALED, "K", "not divided by anything"),
    Mutant("scaled_attention", "no root", SCALED, "K / K.shape[1]", "divide once by its root"),
    Mutant("scaled_attention", "times", SCALED, "K * math.sqrt(K.shape[1])", "larger still"),
    Mutant(
        "scaled_attention",
        "outside",
        f"attention_weights(Q, {SCALED}) @ V",
        "attention_weights(Q, K) @ V / math.sqrt(K.shape[1])",
        "stands inside of the softmax",
    ),
    Mutant("scaled_attention", "number of keys", "K.shape[1]", "K.shape[0]", "number of keys"),
    Mutant("scaled_attention", "number of queries", "K.shape[1]", "len(Q)", "number of queries"),
    Mutant("scaled_attention", "values", "K.shape[1]", "V.shape[1]", "That is d_v"),
    Mutant("scaled_attention", "always 8", "math.sqrt(K.shape[1])", "8", "right for d_k = 64 only"),
    Mutant("scaled_attention", "weights", " @ V", "", "These are the weights"),
    # causal_weights
    Mutant("causal_weights", "no mask", MASKED, "scores.softmax(1)", "Nothing is masked"),
    Mutant(
        "causal_weights",
        "after",
        MASKED,
        "scores.softmax(1).tril()",
        "mask comes after the softmax",
    ),
    Mutant("causal_weights", "zeros", "-math.inf", "0.0", "A score of 0 is not hidden"),
    Mutant("causal_weights", "minus one", "-math.inf", "-1.0", "still gets weight"),
    Mutant("causal_weights", "minus ten", "-math.inf", "-10.0", "still gets a little weight"),
    Mutant(
        "causal_weights",
        "after, rows divided",
        MASKED,
        "scores.softmax(1).tril() / scores.softmax(1).tril().sum(1, keepdim=True)",
        "0 divided by 0",
    ),
    Mutant("causal_weights", "wrong side", "== 0", "== 1", "look at the future only"),
    Mutant("causal_weights", "upper", "tril()", "triu()", "themselves and at the future"),
    Mutant("causal_weights", "not itself", "tril()", "tril(-1)", "may look at itself"),
    Mutant("causal_weights", "columns", "softmax(1)", "softmax(0)", "along the rows"),
    Mutant("causal_weights", "scores", ".softmax(1)", "", "These are the masked scores"),
    # split_heads
    Mutant(
        "split_heads",
        "reshaped at once",
        "x.reshape(B, T, H, D // H).transpose(1, 2)",
        "x.reshape(B, H, T, D // H)",
        "mixes different words",
    ),
    Mutant(
        "split_heads", "no transpose", ".transpose(1, 2)", "", "stands behind that of the words"
    ),
    Mutant(
        "split_heads",
        "every H-th column",
        "reshape(B, T, H, D // H).transpose(1, 2)",
        "reshape(B, T, D // H, H).permute(0, 3, 1, 2)",
        "every H-th one",
    ),
    Mutant("split_heads", "other axes", "transpose(1, 2)", "transpose(2, 3)", "Axes 2 and 3"),
    Mutant("split_heads", "exchanged", "H, D // H)", "D // H, H)", "heads of width H"),
    Mutant(
        "split_heads", "heads first", ".transpose(1, 2)", ".permute(2, 0, 1, 3)", "stays the first"
    ),
    # cross_attention
    Mutant(
        "cross_attention", "self", "M @ W_K, M @ W_V", "X @ W_K, X @ W_V", "self-attention of X"
    ),
    Mutant("cross_attention", "memory asks", "X @ W_Q", "M @ W_Q", "self-attention of the memory"),
    Mutant(
        "cross_attention",
        "exchanged",
        "X @ W_Q, M @ W_K, M @ W_V",
        "M @ W_Q, X @ W_K, X @ W_V",
        "X asks, M answers",
    ),
    Mutant(
        "cross_attention", "K and V", "M @ W_K, M @ W_V", "M @ W_V, M @ W_K", "W_K and W_V have"
    ),
    Mutant(
        "cross_attention", "Q and K", "X @ W_Q, M @ W_K", "X @ W_K, M @ W_Q", "W_Q and W_K have"
    ),
    Mutant(
        "cross_attention",
        "no scale",
        "scaled_attention(X @ W_Q, M @ W_K, M @ W_V)",
        "attention_weights(X @ W_Q, M @ W_K) @ (M @ W_V)",
        "not divided by the root",
    ),
    Mutant(
        "cross_attention",
        "root of D",
        "scaled_attention(X @ W_Q, M @ W_K, M @ W_V)",
        "attention_weights(X @ W_Q / X.shape[1] ** 0.5, M @ W_K) @ (M @ W_V)",
        "root of D",
    ),
    Mutant("cross_attention", "bare values", "M @ W_V", "M", "memory times W_V"),
    # to_mark
    Mutant("to_mark", "rows and columns", "t, marks[b, t]]", "marks[b, t], t]", "Rows ask"),
    Mutant("to_mark", "sum", "mean(-1)", "sum(-1)", "That is a sum"),
    Mutant("to_mark", "no mean", ".mean(-1)", "", "their mean is asked for"),
    Mutant("to_mark", "all heads", "mean(-1)", "mean()", "averages over the heads, too"),
    Mutant("to_mark", "other axes", "mean(-1)", "mean((0, 1))", "average over the tokens"),
    Mutant("to_mark", "all tokens", "marks >= 0", "marks >= -1", "do not count"),
    Mutant("to_mark", "itself", "marks[b, t]]", "t]", "look at themselves"),
    Mutant(
        "to_mark",
        "means of texts",
        "return looks[:, :, b, t, marks[b, t]].mean(-1)",
        "m = looks[:, :, b, t, marks[b, t]]\n"
        "    return torch.stack([m[:, :, b == i].mean(-1) for i in set(b.tolist())]).mean(0)",
        "Each token counts once",
    ),
]

REWRITES = [
    Rewrite(
        "one_output",
        "vectors",
        """
def one_output(q, K, V):
    powers = torch.stack([(q * k).sum() for k in K]).exp()
    return (powers[:, None] * V).sum(0) / powers.sum()
""",
    ),
    Rewrite(
        "one_output",
        "three loops, filled",
        """
def one_output(q, K, V):
    powers, out = torch.zeros(len(K)), torch.zeros(V.shape[1])
    for s in range(len(K)):
        score = 0.0
        for i in range(len(q)):
            score = score + q[i] * K[s, i]
        powers[s] = math.exp(score)
    for s in range(len(K)):
        for j in range(V.shape[1]):
            out[j] += powers[s] / powers.sum() * V[s, j]
    return out
""",
    ),
    Rewrite(
        "split_heads",
        "filled",
        """
def split_heads(x, H):
    B, T, D = x.shape
    out = torch.zeros(B, H, T, D // H)
    for h in range(H):
        out[:, h] = x[:, :, h * (D // H) : (h + 1) * (D // H)]
    return out
""",
    ),
    Rewrite(
        "attention_weights",
        "by powers",
        """
def attention_weights(Q, K):
    powers = (Q @ K.mT).exp()
    return powers / powers.sum(1, keepdim=True)
""",
    ),
    Rewrite(
        "scaled_attention",
        "the queries divided",
        """
def scaled_attention(Q, K, V):
    return torch.softmax(Q * Q.shape[-1] ** -0.5 @ K.T, dim=-1) @ V
""",
    ),
    Rewrite(
        "causal_weights",
        "a sum",
        """
def causal_weights(scores):
    T = scores.shape[0]
    return (scores + torch.full((T, T), -math.inf).triu(1)).softmax(-1)
""",
    ),
    Rewrite(
        "split_heads",
        "chunks",
        """
def split_heads(x, H):
    return torch.stack(x.chunk(H, dim=-1), dim=1)
""",
    ),
    Rewrite(
        "cross_attention",
        "step by step",
        """
def cross_attention(X, M, W_Q, W_K, W_V):
    scores = (X @ W_Q) @ (M @ W_K).T / math.sqrt(W_K.shape[1])
    return scores.softmax(1) @ (M @ W_V)
""",
    ),
    Rewrite(
        "to_mark",
        "by loops",
        """
def to_mark(looks, marks):
    total, n = 0, 0
    for b in range(marks.shape[0]):
        for t in range(marks.shape[1]):
            if marks[b, t] >= 0:
                total, n = total + looks[:, :, b, t, marks[b, t]], n + 1
    return total / n
""",
    ),
]
