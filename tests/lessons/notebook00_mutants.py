"""Plausible wrong answers to notebook 00, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

STEP = """    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

MUTANTS = [
    # share_of
    Mutant("share_of", "a count", " / len(text)", "", "which share of all characters"),
    Mutant("share_of", "per cent", "return text", "return 100 * text", "between 0 and 1"),
    Mutant("share_of", "rounded down", " / len", " // len", "a single /"),
    Mutant("share_of", "different letters", "len(text)", "len(set(text))", "different characters"),
    Mutant(
        "share_of", "without spaces", "len(text)", 'len(text.replace(" ", ""))', "like any other"
    ),
    Mutant("share_of", "the others", "return text", "return 1 - text", "all the other"),
    # shapes
    Mutant("shapes", "the text is kept", '"ids[0]": (T,)', '"ids[0]": (1, T)', "its axis is gone"),
    Mutant("shapes", "T is kept", "(B, T - 1)", "(B, T)", "leaves out the last token"),
    Mutant(
        "shapes",
        "a lookup without its D",
        '"table[ids]": (B, T, D)',
        '"table[ids]": (B, T)',
        "D numbers where one id",
    ),
    Mutant(
        "shapes",
        "both D and V",
        '"table[ids] @ W": (B, T, V)',
        '"table[ids] @ W": (B, T, D, V)',
        "D becomes V",
    ),
    Mutant("shapes", "the last position", "(B, V)", "(B, 1, V)", "axis T is gone"),
    Mutant(
        "shapes",
        "one for each letter",
        'argmax(dim=-1)": (B, T)',
        'argmax(dim=-1)": (B, V)',
        "one winner",
    ),
    Mutant(
        "shapes",
        "a softmax that sums",
        'softmax(dim=-1)": (B, T, V)',
        'softmax(dim=-1)": (B, T)',
        "keeps every one",
    ),
    Mutant("shapes", "the wrong axis", "(B, D)", "(T, D)", "mean over the T tokens"),
    Mutant("shapes", "three axes", "(B * T, V)", "(B, T, V)", "joined into one"),
    Mutant("shapes", "dots left", "(B * T, V)", "...", "Three dots are left"),
    Mutant("shapes", "no tuple", "(T,)", "(T)", "A shape is a tuple"),
    # same_letters
    Mutant("same_letters", "swapped", "a[:, None] == b[None, :]", "a[None] == b[:, None]", "swap"),
    Mutant("same_letters", "one by one", "a[:, None] == b[None, :]", "a == b",
           "the first with the first"),
    Mutant("same_letters", "differ", "==", "!=", "true where they differ"),
    Mutant("same_letters", "a difference", "==", "-", "is 0 where the letters"),
    Mutant("same_letters", "in b at all", "return a[:, None] == b[None, :]",
           "return (a[:, None] == b[None, :]).any(1)", "the whole table"),
    # to_probabilities
    Mutant("to_probabilities", "one sum for all", "sum(dim=-1, keepdim=True)", "sum()",
           "a sum of its own"),
    Mutant("to_probabilities", "the first axis", "dim=-1", "dim=0", "stand on the last one"),
    Mutant("to_probabilities", "no exp", "scores.exp()", "scores", "exp makes them positive"),
    Mutant("to_probabilities", "no sum", " / powers.sum(dim=-1, keepdim=True)", "",
           "divide them by their"),
    Mutant("to_probabilities", "the largest", "powers.sum(dim=-1, keepdim=True)",
           "powers.max(dim=-1, keepdim=True).values", "by the largest"),
    Mutant("to_probabilities", "an axis lost", ", keepdim=True", "", "Without keepdim=True"),
    Mutant("to_probabilities", "the sign", "scores.exp()", "(-scores).exp()", "other way round"),
    Mutant("to_probabilities", "PyTorch's own", "powers / powers.sum(dim=-1, keepdim=True)",
           "scores.softmax(-1)", "without softmax"),
    # loss_of
    Mutant("loss_of", "no minus", "return -p", "return p", "add a minus"),
    Mutant("loss_of", "a sum", ".mean()", ".sum()", "sum over the predictions"),
    Mutant("loss_of", "base 2", ".log()", ".log2()", "natural one"),
    Mutant("loss_of", "all with all", "p[torch.arange(len(targets)), targets]", "p[:, targets]",
           "every row with every target"),
    Mutant("loss_of", "the likeliest", "p[torch.arange(len(targets)), targets]",
           "p.max(dim=-1).values", "holds for likeliest"),
    Mutant("loss_of", "the mean first", ".log().mean()", ".mean().log()", "logarithm of the mean"),
    Mutant("loss_of", "all letters", "p[torch.arange(len(targets)), targets]", "p",
           "mean over all letters"),
    Mutant("loss_of", "one for each", ".mean()", "", "One number comes out"),
    # training_step
    Mutant("training_step", "never emptied", "    optimizer.zero_grad()\n", "", "grad empties"),
    Mutant("training_step", "emptied too late", STEP,
           "    loss.backward()\n    optimizer.zero_grad()\n    optimizer.step()\n",
           "emptied between backward and step"),
    Mutant("training_step", "no step", "    optimizer.step()\n", "", "has not moved"),
    Mutant("training_step", "no backward", "    loss.backward()\n", "", "has not moved"),
    Mutant("training_step", "a softmax before", "cross_entropy(scores.flatten(0, 1)",
           "cross_entropy(scores.flatten(0, 1).softmax(-1)", "takes the softmax itself"),
    Mutant("training_step", "a tensor", "loss.item()", "loss", "makes a plain number"),
    Mutant("training_step", "the loss after", "return loss.item()",
           "return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()",
           "after the step"),
    Mutant("training_step", "a sum", "targets.flatten())", 'targets.flatten(), reduction="sum")',
           "not their sum"),
    Mutant("training_step", "uphill", "loss.backward()", "(-loss).backward()", "up the slope"),
    Mutant("training_step", "the last alone", "scores.flatten(0, 1), targets.flatten()",
           "scores[:, -1], targets[:, -1]", "Every position"),
    Mutant("training_step", "not flat", "scores.flatten(0, 1), targets.flatten()",
           "scores, targets", "flatten both"),
]  # fmt: skip

