"""Plausible wrong answers to notebook 15, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

BELIEF = "belief = before * after"
SUM = "belief = belief / belief.sum(-1, keepdim=True)"
PAIR_TOKENS = "[cls, *first, sep, *second, sep]"
PAIR_SEGMENTS = "[0] * (len(first) + 2) + [1] * (len(second) + 1)"
CHOSEN, MASKED = "chosen = draw < 0.15", "chosen & (what < 0.8)"
RANDOM, TARGETS = "chosen & (what >= 0.8) & (what < 0.9)", "torch.where(chosen, tokens, -100)"
LOSS = "-log_p[torch.arange(len(log_p)), targets[chosen]].mean()"
READ, REPLACED = "torch.where(chosen, sampled, tokens)", "read, read != tokens"

MUTANTS = [
    # fill_gap
    Mutant("fill_gap", "no sum", SUM, "belief = belief + 0", "do not sum to 1"),
    Mutant("fill_gap", "left only", BELIEF, "belief = before", "what the left side alone says"),
    Mutant("fill_gap", "right only", BELIEF, "belief = after", "what the right side alone says"),
    Mutant("fill_gap", "added", BELIEF, "belief = before + after", "multiplied, not added"),
    Mutant("fill_gap", "places", "belief @ B", "belief", "the belief about the place"),
    Mutant("fill_gap", "softmax", SUM, "belief = belief.softmax(-1)", "without a softmax"),
    Mutant("fill_gap", "one sum", SUM, "belief = belief / belief.sum()", "a sum of its own"),
    Mutant(
        "fill_gap",
        "sounds multiplied",
        f"{BELIEF}\n    {SUM}\n    return belief @ B",
        "p = (before @ B) * (after @ B)\n    return p / p.sum(-1, keepdim=True)",
        "place by place",
    ),
    # pair
    Mutant(
        "pair",
        "no last SEP",
        f"{PAIR_TOKENS}\n    segments = {PAIR_SEGMENTS}",
        "[cls, *first, sep, *second]\n    segments = [0] * (len(first) + 2) + [1] * len(second)",
        "ends with [SEP], too",
    ),
    Mutant(
        "pair",
        "no middle SEP",
        f"{PAIR_TOKENS}\n    segments = {PAIR_SEGMENTS}",
        "[cls, *first, *second, sep]\n"
        "    segments = [0] * (len(first) + 1) + [1] * (len(second) + 1)",
        "between the two texts",
    ),
    Mutant(
        "pair",
        "two CLS",
        f"{PAIR_TOKENS}\n    segments = {PAIR_SEGMENTS}",
        "[cls, *first, sep, cls, *second, sep]\n"
        "    segments = [0] * (len(first) + 2) + [1] * (len(second) + 2)",
        "one [CLS]",
    ),
    Mutant(
        "pair",
        "no CLS",
        f"{PAIR_TOKENS}\n    segments = {PAIR_SEGMENTS}",
        "[*first, sep, *second, sep]\n"
        "    segments = [0] * (len(first) + 1) + [1] * (len(second) + 1)",
        "[CLS] is missing",
    ),
    Mutant(
        "pair",
        "middle SEP in the second",
        PAIR_SEGMENTS,
        "[0] * (len(first) + 1) + [1] * (len(second) + 2)",
        "its segment is 0",
    ),
    Mutant(
        "pair", "bare segments", PAIR_SEGMENTS, "[0] * len(first) + [1] * len(second)", "one length"
    ),
    Mutant(
        "pair",
        "from one",
        PAIR_SEGMENTS,
        "[1] * (len(first) + 2) + [2] * (len(second) + 1)",
        "called 0 and 1",
    ),
    Mutant(
        "pair",
        "turned",
        PAIR_SEGMENTS,
        "[1] * (len(first) + 2) + [0] * (len(second) + 1)",
        "the second segment 1",
    ),
    Mutant("pair", "tokens alone", "return tokens, segments", "return tokens", "Hand back both"),
    # mask_tokens
    Mutant(
        "mask_tokens",
        "of all tokens",
        f"torch.where({MASKED}, mask, tokens)\n    inputs = torch.where({RANDOM}, random, inputs)",
        "torch.where(what < 0.8, mask, tokens)\n"
        "    inputs = torch.where((what >= 0.8) & (what < 0.9), random, inputs)",
        "three shares are of the chosen",
    ),
    Mutant(
        "mask_tokens",
        "all masked",
        f"inputs = torch.where({MASKED}, mask, tokens)\n"
        f"    inputs = torch.where({RANDOM}, random, inputs)",
        "inputs = torch.where(chosen, mask, tokens)",
        "All chosen tokens are masked",
    ),
    Mutant("mask_tokens", "none kept", " & (what < 0.9)", "", "stay themselves"),
    Mutant("mask_tokens", "none random", RANDOM, "chosen & (what > 1)", "replaced at random"),
    Mutant("mask_tokens", "85 %", "draw < 0.15", "draw < 0.85", "15 % are chosen"),
    Mutant(
        "mask_tokens", "loss at masks", TARGETS, "torch.where(inputs == mask, tokens, -100)",
        "a random and an unchanged one",
    ),
    Mutant(
        "mask_tokens", "loss where changed", TARGETS, "torch.where(inputs != tokens, tokens, -100)",
        "left unchanged are predicted",
    ),
    Mutant("mask_tokens", "loss everywhere", TARGETS, "tokens", "Only chosen tokens are predicted"),
    Mutant(
        "mask_tokens", "targets are inputs", TARGETS, "torch.where(chosen, inputs, -100)",
        "what stood in the text",
    ),
    Mutant(
        "mask_tokens", "zero for none", TARGETS, "torch.where(chosen, tokens, 0)", "0 is a token"
    ),
    Mutant(
        "mask_tokens", "mask for none", TARGETS, "torch.where(chosen, tokens, mask)",
        "the id of [MASK] is a token",
    ),
    Mutant(
        "mask_tokens", "turned targets", TARGETS, "torch.where(chosen, -100, tokens)",
        "the other way round",
    ),
    Mutant("mask_tokens", "inputs alone", f"inputs, {TARGETS}", "inputs", "Hand back both"),
    # masked_loss
    Mutant("masked_loss", "sum", ".mean()", ".sum()", "That is the sum"),
    Mutant("masked_loss", "sign", "return -log_p", "return log_p", "The sign"),
    Mutant("masked_loss", "no softmax", ".log_softmax(-1)", "", "These are logits"),
    Mutant("masked_loss", "no log", ".log_softmax(-1)", ".softmax(-1)", "*logarithm*"),
    Mutant(
        "masked_loss", "over all tokens", ".mean()", ".sum() / targets.numel()",
        "the number of all tokens",
    ),
    Mutant(
        "masked_loss", "over texts", ".mean()", ".sum() / len(targets)", "mean per chosen token"
    ),
    Mutant("masked_loss", "bits", ".mean()", ".mean() / torch.tensor(2.0).log()", "in bits"),
    Mutant("masked_loss", "not one number", ".mean()", "", "one number"),
    Mutant(
        "masked_loss",
        "every token",
        "chosen = targets != -100",
        "chosen = targets != -101\n    targets = targets.clamp(min=0)",
        "Tokens that were not chosen count",
    ),
    # discriminator_task
    Mutant(
        "discriminator_task", "chosen counts", REPLACED, "read, chosen", "happens to be right"
    ),
    Mutant("discriminator_task", "all samples", READ, "sampled", "only where a token was chosen"),
    Mutant(
        "discriminator_task", "samples judged", REPLACED, "read, sampled != tokens",
        "cannot be replaced there",
    ),
    Mutant("discriminator_task", "turned", "!=", "==", "stands for *replaced*"),
    Mutant(
        "discriminator_task", "other way round", READ, "torch.where(chosen, tokens, sampled)",
        "the other way round",
    ),
    Mutant(
        "discriminator_task", "reads the text", REPLACED, "tokens, read != tokens",
        "with the samples in it",
    ),
    Mutant(
        "discriminator_task", "chosen only", REPLACED, "read, (read != tokens)[chosen]",
        "at *every* token",
    ),
    Mutant("discriminator_task", "read alone", REPLACED, "read", "Hand back both"),
    Mutant(
        "discriminator_task", "swapped", REPLACED, "read != tokens, read", "is read comes first"
    ),
    # class_logits
    Mutant("class_logits", "last token", "h[:, 0]", "h[:, -1]", "read at [CLS]"),
    Mutant("class_logits", "always the mean", "h[:, 0]", "h.mean(1)", "not the mean"),
    Mutant("class_logits", "never the mean", "h.mean(1)", "h[:, 0]", "h.mean(1)"),
    Mutant("class_logits", "turned", "if mean", "if not mean", "not the mean"),
    Mutant("class_logits", "sum", "h.mean(1)", "h.sum(1)", "the sum"),
    Mutant("class_logits", "every token", "h.mean(1) if mean else h[:, 0]", "h", "every token"),
    Mutant("class_logits", "first text only", "h[:, 0]", "h[0]", "h[:, 0]"),
    Mutant(
        "class_logits",
        "mean of the logits",
        "    return pooled @ W_o.T + b_o",
        "    pooled = torch.tanh(h @ W_p.T + b_p)\n"
        "    logits = pooled @ W_o.T + b_o\n"
        "    return logits.mean(1) if mean else logits[:, 0]",
        "not of the logits",
    ),
    Mutant(
        "class_logits",
        "no tanh",
        "torch.tanh(state @ W_p.T + b_p)",
        "state @ W_p.T + b_p",
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
        "fill_gap",
        "emitted first",
        """
