"""Plausible wrong answers to the heads of notebook 15, as patches of its solutions, and right ones.

``notebook15_mutants`` adds them to its own.
"""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # class_logits
    Mutant("class_logits", "last token", "h[:, 0]", "h[:, -1]", "read at [CLS]"),
    Mutant("class_logits", "mean of the states", "h[:, 0]", "h.mean(1)", "not the mean"),
    Mutant("class_logits", "every token", "h[:, 0]", "h", "logits for every token"),
    Mutant("class_logits", "first text only", "h[:, 0]", "h[0]", "h[:, 0]"),
    Mutant(
        "class_logits",
        "no tanh",
        "torch.tanh(h[:, 0] @ W_p.T + b_p)",
        "h[:, 0] @ W_p.T + b_p",
        "tanh is missing",
    ),
    Mutant("class_logits", "relu", "torch.tanh", "torch.relu", "not in ReLU"),
    Mutant("class_logits", "not transposed", "W_p.T", "W_p", "W_p transposed"),
    Mutant("class_logits", "no b_p", " + b_p", "", "b_p is left out"),
    Mutant("class_logits", "no b_o", " + b_o", "", "b_o is left out"),
    Mutant(
        "class_logits",
        "softmax",
        "return pooled @ W_o.T + b_o",
        "return (pooled @ W_o.T + b_o).softmax(-1)",
        "no softmax",
    ),
    Mutant(
        "class_logits",
        "tanh at the end",
        "return pooled @ W_o.T + b_o",
        "return torch.tanh(pooled @ W_o.T + b_o)",
        "not squashed",
    ),
    # entities_of
    Mutant(
        "entities_of",
        "an I without a B is lost",
        'if tag == "B" or (tag == "I" and before == "O"):\n'
        "            found.append((place, place + 1))\n"
        '        elif tag == "I":',
        'if tag == "B":\n'
        "            found.append((place, place + 1))\n"
        '        elif tag == "I" and found and found[-1][1] == place:',
        "a model may forget the B",
    ),
    Mutant(
        "entities_of",
        "neighbours joined",
        'tag == "B" or (tag == "I" and before == "O")',
        'tag != "O" and before == "O"',
        "B begins",
    ),
    Mutant(
        "entities_of",
        "every token a name",
        'tag == "B" or (tag == "I" and before == "O")',
        'tag != "O"',
        "a name of its own",
    ),
    Mutant(
        "entities_of",
        "cut off",
        "            found[-1] = (found[-1][0], place + 1)",
        "            pass",
        "an I",
    ),
    Mutant(
        "entities_of",
        "last position, not the one behind",
        "    return found",
        "    return [(first, after - 1) for first, after in found]",
        "position behind the last token",
    ),
    Mutant(
        "entities_of",
        "counted from 1",
        "enumerate(tags)",
        "enumerate(tags, 1)",
        "count from 0",
    ),
    Mutant(
        "entities_of",
        "the last name lost",
        "    return found",
        "    return [span for span in found if span[1] < len(tags)]",
        "at the end of the text",
    ),
    Mutant(
        "entities_of",
        "lists of positions",
        "    return found",
        "    return [list(range(*span)) for span in found]",
        "pair of its first position",
    ),
    # best_span
    Mutant(
        "best_span",
        "each by itself",
        "return best // T, best % T",
        "return int(starts.argmax()), int(ends.argmax())",
        "each by itself",
    ),
    Mutant(
        "best_span",
        "start first",
        "return best // T, best % T",
        "i = int(starts.argmax())\n    return i, i + int(ends[i:].argmax())",
        "beginning was fixed first",
    ),
    Mutant(
        "best_span",
        "end first",
        "return best // T, best % T",
        "j = int(ends.argmax())\n    return int(starts[: j + 1].argmax()), j",
        "end was fixed first",
    ),
    Mutant("best_span", "no single token", "tril(-1)", "tril(0)", "j = i is allowed"),
    Mutant("best_span", "backwards", "tril(-1)", "triu(1)", "end may stand before the beginning"),
    Mutant("best_span", "zeros", "-torch.inf", "0.0", "use minus infinity"),
    Mutant(
        "best_span",
        "product",
        "starts[:, None] + ends[None]",
        "starts[:, None] * ends[None]",
        "added, not multiplied",
    ),
    Mutant(
        "best_span", "turned", "return best // T, best % T", "return best % T, best // T", "first"
    ),
    Mutant("best_span", "behind the end", "best % T", "best % T + 1", "last token"),
    # token_f1
    Mutant("token_f1", "precision", "2 * sum(common.values()) / (len(answer) + len(truth))",
           "sum(common.values()) / len(answer)", "the precision"),
    Mutant("token_f1", "recall", "2 * sum(common.values()) / (len(answer) + len(truth))",
           "sum(common.values()) / len(truth)", "the recall"),
    Mutant("token_f1", "no factor", "2 * sum", "sum", "factor 2"),
    Mutant("token_f1", "sets", "2 * sum(common.values())", "2 * len(common)", "Counter"),
    Mutant("token_f1", "union", "Counter(answer) & Counter(truth)",
           "Counter(answer) | Counter(truth)", "as often as both have it"),
    Mutant("token_f1", "repeated words", "sum(common.values())",
           "sum(word in truth for word in answer)", "only as often as the truth"),
    Mutant("token_f1", "jaccard", "2 * sum(common.values()) / (len(answer) + len(truth))",
           "sum(common.values()) / len(set(answer) | set(truth))", "Jaccard"),
    Mutant("token_f1", "exact match", "2 * sum(common.values()) / (len(answer) + len(truth))",
           "float(answer == truth)", "exact match"),
    Mutant("token_f1", "arithmetic mean", "2 * sum(common.values()) / (len(answer) + len(truth))",
           "sum(common.values()) * (1 / len(answer) + 1 / len(truth)) / 2", "harmonic"),
    # parameters
    Mutant("parameters", "no pooler", " + L * block + D * D + D", " + L * block", "pooler"),
    Mutant("parameters", "no segments", "(V + T + S)", "(V + T)", "segments"),
    Mutant("parameters", "no positions", "(V + T + S)", "(V + S)", "positions"),
    Mutant("parameters", "no first norm", "* D + 2 * D\n", "* D\n", "LayerNorm of the embeddings"),
    Mutant("parameters", "three matrices", "4 * (D * D + D)", "3 * (D * D + D)", "the fourth"),
    Mutant("parameters", "one norm", " + 2 * 2 * D", " + 2 * D", "two LayerNorms"),
    Mutant("parameters", "no norms", " + 2 * 2 * D", "", "4 D more"),
    Mutant("parameters", "feed-forward without biases",
           "(D * 4 * D + 4 * D) + (4 * D * D + D)", "8 * D * D", "feed-forward layer are missing"),
    Mutant("parameters", "attention without biases", "4 * (D * D + D)", "4 * D * D", "4 D more"),
    Mutant("parameters", "an output matrix", "return embeddings", "return V * D + embeddings",
           "no output matrix"),
    Mutant("parameters", "one matrix up", "(D * 4 * D + 4 * D) + (4 * D * D + D)",
           "4 * D * D + 5 * D", "up to 4 D and down again"),
]  # fmt: skip