REWRITES = [
    Rewrite(
        "share_of",
        "letter by letter",
        """def share_of(text, letter):
    return sum(character == letter for character in text) / len(text)
""",
    ),
    Rewrite(
        "shapes",
        "measured",
        """def shapes(B, T, D, V):
    ids = torch.zeros(B, T, dtype=torch.long)
    table, W = torch.zeros(V, D), torch.zeros(D, V)
    vectors = table[ids]
    scores = vectors @ W
    return {
        "ids[0]": ids[0].shape,
        "ids[:, :-1]": ids[:, :-1].shape,
        "table[ids]": vectors.shape,
        "table[ids] @ W": scores.shape,
        "scores[:, -1]": scores[:, -1].shape,
        "scores.argmax(dim=-1)": scores.argmax(dim=-1).shape,
        "scores.softmax(dim=-1)": scores.softmax(dim=-1).shape,
        "table[ids].mean(dim=1)": vectors.mean(dim=1).shape,
        "scores.flatten(0, 1)": scores.flatten(0, 1).shape,
    }
""",
    ),
    Rewrite(
        "same_letters",
        "two loops",
        """def same_letters(a, b):
    return torch.tensor([[int(x == y) for y in b] for x in a])
""",
    ),
    Rewrite(
        "to_probabilities",
        "the maximum taken off first",
        """def to_probabilities(scores):
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores.exp() / scores.exp().sum(-1)[..., None]
""",
    ),
    Rewrite(
        "loss_of",
        "gather",
        """def loss_of(p, targets):
    return p.gather(1, targets[:, None]).log().neg().mean().item()
""",
    ),
    Rewrite(
        "training_step",
        "by its own formula",
        """def training_step(model, optimizer, inputs, targets):
    model.zero_grad()
    p = model(inputs).softmax(-1)
    loss = -p.gather(-1, targets[..., None]).log().mean()
    loss.backward()
    optimizer.step()
    return float(loss.detach())
""",
    ),
    Rewrite(
        "training_step",
        "flattened by the notebook's V",
        """def training_step(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).view(-1, 27), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    ),
]
