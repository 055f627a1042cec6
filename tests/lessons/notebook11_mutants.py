"""Plausible wrong answers to notebook 11, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # residual_stream
    Mutant("residual_stream", "no addition", "states[-1] + scale *", "scale *", "old state is mis"),
    Mutant("residual_stream", "the first state", "layer(states[-1])", "layer(x)", "not the first"),
    Mutant("residual_stream", "no scale", "scale * layer", "layer", "multiplied by scale first"),
    Mutant("residual_stream", "without x", "return states", "return states[1:]", "begins with x"),
    Mutant("residual_stream", "last one", "return states", "return states[-1]", "last state alone"),
    Mutant(
        "residual_stream",
        "all scaled",
        "states[-1] + scale * layer(states[-1])",
        "scale * (states[-1] + layer(states[-1]))",
        "old state stays as it is",
    ),
    # logit_lens
    Mutant("logit_lens", "no norm", "output(norm(x))", "output(x)", "norm is left out"),
    Mutant("logit_lens", "logits", ".softmax(-1)", "", "These are logits"),
    Mutant("logit_lens", "over positions", "softmax(-1)", "softmax(0)", "over the last dim"),
    Mutant("logit_lens", "logarithms", "softmax(-1)", "log_softmax(-1)", "log-probabilities"),
    # layernorm
    Mutant("layernorm", "corrected", "((x - E) ** 2).mean(-1, keepdim=True)",
           "x.var(-1, keepdim=True)", "divides by d - 1"),
    Mutant("layernorm", "not centred", "return (x - E)", "return x", "above the line"),
    Mutant("layernorm", "no root", "(V + eps).sqrt()", "(V + eps)", "take its root"),
    Mutant("layernorm", "no bias", " + beta", "", "β is missing"),
    Mutant("layernorm", "no gain", " * gamma", "", "γ is missing"),
    Mutant("layernorm", "epsilon outside", "(V + eps).sqrt()", "(V.sqrt() + eps)", "before the"),
    Mutant("layernorm",
        "over positions",
        "x.mean(-1, keepdim=True)\n    V = ((x - E) ** 2).mean(-1,",
        "x.mean(-2, keepdim=True)\n    V = ((x - E) ** 2).mean(-2,",
        "over the positions",),
    Mutant("layernorm", "squares of x", "((x - E) ** 2).mean", "(x**2).mean", "squares of x"),
    Mutant("layernorm", "absolute", "(V + eps).sqrt()",
           "((x - E).abs().mean(-1, keepdim=True) + eps)", "not of absolute"),
    # rmsnorm
    Mutant("rmsnorm", "the length", ".mean(-1", ".sum(-1", "length of the vector"),
    Mutant("rmsnorm", "no root", ".sqrt()", "", "root is missing"),
    Mutant("rmsnorm", "no gain", " * g", "", "gain g is missing"),
    Mutant("rmsnorm", "no epsilon", " + eps", "", "ε is missing"),
    Mutant("rmsnorm", "centred", "x / ((x**2).mean(-1, keepdim=True) + eps)",
           "(x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps)",
           "subtracts nothing"),
    Mutant("rmsnorm", "one for all", ".mean(-1, keepdim=True)", ".mean()", "One mean for all"),
    # pre_norm_block
    Mutant(
        "pre_norm_block",
        "no skips",
        "x = x + attention(norm_1(x))\n    return x + feed_forward(",
        "x = attention(norm_1(x))\n    return feed_forward(",
        "Nothing is added",
    ),
    Mutant(
        "pre_norm_block",
        "parallel",
        "x = x + attention(norm_1(x))\n    return x + ",
        "return x + attention(norm_1(x)) + ",
        "after attention has added",
    ),
    Mutant(
        "pre_norm_block",
        "one skip",
        "x = x + attention(norm_1(x))\n    return x + feed_forward(norm_2(x))",
        "return x + feed_forward(norm_2(attention(norm_1(x))))",
        "residual connection of its own",
    ),
    Mutant(
        "pre_norm_block",
        "norms exchanged",
        "attention(norm_1(x))\n    return x + feed_forward(norm_2(x))",
        "attention(norm_2(x))\n    return x + feed_forward(norm_1(x))",
        "norm_1 belongs to",
    ),
    Mutant(
        "pre_norm_block",
        "post-norm",
        "x = x + attention(norm_1(x))\n    return x + feed_forward(norm_2(x))",
        "x = norm_1(x + attention(x))\n    return norm_2(x + feed_forward(x))",
        "norms of post-norm",
    ),
    Mutant("pre_norm_block", "first sum", "x = x + attention(norm_1(x))",
           "x = norm_1(x) + attention(norm_1(x))", "look at the first"),
    Mutant("pre_norm_block", "second sum", "return x + feed", "return norm_2(x) + feed",
           "look at the second"),
    Mutant("pre_norm_block", "one norm", "norm_2(x)", "norm_1(x)", "norm of its own"),
    # swiglu
    Mutant("swiglu", "exchanged", "F.silu(x @ W) * (x @ V)", "F.silu(x @ V) * (x @ W)", "the gate"),
    Mutant("swiglu", "a sigmoid", "F.silu", "torch.sigmoid", "makes a GLU"),
    Mutant("swiglu", "a sum", " * (x @ V)", " + (x @ V)", "not added"),
    Mutant("swiglu", "no gate", " * (x @ V)", "", "nothing is gated"),
    Mutant("swiglu", "no way back", " @ W_2", "", "W_2 is missing"),
    # block_costs
    Mutant("block_costs", "no biases", " + 5 * D + 4 * D", "", "Biases and norms are missing"),
    Mutant("block_costs", "no norms", " + 4 * D\n", "\n", "The two norms"),
    Mutant("block_costs", "three matrices", "attention, feed_forward = 4 * D * D",
           "attention, feed_forward = 3 * D * D", "."),
    Mutant("block_costs", "no scores", " + 4 * T * T * D", "", "weighted sums are missing"),
    Mutant("block_costs", "one of two", "4 * T * T * D", "2 * T * T * D", "2 T² D each"),
    Mutant("block_costs", "exchanged", "return parameters, 2 * T * (attention + feed_forward) + "
           "4 * T * T * D", "return 2 * T * (attention + feed_forward) + 4 * T * T * D, "
           "parameters", "parameters come first"),
    # share_heads
    Mutant("share_heads", "tiled", "k.repeat_interleave(n_heads // k.shape[1], dim=1)",
           "k.repeat(1, n_heads // k.shape[1], 1, 1)", "k1 k1 k2 k2"),
    Mutant("share_heads", "too many", "n_heads // k.shape[1]", "n_heads", "Too many"),
    Mutant("share_heads", "positions", "dim=1", "dim=2", "repeats positions"),
    Mutant("share_heads", "first head", "k.repeat_interleave(n_heads // k.shape[1], dim=1)",
           "k[:, :1].expand(-1, n_heads, -1, -1)", "get the first key head"),
]  # fmt: skip

REWRITES = [
    Rewrite(
        "residual_stream",
        "in place of the last",
        """
