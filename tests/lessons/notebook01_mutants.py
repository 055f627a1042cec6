"""Other right answers to notebook 01, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== chain
no key | .get(token, 0.0) => [token] | What is no key
no beginning | branches.get(tuple(tokens[:i]), {}) => branches[tuple(tokens[:i])] | What is no key
a list as key | tuple(tokens[:i]) => tokens[:i] | cannot be a key

== cross_entropy
nan | if share > 0 => | leave it out

== narrow
through a float | return low * sum(shares) + width * before \
    => return int((low / 1 + width * before / sum(shares)) * sum(shares)) | 16 digits only
""")

REWRITES = rewrites("""
== chain | from the end
def chain(branches, tokens):
    if not tokens:
        return 1.0
    before = tuple(tokens[:-1])
    last = branches[before].get(tokens[-1], 0) if before in branches else 0
    return last and last * chain(branches, before)

== cross_entropy | a loop
def cross_entropy(p, q):
    total = 0.0
    for i in range(len(p)):
        if p[i]:
            total -= p[i] * (math.log(q[i], 2) if q[i] else -math.inf)
    return total

== bits_per_byte | through nats
def bits_per_byte(perplexity, tokens, text):
    nats = math.log(perplexity) * tokens
    return nats / math.log(2) / len(text.encode())

== narrow | accumulated
def narrow(low, width, shares, symbol):
    total, before = 0, 0
    for i, share in enumerate(shares):
        if i < symbol:
            before += share
        total += share
    return [low * total + before * width, shares[symbol] * width]
""")
