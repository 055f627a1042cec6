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
    Mutant("by_hand", "a name changed", '"first weight":', '"a_1":', "these very names"),
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
    Mutant("stable_softmax", "nothing handed back", "return", "_ =", "without return"),
    Mutant("stable_softmax", "an unknown name", "e = (x", "e = (logits", "no value here"),
    Mutant(
        "stable_softmax",
        "one number at a time",
        "e = (x - x.amax(-1, keepdim=True)).exp()",
        "e = math.exp(x)",
        "a whole tensor",
    ),
]

ATTENTION = [
    Mutant("attention", "no factor", " / math.sqrt(q.shape[1])", "", "square root of K"),
    Mutant("attention", "by K", "math.sqrt(q.shape[1])", "q.shape[1]", "divided by K itself"),
    Mutant("attention", "by the keys", "q.shape[1]", "k.shape[0]", "number of keys has no say"),
    Mutant("attention", "by the queries", "q.shape[1]", "q.shape[0]", "square root of K"),
    Mutant(
        "attention",
        "factor after the softmax",
        "/ math.sqrt(q.shape[1])\n    weights = stable_softmax(scores)",
        "\n    weights = stable_softmax(scores) / math.sqrt(q.shape[1])",
        "belongs to the scores, before",
    ),
    Mutant("attention", "multiplied", "/ math.sqrt", "* math.sqrt", "divides; this is multiplied"),
    Mutant(
        "attention",
        "softmax over the queries",
        "stable_softmax(scores)",
        "stable_softmax(scores.T).T",
        "over the keys: which dimension",
    ),
    Mutant("attention", "no softmax", "stable_softmax(scores)", "scores", "softmax is missing"),
    Mutant("attention", "the output alone", "weights @ v, weights", "weights @ v", "two things"),
    Mutant("attention", "exchanged", "weights @ v, weights", "weights, weights @ v", "two things"),
    Mutant("attention", "keys averaged", "weights @ v,", "weights @ k,", "mean of the values"),
    Mutant("attention", "not transposed", "q @ k.T", "q @ k", "Compare shapes and dtypes"),
    Mutant("attention", "keys first", "q @ k.T", "k @ q.T", "Queries are compared with keys"),
    Mutant(
        "attention",
        "single precision",
        "q @ k.T / math.sqrt(q.shape[1])",
        "(q @ k.T / math.sqrt(q.shape[1])).float()",
        "dtypes",
    ),
    Mutant(
        "attention",
        "PyTorch's kernel",
        "return weights @ v,",
        "return nn.functional.scaled_dot_product_attention(q, k, v),",
        "the exercise is to write it",
    ),
    Mutant("attention", "K is always 64", "math.sqrt(q.shape[1])", "8", "not always 64"),
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
]

RESHAPE = "a reshape alone takes them"
SPLIT = "x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)"
SPLIT_HEADS = [
    Mutant("split_heads", "reshape alone", SPLIT, "x.reshape(B, n_heads, T, -1)", RESHAPE),
    Mutant("split_heads", "view alone", SPLIT, "x.view(B, n_heads, T, D // n_heads)", RESHAPE),
    Mutant(
        "split_heads", "no transpose", ".transpose(1, 2)", "", "two dimensions stand in the wrong"
    ),
    Mutant(
        "split_heads",
        "H behind K",
        SPLIT,
        "x.reshape(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)",
        "not every H-th",
    ),
    Mutant(
        "split_heads",
        "T and K exchanged",
        ".transpose(1, 2)",
        ".permute(0, 2, 3, 1)",
        "two dimensions stand in the wrong",
    ),
    Mutant(
        "split_heads",
        "n_heads features",
        "n_heads, D // n_heads",
        "D // n_heads, n_heads",
        "D = H K",
    ),
    Mutant("split_heads", "heads in front", ".transpose(1, 2)", ".permute(2, 0, 1, 3)", "D = H K"),
    Mutant("split_heads", "chunked in a tuple", SPLIT, "x.chunk(n_heads, -1)", "tensor of PyTorch"),
    Mutant(
        "split_heads",
        "a part that is no whole number",
        "D // n_heads",
        "D / n_heads",
        "another kind",
    ),
]

