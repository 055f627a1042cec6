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


def at_points(answer, row, points):
    return [answer(row, u) for u in points]


def points(draw):
    yield Case(PENCIL, Counter({"S": 1, " ": 5, "E": 1}), [0.0, 0.5, 0.8, 0.95])
    counts = Counter({letter: draw.integer(1, 9) for letter in "dacb"})
    length = sum(counts.values())
    yield Case(
        "it is right for any row and any point",
        *(counts, [(i + 0.5) / length for i in range(length)]),
    )
    parts = {"a": 2.25, "b": 0.25, "c": 1.5}
    yield Case("stretches need not be whole numbers", parts, [0.55, 0.6, 0.65])


@turn(
    turns,
    "The point is at u times the sum of the counts. Go through the row, and take off each "
    "stretch that ends before the point.",
    cases=points,
    call=at_points,
    slips="""
    u * sum(row.values()) => u
        u lies between 0 and 1: where on a line as long as the sum of the counts is the point?
    rest -= count => pass
        Behind a stretch that ends before the point, only the rest of the way is left.
    return symbol => return count
        Hand back the symbol whose stretch it is, not how long that is.
    return max(row, key=row.get)
        That is the most frequent symbol; the point may fall into another stretch.
    return list(row)[int(u * len(row))]
        So all symbols have stretches of the same length: theirs are their counts.
    """,
)
def draw(row, u):
    """The symbol in whose stretch the point u falls, with u between 0 and 1."""
    rest = u * sum(row.values())
    for symbol, count in row.items():
        if rest < count:
            return symbol
        rest -= count


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
