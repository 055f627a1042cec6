"""Other right answers to notebook 02, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "count_followers",
        "nothing handed back",
        "    return table",
        "    _ = table",
        "returns what print gives",
    ),
    Mutant(
        "count_followers",
        "a list of what followed",
        "defaultdict(Counter)",
        "defaultdict(dict)",
        "make a tuple of them",
    ),
    Mutant(
        "absolute_discounting", "nothing for an empty row", "return lower", "return 0", "row is"
    ),
    Mutant(
        "absolute_discounting",
        "the row forgotten",
        "    if not row:\n        return lower\n",
        "",
        "only lower is left",
    ),
    Mutant("absolute_discounting", "the share kept", "(row) / total", "(row)", "Both are divided"),
    Mutant(
        "continuation",
        "pairs as keys",
        "w for _, w in pairs",
        "pair for pair in pairs",
        "for its second word",
    ),
    Mutant(
        "continuation",
        "the row filled",
        "    before =",
        '    pairs["old", "old"] = 1\n    before =',
        "changed in place",
    ),
]

REWRITES = [
    Rewrite(
        "count_followers",
        "windows side by side",
        """
def count_followers(tokens, n):
    table = defaultdict(Counter)
    for window in zip(*(tokens[k:] for k in range(n))):
        table[window[:-1]].update([window[-1]])
    return table
""",
    ),
    Rewrite(
        "unseen_mass",
        "a loop",
        """
def unseen_mass(counts):
    once, tokens = 0, 0
    for symbol in counts:
        tokens += counts[symbol]
        if counts[symbol] == 1:
            once += 1
    return once / tokens
""",
    ),
    Rewrite(
        "absolute_discounting",
        "a loop that takes",
        """
def absolute_discounting(w, row, D, lower):
    kept, taken, total = 0, 0, 0
    for word, count in row.items():
        total += count
        taken += D
        if word == w:
            kept = count - D
    return (kept + taken * lower) / total if total else lower
""",
    ),
    Rewrite(
        "continuation",
        "sets of words before",
        """
def continuation(pairs):
    words = {w for _, w in pairs}
    before = {w: {v for v, u in pairs if u == w} for w in words}
    total = sum(map(len, before.values()))
    return {w: len(before[w]) / total for w in words}
""",
    ),
]