MERGE = "x.transpose(1, 2).reshape(B, T, H * K)"
MERGE_HEADS = [
    Mutant("merge_heads", "reshape alone", ".transpose(1, 2)", "", RESHAPE),
    Mutant("merge_heads", "flatten", MERGE, "x.flatten(2).reshape(B, T, H * K)", RESHAPE),
    Mutant("merge_heads", "view", "reshape(B, T, H * K)", "view(B, T, H * K)", "reshape copies"),
    Mutant(
        "merge_heads",
        "H behind K",
        "x.transpose(1, 2)",
        "x.permute(0, 2, 3, 1)",
        "not every H-th",
    ),
    Mutant("merge_heads", "not put side by side", MERGE, "x.transpose(1, 2)", "wrong places"),
    Mutant("merge_heads", "the wrong pair", "x.transpose(1, 2)", "x.transpose(2, 3)", RESHAPE),
    Mutant("merge_heads", "added up", MERGE, "x.sum(1)", "are added up"),
]

MULTI_HEAD = [
    Mutant("MultiHead", "no W_O", "self.output(merge_heads(heads))", "merge_heads(heads)", "W_O"),
    Mutant(
        "MultiHead",
        "merged by a reshape",
        "merge_heads(heads)",
        "heads.reshape(x.shape)",
        RESHAPE,
    ),
    Mutant(
        "MultiHead",
        "query and key exchanged",
        "masked_attention(q, k, v, mask)",
        "masked_attention(k, q, v, mask)",
        "exchanged their roles",
    ),
    Mutant(
        "MultiHead",
        "scaled by d_model",
        "masked_attention(q, k, v, mask)",
        "masked_attention(q / math.sqrt(self.n_heads), k, v, mask)",
        "K is d_model / H",
    ),
    Mutant(
        "MultiHead",
        "scaled twice",
        "masked_attention(q, k, v, mask)",
        "masked_attention(q / math.sqrt(q.shape[-1]), k, v, mask)",
        "done twice",
    ),
    Mutant(
        "MultiHead",
        "no mask",
        "masked_attention(q, k, v, mask)",
        "masked_attention(q, k, v, torch.ones_like(mask))",
        "The mask does nothing",
    ),
    Mutant("MultiHead", "the mask's opposite", "k, v, mask)\n", "k, v, ~mask)\n", ONE_MASK),
    Mutant(
        "MultiHead",
        "one head",
        "        q = split_heads(self.query(x), self.n_heads)\n"
        "        k = split_heads(self.key(x), self.n_heads)\n"
        "        v = split_heads(self.value(x), self.n_heads)\n",
        "        q, k, v = (y(x)[:, None] for y in (self.query, self.key, self.value))\n",
        "(B, H, T, T)",
    ),
    Mutant("MultiHead", "no W_V", "self.value(x)", "x", "by W_V"),
    Mutant("MultiHead", "x added", "return self.output", "return x + self.output", "made outside"),
    Mutant(
        "MultiHead",
        "with a bias",
        "self.value = nn.Linear(d_model, d_model, bias=False)",
        "self.value = nn.Linear(d_model, d_model)",
        "matrices alone",
    ),
    Mutant(
        "MultiHead",
        "another name",
        "        self.output = nn.Linear(d_model, d_model, bias=False)",
        "        self.out = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.forward_output = self.out",
        "Four attributes query, key, value and output",
    ),
    Mutant("MultiHead", "no super", "super().__init__()", "pass", "super().__init__()"),
    Mutant("MultiHead", "another method", "def forward", "def call", "this very name"),
    Mutant("MultiHead", "turn forgotten", "turn(q), turn(k)", "q, k", "never called"),
    Mutant(
        "MultiHead", "only queries turned", "turn(q), turn(k)", "turn(q), k", "both have a position"
    ),
    Mutant(
        "MultiHead",
        "values turned too",
        "q, k = turn(q), turn(k)",
        "q, k, v = turn(q), turn(k), turn(v)",
        "values stay",
    ),
    Mutant(
        "MultiHead",
        "turned before the split",
        "        q = split_heads(self.query(x), self.n_heads)\n"
        "        k = split_heads(self.key(x), self.n_heads)\n",
        "        q, k = self.query(x), self.key(x)\n"
        "        if turn is not None:\n"
        "            q, k, turn = turn(q), turn(k), None\n"
        "        q, k = split_heads(q, self.n_heads), split_heads(k, self.n_heads)\n",
        "split into (B, H, T, K) first",
    ),
    Mutant(
        "MultiHead",
        "weights detached",
        "heads, weights = masked_attention(q, k, v, mask)",
        "heads, weights = masked_attention(q, k.detach(), v, mask)",
        "cuts the graph",
    ),
    Mutant("MultiHead", "the output alone", "(heads)), weights", "(heads))", "two things"),
    Mutant(
        "MultiHead", "one map for queries and keys", "self.key(x)", "self.query(x)", "of its own"
    ),
    Mutant("MultiHead", "turn without asking", "if turn is not None:", "if True:", "is None here"),
    Mutant("MultiHead", "turned in vain", "q, k = turn(q)", "_ = turn(q)", "hands back"),
]

