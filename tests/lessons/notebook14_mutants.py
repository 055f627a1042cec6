"""Plausible wrong answers to notebook 14, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # beam_step
    Mutant("beam_step", "forgets the beginning", "(total + value,", "(value,", "whole text counts"),
    Mutant(
        "beam_step", "multiplies logarithms", "total + value", "total * value", "are multiplied"
    ),
    Mutant("beam_step", "keeps everything", "[:width]", "", "only the best `width`"),
    Mutant("beam_step", "worst first", ", reverse=True", "", "the worst of"),
    Mutant("beam_step", "only the new token", "[*tokens, token]", "[token]", "the whole beginning"),
    Mutant(
        "beam_step",
        "one for each",
        "row.topk(min(width, len(row)))",
        "row.topk(1)",
        "come from one",
    ),
    Mutant("beam_step", "a width above V", "min(width, len(row))", "width", "min(width, len(row))"),
    Mutant(
        "beam_step", "tensors", "zip(values.tolist(), ids.tolist())", "zip(values, ids)", "plain"
    ),
    Mutant("beam_step", "a tuple", "[*tokens, token]", "(*tokens, token)", "a list of tokens"),
    # tempered
    Mutant(
        "tempered",
        "multiplies",
        "(x / tau - (x / tau).max()).exp()",
        "(x * tau).exp()",
        "divided by tau",
    ),
    Mutant("tempered", "no sum", "weights / weights.sum()", "(x / tau).exp()", "sum to 1"),
    Mutant("tempered", "no temperature", "(x / tau - (x / tau).max())", "x", "does not occur"),
    Mutant("tempered", "outside", "(x / tau - (x / tau).max()).exp()", "x.exp()", "does not occur"),
    Mutant(
        "tempered",
        "logarithms",
        "return weights / weights.sum()",
        "return (weights / weights.sum()).log()",
        "Those are logarithms",
    ),
    # top_k
    Mutant("top_k", "no sum", "kept / kept.sum()", "kept", "divide by the sum"),
    Mutant("top_k", "least likely", "descending=True", "", "least"),
    Mutant("top_k", "one more", "[:k]", "[: k + 1]", "one token more"),
    Mutant(
        "top_k", "sorted", "kept / kept.sum()", "p[best] / p[best].sum()", "hand back V numbers"
    ),
    Mutant(
        "top_k",
        "in sorted order",
        "kept / kept.sum()",
        "kept.sort(descending=True).values / kept.sum()",
        "in sorted order",
    ),
    Mutant(
        "top_k",
        "all that are as likely",
        "    kept = torch.zeros_like(p)\n    kept[best] = p[best]\n",
        "    kept = torch.where(p >= p[best[-1]], p, 0)\n",
        "by their rank",
    ),
    Mutant("top_k", "made alike", "kept[best] = p[best]", "kept[best] = 1.0", "their proportions"),
    # top_p
    Mutant(
        "top_p",
        "one too few",
        "        kept[token] = p[token]\n        together += p[token]\n"
        "        if together >= share:\n            break\n",
        "        together += p[token]\n        if together >= share and kept.sum() > 0:\n"
        "            break\n        kept[token] = p[token]\n",
        "is still taken",
    ),
    Mutant("top_p", "no sum", "kept / kept.sum()", "kept", "divide by the sum"),
    Mutant(
        "top_p", "any order", "p.argsort(descending=True).tolist()", "range(len(p))", "the order"
    ),
    Mutant("top_p", "by the share", "kept / kept.sum()", "kept / share", "may be more"),
    Mutant("top_p", "never ends", "break", "pass", "Nothing was removed"),
    Mutant("top_p", "one too many", "together >= share", "together > share", "one token too many"),
    # cached_attention
    Mutant(
        "cached_attention",
        "no root",
        " / math.sqrt(q.shape[-1])",
        "",
        "square root of d",
    ),
    Mutant("cached_attention", "by d", "math.sqrt(q.shape[-1])", "q.shape[-1]", "not by d"),
    Mutant("cached_attention", "no softmax", "scores.softmax(-1)", "scores", "by a softmax"),
    Mutant("cached_attention", "over heads", "softmax(-1)", "softmax(0)", "not over the heads"),
    Mutant(
        "cached_attention", "in front", "[K, k[:, None]]", "[k[:, None], K]", "new rows come last"
    ),
    Mutant("cached_attention", "context only", "return context, K, V", "return context", "three"),
    Mutant(
        "cached_attention",
        "means of keys",
        "(weights[:, None] @ V)",
        "(weights[:, None] @ K)",
        "not to the keys",
    ),
    # verify
    Mutant("verify", "turned round", "(p / q)", "(q / p)", "which divides which"),
    Mutant("verify", "above 1", ".clamp(max=1)", "", "at most 1"),
    Mutant("verify", "no sum", " / missing.sum(-1, keepdim=True)", "", "divide it by its sum"),
    Mutant("verify", "the wrong difference", "(p - q)", "(q - p)", "gives too little of"),
    Mutant("verify", "absolute", "(p - q).clamp(min=0)", "(p - q).abs()", "not the absolute value"),
    Mutant("verify", "from p", "missing / missing.sum(-1, keepdim=True)", "p", "not from p again"),
    Mutant("verify", "one sum for all", "-1, keepdim=True", "", "a sum of its own"),
    # one_round
    Mutant(
        "one_round",
        "p again",
        "int(draw(residual))",
        "int(draw(p_x))",
        "not from p again",
    ),
    Mutant(
        "one_round",
        "goes on after a rejection",
        "            return [*new, int(draw(residual))]\n        new.append(x)",
        "            x = int(draw(residual))\n        new.append(x)",
        "the round ends",
    ),
    Mutant(
        "one_round",
        "leaves the rejected one out and goes on",
        "            return [*new, int(draw(residual))]\n",
        "            continue\n",
        "the round ends",
    ),
    Mutant("one_round", "no replacement", "[*new, int(draw(residual))]", "new", "is replaced"),
    Mutant("one_round", "no one more", "[*new, int(draw(p[-1]))]", "new", "one more token"),
    Mutant("one_round", "one more of the draft", "draw(p[-1])", "draw(p[-2])", "*last* row of p"),
    Mutant("one_round", "turned round", ">= accept[x]", "< accept[x]", "*below* accept[x]"),
    Mutant(
        "one_round",
        "a generator of its own",
        "torch.rand((), generator=generator)",
        "torch.rand(())",
        "that is handed in",
    ),
    Mutant(
        "one_round",
        "no chance",
        "torch.rand((), generator=generator) >= accept[x]",
        "accept[x] < 0.45",
        "each time",
    ),
    Mutant(
        "one_round", "only the replacement", "[*new, int(draw(res", "[int(draw(res", "before it"
    ),
    Mutant(
        "one_round",
        "one random number for the round",
        "    new = []\n    for x, p_x, q_x in zip(drafted, p, q):\n"
        "        accept, residual = verify(p_x, q_x)\n"
        "        if torch.rand((), generator=generator) >= accept[x]:\n",
        "    new, u = [], torch.rand((), generator=generator)\n"
        "    for x, p_x, q_x in zip(drafted, p, q):\n"
        "        accept, residual = verify(p_x, q_x)\n"
        "        if u >= accept[x]:\n",
        "a random number of its own",
    ),
    Mutant("one_round", "the likeliest", "draw(residual)", "residual.argmax()", "the residual by"),
    Mutant("one_round", "the likeliest more", "draw(p[-1])", "p[-1].argmax()", "from p[-1] by"),
    # induction_score
    Mutant("induction_score", "the same token", "t - n + 1]", "t - n]", "on the same token"),
    Mutant("induction_score", "the one before", "t - n + 1]", "t - n - 1]", "the token before"),
    Mutant("induction_score", "too early", "range(n + 1,", "range(n,", "begins at position n + 1"),
    Mutant("induction_score", "too short", "2 * n + 1)", "2 * n)", "belongs to the second round"),
    Mutant("induction_score", "columns", "[t, t - n + 1]", "[t - n + 1, t]", "Rows look"),
    Mutant("induction_score", "no mean", "total / n", "total", "divide the sum by n"),
    Mutant("induction_score", "mean of all", "total / n", "total / len(weights)", "n positions"),
]

REWRITES = [
    Rewrite(
        "beam_step",
        "all candidates at once",
        """
