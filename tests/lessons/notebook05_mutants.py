"""Plausible wrong answers to notebook 05, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # update_belief
    Mutant("update_belief", "not divided", "(seen / seen.sum())", "seen", "divide by the sum"),
    Mutant("update_belief", "not moved", " @ A", "", "has to move on, by A"),
    Mutant("update_belief", "not looked", "belief * B[:, x]", "belief", "x is not used"),
    Mutant(
        "update_belief",
        "A from the left",
        "(seen / seen.sum()) @ A",
        "A @ (seen / seen.sum())",
        "on the left of A",
    ),
    Mutant(
        "update_belief",
        "moves first",
        "    seen = belief * B[:, x]\n    return (seen / seen.sum()) @ A",
        "    seen = (belief @ A) * B[:, x]\n    return seen / seen.sum()",
        "move first",
    ),
    Mutant("update_belief", "forgets", "belief * B[:, x]", "B[:, x]", "What was believed before"),
    Mutant("update_belief", "a row of B", "B[:, x]", "B[x]", "each state emits x"),
    # elman_step
    Mutant("elman_step", "linear", "torch.tanh(", "(", "tanh is missing"),
    Mutant("elman_step", "not transposed", "h @ W_hh.T", "h @ W_hh", "transposed matrix"),
    Mutant("elman_step", "no bias", " + b", "", "bias b is missing"),
    Mutant(
        "elman_step", "bias outside", "x @ W_xh.T + b)", "x @ W_xh.T) + b", "stands inside tanh"
    ),
    Mutant("elman_step", "no memory", "h @ W_hh.T + ", "", "no memory"),
    Mutant("elman_step", "reads nothing", "x @ W_xh.T + ", "", "x, is not used"),
    Mutant("elman_step", "ReLU", "torch.tanh", "torch.relu", "network with ReLU"),
    Mutant(
        "elman_step",
        "two tanh",
        "torch.tanh(h @ W_hh.T + x @ W_xh.T + b)",
        "torch.tanh(h @ W_hh.T) + torch.tanh(x @ W_xh.T + b)",
        "One tanh of the whole sum",
    ),
    Mutant(
        "elman_step",
        "columns",
        "h @ W_hh.T + x @ W_xh.T",
        "W_hh @ h + W_xh @ x",
        "Each row of h",
    ),
    # bptt
    Mutant("bptt", "not transposed", "W_hh.T @ delta", "W_hh @ delta", "is transposed"),
    Mutant(
        "bptt", "last loss", "(g[t - 1] + W", "((g[t - 1] if t == T else 0) + W", "loss of its own"
    ),
    Mutant("bptt", "no way back", " + W_hh.T @ delta", "", "step after is missing"),
    Mutant("bptt", "slope before", "1 - h[t] ** 2", "1 - h[t - 1] ** 2", "its own output, h[t]"),
    Mutant("bptt", "no slope", " * (1 - h[t] ** 2)", "", "slope of tanh, 1 - h[t] ** 2, is mis"),
    Mutant(
        "bptt",
        "brackets",
        "(g[t - 1] + W_hh.T @ delta) * (1 - h[t] ** 2)",
        "g[t - 1] + W_hh.T @ delta * (1 - h[t] ** 2)",
        "brackets around their sum",
    ),
    Mutant("bptt", "replaced", "dW_hh +=", "dW_hh =", "Go from the last step"),
    Mutant("bptt", "state after", "h[t - 1])\n", "h[t])\n", "before the step, h[t - 1]"),
    Mutant(
        "bptt",
        "turned",
        "torch.outer(delta, h[t - 1])",
        "torch.outer(h[t - 1], delta)",
        "Row i of dW_hh",
    ),
    Mutant("bptt", "swapped", "return dW_hh, dW_xh", "return dW_xh, dW_hh", "dW_hh comes first"),
    Mutant("bptt", "forwards", "range(T, 0, -1)", "range(1, T + 1)", "from the last step to"),
    Mutant(
        "bptt",
        "single precision",
        "torch.zeros_like(h[0])",
        "torch.zeros(len(W_hh))",
        "Your sums are float32",
    ),
    # products
    Mutant("products", "turned", "return found", "return found[::-1]", "nearest comes first"),
    Mutant("products", "without 1", "return found", "return found[1:]", "which is 1"),
    Mutant("products", "factors", "found[-1] * w", "w", "multiply them up"),
    Mutant("products", "no slope", " * (1 - h[t] ** 2)", "", "slope of tanh, 1 - h[t] ** 2, bel"),
    Mutant("products", "no weight", " * w *", " *", "weight w belongs"),
    Mutant("products", "slope before", "h[t] ** 2", "h[t - 1] ** 2", "not at h[t - 1]"),
    Mutant("products", "no square", "h[t] ** 2", "h[t]", "square is missing"),
    Mutant("products", "one too many", "h) - 1, 0, -1", "h) - 1, -1, -1", "T, T - 1, ..., 1"),
    Mutant("products", "last only", "return found", "return found[-1]", "dh_T/dh_0 alone"),
    Mutant(
        "products", "forwards", "range(len(h) - 1, 0, -1)", "range(1, len(h))", "begins at the last"
    ),
    # clip
    Mutant(
        "clip",
        "each by itself",
        "g * factor",
        "g * min(1.0, bound / float(g.norm()))",
        "cut by itself",
    ),
    Mutant(
        "clip",
        "numbers cut",
        "g * factor",
        "g.clamp(-bound, bound)",
        "Single numbers are cut",
    ),
    Mutant("clip", "always", " if norm > bound else 1.0", "", "must stay as it is"),
    Mutant("clip", "no root", " ** 0.5", "", "the norm is its root"),
    Mutant(
        "clip",
        "sum of norms",
        "sum(float((g**2).sum()) for g in gradients) ** 0.5",
        "sum(float(g.norm()) for g in gradients)",
        "squares do",
    ),
    Mutant("clip", "to one", "bound / norm", "1 / norm", "shall be cut to bound"),
    Mutant("clip", "turned", "norm > bound", "norm < bound", "Nothing is scaled"),
    Mutant(
        "clip",
        "in place",
        "    return [g * factor for g in gradients]",
        "    for g in gradients:\n        g *= factor\n    return gradients",
        "changed in place",
    ),
    # generate
    Mutant("generate", "reads the first for ever", "token = int", "drawn = int", "What was drawn"),
    Mutant("generate", "no state", "scores, state = read", "scores, _ = read", "state is lost"),
    Mutant(
        "generate",
        "greedy",
        "torch.multinomial(scores[0, -1].softmax(dim=-1), 1, generator=generator)",
        "scores[0, -1].argmax()",
        "most probable symbol",
    ),
    Mutant(
        "generate",
        "uniform",
        "scores[0, -1].softmax(dim=-1)",
        "torch.ones(scores.shape[-1])",
        "what was drawn",
    ),
    Mutant(
        "generate",
        "first included",
        "state, written = first, None, []",
        "state, written = first, None, [first]",
        "leave it out",
    ),
    Mutant(
        "generate",
        "reads all again",
        "read(torch.tensor([[token]]), state)",
        "read(torch.tensor([[first, *written]]), state)",
        "are read again",
    ),
    Mutant(
        "generate",
        "reads all anew, without a state",
        "read(torch.tensor([[token]]), state)",
        "read(torch.tensor([[first, *written]]), None)",
        "keep the state",
    ),
    Mutant("generate", "own chance", ", generator=generator", "", "comes from the generator"),
    Mutant("generate", "nothing", "return written", "print(written)", "Hand back a list"),
    # next_inputs
    Mutant("next_inputs", "turned", "true, own)", "own, true)", "turned round"),
    Mutant(
        "next_inputs", "true", "torch.where(coins < epsilon, true, own)", "true", "teacher forcing"
    ),
    Mutant(
        "next_inputs",
        "own",
        "torch.where(coins < epsilon, true, own)",
        "own",
        "reads its own symbol",
    ),
    Mutant(
        "next_inputs",
        "coins of its own",
        "coins < epsilon",
        "torch.rand(len(coins)) < epsilon",
        "Use the coins",
    ),
    Mutant(
        "next_inputs",
        "one coin",
        "torch.where(coins < epsilon, true, own)",
        "true if coins[0] < epsilon else own",
        "Each row has its own coin",
    ),
    Mutant(
        "next_inputs",
        "mixed",
        "torch.where(coins < epsilon, true, own)",
        "epsilon * true + (1 - epsilon) * own",
        "cannot be mixed",
    ),
]

REWRITES = [
    Rewrite(
        "update_belief",
        "a loop",
        """
