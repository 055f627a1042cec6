"""Plausible wrong answers to lab 06, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

_ORDER = "order = torch.randperm(len(texts), generator=of_pass)"
_OF_PASS = "of_pass = torch.Generator().manual_seed(10**9 * seed + 2 * number)"
_OF_STEP = "of_step = torch.Generator().manual_seed(10**9 * seed + 2 * step + 1)"
_NEAR = "near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)"
_BEST = "best = (starts[..., None] + near).flatten(1).argmax(-1)"
_SPLIT = "first, further = best // limit, best % limit"
_C = "c = sum((Counter(mine) & Counter(theirs)).values())"
_LOSS = "F.cross_entropy(logits.flatten(0, 1), spans.flatten())"
_FIRST = "first = torch.where(begins, places, 0).cummax(-1).values  # where the token's word begins"
_SCORE = "known[w] / (self.occurs[w] + 10)"
_TABLES = "self.answers, self.occurs = defaultdict(Counter), Counter()"
_COUNTS_LATER = (
    "\n        self.answers = defaultdict(Counter)\n"
    "        class Occurs(Counter):\n            def __init__(self, count):\n"
    "                super().__init__()\n                self.count = count\n"
    "            def __getitem__(self, w):\n                return self.count(w)\n"
    "        self.occurs = Occurs("
)

MUTANTS = [
    # by_hand
    Mutant(
        "by_hand",
        "of all tokens",
        "asked * masked",
        'given["tokens"] * masked',
        "shares of the chosen",
    ),
    Mutant("by_hand", "all that are chosen", "asked * masked", "asked", "Only a part of them"),
    Mutant(
        "by_hand",
        "no lucky random words",
        '(kept + swapped / given["words"])',
        "kept",
        "one of so many cases",
    ),
    Mutant(
        "by_hand",
        "all random words",
        '(kept + swapped / given["words"])',
        "(kept + swapped)",
        "usually another one",
    ),
    Mutant(
        "by_hand",
        "whatever is right",
        'asked * (kept + swapped / given["words"])',
        'given["tokens"] - asked * (masked + swapped)',
        "Only chosen tokens",
    ),
    Mutant("by_hand", "in per cent", "part / 100 for part", "part for part", "times the share"),
    Mutant(
        "by_hand",
        "the question, too",
        "for i in range(1, 5)",
        "for i in range(0, 5)",
        "Token 0 belongs",
    ),
    Mutant(
        "by_hand",
        "any length",
        "for j in (i, i + 1) if j < 5",
        "for j in range(i, 5)",
        "at most two tokens",
    ),
    Mutant(
        "by_hand",
        "any order",
        "for j in (i, i + 1) if j < 5",
        "for j in range(1, 5)",
        "before it begins",
    ),
    Mutant(
        "by_hand",
        "one token alone",
        "for j in (i, i + 1) if j < 5",
        "for j in (i,)",
        "may have two",
    ),
    Mutant("by_hand", "the mean", '"F1": max(f1)', '"F1": sum(f1) / len(f1)', "no mean"),
    Mutant("by_hand", "the worst", '"F1": max(f1)', '"F1": min(f1)', "the best one counts"),
    Mutant("by_hand", "no factor", "2 * c / (", "c / (", "count twice"),
    Mutant(
        "by_hand",
        "precision",
        "2 * c / (len(mine) + len(truth.split()))",
        "c / len(mine)",
        "precision",
    ),
    Mutant("by_hand", "F1 in per cent", '"F1": max(f1)', '"F1": 100 * max(f1)', "not in per cent"),
    # hide_words
    Mutant(
        "hide_words",
        "each token by itself",
        "(draw.gather(-1, first) < share)",
        "(draw < share)",
        "each token is chosen by its own",
    ),
    Mutant(
        "hide_words",
        "the first token alone",
        "& ~special",
        "& ~special & begins",
        "not its first one alone",
    ),
    Mutant(
        "hide_words",
        "the last token's number",
        "chosen = (draw.gather(-1, first) < share)",
        "T = tokens.shape[1]\n    last = F.pad(begins[:, 1:], (0, 1), value=True).flip(-1)\n"
        "    last = torch.where(last, torch.arange(T), 0).cummax(-1).values.flip(-1)\n"
        "    chosen = (draw.gather(-1, T - 1 - last) < share)",
        "not that of its last one",
    ),
    Mutant("hide_words", "marks are chosen", " & ~special", "", "never chosen"),
    Mutant(
        "hide_words",
        "one fate for a word",
        "chosen & (what < 0.8)",
        "chosen & (what.gather(-1, first) < 0.8)",
        "input",
    ),
    Mutant(
        "hide_words",
        "one fate for all",
        "chosen = (draw",
        "what = what.gather(-1, first)\n    chosen = (draw",
        "its own `what`",
    ),
    Mutant("hide_words", "nothing stays", " & (what < 0.9)", "", "From 0.9 on"),
    Mutant(
        "hide_words", "random below 0.1", "(what >= 0.8) & (what < 0.9)", "(what < 0.1)", "input"
    ),
    Mutant(
        "hide_words", "shares of all", "chosen & (what < 0.8)", "(what < 0.8) & ~special", "input"
    ),
    Mutant(
        "hide_words",
        "asked at [MASK] alone",
        "torch.where(chosen, tokens, -100)",
        "torch.where(inputs == mask, tokens, -100)",
        "swapped or kept",
    ),
    Mutant(
        "hide_words",
        "asked where changed",
        "torch.where(chosen, tokens, -100)",
        "torch.where(inputs != tokens, tokens, -100)",
        "stays as it is",
    ),
    Mutant(
        "hide_words",
        "asked everywhere",
        "torch.where(chosen, tokens, -100)",
        "tokens",
        "Only chosen tokens have a target",
    ),
    Mutant(
        "hide_words",
        "what is read",
        "torch.where(chosen, tokens, -100)",
        "torch.where(chosen, inputs, -100)",
        "before anything was hidden",
    ),
    Mutant("hide_words", "0 for no target", "tokens, -100)", "tokens, 0)", "no target is -100"),
    Mutant(
        "hide_words", "15 % whatever is asked", "< share)", "< 0.15)", "only where it is left out"
    ),
    Mutant(
        "hide_words",
        "the wrong way round",
        "return inputs, torch.where(chosen, tokens, -100)",
        "return torch.where(chosen, tokens, -100), inputs",
        "return inputs, targets",
    ),
    Mutant(
        "hide_words",
        "inputs alone",
        "return inputs, torch.where(chosen, tokens, -100)",
        "return inputs",
        "two things",
    ),
    Mutant(
        "hide_words",
        "any token of the word",
        "chosen = (draw.gather(-1, first) < share)",
        "least = torch.full_like(draw, 2.0).scatter_reduce(-1, first, draw, 'amin')\n"
        "    chosen = (least.gather(-1, first) < share)",
        "those of the others do not count",
    ),
    Mutant(
        "hide_words",
        "a loop",
        _FIRST,
        "first = torch.zeros_like(tokens)\n    for t in range(tokens.shape[1]):\n"
        "        first[:, t] = torch.where(begins[:, t], t, first[:, t - 1])",
        "without a loop",
    ),
    Mutant(
        "hide_words",
        "in place",
        "inputs = torch.where(chosen & (what < 0.8), mask, tokens)",
        "old, inputs = tokens.clone(), tokens\n    inputs[chosen & (what < 0.8)] = mask\n"
        "    tokens = old",
        "changed in place",
    ),
    Mutant("hide_words", "places on the CPU", ", device=tokens.device)", ")", "device=x.device"),
    Mutant(
        "hide_words",
        "no random tokens",
        "torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)",
        "torch.where(chosen & (what >= 0.8) & (what < 0.9), tokens, inputs)",
        "the token in `random`",
    ),
    Mutant(
        "hide_words",
        "random tokens of one's own",
        "(what < 0.9), random, inputs)",
        "(what < 0.9), random.flip(-1), inputs)",
        "the token in `random`",
    ),
    Mutant("hide_words", "up to the share", "< share)", "<= share)", "no longer below"),
    Mutant(
        "hide_words",
        "up to 0.9",
        "(what >= 0.8) & (what < 0.9)",
        "(what >= 0.8) & (what <= 0.9)",
        "no longer below",
    ),
    Mutant(
        "hide_words",
        "[MASK] up to 0.8",
        "inputs = torch.where(chosen & (what < 0.8), mask, tokens)\n"
        "    inputs = torch.where(chosen & (what >= 0.8)",
        "inputs = torch.where(chosen & (what <= 0.8), mask, tokens)\n"
        "    inputs = torch.where(chosen & (what > 0.8)",
        "no longer below",
    ),
    Mutant(
        "hide_words",
        "the largest draw so far",
        "draw.gather(-1, first) < share",
        "(draw * begins).cummax(-1).values < share",
        "Take cummax of positions",
    ),
    # batch_of
    Mutant(
        "batch_of",
        "an order for each step",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(10**9 * seed + 2 * step)",
        "of the pass",
    ),
    Mutant(
        "batch_of",
        "always the same order",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(10**9 * seed)",
        "number of the pass",
    ),
    Mutant(
        "batch_of", "not shuffled", _ORDER, "order = torch.arange(len(texts))", "gives an order"
    ),
    Mutant(
        "batch_of",
        "the generator of all",
        _ORDER,
        "order = torch.randperm(len(texts))",
        "everybody shares",
    ),
    Mutant(
        "batch_of",
        "the shared one, seeded",
        _ORDER,
        "torch.manual_seed(10**9 * seed + 2 * number)\n    order = torch.randperm(len(texts))",
        "everybody shares",
    ),
    Mutant(
        "batch_of",
        "masks of the pass",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(10**9 * seed + 2 * number + 1)",
        "with the number of the pass alone",
    ),
    Mutant(
        "batch_of",
        "masks of the place",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(10**9 * seed + 2 * place + 1)",
        "not with its place",
    ),
    Mutant(
        "batch_of",
        "masks without the seed",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(step)",
        "The seed counts",
    ),
    Mutant(
        "batch_of",
        "an order without the seed",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(number)",
        "The seed counts",
    ),
    Mutant(
        "batch_of",
        "seed + step",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed + step)",
        "one step apart",
    ),
    Mutant(
        "batch_of",
        "seed + pass",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed + number)",
        "one pass apart",
    ),
    Mutant(
        "batch_of",
        "one batch too many",
        "divmod(step, len(texts) // B)",
        "divmod(step, -(-len(texts) // B))",
        "hide gets",
    ),
    Mutant(
        "batch_of",
        "steps of one",
        "order[place * B : (place + 1) * B]",
        "order[place : place + B]",
        "reads no text twice",
    ),
    Mutant(
        "batch_of",
        "no new pass",
        "order[place * B : (place + 1) * B]",
        "order[step * B : (step + 1) * B]",
        "hide gets",
    ),
    Mutant(
        "batch_of",
        "drawn with repeats",
        _ORDER,
        "order = torch.randint(len(texts), (len(texts),), generator=of_pass)",
        "reads no text twice",
    ),
    Mutant(
        "batch_of",
        "keeps count",
        "    number, place = divmod(step, len(texts) // B)\n",
        "    batch_of.calls = getattr(batch_of, 'calls', -1) + 1\n"
        "    number, place = divmod(batch_of.calls, len(texts) // B)\n",
        "between calls",
    ),
    Mutant(
        "batch_of",
        "all texts are hidden",
        "return hide(texts[order[place * B : (place + 1) * B]], of_step)",
        "inputs, targets = hide(texts, of_step)\n"
        "    rows = order[place * B : (place + 1) * B]\n    return inputs[rows], targets[rows]",
        "hide gets",
    ),
    Mutant(
        "batch_of",
        "the batch itself",
        "return hide(texts[order[place * B : (place + 1) * B]], of_step)",
        "return texts[order[place * B : (place + 1) * B]]",
        "what hide(rows, generator)",
    ),
    Mutant(
        "batch_of",
        "goes through all passes",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(10**9 * seed)\n"
        "    for _ in range(number):\n        torch.randperm(len(texts), generator=of_pass)",
        "no loop over earlier",
    ),
    Mutant(
        "batch_of",
        "seed times a thousand, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1000 + step)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times a hundred, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 100 + step)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times N, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * len(texts) + step)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times an odd small number, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 12347 + 3 * step)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times step",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed((seed + 1) * (step + 1))",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "nothing of seed 0",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * (step + 1))",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times a thousand, orders",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed * 1000 + number)",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "seed times N, orders",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed * len(texts) + number)",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "seed times pass",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed((seed + 1) * (number + 1))",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "orders of seed 0",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed * (number + 1))",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "beyond the 32 bits, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(2**32 * seed + step)",
        "32 bits",
    ),
    Mutant(
        "batch_of",
        "beyond the 32 bits, orders",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(2**40 * seed + number)",
        "32 bits",
    ),
    Mutant(
        "batch_of",
        "the hash of a text",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(hash((seed, 'mask', step)) % 2**63)",
        "each start of Python",
    ),
    Mutant(
        "batch_of",
        "an order by the hash of a text",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(hash(f'{seed} {number}') % 2**63)",
        "each start of Python",
    ),
    Mutant(
        "batch_of",
        "all batches up to it",
        "    return hide(texts[order[place * B : (place + 1) * B]], of_step)",
        "    out = None\n    for s in range(step + 1):\n"
        "        of_step = torch.Generator().manual_seed(10**9 * seed + 2 * s + 1)\n"
        "        out = hide(texts[order[place * B : (place + 1) * B]], of_step)\n    return out",
        "calls hide once",
    ),
    Mutant(
        "batch_of",
        "pass and place, a thousand",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1_000_003 + number * 1000 + place)",
        "Seed 0, step 5003 and seed 1, step 0",
    ),
    Mutant(
        "batch_of",
        "pass and place, a hundred",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1_000_003 + number * 100 + place)",
        "Seed 0, step 50003 and seed 1, step 0",
    ),
    Mutant(
        "batch_of",
        "pass and place, ten thousand",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1_000_003 + number * 10_007 + place)",
        "that of another seed, or of another pass",
    ),
    Mutant(
        "batch_of",
        "pass and place, small odd numbers",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1_000_003 + number * 97 + place * 31)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "pass and step",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 1_000_003 + 1000 * number + step)",
        "Seed 0, step 342003 and seed 1, step 0",
    ),
    Mutant(
        "batch_of",
        "seed times a hundred thousand, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 100_003 + step)",
        "Seed 0, step 100003",
    ),
    Mutant(
        "batch_of",
        "seed times nearly a million, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed(seed * 999_983 + step)",
        "Seed 0, step 999983",
    ),
    Mutant(
        "batch_of",
        "either or, masks",
        _OF_STEP,
        "of_step = torch.Generator().manual_seed((seed * 1_000_003) ^ step)",
        "share a mask",
    ),
    Mutant(
        "batch_of",
        "seed times a hundred thousand, orders",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed * 100_003 + number)",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "seed times half a million, orders",
        _OF_PASS,
        "of_pass = torch.Generator().manual_seed(seed * 500_009 + number)",
        "share an order",
    ),
    Mutant(
        "batch_of",
        "one order, rolled",
        _OF_PASS + "\n    " + _OF_STEP + "\n    " + _ORDER,
        _OF_PASS.replace(" + 2 * number", "")
        + "\n    "
        + _OF_STEP
        + "\n    "
        + _ORDER
        + ".roll(number)",
        "only rolled comes again",
    ),
    # SpanHead
    Mutant("SpanHead", "not exchanged", ".transpose(1, 2)  # (B, 2, T)", "", "shape"),
    Mutant(
        "SpanHead",
        "dealt out anew",
        "self.output(states).transpose(1, 2)  # (B, 2, T)",
        "self.output(states).reshape(len(states), 2, -1)",
        "deal the numbers out",
    ),
    Mutant(
        "SpanHead",
        "the whole pair",
        "return logits.masked_fill(~inside[:, None], -math.inf)",
        "return logits",
        "all other positions",
    ),
    Mutant(
        "SpanHead",
        "zeros outside",
        "masked_fill(~inside[:, None], -math.inf)",
        "masked_fill(~inside[:, None], 0.0)",
        "not impossible",
    ),
    Mutant(
        "SpanHead",
        "[SEP] left in",
        "(segments == 1) & (tokens != sep)",
        "segments == 1",
        "[SEP] behind",
    ),
    Mutant(
        "SpanHead",
        "the question left in",
        "(segments == 1) & (tokens != sep)",
        "tokens != sep",
        "the segment 0",
    ),
    Mutant(
        "SpanHead",
        "the question alone",
        "(segments == 1)",
        "(segments == 0)",
        "The passage is the second",
    ),
    Mutant(
        "SpanHead",
        "the other way round",
        "~inside[:, None]",
        "inside[:, None]",
        "where its mask is True",
    ),
    Mutant(
        "SpanHead",
        "padding left in",
        "(segments == 1) & (tokens != sep)",
        "((tokens == sep).cumsum(1) >= 1) & (tokens != sep)",
        "Shorter pairs end",
    ),
    Mutant(
        "SpanHead",
        "log-probabilities",
        "masked_fill(~inside[:, None], -math.inf)",
        "masked_fill(~inside[:, None], -math.inf).log_softmax(-1)",
        "no log-prob",
    ),
    Mutant("SpanHead", "no biases", "nn.Linear(D, 2)", "nn.Linear(D, 2, bias=False)", "two biases"),
    Mutant("SpanHead", "one vector", "nn.Linear(D, 2)", "nn.Linear(D, 1)", "two vectors"),
    Mutant(
        "SpanHead",
        "a layer before",
        "self.output = nn.Linear(D, 2)",
        "self.output = nn.Linear(D, 2)\n        self.pooler = nn.Linear(D, D)",
        "no other parameters",
    ),
    Mutant("SpanHead", "the sum of both", _LOSS, "2 * " + _LOSS, "not added"),
    Mutant(
        "SpanHead",
        "the sum over texts",
        "spans.flatten())",
        "spans.flatten(), reduction='sum')",
        "not the sum",
    ),
    Mutant(
        "SpanHead",
        "beginnings alone",
        _LOSS,
        "F.cross_entropy(logits[:, 0], spans[:, 0])",
        "last token of the answer",
    ),
    Mutant(
        "SpanHead",
        "ends alone",
        _LOSS,
        "F.cross_entropy(logits[:, 1], spans[:, 1])",
        "first token of the answer",
    ),
    Mutant(
        "SpanHead",
        "ends for beginnings",
        "spans.flatten())",
        "spans.flip(1).flatten())",
        "Row 0 of the logits",
    ),
    Mutant("SpanHead", "no minus", _LOSS, "-" + _LOSS, "the minus is missing"),
    Mutant("SpanHead", "a plain number", _LOSS, _LOSS + ".item()", "one number"),
    Mutant(
        "SpanHead",
        "zero times infinity",
        _LOSS,
        "-(F.one_hot(spans, logits.shape[-1]) * logits.log_softmax(-1)).sum(-1).mean()",
        "the loss",
    ),
    Mutant(
        "SpanHead",
        "a mask on the CPU",
        "inside = (segments == 1)",
        "inside = (torch.arange(tokens.shape[1]) >= 0) & (segments == 1)",
        "device=x.device",
    ),
    Mutant(
        "SpanHead",
        "a large negative number",
        "~inside[:, None], -math.inf)",
        "~inside[:, None], -1e9)",
        "-infinity itself",
    ),
    Mutant(
        "SpanHead",
        "zero times infinity outside",
        "return logits.masked_fill(~inside[:, None], -math.inf)",
        "return logits + ~inside[:, None] * -math.inf",
        "0 times infinity",
    ),
    Mutant(
        "SpanHead",
        "another head",
        "logits = self.output(states)",
        "logits = self.output(states).tanh()",
        "nothing else is done",
    ),
    Mutant(
        "SpanHead",
        "[SEP] by position",
        "(segments == 1) & (tokens != sep)",
        "(segments == 1) & (torch.arange(tokens.shape[1], device=tokens.device) < "
        "tokens.shape[1] - 1)",
        "not by their positions",
    ),
    Mutant(
        "SpanHead", "no loss yet", "return " + _LOSS, "raise NotImplementedError", "still raises"
    ),
    Mutant(
        "SpanHead",
        "[SEP] of the notebook",
        "(tokens != sep)",
        "(tokens != 2046)",
        "the `sep` that is handed over",
    ),
    # best_spans
    Mutant(
        "best_spans",
        "each by itself",
        "return first, first + further",
        "return starts.argmax(-1), ends.argmax(-1)",
        "each by itself",
    ),
    Mutant(
        "best_spans",
        "the best beginning first",
        "return first, first + further",
        "first = starts.argmax(-1)\n    rows = torch.arange(len(first))\n"
        "    return first, first + near[rows, first].argmax(-1)",
        "beginning was fixed",
    ),
    Mutant(
        "best_spans",
        "the best end first",
        "return first, first + further",
        "last = ends.argmax(-1)\n    T = ends.shape[1]\n    back = torch.arange(T)\n"
        "    near = (back <= last[:, None]) & (back > last[:, None] - limit)\n"
        "    return starts.masked_fill(~near, -math.inf).argmax(-1), last",
        "end was fixed",
    ),
    Mutant(
        "best_spans",
        "one too long",
        _NEAR + "\n    " + _BEST + "\n    " + _SPLIT,
        "near = F.pad(ends, (0, limit), value=-math.inf).unfold(-1, limit + 1, 1)\n    "
        + _BEST
        + "\n    first, further = best // (limit + 1), best % (limit + 1)",
        "One token too many",
    ),
    Mutant(
        "best_spans",
        "one too short",
        _NEAR + "\n    " + _BEST + "\n    " + _SPLIT,
        "limit = max(1, limit - 1)\n    " + _NEAR + "\n    " + _BEST + "\n    " + _SPLIT,
        "still allowed",
    ),
    Mutant(
        "best_spans",
        "padded with zeros",
        "value=-math.inf).unfold",
        "value=0.0).unfold",
        "fill up with -infinity",
    ),
    Mutant(
        "best_spans",
        "padded in front",
        "F.pad(ends, (0, limit - 1)",
        "F.pad(ends, (limit - 1, 0)",
        "by hand",
    ),
    Mutant(
        "best_spans",
        "how far behind",
        "return first, first + further",
        "return first, further",
        "not how far",
    ),
    Mutant(
        "best_spans",
        "the one behind",
        "return first, first + further",
        "return first, first + further + 1",
        "not the one behind",
    ),
    Mutant(
        "best_spans",
        "exchanged",
        "return first, first + further",
        "return first + further, first",
        "comes first",
    ),
    Mutant(
        "best_spans",
        "multiplied",
        "starts[..., None] + near",
        "starts[..., None] * near",
        "by hand",
    ),
    Mutant(
        "best_spans",
        "rows of T",
        "best // limit, best % limit",
        "best // ends.shape[1], best % ends.shape[1]",
        "by hand",
    ),
    Mutant(
        "best_spans",
        "one for all texts",
        ".flatten(1).argmax(-1)",
        ".flatten().argmax(-1)",
        "return first, last",
    ),
    Mutant(
        "best_spans",
        "a fraction",
        "best // limit, best % limit",
        "best / limit, best % limit",
        "Divide with //",
    ),
    Mutant(
        "best_spans",
        "no limit",
        _NEAR,
        "limit = ends.shape[1]\n    " + _NEAR,
        "longer than `limit`",
    ),
    Mutant(
        "best_spans",
        "all pairs",
        _NEAR + "\n    " + _BEST + "\n    " + _SPLIT + "\n    return first, first + further",
        "T = ends.shape[1]\n    sums = starts[:, :, None] + ends[:, None]\n"
        "    may = torch.ones(T, T, dtype=torch.bool, device=ends.device).triu()\n"
        "    may = may.tril(limit - 1)\n"
        "    best = sums.masked_fill(~may, -math.inf).flatten(1).argmax(-1)\n"
        "    return best // T, best % T",
        "T times T sums",
    ),
    Mutant(
        "best_spans",
        "a loop over tokens",
        _NEAR + "\n    " + _BEST,
        "ends = F.pad(ends, (0, limit - 1), value=-math.inf)\n"
        "    near = torch.stack([ends[:, t : t + limit] for t in range(starts.shape[1])], 1)\n"
        "    " + _BEST,
        "the tokens or the texts",
    ),
    Mutant(
        "best_spans",
        "a loop over texts",
        "    " + _BEST,
        "    best = torch.stack([(s[:, None] + n).argmax() for s, n in zip(starts, near)])",
        "the tokens or the texts",
    ),
    Mutant(
        "best_spans",
        "lists",
        _BEST,
        "best = []\n    for s, e in zip(starts.tolist(), ends.tolist()):\n"
        "        pairs = [(s[i] + e[j], -i, -j) for i in range(len(s))\n"
        "                 for j in range(i, min(i + limit, len(s)))]\n"
        "        _, i, j = max(pairs)\n        best.append(-i * limit + i - j)\n"
        "    best = torch.tensor(best)",
        "the tokens or the texts",
    ),
    Mutant(
        "best_spans",
        "the shortest of equals",
        _NEAR + "\n    " + _BEST + "\n    " + _SPLIT + "\n    return first, first + further",
        "T = starts.shape[1]\n    best, first = (starts + ends).max(-1)\n    last = first\n"
        "    for n in range(1, min(limit, T)):\n"
        "        m, i = (starts[:, : T - n] + ends[:, n:]).max(-1)\n"
        "        better = m > best\n        best = torch.where(better, m, best)\n"
        "        first = torch.where(better, i, first)\n"
        "        last = torch.where(better, i + n, last)\n    return first, last",
        "before the shortest",
    ),
    Mutant(
        "best_spans",
        "lengths beyond the text",
        _NEAR + "\n    " + _BEST + "\n    " + _SPLIT + "\n    return first, first + further",
        "T = starts.shape[1]\n    best = starts + ends\n"
        "    further = torch.zeros_like(best).long()\n"
        "    for n in range(1, limit):\n"
        "        m = starts[:, : T - n] + ends[:, n:]\n"
        "        better = m > best[:, : T - n]\n"
        "        best[:, : T - n] = torch.where(better, m, best[:, : T - n])\n"
        "        further[:, : T - n] = torch.where(better, n, further[:, : T - n])\n"
        "    first = best.argmax(-1)\n"
        "    return first, first + further.gather(1, first[:, None])[:, 0]",
        "larger than the text",
    ),
    # marks
    Mutant(
        "marks",
        "the first truth alone",
        "for truth in truths:\n",
        "for truth in truths[:1]:\n",
        "the best one counts",
    ),
    Mutant("marks", "the mean", "max(f1)", "sum(f1) / len(f1)", "the best one counts"),
    Mutant("marks", "the worst", "max(f1)", "min(f1)", "the best one counts"),
    Mutant("marks", "sets", _C, "c = len(set(mine) & set(theirs))", "take Counter, and no sets"),
    Mutant(
        "marks",
        "repeats earn",
        _C,
        "c = sum(word in theirs for word in mine)",
        "the answer repeats",
    ),
    Mutant(
        "marks",
        "precision",
        "2 * c / total if total else 1.0",
        "c / len(mine) if mine else float(not theirs)",
        "precision",
    ),
    Mutant(
        "marks",
        "recall",
        "2 * c / total if total else 1.0",
        "c / len(theirs) if theirs else float(not mine)",
        "recall",
    ),
    Mutant(
        "marks",
        "no factor",
        "2 * c / total if total else 1.0",
        "c / total if total else 1.0",
        "factor 2",
    ),
    Mutant(
        "marks",
        "Jaccard",
        "2 * c / total if total else 1.0",
        "len(set(mine) & set(theirs)) / len(set(mine) | set(theirs)) if total else 1.0",
        "Jaccard",
    ),
    Mutant(
        "marks",
        "not normalized",
        "mine, f1 = normalized(answer).split(), []",
        "mine, f1 = answer.split(), []",
        "Capital letters",
    ),
    Mutant(
        "marks",
        "letters count for EM",
        "em = normalized(answer) in [normalized(truth) for truth in truths]",
        "em = answer in truths",
        "EM, too",
    ),
    Mutant(
        "marks",
        "EM of the first",
        "for truth in truths]",
        "for truth in truths[:1]]",
        "the best one counts",
    ),
    Mutant(
        "marks",
        "contained",
        "em = normalized(answer) in [normalized(truth) for truth in truths]",
        "em = any(normalized(truth) in normalized(answer) for truth in truths)",
        "only contains a truth",
    ),
    Mutant(
        "marks",
        "a part",
        "em = normalized(answer) in [normalized(truth) for truth in truths]",
        "em = any(normalized(answer) in normalized(truth) for truth in truths)",
        "A part of a truth",
    ),
    Mutant(
        "marks",
        "nothing is nothing",
        "if total else 1.0",
        "if total else 0.0",
        "1 if both are empty",
    ),
    Mutant("marks", "division by zero", " if total else 1.0", "", "1 if both are empty"),
    Mutant(
        "marks",
        "exchanged",
        "return float(em), max(f1)",
        "return max(f1), float(em)",
        "The exact match comes first",
    ),
    Mutant("marks", "one mark", "return float(em), max(f1)", "return max(f1)", "two numbers"),
    Mutant(
        "marks",
        "all truths as one",
        "    for truth in truths:\n",
        "    for truth in [' '.join(truths)]:\n",
        "each truth by itself",
    ),
    Mutant(
        "marks",
        "EM from F1",
        "return float(em), max(f1)",
        "return float(max(f1) == 1), max(f1)",
        "in another order",
    ),
    Mutant(
        "marks",
        "in per cent",
        "return float(em), max(f1)",
        "return 100 * float(em), 100 * max(f1)",
        "between 0 and 1",
    ),
    # AnswerTable
    Mutant(
        "AnswerTable",
        "the whole question",
        "self.answers[opening(question)][normalized",
        "self.answers[question][normalized",
        "With the whole question",
    ),
    Mutant(
        "AnswerTable",
        "raw answers",
        "[normalized(answer)] += 1",
        "[answer] += 1",
        "count normalized answers",
    ),
    Mutant("AnswerTable", "no 10", "(self.occurs[w] + 10)", "max(1, self.occurs[w])", "Add 10"),
    Mutant(
        "AnswerTable", "division by zero", "(self.occurs[w] + 10)", "self.occurs[w]", "an error"
    ),
    Mutant("AnswerTable", "1 for 10", "+ 10)", "+ 1)", "10"),
    Mutant("AnswerTable", "how often alone", _SCORE, "known[w]", "is divided by"),
    Mutant("AnswerTable", "whether at all", _SCORE, "w in known", "not only whether"),
    Mutant(
        "AnswerTable",
        "once a passage",
        "update(pieces(passage))",
        "update(set(pieces(passage)))",
        "occurs twice",
    ),
    Mutant(
        "AnswerTable",
        "the last of equals",
        "max(pieces(passage)",
        "max(pieces(passage)[::-1]",
        "the first piece counts",
    ),
    Mutant(
        "AnswerTable",
        "from anywhere",
        "max(pieces(passage)",
        "max([*known, *pieces(passage)]",
        "a piece of this passage",
    ),
    Mutant(
        "AnswerTable",
        "10 above, too",
        _SCORE,
        "(known[w] + 10) / (self.occurs[w] + 10)",
        "below the line alone",
    ),
    Mutant(
        "AnswerTable",
        "long ones preferred",
        _SCORE,
        "len(w.split()) * " + _SCORE,
        "no factor for the length",
    ),
    Mutant(
        "AnswerTable",
        "all openings together",
        "known = self.answers[opening(question)]",
        "known = sum(self.answers.values(), Counter())",
        "for each opening by itself",
    ),
    Mutant(
        "AnswerTable",
        "its score, too",
        "return max(pieces(passage), key=lambda w: " + _SCORE + ")",
        "return max((" + _SCORE + ", w) for w in pieces(passage))",
        "The piece itself",
    ),
    Mutant(
        "AnswerTable",
        "a word of the question",
        "return max(pieces(passage), key=lambda w: " + _SCORE + ")",
        "asked = normalized(question).split()\n        return max(pieces(passage), "
        "key=lambda w: (" + _SCORE + ", w in asked))",
        "Of equal scores the first",
    ),
    Mutant(
        "AnswerTable",
        "occurrences of the answers",
        "self.occurs.update(pieces(passage))",
        "self.occurs[normalized(answer)] += 1",
        "two tables",
    ),
    Mutant(
        "AnswerTable",
        "nothing comes back",
        "        return max(",
        "        max(",
        "ends without return",
    ),
    Mutant(
        "AnswerTable",
        "letters for words",
        _TABLES,
        "kept = ' | '.join(normalized(p) for _, p, _ in questions)"
        + _COUNTS_LATER
        + "lambda w: kept.count(w))",
        "counted as words",
    ),
    Mutant(
        "AnswerTable",
        "counts anew for each answer",
        _TABLES,
        "kept = [p for _, p, _ in questions]"
        + _COUNTS_LATER
        + "lambda w: sum(pieces(p).count(w) for p in kept))",
        "counted once, in __init__",
    ),
    Mutant(
        "AnswerTable",
        "different passages alone",
        "            self.occurs.update(pieces(passage))",
        "            if passage not in self.__dict__.setdefault('seen', set()):\n"
        "                self.occurs.update(pieces(passage))\n            self.seen.add(passage)",
        "counts twice",
    ),
    Mutant(
        "AnswerTable",
        "capital letters in one key",
        "self.answers[opening(question)][normalized",
        "self.answers[' '.join(question.split()[:2])][normalized",
        "opening(question), in both methods",
    ),
    Mutant(
        "AnswerTable",
        "counts pieces of 1",
        "update(pieces(passage))",
        "update(pieces(passage, 1))",
        "all pieces(passage)",
    ),
    Mutant(
        "AnswerTable",
        "counts pieces of 2",
        "update(pieces(passage))",
        "update(pieces(passage, 2))",
        "pieces of up to six words",
    ),
    Mutant(
        "AnswerTable",
        "counts pieces of 3",
        "update(pieces(passage))",
        "update(pieces(passage, 3))",
        "pieces of up to six words",
    ),
    Mutant(
        "AnswerTable",
        "counts pieces of 5",
        "update(pieces(passage))",
        "update(pieces(passage, 5))",
        "pieces of up to six words",
    ),
    Mutant(
        "AnswerTable",
        "pieces of 1 alone",
        "max(pieces(passage)",
        "max(pieces(passage, 1)",
        "may be any of them",
    ),
    Mutant(
        "AnswerTable",
        "pieces of 2 alone",
        "max(pieces(passage)",
        "max(pieces(passage, 2)",
        "pieces(passage) lists",
    ),
    Mutant(
        "AnswerTable",
        "pieces of 5 alone",
        "max(pieces(passage)",
        "max(pieces(passage, 5)",
        "pieces(passage) lists",
    ),
    Mutant(
        "AnswerTable",
        "letters in the joined text",
        _TABLES,
        "kept = ' '.join(normalized(p) for _, p, _ in questions)"
        + _COUNTS_LATER
        + "lambda w: kept.count(w))",
        "counted as words",
    ),
    Mutant(
        "AnswerTable",
        "neighbours overlap",
        _TABLES,
        "kept = ' '.join(f' {normalized(p)} ' for _, p, _ in questions)"
        + _COUNTS_LATER
        + "lambda w: kept.count(f' {w} '))",
        "passes over what overlaps",
    ),
    Mutant(
        "AnswerTable",
        "set to 1",
        "[normalized(answer)] += 1",
        "[normalized(answer)] = 1",
        "not = 1",
    ),
    Mutant(
        "AnswerTable",
        "a set",
        "max(pieces(passage)",
        "max(set(pieces(passage))",
        "a set has no order",
    ),
    Mutant(
        "AnswerTable",
        "the longest of equals",
        "max(pieces(passage)",
        "max(sorted(pieces(passage), key=len, reverse=True)",
        "Of equal scores the first piece",
    ),
    Mutant(
        "AnswerTable",
        "normalized questions",
        "for question, passage, answer in questions:\n",
        "for question, passage, answer in questions:\n"
        "            question = normalized(question)\n",
        "loses its articles",
    ),
    # Repaired
    Mutant(
        "Repaired", "padding is seen", "x = block(x, mask=real)", "x = block(x)", "[PAD] stands"
    ),
    Mutant(
        "Repaired",
        "only padding is seen",
        "(tokens != self.pad)[:, None, None]",
        "(tokens == self.pad)[:, None, None]",
        "True = may attend",
    ),
    Mutant(
        "Repaired",
        "the first block alone",
        "        for block in self.blocks:\n            x = block(x, mask=real)",
        "        x = self.blocks[0](x, mask=real)\n        for block in self.blocks[1:]:\n"
        "            x = block(x)",
        "[PAD] stands",
    ),
    Mutant("Repaired", "no copy", "tokens.clone()", "tokens", "tokens themselves have changed"),
    Mutant(
        "Repaired",
        "a copy too late",
        "super().hide(tokens.clone(), generator)",
        "[x.clone() for x in super().hide(tokens, generator)]",
        "tokens themselves have changed",
    ),
    Mutant(
        "Repaired",
        "everything is asked",
        "masked_fill(~chosen, -100)",
        "masked_fill(tokens == self.pad, -100)",
        "not chosen",
    ),
    Mutant(
        "Repaired",
        "asked for the rest",
        "masked_fill(~chosen, -100)",
        "masked_fill(chosen | (tokens == self.pad), -100)",
        "not chosen",
    ),
    Mutant(
        "Repaired",
        "asked at [MASK] alone",
        "masked_fill(~chosen, -100)",
        "masked_fill(inputs != self.mask, -100)",
        "have a target, too",
    ),
    Mutant(
        "Repaired",
        "asked where changed",
        "masked_fill(~chosen, -100)",
        "masked_fill(inputs == tokens, -100)",
        "have a target, too",
    ),
    Mutant(
        "Repaired",
        "what is read",
        "targets = tokens.masked_fill",
        "targets = inputs.masked_fill",
        "and not the inputs",
    ),
    Mutant(
        "Repaired",
        "the sum",
        "ignore_index=-100)",
        "ignore_index=-100, reduction='sum')",
        "this is the sum",
    ),
    Mutant(
        "Repaired",
        "by all positions",
        "return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)",
        "costs = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, "
        "reduction='sum')\n        return costs / tokens.numel()",
        "not over all positions",
    ),
    Mutant(
        "Repaired",
        "padding is chosen",
        "inputs, chosen = self.hide(tokens, generator)",
        "inputs, chosen = self.hide(tokens, generator)\n"
        "        chosen = chosen | (tokens == self.pad)",
        "not chosen",
    ),
    Mutant(
        "Repaired",
        "states of padding are cut",
        "x = block(x, mask=real)",
        "x = block(x, mask=real & (tokens > 0)[:, None, None])",
        "mend the faults alone",
    ),
    Mutant(
        "Repaired",
        "random tokens left out",
        "return super().hide(tokens.clone(), generator)",
        "inputs = tokens.clone()\n        draw, what = torch.rand(2, *tokens.shape, "
        "generator=generator)\n        random = torch.randint(self.V, tokens.shape, "
        "generator=generator)\n        chosen = (draw < 0.15) & (tokens != self.pad)\n"
        "        inputs[chosen & (what < 0.8)] = self.mask\n"
        "        swapped = chosen & (what >= 0.8) & (what < 0.9)\n"
        "        inputs[swapped] = tokens[swapped]\n        return inputs, chosen",
        "the token in random",
    ),
    Mutant(
        "Repaired",
        "0 for random tokens",
        "return super().hide(tokens.clone(), generator)",
        "inputs = tokens.clone()\n        draw, what = torch.rand(2, *tokens.shape, "
        "generator=generator)\n        random = torch.randint(self.V, tokens.shape, "
        "generator=generator)\n        chosen = (draw < 0.15) & (tokens != self.pad)\n"
        "        inputs[chosen & (what < 0.8)] = self.mask\n"
        "        swapped = chosen & (what >= 0.8) & (what < 0.9)\n"
        "        inputs[swapped] = 0\n        return inputs, chosen",
        "the token in random",
    ),
    Mutant(
        "Repaired",
        "one token too many",
        "return super().hide(tokens.clone(), generator)",
        "inputs = tokens.clone()\n        draw, what = torch.rand(2, *tokens.shape, "
        "generator=generator)\n        random = torch.randint(self.V + 1, tokens.shape, "
        "generator=generator)\n        chosen = (draw < 0.15) & (tokens != self.pad)\n"
        "        inputs[chosen & (what < 0.8)] = self.mask\n"
        "        swapped = chosen & (what >= 0.8) & (what < 0.9)\n"
        "        inputs[swapped] = random[swapped]\n        return inputs, chosen",
        "the token in random",
    ),
    Mutant(
        "Repaired",
        "[MASK] always",
        "return super().hide(tokens.clone(), generator)",
        "inputs = tokens.clone()\n        draw, what = torch.rand(2, *tokens.shape, "
        "generator=generator)\n        random = torch.randint(self.V, tokens.shape, "
        "generator=generator)\n        chosen = (draw < 0.15) & (tokens != self.pad)\n"
        "        inputs[chosen & (what < 1.0)] = self.mask\n"
        "        swapped = chosen & (what >= 1.0) & (what < 0.9)\n"
        "        inputs[swapped] = random[swapped]\n        return inputs, chosen",
        "not all of the chosen",
    ),
    Mutant(
        "Repaired",
        "[MASK] is not attended to",
        "(tokens != self.pad)[:, None, None]",
        "(tokens < self.V)[:, None, None]",
        "[MASK] may be attended to",
    ),
    Mutant(
        "Repaired",
        "a copy for the targets alone",
        "return super().hide(tokens.clone(), generator)",
        "return super().hide(tokens, generator)",
        "whoever takes targets from it",
    ),
    Mutant(
        "Repaired",
        "copied in loss alone",
        "return super().hide(tokens.clone(), generator)\n",
        "return super().hide(tokens, generator)\n",
        "tokens themselves have changed",
    ),
]

_LOOP_OF_LENGTHS = """def best_spans(logits, limit):
    starts, ends = logits[:, 0], logits[:, 1]
    B, T = starts.shape
    best = starts + ends
    further = torch.zeros(B, T, dtype=torch.long, device=logits.device)
    for n in range(1, min(limit, T)):
        shifted = F.pad(ends[:, n:], (0, n), value=-math.inf)
        better = starts + shifted > best
        best = torch.where(better, starts + shifted, best)
        further = torch.where(better, n, further)
    first = best.argmax(1)
    return first, first + further.gather(1, first[:, None])[:, 0]"""

REWRITES = [
    Rewrite(
        "by_hand",
        "typed in by their formulas",
        """def by_hand():
    N, words, share, kinds, s, e, answer, truths = check.numbers().values()
    masked, swapped, kept = kinds
    spans = [s[i] + e[i] for i in range(1, 5)] + [s[i] + e[i + 1] for i in range(1, 4)]
    best = 0
    for truth in truths:
        both = [word for word in answer.split() if word in truth.split()]
        best = max(best, 2 * len(both) / len(answer.split() + truth.split()))
    return {
        "F1": best,
        "best sum": max(spans),
        "asked, and the right word is read": N * share * (kept + swapped / words) / 10_000,
        "read as [MASK]": torch.tensor(N * share * masked / 10_000),
    }""",
    ),
    Rewrite(
        "by_hand",
        "rounded",
        """def by_hand():
    N, words, share, kinds, s, e, answer, truths = check.numbers().values()
    masked, swapped, kept = kinds
    spans = [s[i] + e[j] for i in range(1, 5) for j in range(1, 5) if 0 <= j - i <= 1]
    f1 = [2 * len({*answer.split()} & {*t.split()}) / len(answer.split() + t.split())
          for t in truths]
    return {
        "read as [MASK]": round(N * share * masked / 10_000),
        "asked, and the right word is read": round(N * share * (kept + swapped / words) / 1e4, 1),
        "best sum": max(spans),
        "F1": round(max(f1), 3),
    }""",
    ),
    Rewrite(
        "hide_words",
        "by numbers of words",
        """def hide_words(
    tokens, begins, special, draw, what, random, mask, share=0.15
):
    word = begins.long().cumsum(-1) - 1
    of_word = torch.zeros_like(draw).scatter_add(-1, word, torch.where(begins, draw, 0.0))
    chosen = (of_word.gather(-1, word) < share).masked_fill(special, False)
    inputs = tokens.clone()
    inputs[chosen & (what < 0.8)] = mask
    swapped = chosen & (what >= 0.8) & (what < 0.9)
    inputs[swapped] = random[swapped]
    targets = tokens.masked_fill(~chosen, -100)
    return inputs, targets""",
    ),
    Rewrite(
        "hide_words",
        "the latest choice",
        """def hide_words(
    tokens, begins, special, draw, what, random, mask, share=0.15
):
    # Positions of beginnings, with a half more where the word is chosen: the largest so far is
    # that of the token's own word.
    places = torch.arange(tokens.shape[-1], device=tokens.device) * 2
    seen = torch.where(begins, places + (draw < share), -1)
    chosen = (seen.cummax(-1)[0] % 2 == 1) & ~special
    kinds = torch.where(what < 0.8, mask, torch.where(what < 0.9, random, tokens))
    return torch.where(chosen, kinds, tokens), torch.where(chosen, tokens, -100)""",
    ),
    Rewrite(
        "batch_of",
        "Python's generators",
        """def batch_of(step, texts, B, seed, hide):
    import random
    per_pass = len(texts) // B
    order = list(range(len(texts)))
    random.Random(f"order {seed} {step // per_pass}").shuffle(order)
    place = step % per_pass
    number = random.Random(f"masks {seed} {step}").getrandbits(60)
    rows = texts[order[place * B : place * B + B]]
    inputs, targets = hide(rows, torch.Generator().manual_seed(number))
    return inputs, targets""",
    ),
    Rewrite(
        "batch_of",
        "one generator for both",
        """def batch_of(step, texts, B, seed, hide):
    batches = len(texts) // B
    order = torch.Generator().manual_seed(hash((seed, step // batches)))
    rows = torch.randperm(len(texts), generator=order)[: batches * B].view(batches, B)
    generator = torch.Generator()
    generator.manual_seed(hash((seed, step, "masks".__len__())))
    return hide(texts[rows[step % batches]], generator)""",
    ),
    Rewrite(
        "batch_of",
        "an odd multiplier",
        """def batch_of(step, texts, B, seed, hide):
    def made(kind, number):
        return torch.Generator().manual_seed(1_000_003 * (2 * seed + kind) + number)

    number, place = step // (len(texts) // B), step % (len(texts) // B)
    order = torch.randperm(len(texts), generator=made(0, number))
    chosen = order[place * B : place * B + B]
    return hide(texts[chosen], made(1, step))""",
    ),
    Rewrite(
        "batch_of",
        "a million steps for each seed",
        """def batch_of(step, texts, B, seed, hide):
    number, place = divmod(step, len(texts) // B)
    of_pass = torch.Generator().manual_seed(seed * 10**6 + number)
    of_step = torch.Generator().manual_seed(seed * 10**6 + step)
    rows = torch.randperm(len(texts), generator=of_pass)[place * B : place * B + B]
    return hide(texts[rows], of_step)""",
    ),
    Rewrite(
        "SpanHead",
        "one line each",
        """class SpanHead(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states, tokens, segments, sep):
        outside = segments.eq(0) | tokens.eq(sep)
        logits = torch.einsum("btd,kd->bkt", states, self.output.weight)
        logits = logits + self.output.bias[:, None]
        return torch.where(outside[:, None], -torch.inf, logits)

    def loss(self, logits, spans):
        first = F.cross_entropy(logits[:, 0], spans[:, 0])
        last = F.cross_entropy(logits[:, 1], spans[:, 1])
        return (first + last) / 2""",
    ),
    Rewrite(
        "SpanHead",
        "in place, by hand",
        """class SpanHead(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states, tokens, segments, sep):
        logits = self.output(states)
        logits[(segments == 0) | (tokens == sep)] = -math.inf
        return logits.mT

    def loss(self, logits, spans):
        log_p = logits.log_softmax(-1)
        return -log_p.gather(-1, spans.unsqueeze(-1)).mean()""",
    ),
    Rewrite("best_spans", "a loop over lengths", _LOOP_OF_LENGTHS),
    Rewrite(
        "best_spans",
        "stacked lengths",
        """def best_spans(logits, limit):
    starts, ends = logits[:, 0], logits[:, 1]
    T = ends.shape[1]
    sums = [starts + F.pad(ends, (0, n), value=-math.inf)[:, n : n + T] for n in range(limit)]
    sums = torch.stack(sums, -1)  # (B, T, limit)
    of_each, further = sums.max(-1)
    first = of_each.argmax(-1, keepdim=True)
    return first.squeeze(1), (first + further.gather(1, first)).squeeze(1)""",
    ),
    Rewrite(
        "best_spans",
        "after a log_softmax",
        """def best_spans(logits, limit):
    starts, ends = logits.log_softmax(-1).unbind(1)
    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)
    best = (starts[..., None] + near).flatten(1).argmax(-1)
    return best // limit, best // limit + best % limit""",
    ),
    Rewrite(
        "best_spans",
        "products of probabilities",
        """def best_spans(logits, limit):
    starts, ends = logits.softmax(-1).unbind(1)
    near = F.pad(ends, (0, limit - 1), value=0.0).unfold(-1, limit, 1)
    best = (starts[..., None] * near).flatten(1).argmax(-1)
    return best // limit, best // limit + best % limit""",
    ),
    Rewrite(
        "marks",
        "with a loop over words",
        """def marks(answer, truths):
    best, em = 0.0, 0.0
    for truth in truths:
        words, left = normalized(answer).split(), normalized(truth).split()
        if words == left:
            return 1.0, 1.0
        n, m, c = len(words), len(left), 0
        for word in words:
            if word in left:
                left.remove(word)
                c += 1
        best = max(best, 2 * c / (n + m))
    return em, best""",
    ),
    Rewrite(
        "marks",
        "EM as a whole number",
        """def marks(answer, truths):
    def f1(a, b):
        if not a or not b:
            return 1 if a == b else 0
        c = sum(min(a.count(w), b.count(w)) for w in set(a))
        precision, recall = c / len(a), c / len(b)
        return 2 * precision * recall / (precision + recall) if c else 0

    mine, all_truths = normalized(answer), [normalized(t) for t in truths]
    return int(mine in all_truths), max(f1(mine.split(), t.split()) for t in all_truths)""",
    ),
    Rewrite(
        "AnswerTable",
        "plain dictionaries",
        """class AnswerTable:
    def __init__(self, questions):
        self.right, self.n = {}, {}
        for q in questions:
            for piece in pieces(q.passage):
                self.n[piece] = self.n.get(piece, 0) + 1
            key = opening(q.question), normalized(q.answer)
            self.right[key] = self.right.get(key, 0) + 1

    def answer(self, question, passage):
        best, highest = None, -1.0
        for piece in pieces(passage):
            score = self.right.get((opening(question), piece), 0) / (10 + self.n.get(piece, 0))
            if score > highest:
                best, highest = piece, score
        return best""",
    ),
    Rewrite(
        "AnswerTable",
        "sorted",
        """class AnswerTable:
    def __init__(self, questions):
        self.n = Counter(p for _, passage, _ in questions for p in pieces(passage))
        self.right = Counter((opening(q), normalized(a)) for q, _, a in questions)

    def answer(self, question, passage):
        o = opening(question)
        return sorted(pieces(passage), key=lambda w: -self.right[o, w] / (self.n[w] + 10))[0]""",
    ),
    Rewrite(
        "AnswerTable",
        "counted at the first answer",
        """class AnswerTable:
    def __init__(self, questions):
        self.questions, self.n = list(questions), None

    def answer(self, question, passage):
        if self.n is None:
            self.n, self.right = {}, {}
            for q, p, a in self.questions:
                for w in pieces(p):
                    self.n[w] = self.n.get(w, 0) + 1
                known = self.right.setdefault(opening(q), Counter())
                known[normalized(a)] += 1
        known = self.right.get(opening(question), {})
        scores = [known.get(w, 0) / (self.n.get(w, 0) + 10) for w in pieces(passage)]
        return pieces(passage)[scores.index(max(scores))]""",
    ),
    Rewrite(
        "Repaired",
        "every method anew",
        """class Repaired(Broken):
    def forward(self, tokens):
        x = self.embedding(tokens)
        may = tokens.ne(self.pad).view(len(tokens), 1, 1, -1)
        for block in self.blocks:
            x = block(x, may)
        return self.output(self.norm(x))

    def hide(self, tokens, generator):
        draw, what = torch.rand(2, *tokens.shape, generator=generator)
        random = torch.randint(self.V, tokens.shape, generator=generator)
        chosen = (draw < 0.15) & (tokens != self.pad)
        inputs = torch.where(chosen & (what < 0.8), self.mask, tokens)
        inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
        return inputs, chosen

    def loss(self, tokens, generator):
        inputs, chosen = self.hide(tokens, generator)
        return F.cross_entropy(self(inputs)[chosen], tokens[chosen])""",
    ),
    Rewrite(
        "Repaired",
        "calls what it can",
        """class Repaired(Broken):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, mask=(tokens < self.pad)[:, None, None, :])
        return self.output(self.norm(x))

    def hide(self, tokens, generator):
        copied = tokens.clone()
        return super().hide(copied, generator)

    def loss(self, tokens, generator):
        inputs, chosen = self.hide(tokens, generator)
        log_p = self(inputs).log_softmax(-1).gather(-1, tokens[..., None]
                                                    .clamp(max=self.mask))[..., 0]
        return -log_p[chosen].mean()""",
    ),
]
