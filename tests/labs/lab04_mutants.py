"""Plausible wrong answers to lab 04, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

ONE_MASK = "True = may attend"
BEFORE = "must be gone before it"

BY_HAND = [
    Mutant(
        "by_hand",
        "shares of scores",
        "e = [math.exp(s) for s in scores]",
        "e = scores",
        "is no softmax",
    ),
    Mutant("by_hand", "no sum", '"first weight": e[0] / sum(e)', '"first weight": e[0]', "divided"),
    Mutant("by_hand", "powers of 2", "math.exp(s)", "2**s", "e to the power of the first score"),
    Mutant(
        "by_hand",
        "the hard maximum",
        "output = sum(x * v for x, v in zip(e, values)) / sum(e)",
        "output = values[scores.index(max(scores))]",
        "the hard choice",
    ),
    Mutant(
        "by_hand",
        "equal weights",
        "output = sum(x * v for x, v in zip(e, values)) / sum(e)",
        "output = sum(values) / 3",
        "leaves the scores out",
    ),
    Mutant("by_hand", "100 more", '+ 100": output', '+ 100": output + 100', "factor e^100"),
    Mutant(
        "by_hand",
        "masked after the softmax",
        "(e[0] * values[0] + e[1] * values[1]) / (e[0] + e[1])",
        "(e[0] * values[0] + e[1] * values[1]) / sum(e)",
        "before the softmax",
    ),
    Mutant(
        "by_hand",
        "masked by a score of 0",
        "(e[0] * values[0] + e[1] * values[1]) / (e[0] + e[1])",
        "(e[0] * values[0] + e[1] * values[1] + values[2]) / (e[0] + e[1] + 1)",
        "e to the power of 0 is 1",
    ),
    Mutant("by_hand", "a name changed", '"first weight": e', '"a_1": e', "these very names"),
    Mutant("by_hand", "nothing handed back", "return {", "_ = {", "without return"),
    Mutant("by_hand", "in percent", "e[0] / sum(e),", "100 * e[0] / sum(e),", "share of 1"),
    Mutant("by_hand", "a text", "e[0] / sum(e),", "str(e[0] / sum(e)),", "no text"),
]

STABLE_SOFTMAX = [
    Mutant("stable_softmax", "no maximum", "x - x.amax(-1, keepdim=True)", "x", "e^1000"),
    Mutant(
        "stable_softmax",
        "the maximum of all",
        "x.amax(-1, keepdim=True)",
        "x.max()",
        "belongs to that row",
    ),
    Mutant(
        "stable_softmax",
        "the mean",
        "x.amax(-1, keepdim=True)",
        "x.mean(-1, keepdim=True)",
        "e^1000",
    ),
    Mutant(
        "stable_softmax",
        "the size of the largest",
        "x.amax(-1, keepdim=True)",
        "x.abs().amax(-1, keepdim=True)",
        "belongs to that row",
    ),
    Mutant(
        "stable_softmax",
        "over the columns",
        "e.sum(-1, keepdim=True)",
        "e.sum(0, keepdim=True)",
        "Which dimension is added up",
    ),
    Mutant(
        "stable_softmax",
        "over the second dimension",
        "e.sum(-1, keepdim=True)",
        "e.sum(min(1, x.dim() - 1), keepdim=True)",
        "Which dimension is added up",
    ),
    Mutant("stable_softmax", "over all", "e.sum(-1, keepdim=True)", "e.sum()", "Which dimension"),
    Mutant("stable_softmax", "no keepdim", "e.sum(-1, keepdim=True)", "e.sum(-1)", "keepdim"),
    Mutant(
        "stable_softmax",
        "clamped",
        "(x - x.amax(-1, keepdim=True)).exp()",
        "x.clamp(-500, 500).exp()",
        "e^1000",
    ),
    Mutant(
        "stable_softmax",
        "NaN covered up",
        "(x - x.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)",
        "x.exp()\n    return (e / e.sum(-1, keepdim=True)).nan_to_num()",
        "e^1000",
    ),
    Mutant(
        "stable_softmax",
        "-inf replaced by a number",
        "e = (",
        "x = x.masked_fill(x == -math.inf, -1.0)\n    e = (",
        "power of -infinity",
    ),
    Mutant(
        "stable_softmax",
        "in place",
        "e = (x - x.amax(-1, keepdim=True)).exp()",
        "x -= x.amax(-1, keepdim=True)\n    e = x.exp()",
        "changed in place",
    ),
    Mutant(
        "stable_softmax",
        "PyTorch's own",
        "return e / e.sum(-1, keepdim=True)",
        "return x.softmax(-1)",
        "the exercise is to write it",
    ),
    Mutant(
        "stable_softmax",
        "always in double precision",
        "return e / e.sum(-1, keepdim=True)",
        "return (e / e.sum(-1, keepdim=True)).double()",
        "x's dtype",
    ),
    Mutant("stable_softmax", "detached", "(x - x", "(x.detach() - x.detach()", "cuts the graph"),
    Mutant(
        "stable_softmax",
        "the sum detached",
        "e.sum(-1, keepdim=True)",
        "e.sum(-1, keepdim=True).detach()",
        "depends on x",
    ),
    Mutant("stable_softmax", "nothing handed back", "return", "_ =", "without return"),
    Mutant("stable_softmax", "an unknown name", "e = (x", "e = (logits", "no value here"),
    Mutant(
        "stable_softmax",
        "one number at a time",
        "e = (x - x.amax(-1, keepdim=True)).exp()",
        "e = math.exp(x)",
        "a whole tensor",
    ),
    Mutant(
        "stable_softmax",
        "one row after the other",
        "    e = (x - x.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)",
        "    rows = x.reshape(-1, x.shape[-1])\n"
        "    powers = [(row - row.max()).exp() for row in rows]\n"
        "    return torch.stack([p / p.sum() for p in powers]).reshape(x.shape)",
        "whole tensor at once",
    ),
    Mutant(
        "stable_softmax",
        "a fixed number is subtracted",
        "x.amax(-1, keepdim=True)",
        "1000",
        "a fixed number may lie far above",
    ),
]

CAUSAL_MASK = [
    Mutant("causal_mask", "True = forbidden", "<= query", "> query", ONE_MASK),
    Mutant("causal_mask", "not itself", "<= query", "< query", "may look at itself"),
    Mutant("causal_mask", "forbidden and not itself", "<= query", ">= query", ONE_MASK),
    Mutant("causal_mask", "the first T", "arange(S - T, S)", "arange(T)", "the last T"),
    Mutant(
        "causal_mask", "no shift, T rows of S", "arange(S - T, S)", "arange(S)[:T]", "the last T"
    ),
    Mutant("causal_mask", "all see all", "<= query", "< query + S", "No query may see a later"),
    Mutant(
        "causal_mask",
        "numbers",
        "torch.arange(S) <= query",
        "(torch.arange(S) <= query).float()",
        "torch.bool, and no numbers",
    ),
    Mutant(
        "causal_mask",
        "-inf to be added",
        "torch.arange(S) <= query",
        "torch.zeros(T, S).masked_fill(torch.arange(S) > query, -math.inf)",
        "torch.bool, and no numbers",
    ),
    Mutant(
        "causal_mask",
        "(S, S)",
        "torch.arange(S - T, S)[:, None]",
        "torch.arange(S)[:, None]",
        "the last T",
    ),
]

WEIGHTS = "stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some"
MASKED_ATTENTION = [
    Mutant(
        "masked_attention", "after the softmax", WEIGHTS, "stable_softmax(scores) * mask", BEFORE
    ),
    Mutant(
        "masked_attention",
        "after, divided by the sums",
        f"weights = {WEIGHTS}",
        "weights = stable_softmax(scores) * mask\n"
        "    weights = weights / weights.sum(-1, keepdim=True)",
        "dividing afterwards comes too late",
    ),
    Mutant("masked_attention", "the opposite meaning", "~mask & some", "mask", ONE_MASK),
    Mutant(
        "masked_attention",
        "a score of 0",
        "scores.masked_fill(~mask & some, -math.inf)",
        "scores * mask",
        "e to the power of 0 is 1",
    ),
    Mutant("masked_attention", "no mask", "~mask & some, -math.inf", "~some, 0.0", "does nothing"),
    Mutant("masked_attention", "only -100", "-math.inf", "-100.0", "another score may be smaller"),
    Mutant("masked_attention", "empty rows forgotten", " & some", "", "0 / 0"),
    Mutant(
        "masked_attention",
        "-1e9, empty rows shared out",
        WEIGHTS,
        "stable_softmax(scores.masked_fill(~mask, -1e9))",
        "shares out evenly",
    ),
    Mutant("masked_attention", "empty rows not cleared", ")) * some", "))", "zeros"),
    Mutant(
        "masked_attention",
        "NaN covered up",
        WEIGHTS,
        "stable_softmax(scores + torch.where(mask, 0.0, -math.inf)).nan_to_num()",
        "was covered up afterwards",
    ),
    Mutant(
        "masked_attention",
        "where after the softmax",
        f"weights = {WEIGHTS}",
        "hidden = scores + torch.where(mask, 0.0, -math.inf)\n"
        "    weights = torch.where(some, stable_softmax(hidden), 0.0)",
        "was covered up afterwards",
    ),
    Mutant(
        "masked_attention",
        "turned as a matrix",
        "k.transpose(-2, -1)",
        "k.transpose(0, 1)",
        "the last two of k",
    ),
    Mutant(
        "masked_attention",
        "softmax over the queries",
        "stable_softmax(scores.masked_fill(~mask & some, -math.inf))",
        "stable_softmax(scores.masked_fill(~mask & some, -1e30).mT).mT",
        "which dimension is that",
    ),
    Mutant("masked_attention", "multiplied", "/ math.sqrt", "* math.sqrt", "square root of K"),
    Mutant("masked_attention", "no factor", " / math.sqrt(q.shape[-1])", "", "square root of K"),
    Mutant(
        "masked_attention",
        "detached",
        "weights @ v, weights",
        "weights.detach() @ v, weights",
        "cuts the graph",
    ),
    Mutant(
        "masked_attention", "exchanged", "weights @ v, weights", "weights, weights @ v", "order"
    ),
    Mutant(
        "masked_attention",
        "K is the number of heads",
        "q.shape[-1]",
        "q.shape[1]",
        "Which dimension",
    ),
    Mutant(
        "masked_attention",
        "one query after the other",
        f"weights = {WEIGHTS}",
        "hidden = scores.masked_fill(~mask & some, -math.inf)\n"
        "    rows = [hidden[..., t, :].softmax(-1) for t in range(q.shape[-2])]\n"
        "    weights = torch.stack(rows, -2) * some",
        "whole tensor at once",
    ),
    Mutant(
        "masked_attention",
        "K is the length of a value",
        "q.shape[-1]",
        "v.shape[-1]",
        "the length of a value",
    ),
    Mutant(
        "masked_attention",
        "indexed by the mask",
        f"weights = {WEIGHTS}",
        "scores = scores.clone()\n"
        "    scores[~mask] = -math.inf\n"
        "    weights = scores.softmax(-1).nan_to_num()",
        "masked_fill",
    ),
    Mutant(
        "masked_attention",
        "infinity times 0, covered up",
        WEIGHTS,
        "stable_softmax(scores * mask + ~mask * -math.inf).nan_to_num()",
        "All weights are 0",
    ),
]

ROTATE = [
    Mutant(
        "rotate",
        "the other way",
        "a * cos - b * sin, a * sin + b * cos",
        "a * cos + b * sin, b * cos - a * sin",
        "turns the other way",
    ),
    Mutant("rotate", "no minus", "a * cos - b * sin", "a * cos + b * sin", "one minus sign"),
    Mutant("rotate", "two minuses", "a * sin + b * cos", "b * cos - a * sin", "one minus sign"),
    Mutant("rotate", "no start", "t = start + ", "t = ", "start does nothing"),
    Mutant("rotate", "from 1", "t = start + ", "t = start + 1 + ", "the first row stays"),
    Mutant(
        "rotate",
        "halves",
        "a, b = x[..., 0::2], x[..., 1::2]\n"
        "    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)",
        "a, b = x[..., : K // 2], x[..., K // 2 :]\n"
        "    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)[..., None]",
        "these are halves",
    ),
    Mutant(
        "rotate",
        "not put back",
        "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)",
        "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)[..., None]",
        "where they came from",
    ),
    Mutant(
        "rotate",
        "one speed",
        "t / 10000 ** (torch.arange(0, K, 2) / K)",
        "t / torch.ones(K // 2)",
        "a speed of its own",
    ),
    Mutant(
        "rotate", "i over K", "torch.arange(0, K, 2)", "torch.arange(K // 2)", "speed of pair i"
    ),
    Mutant(
        "rotate",
        "one angle for all positions",
        "t = start + torch.arange(T)[:, None]",
        "t = torch.ones(T)[:, None]",
        "grows with the position",
    ),
    Mutant(
        "rotate",
        "K and T exchanged",
        "T, K = x.shape[-2:]",
        "T, K = x.shape[1], x.shape[-1]",
        "are a point of the plane",
    ),
    Mutant(
        "rotate",
        "always in double precision",
        "return turned.flatten(-2)",
        "return turned.flatten(-2).double()",
        "dtype of x",
    ),
    Mutant(
        "rotate", "pairs left apart", "turned.flatten(-2)", "turned", "are a point of the plane"
    ),
    Mutant(
        "rotate",
        "a is overwritten",
        "turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)",
        "a = a * cos - b * sin\n    turned = torch.stack([a, a * sin + b * cos], dim=-1)",
        "as they were",
    ),
    Mutant("rotate", "two dimensions alone", "T, K = x.shape[-2:]", "T, K = x.shape", "in front"),
    Mutant("rotate", "nothing handed back", "return", "_ =", "without return"),
    Mutant(
        "rotate",
        "two loops",
        "turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)",
        "turned = torch.stack([a, b], dim=-1)\n"
        "    for p in range(T):\n"
        "        for i in range(K // 2):\n"
        "            c, s = cos[p, i], sin[p, i]\n"
        "            x, y = a[..., p, i], b[..., p, i]\n"
        "            turned[..., p, i, 0], turned[..., p, i, 1] = x * c - y * s, x * s + y * c",
        "whole tensor at once",
    ),
    Mutant(
        "rotate",
        "a loop over pairs",
        "[a * cos - b * sin, a * sin + b * cos]",
        "[\n"
        "            torch.stack([a[..., i] * cos[:, i] - b[..., i] * sin[:, i] for i in "
        "range(K // 2)], -1),\n"
        "            torch.stack([a[..., i] * sin[:, i] + b[..., i] * cos[:, i] for i in "
        "range(K // 2)], -1),\n"
        "        ]",
        "whole tensor at once",
    ),
    Mutant(
        "rotate",
        "three dimensions alone",
        "T, K = x.shape[-2:]",
        "_, T, K = x.shape",
        "from the end",
    ),
]

DEPENDENCE = [
    Mutant("dependence", "transposed", "return table", "return table.T", "a row is an output"),
    Mutant("dependence", "no size", "gradient.abs()", "gradient", "its size counts"),
    Mutant(
        "dependence",
        "the sum of an output",
        "        for number in row:",
        "        for number in [row.sum()]:",
        "what one of them gains another may lose",
    ),
    Mutant(
        "dependence",
        "the first number alone",
        "        for number in row:",
        "        for number in row[:1]:",
        "Only one number of an output",
    ),
    Mutant(
        "dependence",
        "the first feature alone",
        "gradient.abs().amax(1)",
        "gradient[:, 0].abs()",
        "Only one number of an output, or of a word",
    ),
    Mutant("dependence", "the mean", ".amax(1)", ".mean(1)", "not their sum"),
    Mutant("dependence", "the sum", ".amax(1)", ".sum(1)", "not their sum"),
    Mutant("dependence", "the norm", "gradient.abs().amax(1)", "gradient.norm(dim=1)", "or norm"),
    Mutant(
        "dependence",
        "the last number alone",
        "torch.maximum(table[t], gradient.abs().amax(1))",
        "gradient.abs().amax(1)",
        "Entry (t, s)",
    ),
    Mutant(
        "dependence",
        "added up over numbers",
        "torch.maximum(table[t], gradient.abs().amax(1))",
        "table[t] + gradient.abs().amax(1)",
        "not their sum",
    ),
    Mutant("dependence", "yes or no", "return table", "return table > 0", "not yes or no"),
    Mutant(
        "dependence",
        "the graph is not kept",
        ", retain_graph=True",
        "",
        "keeps the graph for the next one",
    ),
    Mutant(
        "dependence",
        "no graph",
        "x = x.clone().requires_grad_()",
        "x = x.clone()",
        "begins a graph",
    ),
    Mutant("dependence", "x itself is changed", "x.clone()", "x.mul_(2).clone()", "in place"),
    Mutant(
        "dependence",
        "a finite step",
        "    for t, row in enumerate(f(x)):",
        "    for s in range(T):\n"
        "        step = torch.zeros_like(x)\n"
        "        step[s] = 1\n"
        "        table[:, s] = (f(x + step) - f(x)).abs().amax(1)\n"
        "    return table.detach()\n"
        "    for t, row in enumerate(f(x)):",
        "that depends on the step",
    ),
    Mutant("dependence", "outputs alone", "(number, x, ", "(f(x).sum(), x, ", "no longer be told"),
    Mutant("dependence", "a row", "return table", "return table.amax(0)", "a column for each word"),
    Mutant("dependence", "nothing handed back", "return table", "table", "without return"),
    Mutant(
        "dependence",
        "the width of a word",
        "    for t, row in enumerate(f(x)):\n"
        "        for number in row:\n"
        "            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)\n"
        "            table[t] = torch.maximum(table[t], gradient.abs().amax(1))",
        "    y = f(x)\n"
        "    for t in range(T):\n"
        "        for i in range(x.shape[1]):\n"
        "            (gradient,) = torch.autograd.grad(y[t, i], x, retain_graph=True)\n"
        "            table[t] = torch.maximum(table[t], gradient.abs().amax(1))",
        "more numbers than a word, or fewer",
    ),
    Mutant(
        "dependence",
        "at most the width of a word",
        "        for number in row:",
        "        for number in row[: x.shape[1]]:",
        "wider than a word",
    ),
    Mutant(
        "dependence",
        "backward without clearing",
        "            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)\n",
        "            number.backward(retain_graph=True)\n            gradient = x.grad\n",
        "backward() adds",
    ),
    Mutant(
        "dependence",
        "cleared for each output alone",
        "        for number in row:\n"
        "            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)\n",
        "        x.grad = None\n"
        "        for number in row:\n"
        "            number.backward(retain_graph=True)\n            gradient = x.grad\n",
        "backward() adds",
    ),
]

LEAKS = "only later words do"
WIDTH = "more heads beside it"
MOVED = "the weights stay and the outputs change"
CALL = "masked_attention(q, k, v, mask)"
AFTER = """masked_attention(q, k, v, torch.ones_like(mask))
        weights = weights * mask
        heads = weights @ v"""
MULTI_HEAD = [
    Mutant("MultiHead", "the mask after the softmax", CALL, AFTER, LEAKS),
    Mutant("MultiHead", "no mask", CALL, "masked_attention(q, k, v, mask | True)", LEAKS),
    Mutant(
        "MultiHead",
        "divided by the root of the width",
        CALL,
        "masked_attention(q / math.sqrt(self.n_heads), k, v, mask)",
        WIDTH,
    ),
    Mutant(
        "MultiHead",
        "values turned",
        "q, k = rotate(q",
        "v = rotate(v, start)\n        q, k = rotate(q",
        MOVED,
    ),
    Mutant(
        "MultiHead",
        "all faults",
        "        q, k = rotate(q, start), rotate(k, start)\n"
        "        heads, weights = masked_attention(q, k, v, mask)\n"
        "        return self.output(merge_heads(heads)), weights",
        "        return super().forward(x, mask, start)",
        "still in: 3",
    ),
    Mutant(
        "MultiHead",
        "the faults of weights alone are mended",
        "q, k = rotate(q, start), rotate(k, start)",
        "q, k, v = rotate(q, start), rotate(k, start), rotate(v, start)",
        "still in: 1",
    ),
    Mutant("MultiHead", "the opposite meaning", CALL, "masked_attention(q, k, v, ~mask)", ONE_MASK),
    Mutant(
        "MultiHead",
        "no factor",
        CALL,
        "masked_attention(q * math.sqrt(q.shape[-1]), k, v, mask)",
        "square root of K",
    ),
    Mutant(
        "MultiHead",
        "scaled twice",
        CALL,
        "masked_attention(q / math.sqrt(q.shape[-1]), k, v, mask)",
        "done twice",
    ),
    Mutant("MultiHead", "keys not turned", ", rotate(k, start)", ", k", "both have a position"),
    Mutant("MultiHead", "queries not turned", "= rotate(q, start)", "= q", "both have a position"),
    Mutant(
        "MultiHead",
        "nothing turned",
        "rotate(q, start), rotate(k, start)",
        "q, k",
        "reads a bag",
    ),
    Mutant(
        "MultiHead",
        "turned before the split",
        "        q, k = rotate(q, start), rotate(k, start)\n",
        "        q, k = rotate(self.query(x), start), rotate(self.key(x), start)\n"
        "        q, k = split_heads(q, self.n_heads), split_heads(k, self.n_heads)\n",
        "split into (B, H, T, K) first",
    ),
    Mutant(
        "MultiHead",
        "merged by a reshape",
        "merge_heads(heads)",
        "heads.reshape(x.shape)",
        "A reshape alone mixes words",
    ),
    Mutant("MultiHead", "no W_O", "self.output(merge_heads(heads))", "merge_heads(heads)", "W_O"),
    Mutant("MultiHead", "x added", "return self.output", "return x + self.output", "made outside"),
    Mutant(
        "MultiHead",
        "detached",
        CALL,
        "masked_attention(q, k.detach(), v, mask)",
        "cuts the graph",
    ),
    Mutant("MultiHead", "the output alone", "(heads)), weights", "(heads))", "two things"),
    Mutant("MultiHead", "another method", "def forward", "def call", "still in: 3"),
    Mutant(
        "MultiHead",
        "a mask of its own",
        CALL,
        "masked_attention(q, k, v, causal_mask(*mask.shape))",
        "something else has changed",
    ),
    Mutant(
        "MultiHead",
        "masked after the softmax and divided",
        "        heads, weights = masked_attention(q, k, v, mask)\n",
        "        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])\n"
        "        weights = stable_softmax(scores) * mask\n"
        "        weights = weights / weights.sum(-1, keepdim=True)\n"
        "        heads = weights @ v\n",
        "As in task 4",
    ),
    Mutant(
        "MultiHead",
        "divided by the root of the number of heads",
        CALL,
        "masked_attention(q * math.sqrt(q.shape[-1] / self.n_heads), k, v, mask)",
        "what are they divided by",
    ),
    Mutant(
        "MultiHead",
        "divided by the root of the length",
        CALL,
        "masked_attention(q * math.sqrt(q.shape[-1] / q.shape[-2]), k, v, mask)",
        "what are they divided by",
    ),
    Mutant(
        "MultiHead",
        "divided by the root of 8",
        CALL,
        "masked_attention(q * math.sqrt(q.shape[-1] / 8), k, v, mask)",
        "what are they divided by",
    ),
    Mutant(
        "MultiHead",
        "divided by the root of the width over the heads",
        CALL,
        "masked_attention(q * math.sqrt(q.shape[-1] / x.shape[-1]) * self.n_heads, k, v, mask)",
        "what are they divided by",
    ),
]

FACTOR = "multiplied by the same factor"
ATTENTION_IN_BLOCKS = [
    Mutant("attention_in_blocks", "no factor", " / math.sqrt(K)", "", "square root of K"),
    Mutant("attention_in_blocks", "nothing is adjusted", "(m - new).exp()", "1.0", FACTOR),
    Mutant("attention_in_blocks", "the sum as it was", "sums * factor", "sums", FACTOR),
    Mutant("attention_in_blocks", "the output as it was", "o * factor", "o", FACTOR),
    Mutant("attention_in_blocks", "new minus old", "(m - new)", "(new - m)", "Which way"),
    Mutant(
        "attention_in_blocks",
        "the newest block's largest",
        "torch.maximum(m, scores.amax(-1, keepdim=True))",
        "scores.amax(-1, keepdim=True)",
        "largest score so far",
    ),
    Mutant(
        "attention_in_blocks",
        "no largest score",
        "torch.maximum(m, scores.amax(-1, keepdim=True))",
        "torch.zeros_like(m)",
        "largest score so far",
    ),
    Mutant("attention_in_blocks", "not divided", "o / sums", "o", "divided by the sum"),
    Mutant("attention_in_blocks", "no mask", "if j == i", "if False", "sees its own key"),
    Mutant("attention_in_blocks", "a mask in all", "if j == i", "if True", "Only the block"),
    Mutant(
        "attention_in_blocks",
        "its own block alone",
        "range(0, i + 1, block)",
        "range(i, i + 1, block)",
        "keys of all earlier blocks",
    ),
    Mutant(
        "attention_in_blocks",
        "the future is computed",
        """range(0, i + 1, block):
            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
            if j == i:
                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)""",
        """range(0, T, block):
            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
            t = i + torch.arange(scores.shape[-2])[:, None]
            scores = scores.masked_fill(j + torch.arange(scores.shape[-1]) > t, -math.inf)""",
        "need not be computed",
    ),
    Mutant(
        "attention_in_blocks",
        "the future is seen",
        "range(0, i + 1, block)",
        "range(0, T, block)",
        "left out",
    ),
    Mutant(
        "attention_in_blocks",
        "all at once",
        "    outputs = []\n",
        "    return masked_attention(q, k, v, causal_mask(T, T))[0]\n    outputs = []\n",
        "T x T numbers",
    ),
    Mutant(
        "attention_in_blocks",
        "blocks of queries alone",
        "    for i in range(0, T, block):\n",
        "    for i in range(0, T, block):\n"
        "        mine, n = q[..., i : i + block, :], min(i + block, T)\n"
        "        mask = causal_mask(mine.shape[-2], n)\n"
        "        outputs.append(masked_attention(mine, k[..., :n, :], v[..., :n, :], mask)[0])\n"
        "        continue\n",
        "queries and keys both come in",
    ),
    Mutant("attention_in_blocks", "blocks side by side", "(outputs, -2)", "(outputs, -1)", "shape"),
    Mutant(
        "attention_in_blocks", "the last block", "torch.cat(outputs, -2)", "outputs[-1]", "shape"
    ),
    Mutant("attention_in_blocks", "nothing handed back", "return torch", "torch", "without return"),
    Mutant(
        "attention_in_blocks",
        "PyTorch's kernel",
        "    outputs = []\n",
        "    return F.scaled_dot_product_attention(q, k, v, is_causal=True)\n    outputs = []\n",
        "write it yourself",
    ),
    Mutant(
        "attention_in_blocks",
        "single precision",
        "return torch.cat(outputs, -2)",
        "return torch.cat(outputs, -2).float()",
        "precision",
    ),
    Mutant(
        "attention_in_blocks",
        "one query at a time",
        "    outputs = []\n",
        "    return torch.cat([\n"
        "        masked_attention(q[..., i : i + 1, :], k[..., : i + 1, :], v[..., : i + 1, :],\n"
        "                         causal_mask(q[..., i : i + 1, :].shape[-2], min(i + 1, T)))[0]\n"
        "        for i in range(0, T, 1)\n"
        "    ], -2)\n    outputs = []\n",
        "without loops inside a block",
    ),
    Mutant(
        "attention_in_blocks",
        "two queries at a time",
        "    outputs = []\n",
        "    return torch.cat([\n"
        "        masked_attention(q[..., i : i + 2, :], k[..., : i + 2, :], v[..., : i + 2, :],\n"
        "                         causal_mask(q[..., i : i + 2, :].shape[-2], min(i + 2, T)))[0]\n"
        "        for i in range(0, T, 2)\n"
        "    ], -2)\n    outputs = []\n",
        "without loops inside a block",
    ),
    Mutant(
        "attention_in_blocks",
        "three queries at a time",
        "    outputs = []\n",
        "    return torch.cat([\n"
        "        masked_attention(q[..., i : i + 3, :], k[..., : i + 3, :], v[..., : i + 3, :],\n"
        "                         causal_mask(q[..., i : i + 3, :].shape[-2], min(i + 3, T)))[0]\n"
        "        for i in range(0, T, 3)\n"
        "    ], -2)\n    outputs = []\n",
        "queries and keys both come in",
    ),
    Mutant(
        "attention_in_blocks",
        "the largest first, then the powers",
        "        for j in range(0, i + 1, block):\n",
        "        for j in range(0, i + 1, block):\n"
        "            s = queries @ k[..., j : j + block, :].transpose(-2, -1)\n"
        "            if j == i:\n"
        "                s = s.masked_fill(~causal_mask(*s.shape[-2:]), -math.inf)\n"
        "            m = torch.maximum(m, s.amax(-1, keepdim=True))\n"
        "        for j in range(0, i + 1, block):\n",
        "computed twice",
    ),
    Mutant(
        "attention_in_blocks",
        "new minus old, from -1e9",
        "-math.inf)\n        sums, o = torch.zeros_like(m), 0.0\n"
        "        for j in range(0, i + 1, block):\n"
        "            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)\n"
        "            if j == i:\n"
        "                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)\n"
        "            new = torch.maximum(m, scores.amax(-1, keepdim=True))\n"
        "            powers, factor = (scores - new).exp(), (m - new).exp()",
        "-1e9)\n        sums, o = torch.zeros_like(m), 0.0\n"
        "        for j in range(0, i + 1, block):\n"
        "            scores = queries @ k[..., j : j + block, :].transpose(-2, -1)\n"
        "            if j == i:\n"
        "                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)\n"
        "            new = torch.maximum(m, scores.amax(-1, keepdim=True))\n"
        "            powers, factor = (scores - new).exp(), (new - m).exp()",
        "Which way round is the factor",
    ),
    Mutant(
        "attention_in_blocks",
        "three dimensions alone",
        "T, K = q.shape[-2:]",
        "B, T, K = q.shape",
        "from the end",
    ),
]

MUTANTS = [
    *BY_HAND,
    *STABLE_SOFTMAX,
    *CAUSAL_MASK,
    *MASKED_ATTENTION,
    *ROTATE,
    *DEPENDENCE,
    *MULTI_HEAD,
    *ATTENTION_IN_BLOCKS,
]

REWRITES = [
    Rewrite(
        "by_hand",
        "rounded to three decimals",
        """
