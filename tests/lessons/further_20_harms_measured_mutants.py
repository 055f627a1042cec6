"""Other right answers to the further notebook on harms, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

PLACE = "1 + int((scores > scores[planted]).sum())"
GREEN = "sum(bool(green[a, b]) for a, b in pairs)"
MUTANTS = [
    Mutant("exposure", "the place in the list", PLACE, "1 + planted", "one more than"),
    Mutant("mark_score", "all are green", GREEN, "len(pairs)", "those that"),
]

REWRITES = [
    Rewrite(
        "exposure",
        "by sorting",
        """
def exposure(scores, planted):
    order = sorted(scores.tolist(), reverse=True)
    return math.log2(len(order) / (1 + order.index(float(scores[planted]))))
""",
    ),
    Rewrite(
        "mark_score",
        "with a dictionary",
        """
def mark_score(tokens, green):
    colours = {}
    for t in range(1, len(tokens)):
        colours[tokens[t - 1], tokens[t]] = float(green[tokens[t - 1], tokens[t]])
    n = len(colours)
    return (sum(colours.values()) / n - 0.5) * 2 * math.sqrt(n)
""",
    ),
]
