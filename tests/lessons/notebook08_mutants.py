"""Plausible wrong answers to notebook 08, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # encode
    Mutant(
        "encode",
        "first word only",
        "        h = cell(x[None], h)",
        "        return cell(x[None], h)",
        "ends after the first word",
    ),
    Mutant("encode", "from the end", "embed(words)", "embed(words.flip(0))", "read from the end"),
    Mutant(
        "encode",
        "state not kept",
        "h = cell(x[None], h)\n    return h",
        "last = cell(x[None], h)\n    return last",
        "Only the last word",
    ),
    Mutant(
        "encode",
        "no state",
        "cell(x[None], h)",
        "cell(x[None], torch.zeros_like(h))",
        "old state is lost",
    ),
    Mutant("encode", "a column", "x[None]", "x", "x[None] with the shape (1, D)"),
    Mutant("encode", "not embedded", "embed(words)", "words", "embedded words"),
    Mutant(
        "encode",
        "averaged",
        "    for x in embed(words):\n        h = cell(x[None], h)\n    return h",
        "    return cell(embed(words).mean(0)[None], h)",
        "order is lost",
    ),
    # decoder_step
    Mutant("decoder_step", "turned", "output(s), s", "s, output(s)", "logits come first"),
    Mutant(
        "decoder_step",
        "old logits",
        "    s = cell(embed(y), s)\n    return output(s), s",
        "    return output(s), cell(embed(y), s)",
        "logits of the old state",
    ),
    Mutant(
        "decoder_step",
        "old state",
        "    s = cell(embed(y), s)\n    return output(s), s",
        "    new = cell(embed(y), s)\n    return output(new), s",
        "old state is handed back",
    ),
    Mutant(
        "decoder_step",
        "probabilities",
        "output(s), s",
        "output(s).softmax(-1), s",
        "softmax comes later",
    ),
    Mutant(
        "decoder_step",
        "log-probabilities",
        "output(s), s",
        "output(s).log_softmax(-1), s",
        "logarithm of the softmax comes later",
    ),
    Mutant("decoder_step", "logits only", "output(s), s", "output(s)", "The state is missing"),
    Mutant("decoder_step", "not embedded", "embed(y)", "y", "First the new state"),
    # greedy
    Mutant(
        "greedy",
        "reads bos for ever",
        "torch.tensor([y])",
        "torch.tensor([bos])",
        "have to change in every round",
    ),
    Mutant(
        "greedy",
        "state lost",
        "logits, s = step",
        "logits, _ = step",
        "have to change in every round",
    ),
    Mutant(
        "greedy",
        "eos kept",
        "        if y == eos:\n            break\n        words.append(y)",
        "        words.append(y)\n        if y == eos:\n            break",
        "eos is a mark",
    ),
    Mutant(
        "greedy",
        "never stops",
        "        if y == eos:\n            break\n",
        "",
        "does not stop at eos",
    ),
    Mutant(
        "greedy",
        "one word",
        "        words.append(y)\n    return words",
        "        words.append(y)\n        return words",
        "ends after the first word",
    ),
    Mutant(
        "greedy",
        "last word cut off",
        "        if y == eos:\n            break\n        words.append(y)\n    return words",
        "        words.append(y)\n        if y == eos:\n            break\n    return words[:-1]",
        "no eos stands at the end",
    ),
    Mutant("greedy", "bos kept", "bos, []", "bos, [bos]", "bos was given"),
    Mutant("greedy", "least probable", "argmax", "argmin", "largest logit"),
    # additive_scores
    Mutant("additive_scores", "not transposed", "s @ W.T", "s @ W", "W transposed"),
    Mutant("additive_scores", "a product", "] + Uh", "] * Uh", "The two are added"),
    Mutant(
        "additive_scores",
        "no tanh",
        "torch.tanh(Ws[:, :, None] + Uh[:, None])",
        "(Ws[:, :, None] + Uh[:, None])",
        "tanh is missing",
    ),
    Mutant(
        "additive_scores",
        "two tanh",
        "torch.tanh(Ws[:, :, None] + Uh[:, None])",
        "(torch.tanh(Ws[:, :, None]) + torch.tanh(Uh[:, None]))",
        "One tanh of the sum",
    ),
    Mutant(
        "additive_scores",
        "tanh outside",
        "torch.tanh(Ws[:, :, None] + Uh[:, None]) @ v",
        "torch.tanh((Ws[:, :, None] + Uh[:, None]) @ v)",
        "tanh stands inside",
    ),
    Mutant("additive_scores", "no v", " @ v", ".sum(-1)", "multiply by v"),
    Mutant(
        "additive_scores",
        "axes turned",
        "Ws[:, :, None] + Uh[:, None]",
        "Ws[:, None] + Uh[:, :, None]",
        "A row belongs to an English word",
    ),
    Mutant("additive_scores", "softmax", "@ v", "@ v.softmax(-1)", "axis of length 1"),
    # look_back
    Mutant(
        "look_back",
        "no mask",
        "scores.masked_fill(~mask, -torch.inf)",
        "scores",
        "Padding gets a weight",
    ),
    Mutant("look_back", "mask turned", "~mask", "mask", "shut out"),
    Mutant("look_back", "zeros", "-torch.inf", "0.0", "exp(0) is 1"),
    Mutant(
        "look_back",
        "weights masked",
        "scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)",
        "scores.softmax(dim=-1) * mask",
        "no longer sum to 1",
    ),
    Mutant("look_back", "other axis", "dim=-1", "dim=1", "goes over the English words"),
    Mutant("look_back", "no softmax", ".softmax(dim=-1)", "", "softmax is missing"),
    Mutant(
        "look_back", "turned", "weights @ h, weights", "weights, weights @ h", "contexts come first"
    ),
    Mutant(
        "look_back", "contexts only", "weights @ h, weights", "weights @ h", "weights are missing"
    ),
    # dot_scores
    Mutant(
        "dot_scores", "turned", "s @ h.transpose(1, 2)", "h @ s.transpose(1, 2)", "s comes first"
    ),
    Mutant(
        "dot_scores",
        "scaled",
        "s @ h.transpose(1, 2)",
        "s @ h.transpose(1, 2) / s.shape[-1] ** 0.5",
        "No scaling",
    ),
    Mutant(
        "dot_scores",
        "softmax",
        "s @ h.transpose(1, 2)",
        "(s @ h.transpose(1, 2)).softmax(-1)",
        "no softmax yet",
    ),
    Mutant("dot_scores", "not transposed", "h.transpose(1, 2)", "h", "transposed"),
    # error_rate
    Mutant("error_rate", "F1", "1 - 2 * both", "2 * both", "subtract it from 1"),
    Mutant("error_rate", "no 2", "2 * both", "both", "factor 2"),
    Mutant(
        "error_rate",
        "precision",
        "2 * both / (found.sum() + truth.sum())",
        "both / found.sum()",
        "minus the precision",
    ),
    Mutant(
        "error_rate",
        "recall",
        "2 * both / (found.sum() + truth.sum())",
        "both / truth.sum()",
        "minus the recall",
    ),
    Mutant(
        "error_rate",
        "Jaccard",
        "2 * both / (found.sum() + truth.sum())",
        "both / (found | truth).sum()",
        "divides by the union",
    ),
    Mutant("error_rate", "per cent", "float(1 -", "100 * float(1 -", "no per cent"),
    Mutant("error_rate", "or", "found & truth", "found | truth", "the links in both tables"),
    # paired_effects
    Mutant("paired_effects", "turned", "number - partner", "partner - number", "sign is turned"),
    Mutant(
        "paired_effects", "no sign", "number - partner", "abs(number - partner)", "Keep the sign"
    ),
    Mutant("paired_effects", "no partner", "number - partner", "number", "each one's partner"),
    Mutant(
        "paired_effects",
        "mean",
        "    return found",
        "    return [sum(found) / len(found)]",
        "That is their mean",
    ),
    Mutant(
        "paired_effects",
        "everybody",
        "        if kind[k] == one:\n"
        "            partner = table[(*kind[:k], other, *kind[k + 1 :])]\n"
        "            found.append(number - partner)",
        "        if kind[k] == one:\n"
        "            for second in table:\n"
        "                if second[k] == other:\n"
        "                    found.append(number - table[second])",
        "other things differ, too",
    ),
    # extend
    Mutant("extend", "multiplied", "total + log_p", "total * log_p", "added, not multiplied"),
    Mutant(
        "extend",
        "exp of the new word",
        "total + log_p",
        "total + 2.718281828459045**log_p",
        "without exp",
    ),
    Mutant(
        "extend",
        "probabilities",
        "total + log_p",
        "2.718281828459045 ** (total + log_p)",
        "Keep the logarithm",
    ),
    Mutant("extend", "worst first", "-found[0]", "found[0]", "the largest first"),
    Mutant("extend", "all kept", "[:width]", "", "number explodes"),
    Mutant("extend", "cost lost", "total + log_p", "log_p", "cost so far is lost"),
    Mutant("extend", "words lost", "(*words, word)", "(word,)", "words so far are lost"),
    Mutant("extend", "one kept", "[:width]", "[:1]", "that is greedy search"),
    Mutant("extend", "first only", "in beam:", "in beam[:1]:", "all of them compete"),
]

REWRITES = [
    Rewrite(
        "encode",
        "by index",
        """
