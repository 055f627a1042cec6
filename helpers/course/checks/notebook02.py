"""Your turn with n-grams: a book that answers, what it has never seen, how to make up for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook02")
Row = Mapping[str, int]  # how often each symbol followed one context
Pairs = Mapping[tuple[str, str], int]  # how often each pair of neighbours occurred

BOOK = "THE OLD CAT ATE THE OLD HAT "


def _next_from_book(book: str, context: str, start: int) -> str:
    place = book.find(context, start)
    if place < 0:
        place = book.find(context)
    return book[(place + len(context)) % len(book)]


@turns.task(_next_from_book)
def next_from_book(trial: Trial) -> None:
    begins = "book.find(context, start) says where the context begins; the answer stands after it."
    slips = [
        (lambda book, context, start: book[book.find(context, start)], begins),
        (
            lambda book, context, start: book[book.find(context) + len(context)],
            "You begin to read at the front of the book each time, not at start.",
        ),
    ]
    for context, start in (("O", 0), ("T", 9), ("OLD", 5), ("", 4)):
        rule = "the symbol after the context, reading on from start"
        given = f"{BOOK!r}, context {context!r}, start {start}"
        look = {"rule": rule, "hint": begins, "slips": slips, "given": given}
        trial.agrees(_next_from_book, BOOK, context, start, **look)
    given = f"{BOOK!r}, context 'C', start 20"
    around = "find gives -1 where there is nothing: then read from the front of the book."
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
    hint = f"Above: how many have the count 1. Below: all tokens. {see(2, 'What the table has never seen')}"
    slips = [
        (
            lambda counts: sum(c == 1 for c in counts.values()) / len(counts),
            "You divide by the number of different symbols; the text has more tokens than that.",
        ),
        (
            lambda counts: sum(c > 1 for c in counts.values()) / sum(counts.values()),
            "Which token is new to the rest of its text: one that occurs once, or one that returns?",
        ),
        (lambda counts: sum(c == 1 for c in counts.values()), "A share lies between 0 and 1."),
    ]
    by_hand = Counter("the mouse ate the cheese".split())
    trial.agrees(
        _unseen_mass, by_hand, rule="by hand", hint=hint, slips=slips, given=str(dict(by_hand))
    )
    drawn = Counter(pairwise(trial.text(60, "abcdefgh")))
    trial.agrees(
        _unseen_mass, drawn, rule="pairs too", hint=hint, slips=slips, given="random pairs"
    )


def _add_k(row: Row, vocabulary: Collection[str], k: float) -> dict[str, float]:
    total = sum(row.values()) + k * len(vocabulary)
    return {w: (row.get(w, 0) + k) / total for w in vocabulary}


@turns.task(_add_k)
def add_k(trial: Trial) -> None:
    hint = "Every word of the vocabulary gets k more, so the sum below grows by k times how many."
    slips = [
        (
            lambda row, words, k: {w: (row.get(w, 0) + k) / (sum(row.values()) + k) for w in words},
            "k is added once below, but above it is added for every word: what is the sum?",
        ),
        (
            lambda row, words, k: {
                w: (c + k) / (sum(row.values()) + k * len(words)) for w, c in row.items()
            },
            "Words that never followed get something too: go through the vocabulary.",
        ),
        (
            lambda row, words, k: {w: row.get(w, 0) / sum(row.values()) for w in words},
            "That is maximum likelihood: k does not occur in it.",
        ),
    ]
    row, words = Counter({"PELL": 3, "MAN": 1}), ["PELL", "MAN", "NET", "SEA"]
    for k in (1.0, 0.1):
        given = f"{dict(row)}, vocabulary {words}, k = {k}"
        trial.agrees(_add_k, row, words, k, rule="by hand", hint=hint, slips=slips, given=given)
    given = f"nothing was counted, vocabulary {words}, k = 0.5"
    even = "Where nothing was counted, only the k are left: all words are alike."
    trial.agrees(_add_k, Counter(), words, 0.5, rule="a context never seen", hint=even, given=given)
    trial.equals(sum(trial.value.values()), 1.0, "it sums to 1", hint)


def _discount(row: Row, D: float) -> tuple[dict[str, float], float]:
    total = sum(row.values())
    return {w: (count - D) / total for w, count in row.items()}, D * len(row) / total


@turns.task(_discount)
def discount(trial: Trial) -> None:
    hint = "D comes off the count of every word that was seen; what is freed is D for each of them."
    slips = [
        (
            lambda row, D: (_discount(row, D)[0], D),
            "The mass is a share of this context's total, and D was taken from several words.",
        ),
        (
            lambda row, D: (_discount(row, D)[0], D / sum(row.values())),
            "D was taken off once for every different word, so the mass is that many times as large.",
        ),
        (
            lambda row, D: ({w: c / sum(row.values()) - D for w, c in row.items()}, D * len(row)),
            "D is taken off the count, before it is divided by the total.",
        ),
        (
            lambda row, D: (_discount(row, D)[0], D * sum(row.values()) / sum(row.values())),
            "D comes off once for each different word, not once for each occurrence.",
        ),
    ]
    row = Counter({"PELL": 6, "MAN": 3, "NET": 1})
    given = f"{dict(row)}, D = 0.5"
    trial.agrees(_discount, row, 0.5, rule="by hand", hint=hint, slips=slips, given=given)
    row, D = Counter(trial.text(40, "abcdef")), trial.integer(2, 9) / 10
    given = f"random counts, D = {D}"
    trial.agrees(_discount, row, D, rule="any counts", hint=hint, slips=slips, given=given)
    kept, mass = trial.value
    trial.equals(sum(kept.values()) + mass, 1.0, "what is kept and what is freed sum to 1", hint)


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

    slips = [
        (frequency, "That is how often a word occurs: let every different pair count once only."),
        (fan_out, "You count by the first word of a pair; ask what a word comes *after*."),
        (
            lambda pairs: dict(Counter(w for _, w in pairs)),
            "These are numbers of words before it: divide by the number of different pairs.",
        ),
    ]
    text = "old pell rows old pell sings old pell sleeps a cat or a dog row or sing salt or sand"
    pairs = Counter({(v, w): c for (v, w), c in Counter(pairwise(text.split())).items()})
    trial.agrees(_continuation, pairs, rule="by hand", hint=hint, slips=slips, given=f"{text!r}")
    drawn = Counter(pairwise(trial.text(80, "abcde")))
    trial.agrees(
        _continuation, drawn, rule="any pairs", hint=hint, slips=slips, given="random pairs"
    )
    trial.equals(sum(trial.value.values()), 1.0, "it sums to 1", hint)
