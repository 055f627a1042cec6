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
]