def encode(words, embed, cell, h):
    x = embed(words)
    for i in range(len(words)):
        h = cell(x[i : i + 1], h)
    return h
""",
    ),
    Rewrite(
        "decoder_step",
        "named",
        """
def decoder_step(y, s, embed, cell, output):
    x = embed(y)
    new = cell(x, s)
    logits = output(new)
    return logits, new
""",
    ),
    Rewrite(
        "greedy",
        "a for loop",
        """
def greedy(step, s, bos, eos, longest):
    words, y = [], torch.tensor([bos])
    for _ in range(longest):
        logits, s = step(y, s)
        y = logits.argmax(-1)
        if y.item() == eos:
            return words
        words.append(y.item())
    return words
""",
    ),
    Rewrite(
        "additive_scores",
        "einsum",
        """
def additive_scores(s, Uh, W, v):
    Ws = torch.einsum("bth,ah->bta", s, W)
    return torch.einsum("btsa,a->bts", (Ws.unsqueeze(2) + Uh.unsqueeze(1)).tanh(), v)
""",
    ),
    Rewrite(
        "look_back",
        "where",
        """
def look_back(scores, h, mask):
    scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
    weights = F.softmax(scores, dim=2)
    return torch.bmm(weights, h), weights
""",
    ),
    Rewrite(
        "look_back",
        "by hand",
        """
