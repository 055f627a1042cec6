"""Other right answers to notebook 09, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "one_output",
        "plain mean",
        "p / total * v",
        "v / len(V)",
        "add up the values with these weights",
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
