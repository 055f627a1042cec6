"""Your turn with n-grams: a book that answers, what it never said, and how to make up for that."""

from collections import Counter
from itertools import pairwise

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook02")

BOOK = "THE OLD CAT ATE THE OLD HAT "
PHRASES = (
    "old pell rows · old pell sings · old pell sleeps · a cat or a dog · row or sing · salt or sand"
)
PENCIL = "it gives what the pencil gives"


def places(draw):
    for context, start in (("O", 0), ("T", 9), ("OLD", 5), ("T", 10), ("", 4)):
        yield Case("the symbol after the context, reading on from start", BOOK, context, start)
    around = "find gives -1 where there is nothing: then look again, from the front of the book."
    rule = "past the last occurrence, the book is read from the front"
    yield Case(rule, BOOK, "C", 21, hint=around)
    end = "Nothing stands after the last letter of the book; let its first one follow."
    yield Case("after the last symbol of the book comes its first", "ABCA", "A", 2, hint=end)


@turn(
    turns,
    "book.find(context, start) says where the context begins; the answer stands after it.",
    cases=places,
    slips="""
    + len(context) =>
        That is where the context begins; the answer stands after it.
    book.find(context, start) => book.find(context)
        You begin to read at the front of the book each time, not at start.
    place + len(context) => place + 1
        A context may be longer than one symbol: how many steps is it to what follows it?
    find(context, start) => find(context, start + 1)
        An occurrence that begins at start itself counts, too.
    place + len => start + place + len
        What find returns counts from the front of the book, wherever it began to look.
    % len(book)] => % len(book) :]
        Hand back one symbol, not all that follows.
    """,
)
def next_from_book(book, context, start):
    """The symbol after the first occurrence of context at or after start, going round."""
    place = book.find(context, start)
    if place < 0:
        place = book.find(context)
    return book[(place + len(context)) % len(book)]


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
    return 0
        0 came out: compare each of counts.values() with 1, and divide with a single /.
    return sum => return 100 * sum
        A share lies between 0 and 1; per cent are made where it is printed.
    / sum(counts.values()) =>
        That is how many symbols occur once: which share of all tokens is it?
    / sum(counts.values()) => / len(counts)
        You divide by the number of different symbols; the text has more tokens than that.
    sum(count == 1 for count in counts.values()) => len(counts)
        You count all different n-grams; only those that occur once are new to the rest.
    count == 1 => count > 1
        Which token is new to the rest of its text: one that occurs once, or one that recurs?
    return sum => return 1 - sum
        That is the share of what the rest has seen.
    """,
)
def unseen_mass(counts):
    """The Good-Turing estimate of the share of new text that was never seen."""
    return sum(count == 1 for count in counts.values()) / sum(counts.values())


def rows(draw):
    row, words = Counter({"PELL": 3, "MAN": 1}), ["PELL", "MAN", "NET", "SEA"]
    for k in (1.0, 0.1):
        yield Case(PENCIL, row, words, k)
    yield Case(
        "after a context never seen all are alike",
        *(Counter(), words, 0.5),
        hint="Where nothing was counted, only the k are left: all words are alike.",
    )
    drawn, k = Counter(draw.text(30, "abcdef")), draw.integer(1, 30) / 10
    yield Case("it is right for any counts, and sums to 1", drawn, list("abcdefgh"), k)


@turn(
    turns,
    "Every word of the vocabulary gets k more, so the sum grows by k times how many there are.",
    cases=rows,
    slips="""
    return {w: row.get(w, 0) / sum(row.values()) for w in vocabulary}
        That is maximum likelihood: k does not occur in it.
    + k * len(vocabulary) =>
        k is added to the counts, but you divide by their old sum: what is it now?
    k * len(vocabulary) => k
        k is added to every word, and to the sum only once: what is the sum now?
    len(vocabulary) => len(row)
        The sum grows for words that followed only, but every word of the vocabulary gets k.
    k * len(vocabulary) => len(vocabulary)
        The sum grows by k for each word of the vocabulary, not by 1.
    / total =>
        These are counts with k added: divide by their sum.
    for w in vocabulary => for w in row
        Words that never followed get something too: go through the vocabulary.
    return add_k(row, vocabulary, 1.0)
        That is k = 1: use the k that is given.
    """,
)
def add_k(row, vocabulary, k):
    """P(w | h) for every w in vocabulary, from the counts of what followed h."""
    total = sum(row.values()) + k * len(vocabulary)
    return {w: (row.get(w, 0) + k) / total for w in vocabulary}


def mixtures(draw):
    yield Case(PENCIL, [0.1, 0.6], [0.5, 0.5], 4)
    drawn = torch.rand(2, draw.integer(2, 6), generator=draw.generator, dtype=torch.double)
    yield Case("it is right for any weights", *drawn.tolist(), 10)
    rule = "without any context it is uniform"
    yield Case(rule, [], [], 4, hint="Begin with 1/V, before the loop.")


@turn(
    turns,
    "Begin with 1/V. Each longer context takes its share, and leaves the rest to what you have.",
    cases=mixtures,
    slips="""
    p = 1 / V => p = 0
        What no context takes belongs to the uniform distribution: begin with 1/V, not 0.
    zip(estimates, weights) => zip(estimates[::-1], weights[::-1])
        The longest context speaks last: go through the lists from the shortest one on.
    weight * estimate + (1 - weight) * p => (1 - weight) * estimate + weight * p
        The weight belongs to the longer context, and 1 - weight to the mixture so far.
    weight * estimate + (1 - weight) * p => weight * estimate + p
        Each longer context must also leave less to the shorter ones: multiply by 1 - weight.
    zip(estimates, weights) => zip(estimates[-1:], weights[-1:])
        Only the longest context was mixed with the uniform distribution: use all of them.
    return sum(w * e for w, e in zip(weights, estimates)) + (1 - sum(weights)) / V
        A shorter context gets its weight of what the longer ones leave, not of everything.
    return sum(w * e for w, e in zip(weights, estimates)) / len(weights)
        The weights are not those of a mean: each divides what is left by the next one.
    """,
)
def mix(estimates, weights, V):
    """P(w | h) by interpolation, from the shortest context to the longest."""
    p = 1 / V
    for estimate, weight in zip(estimates, weights):
        p = weight * estimate + (1 - weight) * p
    return p


def discounts(draw):
    yield Case(PENCIL, Counter({"PELL": 6, "MAN": 3, "NET": 1}), 0.5)
    for length, letters in ((40, "abcdef"), (9, "abc")):
        row, D = Counter(draw.text(length, letters)), draw.integer(2, 9) / 10
        yield Case("it is right for any counts: what is kept and freed sums to 1", row, D)


@turn(
    turns,
    "D comes off the count of every word that was seen; what is freed is D for each of them.",
    cases=discounts,
    slips="""
    return kept, D * len(row) / total => return kept
    return kept, D * len(row) / total => return D * len(row) / total
        Hand back both: return kept, mass.
    return kept, D * len(row) / total => return D * len(row) / total, kept
        The dictionary comes first, then the mass.
    D * len(row) / total => D
        The mass is a share of this context's total, and D was taken from several words.
    * len(row) / total => / total
        D was taken off once for every different word: the mass is that many times as large.
    * len(row) / total => * len(row)
        That is how much comes off the counts: divide it by the total to make it a share.
    (count - D) / total => count / total
        Every word keeps all that it had, and yet something is freed: take D off its count.
    (count - D) / total => count - D
        What a word keeps is a share: divide it by the total.
    (count - D) / total => count / total - D
    (count - D) / total => count - D / total
        D is taken off the count, before that is divided by the total. Are there brackets around it?
    sum(row.values()) => sum(row.values()) - D * len(row)
    (count - D) / total => (count - D) / (total - D * len(row))
        Divide by the total of the counts as they were: what D takes off shall be missing.
    """,
)
def discount(row, D):
    """(kept, mass): what every word that was seen keeps, and what is freed in all."""
    total = sum(row.values())
    kept = {w: (count - D) / total for w, count in row.items()}
    return kept, D * len(row) / total


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
    tokens = [w for _, w in Counter(pairs).elements()]; \
    return {w: n / len(tokens) for w, n in Counter(tokens).items()}
    return dict(Counter(w for _, w in Counter(pairs).elements()))
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


def words_after(draw):
    row, p_cont = Counter({"PELL": 6, "MAN": 3, "NET": 1}), {"PELL": 0.1, "MAN": 0.3, "OR": 0.6}
    for w in ("OR", "PELL", "NET", "SEA"):  # first one that was not seen here
        yield Case(PENCIL, w, row, 0.5, p_cont)
    yield Case(
        "after a word that nothing followed, P_cont is left",
        *("OR", Counter(), 0.5, p_cont),
        hint="discount would divide by 0: where the row is empty, P_cont is all there is.",
    )
    pairs = Counter(pairwise(draw.text(200, "abcd")))
    p_cont = continuation.fallback(pairs)
    row = Counter({w: count for (v, w), count in pairs.items() if v == "a"})
    for w in p_cont:
        yield Case("it is right for any word", w, row, 0.7, p_cont)


@turn(
    turns,
    "What w keeps, if it was seen here, plus the mass that is freed times P_cont of w.",
    cases=words_after,
    slips="""
    kept.get(w, 0) + mass => kept[w] if w in kept else mass
        A word that was seen here gets its part of the freed mass as well.
    + mass * p_cont.get => + p_cont.get
    return kept.get(w, 0) + mass * => return kept[w] + mass * p_cont[w] if w in kept else
        P_cont is there as a whole; it is to be multiplied by the mass that is freed, also for a
        word that was not seen here.
    + mass * p_cont.get(w, 0) =>
        The mass that is freed is missing: it goes to every word, times its P_cont.
    + mass * p_cont.get(w, 0) => + mass
        The freed mass is shared out among all words: multiply it by P_cont of w.
    kept.get(w, 0) => (row.get(w, 0) - D) / sum(row.values())
        From a word that was never seen here, nothing can be taken: it keeps 0, not less.
    discount(row, D) => discount(row, D)[0], D / sum(row.values())
        D was taken off every different word, so more is freed than D over the total.
    kept.get(w, 0) => row.get(w, 0) / sum(row.values())
        Nothing was taken off the count of w: discount gives what it keeps.
    """,
)
def kneser_ney(w, row, D, p_cont):
    """P(w | v) by interpolated Kneser-Ney, from the row of v and the continuation probabilities."""
    if not row:
        return p_cont.get(w, 0)
    kept, mass = discount(row, D)
    return kept.get(w, 0) + mass * p_cont.get(w, 0)