def by_hand():
    s, v = check.numbers().values()
    a = [round(1 / sum(math.exp(other - mine) for other in s), 5) for mine in s]
    b = 1 / (1 + math.exp(s[1] - s[0]))
    mean = round(a[0] * v[0] + a[1] * v[1] + a[2] * v[2], 3)
    return {
        "first weight": round(a[0], 3),
        "output": mean,
        "output, all scores + 100": mean,
        "output, third masked": round(b * v[0] + (1 - b) * v[1], 3),
    }
""",
    ),
    Rewrite(
        "by_hand",
        "with the numbers divided by the largest power",
        """
def by_hand():
    s, v = check.numbers().values()
    def mean(n):
        top = max(s[:n])
        e = [math.e ** (x - top) for x in s[:n]]
        return sum(x * y for x, y in zip(e, v)) / sum(e)
    return {
        "output": mean(3),
        "output, third masked": mean(2),
        "output, all scores + 100": mean(3),
        "first weight": math.exp(s[0]) / (math.exp(s[0]) + math.exp(s[1]) + math.exp(s[2])),
    }
""",
    ),
    Rewrite(
        "stable_softmax",
        "by logarithms",
        """
def stable_softmax(x):
    top, _ = torch.max(x, dim=-1, keepdim=True)
    shifted = x - top
    total = shifted.exp().sum(dim=-1).log()
    return torch.exp(shifted - total.unsqueeze(-1))
