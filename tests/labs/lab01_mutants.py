"""Wrong answers to lab 01 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== perplexity
a product underflows | math.exp(-sum(math.log(p) for p in probabilities) / len(probabilities)) \
    => math.prod(probabilities) ** (-1 / len(probabilities)) | add logarithms
no mean | / len(probabilities)) => ) | N-th root
bits with e | math.log(p) => math.log2(p) | N-th root
mean of the inverses | math.exp(-sum(math.log(p) for p in probabilities) / len(probabilities)) \
    => sum(1 / p for p in probabilities) / len(probabilities) | N-th root
the impossible forgotten | if 0 in probabilities: => if False: | what is the limit

== maximum_likelihood
over the whole text | (row.values()) => (sum(r.values()) for r in counts.values()) | follows a, not
over the kinds | total = sum(row.values()) => total = len(row) | follows a, not
an error at new contexts | counts.get(context, {}) => counts[context] | divide 0 by 0
counts left | count / total for => count for | follows a, not
an entry made by looking | .get(context, {}) => .setdefault(context, {}) | changed in place

== by_hand
the last a has a follower | / len(after_a), => / text.count("a"), | The last one has no follower
two symbols | (len(after_a) + 3) => (len(after_a) + 2) | three counts
no root | ** -0.5 => ** -1 | square root
out of seven | text.count("a") / len(text) => text.count("a") / (len(text) - 1) | How many
two decimals | text.count("a") / len(text) => round(text.count("a") / len(text) + 1e-9, 2) \
    | asked for are three
per cent | text.count("a") / len(text) => 100 * text.count("a") / len(text) | not in per cent
words | "P(b | a), add-1": smoothed, => "P(b | a), add-1": "three sevenths", | Write a number

== add_k
an error at unseen symbols | row.get(symbol, 0) => row[symbol] | no key in its row
k once below | k * len(vocabulary) => k | times how many there are
an error at new contexts | counts.get(context, {}) => counts[context] | only the k are left
always one | sum(row.values()) + k * len => sum(row.values()) + len | only the k are left

== interpolate
no uniform | 1 / len(vocabulary) for => 0.0 for | 1 / V
the seen symbols alone | mix every symbol
-            p = {s: weight * likely.get(s, 0) + (1 - weight) * p[s] for s in vocabulary}
+            for s in likely:
+                p[s] = weight * likely[s] + (1 - weight) * p[s]
the unseen loses mass | if likely: => if True: | all zeros
the first characters | context[len(context) - n + 1 :] => context[: n - 1] | last n - 1
minus zero | [len(context) - n + 1 :] => [-(n - 1) :] | the whole text, not an empty one

== bits_per_character
the likeliest | .get(symbol, 0) \
    => .get(symbol, 0) and max(predict(text[max(0, i - n + 1) : i]).values()) | not of the likeliest
context of n | i - n + 1 => i - n | may the model see
an error at the impossible | .get(symbol, 0) => [symbol] | probability 0
a product underflows | add logarithms
-        if p == 0:
-            return math.inf
-        bits -= math.log2(p)
-    return bits / len(text)
+        bits = p if i == 0 else bits * p
+    return -math.log2(bits) / len(text) if bits else math.inf
minus zero | text[max(0, i - n + 1) : i] => text[:i][-(n - 1) :] | text[-0:] is the whole text

== sample_text
negative start | [max(0, len(text) - n + 1) :] => [len(text) - n + 1 :] | counts from the end
the likeliest | u = uniform() => u = 0.0; p = {max(p, key=p.get): 1.0} | no sampling
context of n | len(text) - n + 1 => len(text) - n | text[-0:]
one short | len(text) < length => len(text) < length - 1 | add what was drawn
no end | text += drawn => text = drawn | condition never
a number for each symbol | before the loop over the symbols
-            u -= share
-            if u < 0:
+            if uniform() < share:
numbers of its own | u = uniform => u = __import__("random").random | takes its number from uniform

== choose
the other way round | ((n, weight) for n => ((weight, n) for n | the order first
the cost of the pair | the order first
-    return min(((n, weight) for n in orders for weight in weights), key=cost)
+    return min((cost((n, weight)), n, weight) for n in orders for weight in weights)

== continuations
probabilities | how many leave the same
-    return fewer
+    total = sum(sum(row.values()) for row in fewer.values())
+    return {a: {s: n / total for s, n in row.items()} for a, row in fewer.items()}
no row yet | fewer.setdefault(context[1:], Counter()) => fewer[context[1:]] | has no number yet

== kneser_ney
the first tokens | context[len(context) - n + 1 :] => context[: n - 1] | last n - 1 tokens
minus zero | context[len(context) - n + 1 :] => context[-(n - 1) :] | text[-0:] is the whole text
an error at new contexts | counts.get(context[len(context) - n + 1 :], {}) \
    => counts[context[len(context) - n + 1 :]] | in no table
the total of the whole table | total = sum(row.values()) \
    => total = sum(sum(r.values()) for r in counts.values()) if row else 0 | From the shortest
continuations made again | p = 1 / V \
    => p, tables = 1 / V, [*map(continuations, tables[1:]), tables[-1]] | Counting is done before
""")