ORDER_GAP = [
    Mutant("order_gap", "invariance", "f(x)[order]", "f(x)", "move with the words"),
    Mutant(
        "order_gap", "the inverse order", "f(x)[order]", "f(x)[order.argsort()]", "inverse order"
    ),
    Mutant("order_gap", "the mean", ".max()", ".mean()", "not their mean"),
    Mutant("order_gap", "no size", ".abs()", "", "its size counts"),
    Mutant("order_gap", "the norm", ".abs().max()", ".norm()", "not their mean"),
    Mutant("order_gap", "the sum", ".max()", ".sum()", "not their mean"),
    Mutant("order_gap", "nothing shuffled", "f(x[order])", "f(x)[order]", "move with the words"),
    Mutant(
        "order_gap", "features shuffled", "f(x[order])", "f(x[:, order])", "a row for each word"
    ),
    Mutant("order_gap", "yes or no", ".max().item()", ".max().item() < 1e-6", "how large the gap"),
    Mutant("order_gap", "squared", ".abs().max()", ".square().max()", "not its square"),
    Mutant("order_gap", "nothing handed back", "return", "_ =", "without return"),
    Mutant("order_gap", "a gap for each", ".max().item()", "", "One number"),
    Mutant(
        "order_gap", "texts alone", "f(x[order]) - f(x)[order]", "x[order] - x", "f is not used"
    ),
]

SINUSOIDAL_TABLE = [
    Mutant("sinusoidal_table", "cosine first", "% 2 == 0", "% 2 == 1", "Even columns"),
    Mutant("sinusoidal_table", "the column", "2 * (column // 2)", "column", "number of the pair"),
    Mutant("sinusoidal_table", "i", "2 * (column // 2)", "(column // 2)", "number of the pair"),
    Mutant("sinusoidal_table", "2 j", "(column // 2)", "column", "number of the pair"),
    Mutant("sinusoidal_table", "from 1", "arange(T,", "arange(1, T + 1,", "count from 0"),
    Mutant(
        "sinusoidal_table",
        "halves",
        "angles = t / 10000 ** (2 * (column // 2) / d_model)",
        "angles = t / 10000 ** (2 * column / d_model)\n"
        "    half = (d_model + 1) // 2\n"
        "    return torch.cat([angles.sin()[:, :half], angles.cos()[:, : d_model - half]], 1)",
        "not in two halves",
    ),
    Mutant(
        "sinusoidal_table",
        "all sines",
        "torch.where(column % 2 == 0, angles.sin(), angles.cos())",
        "angles.sin()",
        "Odd columns are cosines",
    ),
    Mutant(
        "sinusoidal_table",
        "even widths only",
        "return torch.where(column % 2 == 0, angles.sin(), angles.cos())",
        "table = torch.zeros(T, d_model)\n"
        "    table[:, 0::2] = angles[:, 0::2].sin()\n"
        "    table[:, 1::2] = angles[:, 0::2].cos()\n"
        "    return table",
        "the last sine has no cosine",
    ),
    Mutant(
        "sinusoidal_table",
        "transposed",
        "torch.where(column % 2 == 0, angles.sin(), angles.cos())",
        "torch.where(column % 2 == 0, angles.sin(), angles.cos()).T",
        "A row is a position",
    ),
    Mutant("sinusoidal_table", "base 1000", "10000", "1000", "of the same angle"),
    Mutant("sinusoidal_table", "multiplied", "t / 10000", "t * 10000", "of the same angle"),
    Mutant(
        "sinusoidal_table", "whole numbers", "angles.cos())", "angles.cos()).long()", "cannot hold"
    ),
    Mutant("sinusoidal_table", "a list", "angles.cos())", "angles.cos()).tolist()", "no list"),
    Mutant("sinusoidal_table", "a row too many", "arange(T,", "arange(T + 1,", "A row for each"),
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
]

