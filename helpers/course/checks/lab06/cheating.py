"""Checks of lab 06, tasks 4 and 5: a reader that does not read, and what chance would do."""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torch

from helpers.course.checks.lab06.common import lab
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.course.checks.turn import Case, turn
from helpers.data.reader_tasks import Question
from helpers.inference.answers import normalized


def pieces(text: str, most: int = 6) -> list[str]:
    """All runs of at most six words of a normalized text, as the lab hands it out."""
    words = normalized(text).split()
    return [
        " ".join(words[i : i + n])
        for i in range(len(words))
        for n in range(1, min(most, len(words) - i) + 1)
    ]


def opening(question: str) -> str:
    """The first two words of a question, as the lab hands it out."""
    return " ".join(question.lower().split()[:2])


_TOWN = [
    Question("What colour was the hat?", "Pell had a red hat.", "red"),
    Question("What colour was it now?", "The red boat was blue now.", "blue"),
    Question("What colour is the net?", "It is a red net, and it is wet.", "red"),
    Question("What colour was it then?", "It was dark red.", "dark red"),
    Question("Who came in?", "Then Hob came in.", "Hob"),
    Question("Who sang?", "It was the cook. It was late.", "the cook"),
    Question("On the quay stood who?", "At noon Wren stood there.", "Wren"),
    *[Question("How many came?", f"{who} and ten came.", "ten") for who in ("Hob", "Pell", "Wren")],
    Question("How many left?", "Two left, and then two.", "two"),
    Question("How many are there?", "Six.", "six"),
    *[Question("How many sat there?", f"The {n} sat.", f"{n}") for n in ("nine", "nine", "nine")],
    Question("Who were the nine?", "The nine were cooks.", "cooks"),
]
_ASKED = [
    Question("What colour were his boots?", "The laces were red, and the boots blue.", ""),
    Question("What colour was her hat?", "His dark red hat was hers.", ""),
    Question("Which hat was it?", "His red hat was a red hat, not a blue hat.", ""),
    Question("On the pier stood who?", "There stood Wren.", ""),
    Question("Who sang this?", "It was Hob. The cook hummed.", ""),
    Question("Who slept?", "It was Hob. The cook went home.", ""),
    Question("Who was wet?", "Nobody but the cook.", ""),
    Question("How many slept?", "Ten slept, then two.", ""),
    Question("How many ate?", "Nine ate, then six.", ""),
    Question("How many sang?", "Six sang, then nine.", ""),
]
_WORDS = [
    *("red", "blue", "six", "nine", "hat", "hatred", "net", "bonnet", "oven"),
    *("quay", "noon", "dusk", "pell", "hob", "wren", "dot", "a", "the"),
]
_OPENINGS = ("What colour", "Where did", "How many", "Who was", "What did")


def made_up(trial: Trial, n: int) -> list[Question]:
    """Questions about passages of few words, whose answers stand in them."""
    found = []
    while len(found) < n:
        words = [_WORDS[i] for i in trial.integers(0, len(_WORDS), trial.integer(4, 9)).tolist()]
        first = trial.integer(0, len(words))
        answer = " ".join(words[first : first + trial.integer(1, 3)])
        kind = _OPENINGS[trial.integer(0, len(_OPENINGS))]
        rest = " ".join(_WORDS[i] for i in trial.integers(0, len(_WORDS), 3).tolist())
        if normalized(answer):
            found.append(Question(f"{kind} {rest}?", f"{' '.join(words).capitalize()}.", answer))
    return found


def _answered(answer: Callable, learned: list[Question], asked: list[Question]) -> dict[str, str]:
    """What a table that has learned these questions answers to others."""
    table = answer(learned)
    found = {f"{q} {passage}": table.answer(q, passage) for q, passage, _ in asked}
    for said in found.values():
        if not isinstance(said, str):
            hint = "The piece itself is asked for, a text: neither its score nor its number."
            raise Complaint("an answer is a text", NOTHING if said is None else hint, got=str(said))
    return found


