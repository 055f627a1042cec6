"""Your turn with n-grams: a book that answers, what it never said, and how to make up for that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook02")
Row = Mapping[str, int]  # how often each symbol followed one context
Pairs = Mapping[tuple[str, str], int]  # how often each pair of neighbours occurred

BOOK = "THE OLD CAT ATE THE OLD HAT "
PHRASES = (
    "old pell rows · old pell sings · old pell sleeps · a cat or a dog · row or sing · salt or sand"
)


def _next_from_book(book: str, context: str, start: int) -> str:
    place = book.find(context, start)
    if place < 0:
        place = book.find(context)
    return book[(place + len(context)) % len(book)]


@turns.task(_next_from_book)
def next_from_book(trial: Trial) -> None:
    begins = "book.find(context, start) says where the context begins; the answer stands after it."
    slips = [
        (
            lambda book, context, start: book[book.find(context, start)],
            "That is where the context begins; the answer stands after it.",
        ),
        (
            lambda book, context, start: book[book.find(context) + len(context)],
            "You begin to read at the front of the book each time, not at start.",
        ),
        (
            lambda book, context, start: book[book.find(context, start) + 1],
            "A context may be longer than one symbol: how many steps is it to what follows it?",
        ),
        (
            lambda book, context, start: book[book.find(context, start) - 1],
            "That is the symbol before the context.",
        ),
        (
            lambda book, context, start: book[book.find(context, start + 1) + len(context)],
            "An occurrence that begins at start itself counts, too.",
        ),
        (
            lambda book, context, start: book[
                (start + book.find(context, start) + len(context)) % len(book)
            ],
            "What find returns counts from the front of the book, wherever it began to look.",
        ),
        (
            lambda book, context, start: book[book.find(context, start) + len(context) :],
            "Hand back one symbol, not all that follows.",
        ),
    ]
    for context, start in (("O", 0), ("T", 9), ("OLD", 5), ("T", 10), ("", 4)):
        rule = "the symbol after the context, reading on from start"
        given = f"{BOOK!r}, context {context!r}, start {start}"
        look = {"rule": rule, "hint": begins, "slips": slips, "given": given}
        trial.agrees(_next_from_book, BOOK, context, start, **look)
    given = f"{BOOK!r}, context 'C', start 20"
    around = "find gives -1 where there is nothing: then look again, from the front of the book."
    rule = "past the last occurrence, the book is read from the front"
    trial.agrees(_next_from_book, BOOK, "C", 20, rule=rule, hint=around, given=given)
    given = "'ABCA', context 'A', start 2"
    end = "Nothing stands after the last letter of the book; let its first one follow."
    rule = "after the last symbol of the book comes its first"
    trial.agrees(_next_from_book, "ABCA", "A", 2, rule=rule, hint=end, given=given)


def _unseen_mass(counts: Mapping) -> float:
    return sum(count == 1 for count in counts.values()) / sum(counts.values())


@turns.task(_unseen_mass)
def unseen_mass(trial: Trial) -> None:
    where = see(2, "What the table has never seen")
    hint = f"How many n-grams have the count 1, divided by the number of all tokens. {where}"
    slips = [
        (
            lambda c: 0,
            "0 came out: compare each of counts.values() with 1, and divide with a single /.",
        ),
        (
            lambda c: 100 * _unseen_mass(c),
            "A share lies between 0 and 1; per cent are made where it is printed.",
        ),
        (
            lambda c: sum(n == 1 for n in c.values()),
            "That is how many symbols occur once: which share of all tokens is it?",
        ),
        (
            lambda c: sum(n == 1 for n in c.values()) / len(c),
            "You divide by the number of different symbols; the text has more tokens than that.",
        ),
        (
            lambda c: len(c) / sum(c.values()),
            "You count all different n-grams; only those that occur once are new to the rest.",
        ),
        (
            lambda c: sum(n > 1 for n in c.values()) / sum(c.values()),
            "Which token is new to the rest of its text: one that occurs once, or one that recurs?",
        ),
        (lambda c: 1 - _unseen_mass(c), "That is the share of what the rest has seen."),
    ]
    text = ["the", "mouse", "ate", "the", "cheese"]
    look = {"hint": hint, "slips": slips}
    trial.agrees(
        _unseen_mass,
        Counter(text),
        rule="it gives what the pencil gives",
        given=f"counts of {' '.join(text)!r}",
        **look,
    )
    drawn = Counter(pairwise(trial.text(60, "abcdefgh")))
    trial.agrees(
        _unseen_mass,
        drawn,
        rule="it is right for pairs, too",
        given="counts of random pairs",
        **look,
    )


def _add_k(row: Row, vocabulary: Collection[str], k: float) -> dict[str, float]:
    total = sum(row.values()) + k * len(vocabulary)
    return {w: (row.get(w, 0) + k) / total for w in vocabulary}


@turns.task(_add_k)
def add_k(trial: Trial) -> None:
    hint = (
        "Every word of the vocabulary gets k more, so the sum grows by k times how many there are."
    )
    slips = [
        (
            lambda row, words, k: {w: row.get(w, 0) / sum(row.values()) for w in words},
            "That is maximum likelihood: k does not occur in it.",
        ),
        (
            lambda row, words, k: {w: (row.get(w, 0) + k) / sum(row.values()) for w in words},
            "k is added to the counts, but you divide by their old sum: what is it now?",
        ),
        (
            lambda row, words, k: {w: (row.get(w, 0) + k) / (sum(row.values()) + k) for w in words},
            "k is added to every word, and to the sum only once: what is the sum now?",
        ),
        (
            lambda row, words, k: {
                w: (row.get(w, 0) + k) / (sum(row.values()) + k * len(row)) for w in words
            },
            "The sum grows for words that followed only, but every word of the vocabulary gets k.",
        ),
        (
            lambda row, words, k: {
                w: (row.get(w, 0) + k) / (sum(row.values()) + len(words)) for w in words
            },
            "The sum grows by k for each word of the vocabulary, not by 1.",
        ),
        (
            lambda row, words, k: {w: row.get(w, 0) + k for w in words},
            "These are counts with k added: divide by their sum.",
        ),
        (
            lambda row, words, k: {w: p for w, p in _add_k(row, words, k).items() if w in row},
            "Words that never followed get something too: go through the vocabulary.",
        ),
        (lambda row, words, k: _add_k(row, words, 1.0), "That is k = 1: use the k that is given."),
    ]
    row, words = Counter({"PELL": 3, "MAN": 1}), ["PELL", "MAN", "NET", "SEA"]
    for k in (1.0, 0.1):
        given = f"{dict(row)}, vocabulary {words}, k = {k}"
        trial.agrees(
            _add_k,
            row,
            words,
            k,
            rule="it gives what the pencil gives",
            hint=hint,
            slips=slips,
            given=given,
        )
    given = f"nothing was counted, vocabulary {words}, k = 0.5"
    even = "Where nothing was counted, only the k are left: all words are alike."
    trial.agrees(
        _add_k,
        Counter(),
        words,
        0.5,
        rule="after a context never seen all are alike",
        hint=even,
        given=given,
    )
    drawn, k = Counter(trial.text(30, "abcdef")), trial.integer(1, 30) / 10
    given = f"random counts of a to f, vocabulary a to h, k = {k}"
    shares = trial.call(drawn, list("abcdefgh"), k, given=given, hint=hint)
    trial.equals(sum(shares.values()), 1.0, "it sums to 1", hint, given=given)


def _mix(estimates: Sequence[float], weights: Sequence[float], V: int) -> float:
    p = 1 / V
    for estimate, weight in zip(estimates, weights, strict=True):
        p = weight * estimate + (1 - weight) * p
    return p


@turns.task(_mix)
def mix(trial: Trial) -> None:
    hint = (
        "Begin with 1/V. Each longer context takes its share, and leaves the rest to what you have."
    )

    def once(estimates: Sequence[float], weights: Sequence[float], V: int) -> float:
        return sum(e * w for e, w in zip(estimates, weights, strict=True)) / len(weights)

    slips = [
        (
            lambda e, w, V: _mix(e, w, V) - math.prod(1 - x for x in w) / V,
            "What no context takes belongs to the uniform distribution: begin with 1/V, not 0.",
        ),
        (
            lambda e, w, V: _mix(e[::-1], w[::-1], V),
            "The longest context speaks last: go through the lists from the shortest one on.",
        ),
        (
            lambda e, w, V: _mix(e, [1 - x for x in w], V),
            "The weight belongs to the longer context, and 1 - weight to the mixture so far.",
        ),
        (
            lambda e, w, V: 1 / V + sum(x * y for x, y in zip(e, w, strict=True)),
            "Each longer context must also leave less to the shorter ones: multiply by 1 - weight.",
        ),
        (
            lambda e, w, V: _mix(e[-1:], w[-1:], V),
            "Only the longest context was mixed with the uniform distribution: use all of them.",
        ),
        (
            lambda e, w, V: sum(x * y for x, y in zip(e, w, strict=True)) + (1 - sum(w)) / V,
            "A shorter context gets its weight of what the longer ones leave, not of everything.",
        ),
        (once, "The weights are not those of a mean: each divides what is left by the next one."),
    ]
    look = {"hint": hint, "slips": slips}
    rule = "it gives what the pencil gives"
    trial.agrees(_mix, [0.1, 0.6], [0.5, 0.5], 4, rule=rule, **look)
    n = trial.integer(2, 6)
    drawn = torch.rand(2, n, generator=trial.generator, dtype=torch.double).tolist()
    trial.agrees(_mix, *drawn, 10, rule="it is right for any weights", **look)
    rule = "without any context it is uniform"
    trial.agrees(_mix, [], [], 4, rule=rule, hint="Begin with 1/V, before the loop.")


def _discount(row: Row, D: float) -> tuple[dict[str, float], float]:
    total = sum(row.values())
    return {w: (count - D) / total for w, count in row.items()}, D * len(row) / total


@turns.task(_discount)
def discount(trial: Trial) -> None:
    hint = "D comes off the count of every word that was seen; what is freed is D for each of them."

    def mass(row: Row, D: float) -> float:
        return _discount(row, D)[1]

    def kept(share):
        """A slip in what a word keeps: of its count, D and the total, with the right mass."""
        return lambda row, D: (
            {w: share(count, D, sum(row.values())) for w, count in row.items()},
            mass(row, D),
        )

    def freed(slip):
        return lambda row, D: (_discount(row, D)[0], slip(row, D))

    def summing_to_one(freed):
        def slip(row: Row, D: float) -> tuple[dict[str, float], float]:
            shares, _ = _discount(row, D)
            return {w: p / sum(shares.values()) for w, p in shares.items()}, freed(row, D)

        return slip

    both = "Hand back both: return kept, mass."
    off = "D is taken off the count, before that is divided by the total."
    total = "Divide by the total of the counts as they were: what D takes off shall be missing."
    slips = [
        (lambda row, D: _discount(row, D)[0], both),
        (mass, both),
        (lambda row, D: _discount(row, D)[::-1], "The dictionary comes first, then the mass."),
        (
            freed(lambda row, D: D),
            "The mass is a share of this context's total, and D was taken from several words.",
        ),
        (
            freed(lambda row, D: D / sum(row.values())),
            "D was taken off once for every different word: the mass is that many times as large.",
        ),
        (
            freed(lambda row, D: D * len(row)),
            "That is how much comes off the counts: divide it by the total to make it a share.",
        ),
        (
            kept(lambda count, D, n: count / n),
            "Every word keeps all that it had, and yet something is freed: take D off its count.",
        ),
        (
            kept(lambda count, D, n: count - D),
            "What a word keeps is a share: divide it by the total.",
        ),
        (kept(lambda count, D, n: count / n - D), off),
        (kept(lambda count, D, n: count - D / n), f"{off} Are there brackets around it?"),
        (summing_to_one(mass), total),
        (summing_to_one(lambda row, D: D * len(row) / (sum(row.values()) - D * len(row))), total),
    ]
    row = Counter({"PELL": 6, "MAN": 3, "NET": 1})
    given = f"{dict(row)}, D = 0.5"
    trial.agrees(
        _discount,
        row,
        0.5,
        rule="it gives what the pencil gives",
        hint=hint,
        slips=slips,
        given=given,
    )
    row, D = Counter(trial.text(40, "abcdef")), trial.integer(2, 9) / 10
    given = f"random counts, D = {D}"
    trial.agrees(
        _discount, row, D, rule="it is right for any counts", hint=hint, slips=slips, given=given
    )
    shares, left = trial.call(Counter(trial.text(9, "abc")), D, given=given, hint=hint)
    rule = "what is kept and what is freed sum to 1"
    trial.equals(sum(shares.values()) + left, 1.0, rule, hint, given=given)


def _continuation(pairs: Pairs) -> dict[str, float]:
    before = Counter(w for _, w in pairs)
    return {w: count / len(pairs) for w, count in before.items()}


@turns.task(_continuation)
def continuation(trial: Trial) -> None:
    hint = "Each different pair counts once, for its second word, however often it occurred."

    def frequency(pairs: Pairs) -> dict[str, float]:
        after: Counter = Counter()
        for (_, w), count in pairs.items():
            after[w] += count
        return {w: count / sum(after.values()) for w, count in after.items()}

    def fan_out(pairs: Pairs) -> dict[str, float]:
        after = Counter(v for v, _ in pairs)
        return {v: count / len(pairs) for v, count in after.items()}

    def times(factor, shares):
        return lambda pairs: {w: factor(pairs) * p for w, p in shares(pairs).items()}

    often = "That is how often a word occurs: let every different pair count once only."
    second = "You count by the first word of a pair; ask what a word comes *after*."
    slips = [
        (frequency, often),
        (times(lambda pairs: sum(pairs.values()), frequency), often),
        (times(lambda pairs: sum(pairs.values()) / len(pairs), frequency), often),
        (fan_out, second),
        (times(len, fan_out), second),
        (
            times(len, _continuation),
            "These are numbers of words before it: divide by the number of different pairs.",
        ),
        (
            times(lambda pairs: len(pairs) / sum(pairs.values()), _continuation),
            "You count a pair once, and divide by how often all of them occurred.",
        ),
        (
            times(lambda pairs: len(pairs) / len({w for _, w in pairs}), _continuation),
            "Divide by the number of different pairs, not by that of different words.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    pairs = Counter(pair for phrase in PHRASES.split(" · ") for pair in pairwise(phrase.split()))
    given = f"pairs of {PHRASES!r}"
    trial.agrees(_continuation, pairs, rule="it gives what the pencil gives", given=given, **look)
    drawn = Counter(pairwise(trial.text(80, "abcde")))
    trial.agrees(
        _continuation, drawn, rule="it is right for any pairs", given="random pairs", **look
    )
    shares = trial.call(Counter(pairwise(trial.text(30, "abc"))), given="random pairs", hint=hint)
    trial.equals(sum(shares.values()), 1.0, "it sums to 1", hint, given="random pairs")


def _kneser_ney(w: str, row: Row, D: float, p_cont: Mapping[str, float]) -> float:
    if not row:
        return p_cont.get(w, 0)
    kept, mass = _discount(row, D)
    return kept.get(w, 0) + mass * p_cont.get(w, 0)


@turns.task(_kneser_ney)
def kneser_ney(trial: Trial) -> None:
    hint = "What w keeps, if it was seen here, plus the mass that is freed times P_cont of w."
    slips = [
        (
            lambda w, row, D, p: _discount(row, D)[0][w] if w in row else _kneser_ney(w, row, D, p),
            "A word that was seen here gets its part of the freed mass as well.",
        ),
        (
            lambda w, row, D, p: _discount(row, D)[0].get(w, 0) + p.get(w, 0),
            "P_cont as a whole is added; it is to be multiplied by the mass that is freed.",
        ),
        (
            lambda w, row, D, p: _kneser_ney(w, row, D, {}),
            "The mass that is freed is missing: it goes to every word, times its P_cont.",
        ),
        (
            lambda w, row, D, p: _kneser_ney(w, row, D, p) if w in row else p.get(w, 0),
            "P_cont gets only the mass that is freed, also for a word that was not seen here.",
        ),
        (
            lambda w, row, D, p: _discount(row, D)[0].get(w, 0) + _discount(row, D)[1],
            "The freed mass is shared out among all words: multiply it by P_cont of w.",
        ),
        (
            lambda w, row, D, p: (
                (row.get(w, 0) - D) / sum(row.values()) + _discount(row, D)[1] * p.get(w, 0)
            ),
            "From a word that was never seen here, nothing can be taken: it keeps 0, not less.",
        ),
        (
            lambda w, row, D, p: (
                _discount(row, D)[0].get(w, 0) + D / sum(row.values()) * p.get(w, 0)
            ),
            "D was taken off every different word, so more is freed than D over the total.",
        ),
        (
            lambda w, row, D, p: row.get(w, 0) / sum(row.values()) + _discount(row, D)[1] * p[w],
            "Nothing was taken off the count of w: discount gives what it keeps.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    row, p_cont = Counter({"PELL": 6, "MAN": 3, "NET": 1}), {"PELL": 0.1, "MAN": 0.3, "OR": 0.6}
    for w in ("OR", "PELL", "NET", "SEA"):  # first one that was not seen here
        given = f"w = {w!r}, row {dict(row)}, D = 0.5, p_cont {p_cont}"
        rule = "it gives what the pencil gives"
        trial.agrees(_kneser_ney, w, row, 0.5, p_cont, rule=rule, given=given, **look)
    empty = "discount would divide by 0: where the row is empty, P_cont is all there is."
    given = f"w = 'OR', an empty row, D = 0.5, p_cont {p_cont}"
    rule = "after a word that nothing followed, P_cont is left"
    trial.agrees(_kneser_ney, "OR", Counter(), 0.5, p_cont, rule=rule, hint=empty, given=given)
    pairs = Counter(pairwise(trial.text(200, "abcd")))
    p_cont = _continuation(pairs)
    row = Counter({w: count for (v, w), count in pairs.items() if v == "a"})
    given = "random counts"
    total = sum(trial.call(w, row, 0.7, p_cont, given=given, hint=hint) for w in p_cont)
    trial.equals(total, 1.0, "it sums to 1", hint, given=given)