""",
    ),
    Rewrite(
        "causal_mask",
        "by tril",
        """
def causal_mask(T, S):
    return torch.ones(T, S).tril(S - T).bool()
""",
    ),
    Rewrite(
        "causal_mask",
        "by loops",
        """
def causal_mask(T, S):
    return torch.tensor([[s <= S - T + t for s in range(S)] for t in range(T)])
""",
    ),
    Rewrite(
        "causal_mask",
        "the last rows of a square",
        """
def causal_mask(T, S):
    return ~torch.triu(torch.ones(S, S, dtype=torch.bool), diagonal=1)[S - T :]
""",
    ),
    Rewrite(
        "masked_attention",
        "-1e30, cleared by where",
        """
def masked_attention(q, k, v, mask):
    scores = torch.einsum("...tk,...sk->...ts", q, k) / q.shape[-1] ** 0.5
    scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
    a = scores.softmax(-1)
    a = torch.where(mask, a, torch.zeros_like(a))
    return a @ v, a
""",
    ),
    Rewrite(
        "masked_attention",
        "masked_fill, NaN replaced before any gradient",
        """
def masked_attention(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return torch.matmul(weights, v), weights
""",
    ),
    Rewrite(
        "masked_attention",
        "by hand, with a safe denominator",
        """
def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    top = scores.masked_fill(~mask, -math.inf).amax(-1, keepdim=True).clamp(min=-1e30).detach()
    e = (scores - top).clamp(max=0).exp() * mask
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-300)
    return weights @ v, weights
