"""Plausible wrong answers to notebook 07, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

HALF = "math.log(0.5) / math.log(z)"
MIX = "z * h + (1 - z) * candidate"
SHOWN = "o * torch.tanh(C), C"
ADD = "C = f * C + i * candidate"
WON = "(a < b) + (a == b) / 2 for a in first for b in second"

MUTANTS = [
    # half_life
    Mutant("half_life", "turned", HALF, "math.log(z) / math.log(0.5)", "turned round"),
    Mutant("half_life", "linear", HALF, "0.5 / (1 - z)", "share of what"),
    Mutant("half_life", "sign", "return math", "return -math", "sign is turned round"),
    Mutant("half_life", "to 1/e", "math.log(0.5) /", "-1 /", "1/e"),
    Mutant("half_life", "root", HALF, "z**0.5", "exponent"),
    # affine
    Mutant("affine", "no bias", ' + p[f"b_{gate}"]', "", "bias b is missing"),
    Mutant("affine", "W_h as it is", 'W_h{gate}"].T', 'W_h{gate}"]', "transposed, too"),
    Mutant("affine", "no state", "from_x + from_h +", "from_x +", "does not enter"),
    Mutant(
        "affine",
        "sigmoid",
        'from_x + from_h + p[f"b_{gate}"]',
        'torch.sigmoid(from_x + from_h + p[f"b_{gate}"])',
        "before any non-linearity",
    ),
    # elman_cell
    Mutant("elman_cell", "linear", "torch.tanh(", "(", "non-linearity is missing"),
    Mutant("elman_cell", "ReLU", "torch.tanh(", "torch.relu(", "That is ReLU"),
    Mutant("elman_cell", "sigmoid", "torch.tanh(", "torch.sigmoid(", "That is a sigmoid"),
    Mutant("elman_cell", "added", "return ", "return h + ", "nothing of it is added"),
    # gated_cell
    Mutant("gated_cell", "roles", MIX, "(1 - z) * h + z * candidate", "changed roles"),
    Mutant("gated_cell", "tanh", "torch.relu(", "torch.tanh(", "a ReLU, not a tanh"),
    Mutant("gated_cell", "no sigmoid", "torch.sigmoid(", "(", "between 0 and 1"),
    Mutant("gated_cell", "sum", MIX, "z * h + candidate", "weighted with 1 - z"),
    Mutant("gated_cell", "no gate", f"return {MIX}", "return candidate", "candidate alone"),
    Mutant("gated_cell", "same weights", 'affine(p, "z"', 'affine(p, "h"', "weights of its own"),
    # gru_cell
    Mutant(
        "gru_cell",
        "the lecture's form",
        "torch.tanh(from_x + r * from_h)",
        'torch.tanh(from_x + (r * h) @ p["W_hh"].T)',
        "lecture's form",
    ),
    Mutant("gru_cell", "no second bias", ' + p["b_hh"]', "", "second bias"),
    Mutant(
        "gru_cell",
        "bias outside",
        "r * from_h)",
        'r * (from_h - p["b_hh"]) + p["b_hh"])',
        "bracket",
    ),
    Mutant("gru_cell", "resets all", "from_x + r * from_h", "r * (from_x + from_h)", "not on what"),
    Mutant("gru_cell", "W_hh as it is", 'p["W_hh"].T', 'p["W_hh"]', "transposed, too"),
    Mutant("gru_cell", "no reset", "r * from_h", "from_h", "does not act yet"),
    Mutant("gru_cell", "roles", MIX, "(1 - z) * h + z * candidate", "changed roles"),
    # lstm_cell
    Mutant("lstm_cell", "order", SHOWN, "C, o * torch.tanh(C)", "order is h first"),
    Mutant("lstm_cell", "f and i", ADD, "C = i * C + f * candidate", "f and i have changed"),
    Mutant("lstm_cell", "no tanh", SHOWN, "o * C, C", "h lacks the tanh"),
    Mutant("lstm_cell", "sigmoid shown", SHOWN, "o * torch.sigmoid(C), C", "not its sigmoid"),
    Mutant(
        "lstm_cell",
        "reads C",
        "    f = torch.sigmoid(",
        "    h = C\n    f = torch.sigmoid(",
        "not the cell state",
    ),
    Mutant("lstm_cell", "no output gate", SHOWN, "torch.tanh(C), C", "output gate o"),
    Mutant("lstm_cell", "one comes back", SHOWN, "o * torch.tanh(C)", "Two tensors"),
    Mutant("lstm_cell", "no input gate", ADD, "C = f * C + candidate", "input gate i"),
    Mutant("lstm_cell", "no forget gate", ADD, "C = C + i * candidate", "forget gate f"),
    Mutant("lstm_cell", "coupled", ADD, "C = f * C + (1 - f) * candidate", "couples the gates"),
    Mutant(
        "lstm_cell",
        "sigmoid",
        "candidate = torch.tanh(",
        "candidate = torch.sigmoid(",
        "may be negative",
    ),
    Mutant(
        "lstm_cell",
        "old cell",
        f"{ADD}\n    return {SHOWN}",
        "return o * torch.tanh(C), f * C + i * candidate",
        "not of the one before",
    ),
    # counter
    Mutant("counter", "half open", '"f": (20, 20)', '"f": (0, 0)', "large"),
    Mutant("counter", "a little", '"f": (20, 20)', '"f": (4, 4)', "lose nothing"),
    Mutant("counter", "nearly", '"f": (20, 20)', '"f": (9, 9)', "lose nothing"),
    Mutant("counter", "half in", '"i": (20, 20)', '"i": (0, 0)', "one half"),
    Mutant("counter", "one", '"C": (20, -20)', '"C": (1, -1)', "0.76"),
    Mutant("counter", "up only", '"C": (20, -20)', '"C": (20, 20)', "-1"),
    Mutant("counter", "only a", '"i": (20, 20)', '"i": (20, -20)', "-1"),
    Mutant("counter", "hidden", '"o": (20, 20)', '"o": (-20, -20)', "must be open"),
    Mutant("counter", "one number", '"f": (20, 20)', '"f": 20', "two numbers"),
    # share_won
    Mutant(
        "share_won",
        "paired",
        f"sum({WON})\n    return won / (len(first) * len(second))",
        "sum((a < b) + (a == b) / 2 for a, b in zip(first, second))\n    return won / len(first)",
        "run k only",
    ),
    Mutant("share_won", "turned", "a < b", "a > b", "*lower*"),
    Mutant("share_won", "no ties", " + (a == b) / 2", "", "one half"),
    Mutant("share_won", "number", " / (len(first) * len(second))", "", "divide by"),
    Mutant("share_won", "per cent", "return won", "return 100 * won", "per cent"),
    Mutant("share_won", "one length", "(len(first) * len(second))", "len(first)", "pairs"),
]

REWRITES = [
    Rewrite(
        "half_life",
        "base 2",
        """
