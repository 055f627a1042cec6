"""Plausible wrong answers to notebook 18, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # layer_flops
    Mutant("layer_flops", "one for both", "2 * matrices", "matrices", "as two operations"),
    Mutant("layer_flops", "no square", " + 4 * T**2 * D", "", "T queries meet T keys"),
    Mutant("layer_flops", "no matrices", "8 * T * D**2 + ", "", "four matrices"),
    Mutant("layer_flops", "scores alone", "4 * T**2", "2 * T**2", "Both count"),
    Mutant("layer_flops", "no W_O", "8 * T * D**2 +", "6 * T * D**2 +", "also W_O"),
    Mutant("layer_flops", "one gate", '"lstm": 8', '"lstm": 2', "candidate, with two"),
    Mutant("layer_flops", "half an LSTM", '"lstm": 8', '"lstm": 4', "one for x and one for h"),
    Mutant("layer_flops", "a GRU", '"lstm": 8', '"lstm": 6', "a GRU has one gate"),
    Mutant(
        "layer_flops", "square of T", "2 * matrices * T * D**2", "2 * matrices * T**2 * D",
        "changed roles",
    ),
    # training_flops
    Mutant("training_flops", "forward alone", "6 * weights", "2 * weights", "four more"),
    Mutant("training_flops", "backward alone", "6 * weights", "4 * weights", "adds two"),
    Mutant("training_flops", "one for both", "6 * weights", "3 * weights", "as two operations"),
    Mutant("training_flops", "weights", "6 * weights", "weights", "six operations"),
    Mutant("training_flops", "no output", " + vocabulary * width", "", "output matrix is missing"),
    Mutant(
        "training_flops", "both tables", "+ vocabulary * width", "+ 2 * vocabulary * width",
        "looked up",
    ),
    Mutant("training_flops", "no FF", "12 * width**2", "4 * width**2", "feed-forward part"),
    Mutant("training_flops", "no attention", "12 * width**2", "8 * width**2", "four matrices"),
    Mutant("training_flops", "one block", "layers * 12", "12", "this counts one"),
    Mutant(
        "training_flops", "many outputs", "layers * 12 * width**2 + vocabulary * width",
        "layers * (12 * width**2 + vocabulary * width)", "one output matrix",
    ),
    Mutant("training_flops", "no square", "12 * width**2", "12 * width", "width^2"),
    Mutant("training_flops", "one token", "6 * weights * tokens", "6 * weights", "for one token"),
    # needed_rate
    Mutant("needed_rate", "for an hour", "(gpu_hours * 3600)", "gpu_hours", "3,600 seconds"),
    Mutant("needed_rate", "minutes", "3600", "60", "not 60"),
    Mutant("needed_rate", "forward alone", "6 *", "2 *", "backward pass, too"),
    Mutant("needed_rate", "backward alone", "6 *", "4 *", "the forward pass adds two"),
    Mutant("needed_rate", "one for both", "6 *", "3 *", "as two operations"),
    Mutant("needed_rate", "times", "/ (gpu_hours", "* (gpu_hours", "*less*"),
    Mutant("needed_rate", "the whole run", " / (gpu_hours * 3600)", "", "whole run"),
    Mutant("needed_rate", "tera", "3600)", "3600) / 1e12", "tera"),
    Mutant("needed_rate", "no tokens", "* N * D", "* N", "number of tokens"),
    # power_law
    Mutant("power_law", "the slope", "-slope", "slope", "minus in front"),
    Mutant("power_law", "log of A", "np.exp(intercept)", "intercept", "take the exponential"),
    Mutant(
        "power_law", "the other order", "np.exp(intercept), -slope", "-slope, np.exp(intercept)",
        "A comes first",
    ),
    Mutant("power_law", "tens", "np.exp(intercept)", "10**intercept", "not a power of ten"),
    Mutant(
        "power_law", "no logarithms", "slope, intercept = np.polyfit(np.log(x), np.log(y), 1)\n"
        "    return np.exp(intercept)", "slope, intercept = np.polyfit(x, y, 1)\n"
        "    return intercept", "not through x and y themselves",
    ),
    Mutant("power_law", "x as it is", "np.log(x)", "x", "that of x, too"),
    Mutant(
        "power_law", "y as it is", "np.log(y), 1)\n    return np.exp(intercept)",
        "y, 1)\n    return intercept", "that of y, too",
    ),
    Mutant(
        "power_law", "two points", "slope, intercept = np.polyfit(np.log(x), np.log(y), 1)",
        "slope = np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])\n"
        "    intercept = np.log(y[0]) - slope * np.log(x[0])", "only the first and the last",
    ),
    # quantize_rows
    Mutant(
        "quantize_rows", "one scale", "W.abs().amax(dim=1, keepdim=True)",
        "W.abs().max().expand(len(W), 1)", "scale of its own",
    ),
    Mutant("quantize_rows", "no sign", ".abs()", "", "*absolute*"),
    Mutant("quantize_rows", "eight", "2 ** (bits - 1) - 1", "2 ** (bits - 1)", "8 has no code"),
    Mutant("quantize_rows", "all bits", "2 ** (bits - 1) - 1", "2**bits - 1", "is the sign"),
    Mutant("quantize_rows", "cut off", ".round()", ".trunc()", "cuts off"),
    Mutant("quantize_rows", "downwards", ".round()", ".floor()", "always goes down"),
    Mutant("quantize_rows", "floats", ".to(torch.int8)", "", "torch.int8"),
    Mutant("quantize_rows", "long", ".to(torch.int8)", ".long()", "torch.int8"),
    Mutant("quantize_rows", "flat scales", "int8), scales", "int8), scales[:, 0]", "(O, 1)"),
    Mutant(
        "quantize_rows", "the other order", "return (W / scales).round().to(torch.int8), scales",
        "return scales, (W / scales).round().to(torch.int8)", "codes come first",
    ),
    Mutant("quantize_rows", "columns", "dim=1", "dim=0", "largest absolute value"),
    Mutant("quantize_rows", "codes alone", "int8), scales", "int8)", "codes and scales"),
    # add_block
    Mutant(
        "add_block", "nothing put right", "keep * total + weights.sum(), keep * o",
        "total + weights.sum(), o", "belongs to the old largest",
    ),
    Mutant("add_block", "only l", "keep * o", "o", "o has to be put right"),
    Mutant("add_block", "only o", "keep * total", "total", "l has to be put right"),
    Mutant(
        "add_block", "the other way", "torch.exp(m - new)", "torch.exp(new - m)", "never larger"
    ),
    Mutant("add_block", "no shift", "torch.exp(scores - new)", "torch.exp(scores)", "Subtract the"),
    Mutant("add_block", "old shift", "torch.exp(scores - new)", "torch.exp(scores - m)", "*new*"),
    Mutant(
        "add_block", "own largest", "torch.exp(scores - new)", "torch.exp(scores - scores.max())",
        "of all blocks so far",
    ),
    Mutant(
        "add_block", "this block's", "torch.maximum(m, scores.max())", "scores.max()",
        "the maximum of both",
    ),
    Mutant(
        "add_block", "divided", "return new, keep * total + weights.sum(), keep * o + weights @ V",
        "total = keep * total + weights.sum()\n"
        "    return new, total, (keep * o + weights @ V) / total",
        "Nothing is divided yet",
    ),
    # route
    Mutant(
        "route", "softmax of all", "best, chosen = logits.topk(k, dim=-1)",
        "best, chosen = logits.softmax(dim=-1).topk(k, dim=-1)", "softmax over these",
    ),
    Mutant(
        "route", "not to one", "best.softmax(dim=-1), chosen",
        "logits.softmax(dim=-1).gather(-1, chosen), chosen", "do not sum to 1",
    ),
    Mutant(
        "route", "over tokens", "best.softmax(dim=-1)", "best.softmax(dim=0)", "weights of its own"
    ),
    Mutant("route", "logits", "best.softmax(dim=-1)", "best", "logits themselves"),
    Mutant("route", "the worst", "topk(k, dim=-1)", "topk(k, dim=-1, largest=False)", "*largest*"),
    Mutant("route", "equal", "best.softmax(dim=-1)", "torch.full_like(best, 1 / k)", "router's"),
    Mutant(
        "route", "the other order", "best.softmax(dim=-1), chosen", "chosen, best.softmax(dim=-1)",
        "weights come first",
    ),
    Mutant(
        "route", "the best last", "best.softmax(dim=-1), chosen",
        "best.softmax(dim=-1).flip(-1), chosen.flip(-1)", "best expert comes first",
    ),
    # scan
    Mutant("scan", "one round", "step *= 2", "break", "One round"),
    Mutant("scan", "a stays", "a = torch.cat([a[:step], a[step:] * a[:-step]])", "", "product of"),
    Mutant(
        "scan", "a first",
        "b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])\n"
        "        a = torch.cat([a[:step], a[step:] * a[:-step]])",
        "a = torch.cat([a[:step], a[step:] * a[:-step]])\n"
        "        b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])",
        "*old* a",
    ),
    Mutant("scan", "the earlier a", "a[step:] * b[:-step]", "a[:-step] * b[:-step]", "*later* a"),
    Mutant("scan", "one more", "step *= 2", "step += 1", "doubles"),
    Mutant("scan", "a sum", "    step = 1\n    while step < len(a):",
           "    return b.cumsum(0)\n    while False:", "adds the b's only"),
    Mutant("scan", "the a's", "return b", "return a", "step doubles"),
]  # fmt: skip

REWRITES = [
    Rewrite(
        "layer_flops",
        "with numbers",
        """def layer_flops(kind, T, D):
    if kind == "elman":
        return 4 * T * D * D
    if kind == "lstm":
        return 16 * T * D * D
    return T * D * (8 * D + 4 * T)