""",
    ),
    Rewrite(
        "rotate",
        "by complex numbers",
        """
def rotate(x, start=0):
    T, K = x.shape[-2:]
    speed = 10000.0 ** (-torch.arange(0, K, 2, dtype=torch.float64) / K)
    angles = torch.outer(torch.arange(start, start + T, dtype=torch.float64), speed)
    turn = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)
""",
    ),
    Rewrite(
        "by_hand",
        "from weights of three decimals",
        """
def by_hand():
    s, v = check.numbers().values()
    e = [math.exp(x) for x in s]
    a = [round(x / sum(e), 3) for x in e]
    b = [x / sum(e[:2]) for x in e[:2]]
    first = torch.tensor(a[0])
    output = sum(x * y for x, y in zip(e, v)) / sum(e) + 0.001
    return {
        "first weight": first,
        "output": output,
        "output, all scores + 100": output,
        "output, third masked": b[0] * v[0] + b[1] * v[1],
    }
""",
    ),
    Rewrite(
        "dependence",
        "by the Jacobian",
        """
def dependence(f, x):
    return torch.autograd.functional.jacobian(f, x).abs().amax(dim=(1, 3))
""",
    ),
    Rewrite(
        "dependence",
        "by rows, with backward",
        """
def dependence(f, x):
    rows = []
    for t in range(x.shape[0]):
        x_t = x.detach().clone().requires_grad_(True)
        y = f(x_t)
        found = []
        for i in range(y.shape[1]):
            x_t.grad = None
            y[t, i].backward(retain_graph=True)
            found.append(x_t.grad.abs().max(dim=1).values)
        rows.append(torch.stack(found).max(dim=0).values)
    return torch.stack(rows)
