"""Other right answers to notebook 02, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "next_from_book",
        "the symbol before",
        "place + len(context)",
        "place - 1",
        "the answer stands after it",
    ),
    Mutant(
        "next_from_book", "-1 is a place", "place = book.find(context)\n", "pass\n", "gives -1 wher"
    ),
    Mutant(
        "next_from_book",
        "the very front",
        "place = book.find(context)\n",
        "place = 0\n",
        "look again, from the front",
    ),
    Mutant(
        "next_from_book",
        "index",
        "place = book.find(context, start)",
        "place = book.index(context, start)",
        "gives -1 where there is nothing",
    ),
    Mutant("next_from_book", "beyond the end", " % len(book)", "", "let its first one follow"),
    Mutant(
        "next_from_book",
        "empty at the end",
        "book[(place + len(context)) % len(book)]",
        "book[place + len(context) : place + len(context) + 1]",
        "let its first one follow",
    ),
    Mutant(
        "next_from_book",
        "nothing handed back",
        "return book",
        "_ = book",
        "returns what print gives",
    ),
    Mutant(
        "add_k",
        "the row filled",
        "    total =",
        "    for w in vocabulary:\n        row[w] += k\n    total =",
        "changed in place",
    ),
    Mutant(
        "add_k",
        "nothing for new contexts",
        "    return",
        "    if not row:\n        return dict.fromkeys(vocabulary, 0.0)\n    return",
        "only the k are left",
    ),
    Mutant(
        "add_k",
        "a list",
        "{w: (row.get(w, 0) + k) / total for w in vocabulary}",
        "[(row.get(w, 0) + k) / total for w in vocabulary]",
        "of another type",
    ),
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
    Mutant(
        "kneser_ney", "an empty row", "if not row:", "if row is None:", "discount would divide by 0"
    ),
]

REWRITES = [
    Rewrite(
        "next_from_book",
        "the book twice",
        """
def next_from_book(book, context, start):
    twice = book + book
    return twice[twice.index(context, start) + len(context)]
""",
    ),
    Rewrite(
        "next_from_book",
        "step by step",
        """
def next_from_book(book, context, start):
    place = start
    while not book.startswith(context, place):
        place = (place + 1) % len(book)
    after = place + len(context)
    return book[after] if after < len(book) else book[after - len(book)]
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
        "add_k",
        "a mixture with the uniform distribution",
        """
def add_k(row, vocabulary, k):
    V, total = len(vocabulary), sum(row.values())
    share = k * V / (total + k * V)
    seen = {w: count / total for w, count in row.items()}
    return {w: share / V + (1 - share) * seen.get(w, 0) for w in vocabulary}
""",
    ),
    Rewrite(
        "discount",
        "what is missing",
        """
def discount(row, D):
    total, kept = sum(row.values()), {}
    for word in row:
        kept[word] = max(row[word] - D, 0) / total
    return [kept, 1 - sum(kept.values())]
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
    Rewrite(
        "mix",
        "from the longest down",
        """
def mix(estimates, weights, V):
    if not weights:
        return 1 / V
    rest = mix(estimates[:-1], weights[:-1], V)
    return rest + weights[-1] * (estimates[-1] - rest)
""",
    ),
    Rewrite(
        "kneser_ney",
        "written out",
        """
def kneser_ney(w, row, D, p_cont):
    total = sum(row.values())
    fallback = p_cont[w] if w in p_cont else 0
    if total == 0:
        return fallback
    return max(row.get(w, 0) - D, 0) / total + D * len(row) / total * fallback
""",
    ),
]