""",
    ),
    Rewrite(
        "training_flops",
        "part by part",
        """def training_flops(layers, width, vocabulary, tokens):
    attention, feed_forward = 4 * width * width, 2 * width * 4 * width
    forward = 2 * (layers * (attention + feed_forward) + width * vocabulary)
    return (forward + 2 * forward) * tokens
""",
    ),
    Rewrite(
        "needed_rate",
        "in steps",
        """def needed_rate(N, D, gpu_hours):
    compute = 6 * N * D
    seconds = 60 * 60 * gpu_hours
    return compute / seconds
""",
    ),
    Rewrite(
        "power_law",
        "by means",
        """def power_law(x, y):
    u, v = np.log(np.asarray(x)), np.log(np.asarray(y))
    slope = ((u - u.mean()) * (v - v.mean())).sum() / ((u - u.mean()) ** 2).sum()
    return float(np.exp(v.mean() - slope * u.mean())), float(-slope)
""",
    ),
    Rewrite(
        "quantize_rows",
        "row by row",
        """def quantize_rows(W, bits):
    codes, scales = [], []
    for row in W:
        s = max(float(row.max()), -float(row.min())) / (2 ** (bits - 1) - 1)
        scales.append([s])
        codes.append(torch.round(row / s).char())
    return torch.stack(codes), torch.tensor(scales, dtype=W.dtype)
""",
    ),
    Rewrite(
        "add_block",
        "score by score",
        """def add_block(m, total, o, scores, V):
    for s, v in zip(scores, V):
        new = torch.maximum(m, s)
        keep, w = torch.exp(m - new), torch.exp(s - new)
        m, total, o = new, keep * total + w, keep * o + w * v
    return m, total, o
""",
    ),
    Rewrite(
        "route",
        "by sorting",
        """def route(logits, k):
    order = logits.argsort(dim=-1, descending=True)[:, :k]
    weights = logits.softmax(dim=-1).gather(1, order)
    return weights / weights.sum(dim=-1, keepdim=True), order
""",
    ),
    Rewrite(
        "scan",
        "with clones",
        """def scan(a, b):
    a, b, step = a.clone(), b.clone(), 1
    while step < len(a):
        old_a, old_b = a.clone(), b.clone()
        for t in range(step, len(a)):
            b[t] = old_a[t] * old_b[t - step] + old_b[t]
            a[t] = old_a[t] * old_a[t - step]
        step *= 2
    return b
""",
    ),
]