""",
    ),
    Rewrite(
        "MultiHead",
        "the lines of Broken, mended",
        """
class MultiHead(Broken):
    def forward(self, x, mask, start=0):
        q, k, v = (split_heads(f(x), self.n_heads) for f in (self.query, self.key, self.value))
        q, k = (rotate(y, start) for y in (q, k))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        weights = stable_softmax(scores.masked_fill(~mask, -math.inf))
        return self.output(merge_heads(weights @ v)), weights
""",
    ),
    Rewrite(
        "MultiHead",
        "a class of its own",
        """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def maps(self):
        return self.query, self.key, self.value

    def forward(self, x, mask, start=0):
        q, k, v = (torch.stack(y(x).chunk(self.H, -1), 1) for y in self.maps())
        found = [
            masked_attention(rotate(q[:, h], start), rotate(k[:, h], start), v[:, h], mask)
            for h in range(self.H)
        ]
        weights = torch.stack([w for _, w in found], 1)
        return self.output(torch.cat([o for o, _ in found], -1)), weights
""",
    ),
    Rewrite(
        "attention_in_blocks",
        "with logarithms of sums",
        """
def attention_in_blocks(q, k, v, block):
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=v.dtype)
    for i in range(0, q.shape[-2], block):
        rows, log_sum = q[..., i : i + block, :], None
        for j in range(0, i + block, block):
            keys, values = k[..., j : j + block, :], v[..., j : j + block, :]
            if not keys.shape[-2]:
                break
            scores = rows @ keys.mT * q.shape[-1] ** -0.5
            if i == j:
                later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
                scores = scores.masked_fill(later, float("-inf"))
            here = scores.logsumexp(-1, keepdim=True)
            mean = (scores - here).exp() @ values
            if log_sum is None:
                log_sum, average = here, mean
                continue
            both = torch.logaddexp(log_sum, here)
            average = average * (log_sum - both).exp() + mean * (here - both).exp()
            log_sum = both
        out[..., i : i + block, :] = average
    return out