MUTANTS = [
    *BY_HAND,
    *STABLE_SOFTMAX,
    *ATTENTION,
    *CAUSAL_MASK,
    *MASKED_ATTENTION,
    *SPLIT_HEADS,
    *MERGE_HEADS,
    *MULTI_HEAD,
    *ORDER_GAP,
    *SINUSOIDAL_TABLE,
    *ROTATE,
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
        "one row after the other",
        """
def stable_softmax(x):
    rows = x.reshape(-1, x.shape[-1])
    out = torch.empty_like(rows)
    for i, row in enumerate(rows):
        powers = torch.exp(row - row.max())
        out[i] = powers / powers.sum()
    return out.reshape(x.shape)
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
        "attention",
        "by loops",
        """
def attention(q, k, v):
    T, S, K = len(q), len(k), q.shape[1]
    output, weights = torch.zeros(T, v.shape[1], dtype=q.dtype), torch.zeros(T, S, dtype=q.dtype)
    for t in range(T):
        scores = [sum(q[t, i] * k[s, i] for i in range(K)) / K**0.5 for s in range(S)]
        top = max(scores)
        total = sum(torch.exp(score - top) for score in scores)
        for s in range(S):
            weights[t, s] = torch.exp(scores[s] - top) / total
            output[t] += weights[t, s] * v[s]
    return output, weights
""",
    ),
    Rewrite(
        "attention",
        "by einsum, the factor on q",
        """
def attention(q, k, v):
    a = torch.einsum("tk,sk->ts", q * q.size(-1) ** -0.5, k).softmax(dim=1)
    return [torch.einsum("ts,sv->tv", a, v), a]
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
        "split_heads",
        "by chunks",
        """
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)
""",
    ),
    Rewrite(
        "split_heads",
        "by unflatten",
        """
def split_heads(x, n_heads):
    return x.unflatten(2, (n_heads, x.size(2) // n_heads)).permute(0, 2, 1, 3).contiguous()
""",
    ),
    Rewrite(
        "merge_heads",
        "by cat",
        """
def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)
""",
    ),
    Rewrite(
        "merge_heads",
        "by permute and view",
        """
def merge_heads(x):
    return x.permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[2], -1)
""",
    ),
    Rewrite(
        "MultiHead",
        "a loop over the heads",
        """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.K = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, mask, turn=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        q, k, v = (torch.stack(y.split(self.K, -1), 1) for y in (q, k, v))
        if turn:
            q, k = turn(q), turn(k)
        found = [masked_attention(q[:, h], k[:, h], v[:, h], mask) for h in range(self.H)]
        heads = torch.cat([o for o, _ in found], -1)
        return self.output(heads), torch.stack([w for _, w in found], 1)
""",
    ),
    Rewrite(
        "MultiHead",
        "all explicit",
        """
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        nn.Module.__init__(self)
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = [
            nn.Linear(d_model, d_model, False) for _ in range(4)
        ]

    def split(self, x):
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def forward(self, x, mask, turn=lambda y: y):
        turn = turn or (lambda y: y)
        q, k = turn(self.split(self.query(x))), turn(self.split(self.key(x)))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        heads = weights @ self.split(self.value(x))
        return self.output(heads.transpose(1, 2).flatten(2)), weights
""",
    ),
    Rewrite(
        "order_gap",
        "by torch.max, as a tensor",
        """
def order_gap(f, x, order):
    shuffled_first, shuffled_last = f(x[order]), f(x)[order]
    return torch.max(torch.abs(shuffled_last - shuffled_first))
""",
    ),
    Rewrite(
        "order_gap",
        "by loops",
        """
def order_gap(f, x, order):
    a, b, largest = f(x.index_select(0, order)), f(x), 0.0
    for place, word in enumerate(order.tolist()):
        for mine, theirs in zip(a[place].tolist(), b[word].tolist()):
            largest = max(largest, abs(mine - theirs))
    return largest
""",
    ),
    Rewrite(
        "sinusoidal_table",
        "by loops",
        """
def sinusoidal_table(T, d_model):
    def entry(t, j):
        angle = t / 10000 ** ((j - j % 2) / d_model)
        return math.cos(angle) if j % 2 else math.sin(angle)
    return torch.tensor([[entry(t, j) for j in range(d_model)] for t in range(T)])
""",
    ),
    Rewrite(
        "sinusoidal_table",
        "by slices",
        """
def sinusoidal_table(T, d_model):
    table = torch.zeros(T, d_model)
    speed = torch.exp(-torch.arange(0, d_model, 2) * math.log(10000.0) / d_model)
    angles = torch.outer(torch.arange(T).float(), speed)
    table[:, ::2] = angles.sin()
    table[:, 1::2] = angles[:, : d_model // 2].cos()
    return table
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
        "rotate",
        "by slices",
        """
def rotate(x, start=0):
    T, K = x.shape[-2], x.shape[-1]
    out = torch.empty_like(x)
    for i in range(K // 2):
        for t in range(T):
            phi = (start + t) / 10000 ** (2 * i / K)
            a, b = x[..., t, 2 * i], x[..., t, 2 * i + 1]
            out[..., t, 2 * i] = a * math.cos(phi) - b * math.sin(phi)
            out[..., t, 2 * i + 1] = a * math.sin(phi) + b * math.cos(phi)
    return out
""",
    ),
]