def half_life(z):
    return -1 / math.log2(z)
""",
    ),
    Rewrite(
        "affine",
        "linear layers",
        """
def affine(p, gate, x, h):
    return F.linear(x, p["W_x" + gate], p["b_" + gate]) + F.linear(h, p["W_h" + gate])
""",
    ),
    Rewrite(
        "elman_cell",
        "method",
        """
def elman_cell(p, x, h):
    new = affine(p, "h", x, h)
    return new.tanh()
""",
    ),
    Rewrite(
        "gated_cell",
        "one product less",
        """
def gated_cell(p, x, h):
    candidate = F.relu(affine(p, "h", x, h))
    return candidate + affine(p, "z", x, h).sigmoid() * (h - candidate)
""",
    ),
    Rewrite(
        "gru_cell",
        "affine once more",
        """
def gru_cell(p, x, h):
    z, r = (affine(p, gate, x, h).sigmoid() for gate in "zr")
    zero = torch.zeros_like(h)
    from_x = affine(p, "h", x, zero)
    candidate = (from_x + r * F.linear(h, p["W_hh"], p["b_hh"])).tanh()
    return torch.lerp(candidate, h, z)
""",
    ),
    Rewrite(
        "lstm_cell",
        "one after another",
        """
def lstm_cell(p, x, h, C):
    gates = {g: affine(p, g, x, h) for g in "fioC"}
    kept = gates["f"].sigmoid() * C
    new = kept + gates["i"].sigmoid() * gates["C"].tanh()
    return new.tanh() * gates["o"].sigmoid(), new
""",
    ),
    Rewrite(
        "lstm_cell",
        "a list",
        """
def lstm_cell(p, x, h, C):
    f, i, o = (torch.sigmoid(affine(p, gate, x, h)) for gate in "fio")
    C = f * C + i * torch.tanh(affine(p, "C", x, h))
    return [o * torch.tanh(C), C]
""",
    ),
    Rewrite(
        "counter",
        "other large numbers",
        """
def counter():
    large = 15.0
    return {"C": [large, -large], "o": [5, 5], "f": [large] * 2, "i": [large] * 2}
""",
    ),
    Rewrite(
        "share_won",
        "two loops",
        """
def share_won(first, second):
    won = 0.0
    for a in first:
        for b in second:
            won += 1.0 if a < b else 0.5 if a == b else 0.0
    return won / len(first) / len(second)
""",
    ),
]