""",
    ),
    Rewrite(
        "attention_in_blocks",
        "the diagonal first",
        """
def attention_in_blocks(q, k, v, block):
    T, outputs = q.size(-2), []
    for i in range(0, T, block):
        rows = q[..., i : i + block, :] / q.size(-1) ** 0.5
        n = rows.size(-2)
        s = (rows @ k[..., i : i + n, :].mT).masked_fill(~causal_mask(n, n), -math.inf)
        m = s.max(-1, keepdim=True).values
        p = torch.exp(s - m)
        total, summed = p.sum(-1, keepdim=True), p @ v[..., i : i + n, :]
        for j in range(i - block, -1, -block):
            s = rows @ k[..., j : j + block, :].mT
            larger = torch.maximum(m, s.max(-1, keepdim=True).values)
            p, c = torch.exp(s - larger), torch.exp(m - larger)
            total, m = total * c + p.sum(-1, True), larger
            summed = summed * c + p @ v[..., j : j + block, :]
        outputs.append(summed / total)
    return torch.cat(outputs, dim=-2)
""",
    ),
    Rewrite(
        "dependence",
        "in single precision",
        """
def dependence(f, x):
    J, x = torch.zeros(len(x), len(x)), x.detach().clone().requires_grad_()
    y = f(x)
    for t in range(len(x)):
        for i in range(y.shape[1]):
            (g,) = torch.autograd.grad(y[t, i], x, retain_graph=True)
            J[t] = torch.maximum(J[t], g.abs().max(dim=1).values.float())
    return J