REWRITES = rewrites(r"""
== perplexity | by bits
def perplexity(probabilities):
    bits = 0.0
    for p in probabilities:
        if p == 0:
            return float("inf")
        bits -= math.log2(p)
    return 2 ** (bits / len(probabilities))

== perplexity | by torch
def perplexity(probabilities):
    import torch

    return torch.tensor(probabilities, dtype=torch.float64).log().mean().neg().exp().item()

== maximum_likelihood | early return
def maximum_likelihood(counts, context):
    if context not in counts:
        return {}
    return {s: c / sum(counts[context].values()) for s, c in counts[context].items()}

== maximum_likelihood | by a loop
def maximum_likelihood(counts, context):
    total, shares = 0, {}
    for count in (counts.get(context) or {}).values():
        total += count
    for symbol in counts.get(context) or {}:
        shares[symbol] = counts[context][symbol] / total
    return shares

== by_hand | fractions
def by_hand():
    from fractions import Fraction
    text = check.by_hand_text()
    follow = [text[i + 1] for i in range(len(text) - 1) if text[i] == "a"]
    p, q = Fraction(text.count("a"), 8), Fraction(follow.count("b") + 1, len(follow) + 3)
    return {
        "P(a)": p,
        "P(b | a)": f"{follow.count('b')}/{len(follow)}",
        "P(b | a), add-1": q,
        "perplexity of 'ab'": (1 / (p * q)) ** 0.5,
    }

== by_hand | in another order
def by_hand():
    text = check.by_hand_text()
    follow = Counter(b for a, b in zip(text, text[1:]) if a == "a")
    q = (follow["b"] + 1) / (follow.total() + 3) if hasattr(follow, "total") else (
        (follow["b"] + 1) / (sum(follow.values()) + 3))
    return {
        "perplexity of 'ab'": perplexity([text.count("a") / len(text), q]),
        "P(b | a), add-1": q,
        "P(b | a)": follow["b"] / sum(follow.values()),
        "P(a)": text.count("a") / len(text),
    }

== add_k | by a loop
def add_k(counts, context, vocabulary, k):
    p = {symbol: k for symbol in vocabulary}
    for symbol, count in counts.get(context, {}).items():
        p[symbol] += count
    total = sum(p.values())
    return {symbol: value / total for symbol, value in p.items()}

== add_k | as a mixture
def add_k(counts, context, vocabulary, k):
    row = maximum_likelihood(counts, context)
    seen, added = sum(counts.get(context, {}).values()), k * len(vocabulary)
    share = seen / (seen + added)
    return {s: share * row.get(s, 0) + (1 - share) / len(vocabulary) for s in vocabulary}

== interpolate | recursive
def interpolate(tables, context, vocabulary, weight):
    if not tables:
        return dict.fromkeys(vocabulary, 1 / len(vocabulary))
    below, n = interpolate(tables[:-1], context, vocabulary, weight), len(tables)
    if len(context) < n - 1:
        return below
    row = tables[-1].get(context[len(context) - (n - 1):], {})
    total = sum(row.values())
    if total == 0:
        return below
    return {s: weight * row.get(s, 0) / total + (1 - weight) * below[s] for s in vocabulary}

== interpolate | from the longest down
def interpolate(tables, context, vocabulary, weight):
    p, left = dict.fromkeys(vocabulary, 0.0), 1.0
    for n in range(min(len(tables), len(context) + 1), 0, -1):
        row = maximum_likelihood(tables[n - 1], context[len(context) - n + 1:])
        if row:
            for s, q in row.items():
                p[s] += left * weight * q
            left *= 1 - weight
    return {s: q + left / len(vocabulary) for s, q in p.items()}

== bits_per_character | by perplexity
def bits_per_character(predict, text, n):
    ps = [predict(text[max(i - (n - 1), 0):i]).get(text[i], 0) for i in range(len(text))]
    return math.log2(perplexity(ps))

== bits_per_character | by a growing context
def bits_per_character(predict, text, n):
    context, total = "", 0.0
    for symbol in text:
        p = predict(context).get(symbol, 0.0)
        if not p:
            return float("inf")
        total += math.log2(1 / p)
        context += symbol
        context = context[1:] if len(context) > n - 1 else context
    return total / len(text)

== sample_text | by accumulate
def sample_text(predict, length, n, uniform):
    from itertools import accumulate
    text = []
    for _ in range(length):
        p = predict("".join(text[max(0, len(text) - (n - 1)):]))
        u, symbols, sums = uniform(), list(p), list(accumulate(p.values()))
        i = next((i for i, edge in enumerate(sums) if edge > u), len(sums) - 1)
        text.append(symbols[i])
    return "".join(text)

== sample_text | through the unit interval from above
def sample_text(predict, length, n, uniform):
    text = ""
    while len(text) != length:
        p = predict(text[len(text) - n + 1:] if len(text) >= n else text[: n - 1])
        u, top = uniform(), 1.0
        for symbol, share in p.items():
            top -= share
            if share and u >= top:
                break
        text += symbol
    return text

== choose | by loops
def choose(train, validation, vocabulary, orders, weights):
    best = None
    for n in orders:
        tables = [count_ngrams(train, m + 1) for m in range(n)]
        for w in weights:
            def predict(context, tables=tables, w=w):
                return interpolate(tables, context, vocabulary, w)
            bits = bits_per_character(predict, validation, n)
            if best is None or bits < best[0]:
                best = (bits, n, w)
    return best[1:]

== choose | by a dictionary
def choose(train, validation, vocabulary, orders, weights):
    from functools import partial
    def predict(n, w, context):
        return interpolate(tables[:n], context, vocabulary, w)
    tables = [count_ngrams(train, n) for n in range(1, max(orders) + 1)]
    bits = {}
    for n in orders:
        for w in weights:
            bits[n, w] = bits_per_character(partial(predict, n, w), validation, n)
    return min(bits, key=bits.get)

== continuations | by sets
def continuations(counts):
    from collections import defaultdict
    before = defaultdict(lambda: defaultdict(set))
    for context, row in counts.items():
        for symbol in row:
            before[context[1:]][symbol].add(context[0])
    return {a: {s: len(kinds) for s, kinds in row.items()} for a, row in before.items()}

== continuations | counters added up
def continuations(counts):
    fewer = {}
    for context in counts:
        rest = context[1:]
        fewer[rest] = fewer.get(rest, Counter()) + Counter(counts[context].keys())
    return fewer

== kneser_ney | recursive
def kneser_ney(tables, context, word, V, discount):
    n = len(tables)
    if n == 0:
        return 1 / V
    if len(context) < n - 1:
        return kneser_ney(tables[:-1], context, word, V, discount)
    row = tables[-1].get(context[len(context) - (n - 1):])
    below = kneser_ney(tables[:-1], context, word, V, discount)
    if not row:
        return below
    total = sum(row.values())
    kept = row[word] - discount if word in row and row[word] > discount else 0
    return kept / total + discount * len(row) * below / total

== kneser_ney | from the longest down
def kneser_ney(tables, context, word, V, discount):
    p, left = 0.0, 1.0
    for n in range(min(len(tables), len(context) + 1), 0, -1):
        start = len(context) - (n - 1)
        if context[start:] in tables[n - 1]:
            row = tables[n - 1][context[start:]]
            total, handed = 0, 0.0
            for count in row.values():
                total += count
                handed += min(count, discount)
            p += left * (row.get(word, 0) - min(discount, row.get(word, 0))) / total
            left *= handed / total
    return p + left / V
""")