def residual_stream(x, layers, scale):
    found = [x]
    for f in layers:
        x = x + f(x) * scale
        found += [x]
    return found
""",
    ),
    Rewrite(
        "logit_lens",
        "by F",
        """
def logit_lens(x, norm, output):
    logits = output(norm(x))
    return F.softmax(logits, dim=-1)
""",
    ),
    Rewrite(
        "layernorm",
        "by torch.var",
        """
def layernorm(x, gamma, beta, eps):
    away = x - x.mean(dim=-1, keepdim=True)
    return gamma * away / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) + beta
""",
    ),
    Rewrite(
        "rmsnorm",
        "by rsqrt",
        """
def rmsnorm(x, g, eps):
    return g * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
""",
    ),
    Rewrite(
        "pre_norm_block",
        "with names",
        """
def pre_norm_block(x, norm_1, attention, norm_2, feed_forward):
    after = x + attention(norm_1(x))
    return after + feed_forward(norm_2(after))
""",
    ),
    Rewrite(
        "swiglu",
        "spelled out",
        """
def swiglu(x, W, V, W_2):
    z = x @ W
    return (z * torch.sigmoid(z) * (x @ V)) @ W_2
""",
    ),
    Rewrite(
        "block_costs",
        "in one formula",
        """
def block_costs(D, T):
    return 12 * D**2 + 9 * D, 24 * T * D**2 + 4 * T**2 * D
""",
    ),
    Rewrite(
        "share_heads",
        "by expand",
        """
def share_heads(k, n_heads):
    B, G, T, K = k.shape
    return k[:, :, None].expand(B, G, n_heads // G, T, K).reshape(B, n_heads, T, K)
""",
    ),
]