def beam_step(beam, log_p, width):
    totals = log_p + torch.tensor([total for total, _ in beam])[:, None]
    best = totals.flatten().argsort(descending=True)[:width]
    rows = [divmod(int(i), log_p.shape[1]) for i in best]
    return [(float(totals[b, token]), beam[b][1] + [token]) for b, token in rows]
""",
    ),
    Rewrite("tempered", "in one call", "def tempered(x, tau):\n    return (x / tau).softmax(-1)"),
    Rewrite(
        "tempered",
        "powers",
        "def tempered(x, tau):\n    y = torch.exp(x) ** (1 / tau)\n    return y / torch.sum(y)",
    ),
    Rewrite(
        "top_k",
        "by topk",
        """
def top_k(p, k):
    values, ids = p.topk(k)
    return torch.zeros_like(p).scatter(0, ids, values / values.sum())
""",
    ),
    Rewrite(
        "top_p",
        "sorted and summed",
        """
def top_p(p, share):
    ranked, order = p.sort(descending=True)
    n = int((ranked.cumsum(0) - ranked < share).sum())
    kept = torch.zeros_like(p)
    kept[order[:n]] = ranked[:n]
    return kept / kept.sum()
""",
    ),
    Rewrite(
        "cached_attention",
        "head by head",
        """
def cached_attention(q, k, v, K, V):
    K = torch.stack([torch.vstack([K[h], k[h]]) for h in range(len(q))])
    V = torch.stack([torch.vstack([V[h], v[h]]) for h in range(len(q))])
    weights = [torch.softmax(K[h] @ q[h] / q.shape[1] ** 0.5, 0) for h in range(len(q))]
    return torch.stack([w @ V[h] for h, w in enumerate(weights)]), K, V
""",
    ),
    Rewrite(
        "verify",
        "by minimum",
        """
def verify(p, q):
    both = torch.minimum(p, q)
    return both / q, (p - both) / (1 - both.sum(-1, keepdim=True))
""",
    ),
    Rewrite(
        "one_round",
        "all chances at once",
        """
def one_round(drafted, p, q, generator):
    accept, residual = verify(p[:-1], q)
    x = torch.tensor(drafted)
    passed = torch.rand(len(x), generator=generator) < accept[torch.arange(len(x)), x]
    n = int(passed.long().cumprod(0).sum())
    rows = torch.cat([residual, p[-1:]])
    return drafted[:n] + torch.multinomial(rows[n], 1, generator=generator).tolist()
""",
    ),
    Rewrite(
        "induction_score",
        "by indices",
        """
def induction_score(weights, n):
    looking = torch.arange(n + 1, 2 * n + 1)
    return float(weights[looking, looking - n + 1].mean())
""",
    ),
]