def _lessons(trial: Trial) -> Iterator[Case]:
    given = f"{len(_TOWN)} questions to learn from, such as {tuple(_TOWN[0])}"
    yield Case("a few questions", _TOWN, _ASKED, given=given)
    for n in (40, 150):
        asked = made_up(trial, 60)
        yield Case("made-up questions", made_up(trial, n), asked, given=f"{n} made-up questions")
    given = "150 made-up questions, of which every other one comes four times"
    learned = [q for n, q in enumerate(made_up(trial, 150)) for _ in range(1 if n % 2 else 4)]
    yield Case("passages that come again", learned, made_up(trial, 60), given=given)


def _lines(answer: Callable, *asked: str) -> int:
    """How many lines of Python an answer runs."""
    count, tracing = 0, sys.gettrace()

    def note(*_: Any) -> Callable:
        nonlocal count
        count += 1
        return note

    sys.settrace(note)
    try:
        answer(*asked)
    finally:
        sys.settrace(tracing)
    return count


def _counts_once(trial: Trial) -> None:
    """An answer takes as long after many questions as after few."""
    learned, (asked,), found = made_up(trial, 20), made_up(trial, 1), []
    given = "20 questions to learn from, then the same ten times each"
    for times in (1, 10):
        table = trial.call(learned * times, given=given)
        trial.run(table.answer, *asked[:2], given=given)  # it may count at its first answer
        found.append(trial.run(_lines, table.answer, *asked[:2], given=given))
    trial.holds(
        found[1] <= 2 * found[0] + 100,
        "an answer does not go through the questions",
        "The questions are gone through again at each answer, which takes seconds where there are "
        "thousands: count in __init__, and only look up in answer.",
        given=given,
        got=f"{found[0]:,} and {found[1]:,} lines of Python for one answer",
    )


_KEY = (
    "The key is opening(question), in both methods: two words in small letters. With the whole "
    "question as a key, or with two kinds of keys, a new question hardly finds anything."
)
_TWO = "An opening has two words: opening(question) gives them. "
_PIECES = "A piece has one to six words: pieces(passage) lists them all."


@turn(
    lab,
    "self.occurs stays as it is given; in __init__ comes for each opening how often each "
    "normalized answer was the right one. answer takes the piece of this passage with "
    "the largest a / (n + 10), and of equals the first in the list pieces(passage), also where all "
    "scores are 0; max(..., key=...) does it.",
    cases=_lessons,
    call=_answered,
    also=_counts_once,
    uses=["normalized", "pieces", "opening"],
    errors={
        "ZeroDivision": "Add 10 to the number of occurrences: a piece may be new, so n is 0.",
        "empty": "Choose among all of pieces(passage): where none was ever an answer after this "
        "opening, all scores are 0, and the first piece counts.",
    },
    slips=f"""
    max(pieces(passage) => max(pieces(passage, 1)
        {_PIECES}
    [opening(question)][ => [question][ ;; known = self.answers[opening(question)] => \
    known = self.answers[question]
    [opening(question)][ => [" ".join(question.split()[:2])][
        {_KEY}
    [opening(question)][ => [question.lower().split()[0]][ ;; \
    known = self.answers[opening(question)] => known = self.answers[question.lower().split()[0]]
        {_TWO}
    known = self.answers[opening(question)] => known = sum(self.answers.values(), Counter())
        How often an answer was right is counted for each opening by itself: a colour is no answer
        to "who".
    [normalized(answer)] += 1 => [answer] += 1
        Pieces are normalized, so count normalized answers: else "The cook" is never found.
    [normalized(answer)] += 1 => [normalized(answer)] = 1
        How often it was the answer counts, and not only whether: += 1.
    (self.occurs[w] + 10) => max(1, self.occurs[w])
        Add 10 to the number of occurrences: what occurred once and was the answer then would beat
        everything else.
    + 10) => + 1)
        10 is added to the number of occurrences, not 1.
    known[w] / (self.occurs[w] + 10) => known[w]
        How often a piece was the answer is divided by how often it occurs in all passages, plus 10:
        a frequent piece is often an answer without being a good guess.
    known[w] / (self.occurs[w] + 10) => w in known
        The score is a number, how often it was the answer over how often it occurs, plus 10.
    max(pieces(passage) => max(pieces(passage)[::-1]
        Of equal scores the first piece in the list counts, as max gives it.
    max(pieces(passage) => max([*known, *pieces(passage)]
        An answer is a piece of this passage: choose among pieces(passage).
    """,
)
class AnswerTable:
    def __init__(self, questions):
        self.occurs = Counter(w for _, passage, _ in questions for w in pieces(passage))
        self.answers = defaultdict(Counter)
        for question, _, answer in questions:
            self.answers[opening(question)][normalized(answer)] += 1

    def answer(self, question, passage):
        known = self.answers[opening(question)]
        return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10))