def update_belief(belief, x, A, B):
    seen = [float(belief[i] * B[i, x]) for i in range(len(belief))]
    total = sum(seen)
    new = torch.zeros_like(belief)
    for i, weight in enumerate(seen):
        new += weight / total * A[i]
    return new
""",
    ),
    Rewrite(
        "elman_step",
        "linear",
        """
def elman_step(h, x, W_hh, W_xh, b):
    return (F.linear(h, W_hh) + F.linear(x, W_xh, b)).tanh()
""",
    ),
    Rewrite(
        "bptt",
        "collected first",
        """
def bptt(g, h, x, W_hh):
    T = len(x)
    deltas, after = [None] * T, 0
    for t in reversed(range(T)):
        deltas[t] = (g[t] + after) * (1 - h[t + 1] * h[t + 1])
        after = deltas[t] @ W_hh
    deltas = torch.stack(deltas)
    return deltas.T @ h[:-1], deltas.T @ x
""",
    ),
    Rewrite(
        "products",
        "while",
        """
def products(w, h):
    result, t = [1.0], len(h) - 1
    while t > 0:
        result += [result[-1] * (w - w * h[t] * h[t])]
        t -= 1
    return result
""",
    ),
    Rewrite(
        "products",
        "an array",
        """
def products(w, h):
    factors = w * (1 - np.array(h[:0:-1]) ** 2)
    return np.concatenate([[1.0], np.cumprod(factors)])
""",
    ),
    Rewrite(
        "clip",
        "one vector",
        """
def clip(gradients, bound):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * bound / norm if norm > bound else g.clone() for g in gradients]
""",
    ),
    Rewrite(
        "generate",
        "a list",
        """
def generate(read, first, length, generator):
    tokens, state = [first], None
    while len(tokens) <= length:
        scores, state = read(torch.tensor([tokens[-1:]]), state)
        p = scores[0, -1].exp() / scores[0, -1].exp().sum()
        tokens.append(torch.multinomial(p, 1, generator=generator).item())
    return tokens[1:]
""",
    ),
    Rewrite(
        "next_inputs",
        "a loop",
        """
def next_inputs(true, own, epsilon, coins):
    rows = [t if c < epsilon else o for t, o, c in zip(true, own, coins)]
    return torch.stack(rows)
""",
    ),
]
