"""Your turn with n-grams: a book that answers, what it never said, and how to make up for that."""

from collections import Counter, defaultdict
from itertools import pairwise

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook02")

PHRASES = (
    "old pell rows · old pell sings · old pell sleeps · a cat or a dog · row or sing · salt or sand"
)
PENCIL = "it gives what the pencil gives"


def texts_to_count(draw):
    yield Case(PENCIL, "THE MOUSE ATE THE CHEESE ", 2)
    yield Case("it counts lists of words, too", ["to", "be", "or", "not", "to", "be", "or"], 3)
    yield Case("with n = 1 the context is empty", "ABAC", 1)
    yield Case("it is right for any text", draw.text(40, "abc"), 4)


@turn(
    turns,
    "tokens[i - n + 1 : i] are the n - 1 tokens before position i: make a tuple of them.",
    cases=texts_to_count,
    slips="""
    tuple(tokens[i - n + 1 : i]) => tokens[i - n + 1 : i]
        The context must be a tuple, so that a list of words can be counted as well.
    range(n - 1, len(tokens)) => range(n, len(tokens))
        The first n-gram begins with the first token: its last one is at position n - 1.
    range(n - 1, len(tokens)) => range(n - 1, len(tokens) - 1)
        The last n-gram ends with the last token; you stop before it.
    i - n + 1 : i => i - n : i
        An n-gram has n tokens in all, so its context has n - 1.
    += 1 => = 1
        Make one more mark each time that the n-gram occurs.
    """,
)
def count_followers(tokens, n):
    """What followed each context of n - 1 tokens, and how often: context -> Counter of tokens."""
    table = defaultdict(Counter)
    for i in range(n - 1, len(tokens)):
        table[tuple(tokens[i - n + 1 : i])][tokens[i]] += 1
    return table


def texts(draw):
    text = "the mouse ate the cheese"
    yield Case(PENCIL, Counter(text.split()), given=f"counts of {text!r}")
    drawn = Counter(pairwise(draw.text(60, "abcdefgh")))
    yield Case("it is right for pairs, too", drawn, given="counts of random pairs")


@turn(
    turns,
    "How many n-grams have the count 1, divided by the number of all tokens. "
    + see(2, "What the table has never seen"),
    cases=texts,
    slips="""
    / sum(counts.values()) =>
        That is how many symbols occur once: which share of all tokens is it?
    / sum(counts.values()) => / len(counts)
        You divide by the number of different symbols; the text has more tokens than that.
    sum(count == 1 for count in counts.values()) => len(counts)
        You count all different n-grams; only those that occur once are new to the rest.
    count == 1 => count > 1
        Which token is new to the rest of its text: one that occurs once, or one that recurs?
    """,
)
def unseen_mass(counts):
    """The Good-Turing estimate of the share of new text that was never seen."""
    return sum(count == 1 for count in counts.values()) / sum(counts.values())


def at_words(answer, row, D, shorter):
    """P(w | h) for all words w, so that they can be summed."""
    return {w: answer(w, row, D, lower) for w, lower in shorter.items()}


def contexts(draw):
    row = Counter({"PELL": 6, "MAN": 3, "NET": 1})
    yield Case(PENCIL, row, 0.5, {"NET": 0.2})
    yield Case("so it is for a word that was not seen after h", row, 0.5, {"SEA": 0.2})
    empty = "Where the row is empty, nothing can be divided by its sum: only lower is left."
    yield Case(
        "after a context never seen, lower is left", Counter(), 0.5, {"SEA": 0.2}, hint=empty
    )
    row = Counter(draw.text(20, "abcdef"))
    yield Case("over all words it sums to 1", row, 0.75, dict.fromkeys("abcdefgh", 1 / 8))
    yield Case(
        "it is right for D = 1", row, 1.0, {w: (i + 1) / 36 for i, w in enumerate("abcdefgh")}
    )


@turn(
    turns,
    "Two parts: what w keeps, its count less D but never less than 0; and lower, times D for each "
    "different word in the row. Both are divided by the sum of the row.",
    cases=contexts,
    call=at_words,
    slips="""
    max(row.get(w, 0) - D, 0) => row.get(w, 0) - D
        A word that was not seen after h has nothing to give: it keeps 0, not minus D.
    D * len(row) / total * lower => D / total * lower
        D is taken off the count of each different word in the row, not once.
    D * len(row) / total * lower => D * len(row) / total
        What is handed down is shared out among all words: w gets its part, by lower.
    D * len(row) / total * lower => D * total / total * lower
        D is taken off once for each different word, not for each time that it occurred.
    return kept + D * len(row) / total * lower => return kept or D * len(row) / total * lower
        A word that was seen after h gets its part of what is handed down as well.
    """,
)
def absolute_discounting(w, row, D, lower):
    """P(w | h): what w keeps of its count after h, and its part of what h hands down."""
    if not row:
        return lower
    total = sum(row.values())
    kept = max(row.get(w, 0) - D, 0) / total
    return kept + D * len(row) / total * lower


def pairs_of_neighbours(draw):
    pairs = Counter(pair for phrase in PHRASES.split(" · ") for pair in pairwise(phrase.split()))
    yield Case(PENCIL, pairs, given=f"pairs of {PHRASES!r}")
    for length, letters in ((80, "abcde"), (30, "abc")):
        drawn = Counter(pairwise(draw.text(length, letters)))
        yield Case("it is right for any pairs, and sums to 1", drawn, given="random pairs")


@turn(
    turns,
    "Each different pair counts once, for its second word, however often it occurred.",
    cases=pairs_of_neighbours,
    slips="""
    w for _, w in pairs => w for (_, w), n in pairs.items() for _ in range(n)
        That is how often a word occurs: let every different pair count once only.
    w for _, w in pairs => w for w, _ in pairs
        You count by the first word of a pair; ask what a word comes *after*.
    / len(pairs) =>
        These are numbers of words before it: divide by the number of different pairs.
    len(pairs) => sum(pairs.values())
        You count a pair once, and divide by how often all of them occurred.
    len(pairs) => len(before)
        Divide by the number of different pairs, not by that of different words.
    """,
)
def continuation(pairs):
    """P_cont(w) for every word w that is the second of some pair."""
    before = Counter(w for _, w in pairs)
    return {w: count / len(pairs) for w, count in before.items()}