def fill_gap(before, after, B):
    p = (before * after) @ B
    return p / p.sum(-1, keepdim=True)
""",
    ),
    Rewrite(
        "fill_gap",
        "einsum",
        """
def fill_gap(before, after, B):
    belief = before * after
    belief = belief / torch.einsum("...s->...", belief)[..., None]
    return torch.einsum("...s,sv->...v", belief, B)
""",
    ),
    Rewrite(
        "pair",
        "in two pieces",
        """
def pair(first, second, cls, sep):
    a = [cls] + first + [sep]
    b = second + [sep]
    return a + b, [0 for _ in a] + [1 for _ in b]
""",
    ),
    Rewrite(
        "mask_tokens",
        "from the end",
        """
def mask_tokens(tokens, draw, what, random, mask):
    inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
    chosen = draw < 0.15
    targets[chosen] = tokens[chosen]
    swap = chosen & (what < 0.9)
    inputs[swap] = random[swap]
    inputs[chosen & (what < 0.8)] = mask
    return inputs, targets
""",
    ),
    Rewrite(
        "masked_loss",
        "PyTorch's own",
        """
def masked_loss(logits, targets):
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
""",
    ),
    Rewrite(
        "masked_loss",
        "gathered",
        """
def masked_loss(logits, targets):
    log_p = logits.log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    chosen = (targets != -100).to(log_p.dtype)
    return -(log_p * chosen).sum() / chosen.sum()
""",
    ),
    Rewrite(
        "discriminator_task",
        "with a copy",
        """
def discriminator_task(tokens, sampled, chosen):
    read = tokens.clone()
    read[chosen] = sampled[chosen]
    return read, chosen & (sampled != tokens)
""",
    ),
    Rewrite(
        "class_logits",
        "F.linear",
        """
def class_logits(h, W_p, b_p, W_o, b_o, mean):
    state = h.sum(1) / h.shape[1] if mean else h.select(1, 0)
    return F.linear(F.linear(state, W_p, b_p).tanh(), W_o, b_o)
""",
    ),
    Rewrite(
        "class_logits",
        "mean behind the matrix",
        """
def class_logits(h, W_p, b_p, W_o, b_o, mean):
    everywhere = torch.einsum("btd,ed->bte", h, W_p)
    one = everywhere.mean(1) if mean else everywhere[:, 0]
    return torch.tanh(one + b_p) @ W_o.T + b_o
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
