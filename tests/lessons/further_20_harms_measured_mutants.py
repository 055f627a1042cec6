"""Other right answers to the further notebook on harms, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== exposure
the place in the list | 1 + int((scores > scores[planted]).sum()) => 1 + planted | one more than

== mark_score
all are green | sum(bool(green[a, b]) for a, b in pairs) => len(pairs) | those that
""")

REWRITES = rewrites("""
== exposure | by sorting
def exposure(scores, planted):
    order = sorted(scores.tolist(), reverse=True)
    return math.log2(len(order) / (1 + order.index(float(scores[planted]))))

== mark_score | with a dictionary
def mark_score(tokens, green):
    colours = {}
    for t in range(1, len(tokens)):
        colours[tokens[t - 1], tokens[t]] = float(green[tokens[t - 1], tokens[t]])
    n = len(colours)
    return (sum(colours.values()) / n - 0.5) * 2 * math.sqrt(n)
""")
