"""Plausible wrong answers to notebook 02, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # next_from_book
    Mutant(
        "next_from_book",
        "not behind the context",
        " + len(context)",
        "",
        "begins; the answer stands after it",
    ),
    Mutant(
        "next_from_book",
        "always from the front",
        "book.find(context, start)",
        "book.find(context)",
        "at the front of the book each time",
    ),
    Mutant(
        "next_from_book",
        "one step on",
        "place + len(context)",
        "place + 1",
        "longer than one symbol",
    ),
    Mutant(
        "next_from_book", "the symbol before", "place + len(context)", "place - 1", "symbol before"
    ),
    Mutant(
        "next_from_book",
        "after start only",
        "find(context, start)",
        "find(context, start + 1)",
        "begins at start itself",
    ),
    Mutant(
        "next_from_book",
        "place below start",
        "place + len",
        "start + place + len",
        "counts from the front",
    ),
    Mutant(
        "next_from_book",
        "all that follows",
        "book[(place + len(context)) % len(book)]",
        "book[(place + len(context)) % len(book) :]",
        "one symbol, not all",
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
    # unseen_mass
    Mutant("unseen_mass", "over the kinds", "/ sum(counts.values())", "/ len(counts)", "more tok"),
    Mutant("unseen_mass", "what returns", "count == 1", "count > 1", "or one that recurs"),
    Mutant("unseen_mass", "a number", " / sum(counts.values())", "", "which share of all tokens"),
    Mutant(
        "unseen_mass", "the count 0", "count == 1", "count == 0", "each of counts.values() with"
    ),
    Mutant(
        "unseen_mass", "keys", "in counts.values()) /", "in counts) /", "each of counts.values()"
    ),
    Mutant(
        "unseen_mass",
        "rounded down",
        ") / sum",
        ") // sum",
        "divide with a single /",
    ),
    Mutant(
        "unseen_mass",
        "all kinds",
        "sum(count == 1 for count in counts.values())",
        "len(counts)",
        "only those that occur once",
    ),
    Mutant(
        "unseen_mass", "what was seen", "return sum", "return 1 - sum", "what the rest has seen"
    ),
    Mutant("unseen_mass", "per cent", "return sum", "return 100 * sum", "between 0 and 1"),
    # add_k
    Mutant("add_k", "once below", " + k * len(vocabulary)", " + k", "to the sum only once"),
    Mutant(
        "add_k", "V below", "k * len(vocabulary)", "len(vocabulary)", "of the vocabulary, not by"
    ),
    Mutant("add_k", "nothing below", " + k * len(vocabulary)", "", "divide by their old sum"),
    Mutant(
        "add_k", "for words seen", "k * len(vocabulary)", "k * len(row)", "for words that follow"
    ),
    Mutant(
        "add_k", "seen words alone", "for w in vocabulary}", "for w in row}", "go through the voc"
    ),
    Mutant("add_k", "always one", "    total", "    k = 1\n    total", "use the k that is given"),
    Mutant("add_k", "counts left", " / total", "", "divide by their sum"),
    Mutant(
        "add_k",
        "nothing added",
        "(row.get(w, 0) + k) / total",
        "row.get(w, 0) / sum(row.values())",
        "k does not occur",
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
    # mix
    Mutant("mix", "begins with 0", "p = 1 / V", "p = 0", "begin with 1/V"),
    Mutant(
        "mix",
        "the weights exchanged",
        "weight * estimate + (1 - weight) * p",
        "(1 - weight) * estimate + weight * p",
        "belongs to the longer context",
    ),
    Mutant(
        "mix",
        "a sum",
        "weight * estimate + (1 - weight) * p",
        "p + weight * estimate",
        "leave less to the shorter",
    ),
    Mutant(
        "mix",
        "from the longest",
        "zip(estimates, weights)",
        "zip(estimates[::-1], weights[::-1])",
        "The longest context speaks last",
    ),
    Mutant(
        "mix",
        "the longest alone",
        "zip(estimates, weights)",
        "zip(estimates[-1:], weights[-1:])",
        "use all of them",
    ),
    Mutant(
        "mix",
        "weights of everything",
        "    return p",
        "    rest = (1 - sum(weights)) / V\n"
        "    return sum(w * e for w, e in zip(weights, estimates)) + rest",
        "of what the longer ones leave",
    ),
    # discount
    Mutant("discount", "D itself", "D * len(row) / total", "D", "from several words"),
    Mutant(
        "discount", "for one word", "D * len(row) / total", "D / total", "for every different word"
    ),
    Mutant("discount", "not a share", "D * len(row) / total", "D * len(row)", "make it a share"),
    Mutant(
        "discount",
        "off the share",
        "(count - D) / total",
        "count / total - D",
        "before that is div",
    ),
    Mutant(
        "discount", "nothing taken", "(count - D) / total", "count / total", "take D off its count"
    ),
    Mutant("discount", "counts kept", "(count - D) / total", "count - D", "divide it by the total"),
    Mutant(
        "discount",
        "no brackets",
        "(count - D) / total",
        "count - D / total",
        "brackets around it",
    ),
    Mutant("discount", "one of two", "return kept, ", "return ", "Hand back both"),
    Mutant(
        "discount",
        "kept alone",
        "return kept, D * len(row) / total",
        "return kept",
        "Hand back both",
    ),
    Mutant(
        "discount",
        "the other order",
        "return kept, D * len(row) / total",
        "return D * len(row) / total, kept",
        "The dictionary comes first",
    ),
    Mutant(
        "discount",
        "what is left sums to 1",
        "total = sum(row.values())",
        "total = sum(row.values()) - D * len(row)",
        "as they were",
    ),
    # continuation
    Mutant(
        "continuation",
        "the first of the pair",
        "w for _, w in",
        "w for w, _ in",
        "by the first word",
    ),
    Mutant("continuation", "no shares", " / len(pairs)", "", "numbers of words before it"),
    Mutant(
        "continuation",
        "over the tokens",
        "len(pairs)",
        "sum(pairs.values())",
        "divide by how often all of",
    ),
    Mutant(
        "continuation",
        "over the words",
        "len(pairs)",
        "len(before)",
        "not by that of different words",
    ),
    Mutant(
        "continuation",
        "frequency",
        "before = Counter(w for _, w in pairs)",
        "before = Counter()\n    for (_, w), count in pairs.items():\n        before[w] += count",
        "how often a word occurs",
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
    # kneser_ney
    Mutant(
        "kneser_ney",
        "the mass is lost",
        " + mass * p_cont.get(w, 0)",
        "",
        "The mass that is freed is missing",
    ),
    Mutant(
        "kneser_ney",
        "P_cont as a whole",
        "mass * p_cont.get(w, 0)",
        "p_cont.get(w, 0)",
        "multiplied by the mass",
    ),
    Mutant(
        "kneser_ney",
        "the mass as a whole",
        "mass * p_cont.get(w, 0)",
        "mass",
        "shared out among all words",
    ),
    Mutant(
        "kneser_ney",
        "backs off instead",
        "kept.get(w, 0) + mass * p_cont.get(w, 0)",
        "kept[w] if w in kept else mass * p_cont.get(w, 0)",
        "gets its part of the freed mass as well",
    ),
    Mutant(
        "kneser_ney",
        "less than nothing",
        "kept.get(w, 0) +",
        "(row.get(w, 0) - D) / sum(row.values()) +",
        "it keeps 0, not less",
    ),
    Mutant(
        "kneser_ney",
        "D taken once",
        "kept, mass = discount(row, D)",
        "kept, mass = discount(row, D)[0], D / sum(row.values())",
        "more is freed than D over the total",
    ),
    Mutant(
        "kneser_ney",
        "an empty row",
        "if not row:",
        "if row is None:",
        "discount would divide by 0",
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