def look_back(scores, h, mask):
    e = torch.exp(scores) * mask
    weights = e / e.sum(-1, keepdim=True)
    return torch.einsum("bts,bsh->bth", weights, h), weights
""",
    ),
    Rewrite(
        "dot_scores",
        "einsum",
        """
def dot_scores(s, h):
    return torch.einsum("bth,bsh->bts", s, h)
""",
    ),
    Rewrite(
        "error_rate",
        "a tensor",
        """
def error_rate(found, truth):
    right = torch.logical_and(found, truth).sum()
    return 1 - (right + right) / (found.sum() + truth.sum())
""",
    ),
    Rewrite(
        "paired_effects",
        "by the others",
        """
def paired_effects(table, k, one, other):
    sides = [
        {kind[:k] + kind[k + 1 :]: x for kind, x in table.items() if kind[k] == value}
        for value in (one, other)
    ]
    return [sides[0][rest] - sides[1][rest] for rest in sides[0]]
""",
    ),
    Rewrite(
        "extend",
        "the best of each beginning",
        """
def extend(beam, log_probs, width):
    longer = []
    for total, words in beam:
        best = log_probs(words).topk(width)
        for log_p, word in zip(best.values.tolist(), best.indices.tolist()):
            longer.append((total + log_p, (*words, word)))
    return sorted(longer, reverse=True)[:width]
""",
    ),
    Rewrite(
        "extend",
        "heapq",
        """
def extend(beam, log_probs, width):
    longer = []
    for total, words in beam:
        p = log_probs(words)
        for word in range(len(p)):
            longer.append((total + p[word].item(), words + (word,)))
    longer.sort(reverse=True)
    return longer[:width]
""",
    ),
]
