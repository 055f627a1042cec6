"""Other right answers to notebook 01, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant("surprise", "zero forgotten", " if p > 0 else math.inf", "", "what is the limit"),
    Mutant("surprise", "zero for zero", "math.inf", "0.0", "what is the limit"),
    Mutant("chain", "no key", ".get(token, 0.0)", "[token]", "What is no key"),
    Mutant(
        "chain",
        "no beginning",
        "branches.get(tuple(tokens[:i]), {})",
        "branches[tuple(tokens[:i])]",
        "What is no key",
    ),
    Mutant("chain", "a list as key", "tuple(tokens[:i])", "tokens[:i]", "cannot be a key"),
    Mutant("cross_entropy", "nan", " if share > 0", "", "leave it out"),
    Mutant(
        "cross_entropy",
        "zero belief left out",
        "if share > 0",
        "if share > 0 and belief > 0",
        "infinitely surprising",
    ),
    Mutant(
        "narrow",
        "through a float",
        "return low * sum(shares) + width * before",
        "return int((low / 1 + width * before / sum(shares)) * sum(shares))",
        "16 digits only",
    ),
]

REWRITES = [
    Rewrite(
        "surprise",
        "by the inverse",
        """
def surprise(p):
    if p == 0:
        return float("inf")
    return math.log2(1 / p)
""",
    ),
    Rewrite(
        "surprise",
        "natural logarithms",
        """
def surprise(p):
    return math.inf if p <= 0 else -math.log(p) / math.log(2)
""",
    ),
    Rewrite(
        "chain",
        "from the end",
        """
def chain(branches, tokens):
    if not tokens:
        return 1.0
    before = tuple(tokens[:-1])
    last = branches[before].get(tokens[-1], 0) if before in branches else 0
    return last and last * chain(branches, before)
""",
    ),
    Rewrite(
        "next_token_loss",
        "shifted scores",
        """
def next_token_loss(z, y):
    z = z - z.max()
    return -float(z[y]) + math.log(float(z.exp().sum()))
""",
    ),
    Rewrite(
        "next_token_loss",
        "log_softmax",
        """
def next_token_loss(z, y):
    return -torch.log_softmax(z, 0)[y]
""",
    ),
    Rewrite(
        "cross_entropy",
        "a loop",
        """
def cross_entropy(p, q):
    total = 0.0
    for i in range(len(p)):
        if p[i]:
            total += p[i] * surprise(q[i])
    return total
""",
    ),
    Rewrite(
        "bits_per_byte",
        "through nats",
        """
def bits_per_byte(perplexity, tokens, text):
    nats = math.log(perplexity) * tokens
    return nats / math.log(2) / len(text.encode())
""",
    ),
    Rewrite(
        "narrow",
        "accumulated",
        """
def narrow(low, width, shares, symbol):
    total, before = 0, 0
    for i, share in enumerate(shares):
        if i < symbol:
            before += share
        total += share
    return [low * total + before * width, shares[symbol] * width]
""",
    ),
    Rewrite(
        "symbol_at",
        "running sums",
        """
def symbol_at(position, shares):
    return sum(position >= sum(shares[: i + 1]) for i in range(len(shares)))
""",
    ),
    Rewrite(
        "blend",
        "the Counter's total",
        """
def blend(row, fallback, m):
    return [(row[x] + m * q) / (row.total() + m) for x, q in enumerate(fallback)]
""",
    ),
    Rewrite(
        "blend",
        "a loop",
        """
def blend(row, fallback, m):
    p = [m * q for q in fallback]
    for symbol in row:
        p[symbol] = p[symbol] + row[symbol]
    return [x / (m + sum(row.values())) for x in p]
""",
    ),
]