_WHOLE = (
    "Numbers in a tensor have 64 bits, so 2**n is wrong from n = 63 on. Make b and c whole numbers "
    "of Python, with int(...) or .item(): these have as many digits as they need."
)
_TWO_SIDES = (
    "b: own > other, c: own < other. Of the n = b + c coins at least m = max(b, c) fall on one "
    "side: add up math.comb(n, k) for k from m to n, divide by 2**n, and double it, for both "
    "sides; a probability is at most 1."
)


def _marks(trial: Trial) -> Iterator[Case]:
    own, other = 100.0 * torch.tensor([[1] * 6 + [0, 0, 1, 0], [0] * 6 + [1, 1, 1, 0]])
    given = "own right six times alone, other twice alone, once both, once neither"
    yield Case("by hand: b = 6, c = 2", own, other, given=given)
    given = "own right twice alone, other six times alone, once both, once neither"
    yield Case("the other way round", other, own, given=given)
    given = "each of them right once alone, once both"
    yield Case("as often", own[[0, 6, 8]], other[[0, 6, 8]], given=given)
    yield Case("no difference anywhere", own, own, given="both right in the same seven of ten")
    for b, c in ((44, 20), (160, 140)):
        own = 100.0 * torch.tensor([1] * b + [0] * c + [1, 0])
        other = 100.0 * torch.tensor([0] * b + [1] * c + [1, 0])
        given = f"own right {b} times alone, other {c} times alone, once both, once neither"
        yield Case(f"many coins: b = {b}, c = {c}", own, other, given=given, hint=_WHOLE)
    for N in (30, 120):
        own, other = (100.0 * (trial.normal(N) < edge).float() for edge in (0.3, 0.2))
        yield Case("any marks", own, other, given=f"{N} questions, both right in half of them")


@turn(
    lab,
    _TWO_SIDES,
    cases=_marks,
    without=["binomtest", "binom"],
    errors={"OverflowError": _WHOLE},
    slips=f"""
    int((own > other).sum()), int((own < other).sum()) => (own > other).sum(), (own < other).sum()
        {_WHOLE}
    (own > other) => (own > 0) ;; (own < other) => (other > 0)
        These are all that each got right: b and c count the questions where only one of the two is
        right.
    (own > other) => (own >= other) ;; (own < other) => (own <= other)
        Where both are right, or both wrong, exchanging made no difference: such a question counts
        for neither side.
    b, c = int((own > other).sum()), int((own < other).sum()) => \
    c, b = int((own > other).sum()), int((own < other).sum())
        b is how often only own is right, and it comes first; then c.
    n, m = b + c => n, m = len(own)
        n = b + c: only the questions where the two differ are tossed.
    max(b, c) => min(b, c)
    max(b, c) => b
        m is the larger of the two, also where other is right more often: how likely is it to be so
        unequal?
    range(m, n + 1) => range(m + 1, n + 1)
        "At least as unequal" counts what came out, too: k begins at m.
    range(m, n + 1) => range(m, n)
        All n on one side is possible, too: k goes up to n, and range(m, n + 1) ends there.
    sum(math.comb(n, k) for k in range(m, n + 1)) => math.comb(n, m)
        That is the probability of just this; asked for is that of at least as unequal, so add up
        the k from m to n.
    min(1.0, 2 * tail) => min(1.0, tail)
        Own could have been as far ahead as behind: both sides count, so it is doubled.
    min(1.0, 2 * tail) => 2 * tail
        A probability is at most 1: where b and c are equal, both sides count their middle.
    min(1.0, 2 * tail) => 1 - min(1.0, 2 * tail)
        p is how likely it is to be so unequal by chance, and not 1 minus that.
    """,
)
def by_chance(own, other):
    b, c = int((own > other).sum()), int((own < other).sum())
    n, m = b + c, max(b, c)
    tail = sum(math.comb(n, k) for k in range(m, n + 1)) / 2**n
    return b, c, min(1.0, 2 * tail)