REWRITES = [
    Rewrite(
        "class_logits",
        "F.linear",
        """
def class_logits(h, W_p, b_p, W_o, b_o):
    return F.linear(F.linear(h.select(1, 0), W_p, b_p).tanh(), W_o, b_o)
""",
    ),
    Rewrite(
        "class_logits",
        "all tokens first",
        """
def class_logits(h, W_p, b_p, W_o, b_o):
    everywhere = torch.einsum("btd,ed->bte", h, W_p) + b_p
    return (torch.tanh(everywhere) @ W_o.T + b_o)[:, 0]
""",
    ),
    Rewrite(
        "entities_of",
        "by first positions",
        """
def entities_of(tags):
    tags = list(tags)
    spans = []
    for i, tag in enumerate(tags):
        if tag == "B" or tag == "I" and (i == 0 or tags[i - 1] == "O"):
            j = i + 1
            while j < len(tags) and tags[j] == "I":
                j += 1
            spans.append((i, j))
    return spans
""",
    ),
    Rewrite(
        "entities_of",
        "a state",
        """
def entities_of(tags):
    spans, first = [], None
    for i, tag in enumerate([*tags, "O"]):
        if first is not None and tag != "I":
            spans.append((first, i))
            first = None
        if first is None and tag != "O":
            first = i
    return spans
""",
    ),
    Rewrite(
        "best_span",
        "two loops",
        """
def best_span(starts, ends):
    best, found = -float("inf"), (0, 0)
    for i in range(len(starts)):
        for j in range(i, len(ends)):
            if starts[i] + ends[j] > best:
                best, found = starts[i] + ends[j], (i, j)
    return found
""",
    ),
    Rewrite(
        "best_span",
        "best end behind each start",
        """
def best_span(starts, ends):
    spans = [(i, i + int(ends[i:].argmax())) for i in range(len(starts))]
    return max(spans, key=lambda span: float(starts[span[0]] + ends[span[1]]))
""",
    ),
    Rewrite(
        "best_span",
        "numbers as tensors",
        """
def best_span(starts, ends):
    T = len(starts)
    sums = (starts[:, None] + ends).masked_fill(~torch.ones(T, T).triu().bool(), -torch.inf)
    best = sums.argmax()
    return best // T, best % T
""",
    ),
    Rewrite(
        "token_f1",
        "by precision and recall",
        """
def token_f1(answer, truth):
    c = sum(min(answer.count(w), truth.count(w)) for w in set(answer))
    if c == 0:
        return 0
    p, r = c / len(answer), c / len(truth)
    return 2 * p * r / (p + r)
""",
    ),
    Rewrite(
        "token_f1",
        "crossing out",
        """
def token_f1(answer, truth):
    left, c = list(truth), 0
    for word in answer:
        if word in left:
            left.remove(word)
            c += 1
    return 2 * c / (len(answer) + len(truth))
""",
    ),
    Rewrite(
        "parameters",
        "multiplied out",
        """
def parameters(V, T, S, D, L):
    return D * (V + T + S + 2) + L * D * (12 * D + 13) + D * (D + 1)
""",
    ),
]