""",
    ),
    Rewrite(
        "stable_softmax",
        "the largest kept by max and division by broadcasting",
        """
def stable_softmax(x):
    top = x.max(dim=-1).values.unsqueeze(-1)
    e = torch.exp(x - top)
    return torch.einsum("...s,...->...s", e, 1 / e.sum(-1))
""",
    ),
    Rewrite(
        "rotate",
        "by a table of cosines for both of a pair",
        """
def rotate(x, start=0):
    T, K = x.shape[-2:]
    i = torch.arange(K // 2).repeat_interleave(2)
    phi = torch.arange(start, start + T).unsqueeze(1) * 10000.0 ** (-2 * i / K)
    other = torch.empty_like(x)
    other[..., ::2], other[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return (x * phi.cos() + other * phi.sin()).to(x.dtype)
""",
    ),
    Rewrite(
        "MultiHead",
        "the start of the text, whatever it is",
        """
class MultiHead(Broken):
    def forward(self, x, mask, start=0):
        maps = self.query, self.key, self.value
        q, k, v = (split_heads(linear(x), self.n_heads) for linear in maps)
        scores = rotate(q) @ rotate(k).mT * (x.shape[-1] // self.n_heads) ** -0.5
        weights = scores.masked_fill(~mask, -1e9).softmax(-1)
        return self.output(merge_heads(weights @ v)), weights
""",
    ),
    Rewrite(
        "masked_attention",
        "PyTorch's softmax of what where leaves",
        """
def masked_attention(q, k, v, mask):
    scores = torch.matmul(q, k.mT).div(math.sqrt(k.shape[-1]))
    hidden = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))
    if not mask.any(-1).all():
        hidden = torch.where(mask.any(-1, keepdim=True), hidden, torch.zeros_like(hidden))
    a = torch.softmax(hidden, -1) * mask
    return torch.einsum("...ts,...sv->...tv", a, v), a
""",
    ),
    Rewrite(
        "attention_in_blocks",
        "three lists by block, in place",
        """
def attention_in_blocks(q, k, v, block):
    T, scale = q.shape[-2], q.shape[-1] ** -0.5
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=v.dtype, device=v.device)
    for i in range(0, T, block):
        rows, m, l = q[..., i : i + block, :], None, 0.0
        o = out[..., i : i + block, :]
        for j in range(0, i + block, block):
            keys = k[..., j : j + block, :]
            if not keys.shape[-2]:
                continue
            s = torch.einsum("...tk,...sk->...ts", rows, keys) * scale
            ahead = torch.arange(j, j + s.shape[-1]) > torch.arange(i, i + s.shape[-2])[:, None]
            s = torch.where(ahead, -1e30, s) if i == j else s
            new = s.amax(-1, keepdim=True)
            if j:
                new = torch.maximum(new, m)
                factor = (m - new).exp()
                l, o = l * factor, o * factor
            p = (s - new).exp()
            l, o, m = l + p.sum(-1, keepdim=True), o + p @ v[..., j : j + block, :], new
        out[..., i : i + block, :] = o / l
    return out
""",
    ),
]
