"""Plausible wrong answers to notebook 01, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # surprise
    Mutant("surprise", "nats", "log2", "log", "natural logarithm"),
    Mutant("surprise", "decimal", "log2", "log10", "base 10"),
    Mutant("surprise", "negative", "-math.log2", "math.log2", "turn its sign"),
    Mutant("surprise", "zero forgotten", " if p > 0 else math.inf", "", "what is the limit"),
    Mutant("surprise", "zero for zero", "math.inf", "0.0", "what is the limit"),
    Mutant("surprise", "weighted", "-math", "-p * math", "here it has happened"),
    Mutant("surprise", "one minus p", "-math.log2(p)", "1 - p", "does not add up"),
    Mutant("surprise", "one over p", "-math.log2(p)", "1 / p", "how many halvings"),
    # chain
    Mutant("chain", "a sum", "p *=", "p +=", "are multiplied"),
    Mutant("chain", "begins at zero", "p = 1.0", "p = 0.0", "begin with p = 1"),
    Mutant("chain", "the last token only", "tokens[:i])", "tokens[max(0, i - 1) : i])", "last tok"),
    Mutant("chain", "last branch alone", "p *=", "p =", "the last branch alone"),
    Mutant(
        "chain", "first missing", "enumerate(tokens)", "list(enumerate(tokens))[1:]", "empty be"
    ),
    Mutant(
        "chain", "stops early", "enumerate(tokens)", "enumerate(tokens[:-1])", "part of the pat"
    ),
    Mutant(
        "chain", "returns in the loop", "    return p", "        return p", "does the loop go on"
    ),
    Mutant("chain", "no key", ".get(token, 0.0)", "[token]", "What is no key"),
    Mutant(
        "chain",
        "no beginning",
        "branches.get(tuple(tokens[:i]), {})",
        "branches[tuple(tokens[:i])]",
        "What is no key",
    ),
    Mutant("chain", "off by one", "tokens[:i]", "tokens[: i + 1]", "it is not part of"),
    Mutant("chain", "a list as key", "tuple(tokens[:i])", "tokens[:i]", "cannot be a key"),
    # next_token_loss
    Mutant("next_token_loss", "no sum", "torch.logsumexp(z, 0) - z[y]", "-z[y]", "sum over all"),
    Mutant(
        "next_token_loss",
        "sign",
        "torch.logsumexp(z, 0) - z[y]",
        "z[y] - torch.logsumexp(z, 0)",
        "log softmax: turn",
    ),
    Mutant(
        "next_token_loss",
        "the probability",
        "torch.logsumexp(z, 0) - z[y]",
        "z.softmax(0)[y]",
        "That is the probability",
    ),
    Mutant("next_token_loss", "the likeliest", "z[y]", "z.max()", "likeliest token"),
    Mutant(
        "next_token_loss",
        "sum without exp",
        "torch.logsumexp(z, 0)",
        "z.sum()",
        "do not cancel",
    ),
    Mutant(
        "next_token_loss",
        "overflow",
        "torch.logsumexp(z, 0)",
        "z.exp().sum().log()",
        "too large for a float",
    ),
    Mutant(
        "next_token_loss",
        "bits",
        "torch.logsumexp(z, 0) - z[y]",
        "(torch.logsumexp(z, 0) - z[y]) / math.log(2)",
        "nats are asked for",
    ),
    Mutant(
        "next_token_loss",
        "underflow",
        "torch.logsumexp(z, 0) - z[y]",
        "-torch.log(torch.softmax(z, 0))[y]",
        "underflows to 0",
    ),
    Mutant("next_token_loss", "without y", " - z[y]", "", "score of y is missing"),
    # cross_entropy
    Mutant(
        "cross_entropy",
        "exchanged",
        "share * surprise(belief)",
        "belief * surprise(share)",
        "what the model believes",
    ),
    Mutant("cross_entropy", "entropy", "surprise(belief)", "surprise(share)", "entropy of p"),
    Mutant("cross_entropy", "not weighted", "share * surprise", "surprise", "weighed with its p"),
    Mutant("cross_entropy", "nan", " if share > 0", "", "leave it out"),
    Mutant("cross_entropy", "sign", "return sum", "return -sum", "never negative"),
    Mutant(
        "cross_entropy",
        "divided again",
        "if share > 0)",
        "if share > 0) / len(p)",
        "do not divide again",
    ),
    Mutant(
        "cross_entropy",
        "zero belief left out",
        "if share > 0",
        "if share > 0 and belief > 0",
        "infinitely surprising",
    ),
    Mutant(
        "cross_entropy",
        "the divergence",
        "surprise(belief)",
        "(surprise(belief) - surprise(share))",
        "That is the divergence",
    ),
    # bits_per_byte
    Mutant("bits_per_byte", "characters", '.encode("utf-8")', "", "per character"),
    Mutant("bits_per_byte", "nats", "log2", "log", "in nats"),
    Mutant("bits_per_byte", "no logarithm", "math.log2(perplexity)", "perplexity", "number of cho"),
    Mutant("bits_per_byte", "per token", '* tokens / len(text.encode("utf-8"))', "", "per token"),
    Mutant("bits_per_byte", "one token", " * tokens", "", "one token's bits"),
    Mutant("bits_per_byte", "in all", ' / len(text.encode("utf-8"))', "", "of the whole text"),
    # narrow
    Mutant("narrow", "low not scaled", "low * sum(shares)", "low", "become finer"),
    Mutant("narrow", "before not scaled", "width * before", "before", "takes its shares"),
    Mutant("narrow", "width alone", "width * shares[symbol]", "shares[symbol]", "part of the old"),
    Mutant("narrow", "own share too", "shares[:symbol]", "shares[: symbol + 1]", "is not skipped"),
    Mutant(
        "narrow",
        "the end",
        ", width * shares[symbol]",
        ", low * sum(shares) + width * sum(shares[: symbol + 1])",
        "new interval ends",
    ),
    Mutant("narrow", "those behind", "shares[:symbol]", "shares[symbol:]", "before it are shares"),
    Mutant("narrow", "own share", "sum(shares[:symbol])", "shares[symbol]", "its own share"),
    Mutant(
        "narrow",
        "divided",
        "low * sum(shares) + width * before, width * shares[symbol]",
        "low + width * before / sum(shares), width * shares[symbol] / sum(shares)",
        "keep whole numbers",
    ),
    Mutant(
        "narrow",
        "through a float",
        "return low * sum(shares) + width * before",
        "return int((low / 1 + width * before / sum(shares)) * sum(shares))",
        "16 digits only",
    ),
    Mutant("narrow", "ten typed in", "low * sum(shares)", "low * 10", "10 was the sum"),
    # symbol_at
    Mutant("symbol_at", "the end too", "position < share", "position <= share", "< and not <="),
    Mutant("symbol_at", "nothing taken off", "position -= share", "pass", "taken off the position"),
    Mutant("symbol_at", "from 1", "enumerate(shares)", "enumerate(shares, 1)", "counted from 0"),
    Mutant("symbol_at", "the share", "return symbol", "return share", "its number is asked for"),
    Mutant(
        "symbol_at",
        "the first of this size",
        "return symbol",
        "return shares.index(share)",
        "list.index finds the first",
    ),
    Mutant("symbol_at", "inside", "return symbol", "return position", "position inside the part"),
    # blend
    Mutant(
        "blend",
        "no fallback",
        "(row.get(symbol, 0) + m * q) / total",
        "row.get(symbol, 0) / sum(row.values())",
        "gets nothing",
    ),
    Mutant("blend", "old total", " + m\n", "\n", "divide by the old total"),
    Mutant("blend", "fallback once", "m * q", "q", "not the fallback once"),
    Mutant("blend", "all alike", "m * q", "m / len(fallback)", "add m times its fallback"),
    Mutant("blend", "counts left", " / total", "", "divide by their total"),
    Mutant("blend", "m times V", " + m\n", " + m * len(fallback)\n", "not m times V"),
    Mutant(
        "blend",
        "seen alone",
        "/ total for",
        "/ total if symbol in row else 0.0 for",
        "never seen here",
    ),
    Mutant("blend", "kinds", "sum(row.values())", "len(row)", "len(row) counts"),
    Mutant("blend", "keys added", "sum(row.values())", "sum(row)", "sum(row) adds"),
    Mutant("blend", "m is one", "    total", "    m = 1\n    total", "use the m that is given"),
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
