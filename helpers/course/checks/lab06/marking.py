"""Checks of lab 06, tasks 6 and 7: marks for answers, and a baseline that cheats."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from helpers.course.checks.lab06.common import lab
from helpers.course.checks.trial import NOTHING, Trial
from helpers.data.reader_tasks import Question
from helpers.inference import answers
from helpers.inference.answers import normalized

Marks = tuple[float, float]


def _common(a: list[str], b: list[str]) -> int:
    return sum((Counter(a) & Counter(b)).values())


def _f1(mine: list[str], theirs: list[str]) -> float:
    if not mine or not theirs:
        return float(mine == theirs)
    return 2 * _common(mine, theirs) / (len(mine) + len(theirs))


def _marks(answer: str, truths: Sequence[str]) -> Marks:
    return answers.exact_match(answer, truths), answers.token_f1(answer, truths)


def _marks_with(score: Callable[[list[str], list[str]], float], best: Callable = max) -> Callable:
    """Marks whose F1 is another one."""

    def marks(answer: str, truths: Sequence[str]) -> Marks:
        mine = normalized(answer).split()
        found = [score(mine, normalized(truth).split()) for truth in truths]
        return answers.exact_match(answer, truths), best(found)

    return marks


def _raw(answer: str, truths: Sequence[str]) -> Marks:
    return (
        float(answer in truths),
        max(_f1(answer.split(), truth.split()) for truth in truths),
    )


@lab.task(_marks, uses=["normalized"], without=["exact_match", "token_f1"])
def marks(trial: Trial) -> None:
    hint = (
        "Normalize the answer and each truth. EM: is it one of them? F1: 2 c / (n + m) against "
        "each, and the largest. a & b of two Counters holds what both have, as often as both have."
    )
    best = "Of several right answers the best one counts, for each of the two marks."
    empty = "Where no word is left, c / n is 0 / 0: F1 is 1 if both are empty, else 0."
    normal = "Capital letters, punctuation and articles do not count: normalized(text) takes them "
    normal += "away, from the answer and from the truths."
    slips: list[tuple[Callable, str]] = [
        (lambda a, ts: _marks(a, ts)[::-1], "The exact match comes first, then F1."),
        (lambda a, ts: tuple(100 * x for x in _marks(a, ts)), "Both marks lie between 0 and 1, not "
         "in per cent."),
        (lambda a, ts: (_marks(a, ts)[0], 100 * _marks(a, ts)[1]), "F1 lies between 0 and 1, not in"
         " per cent."),
        (_marks_with(lambda m, t: 2 * _common(m, t) / max(1, len(m) + len(t))), empty),
        (lambda a, ts: _marks(a, ts[:1]), best),
        (lambda a, ts: (answers.exact_match(a, ts[:1]), answers.token_f1(a, ts)), best),
        (_marks_with(_f1, lambda found: sum(found) / len(found)), best),
        (_marks_with(_f1, min), best),
        (lambda a, ts: (answers.exact_match(a, ts),
                        _f1(normalized(a).split(), normalized(" ".join(ts)).split())),
         "Compare with each truth by itself, not with all of them as one text."),
        (_raw, normal),
        (lambda a, ts: (answers.exact_match(a, ts), _raw(a, ts)[1]), f"F1, too: {normal}"),
        (lambda a, ts: (_raw(a, ts)[0], answers.token_f1(a, ts)), f"EM, too: {normal}"),
        (_marks_with(lambda m, t: _common(m, t) / len(m)), "That is the precision: F1 divides twice"
         " the common words by both lengths."),
        (_marks_with(lambda m, t: _common(m, t) / len(t)), "That is the recall: F1 divides twice "
         "the common words by both lengths."),
        (_marks_with(lambda m, t: len({*m} & {*t}) / max(1, len({*m} | {*t}))), "Common words by "
         "the words of both is another measure (Jaccard): F1 is 2 c / (n + m)."),
        (_marks_with(lambda m, t: 2 * len({*m} & {*t}) / max(1, len({*m}) + len({*t}))), "A word "
         "counts as often as both have it: take Counter, and no sets."),
        (_marks_with(lambda m, t: 2 * len({*m} & {*t}) / max(1, len(m) + len(t))), "A common word "
         "counts as often as both have it: take Counter, and no sets."),
        (_marks_with(lambda m, t: 2 * sum(w in t for w in m) / max(1, len(m) + len(t))), "A word "
         "that the answer repeats counts only as often as the truth has it."),
        (_marks_with(lambda m, t: _common(m, t) / (len(m) + len(t))), "The factor 2 is missing."),
        (lambda a, ts: (float(any(normalized(t) in normalized(a) for t in ts)), _marks(a, ts)[1]),
         "An answer that only contains a truth is no exact match."),
        (lambda a, ts: (float(any(normalized(a) in normalized(t) for t in ts)), _marks(a, ts)[1]),
         "A part of a truth is no exact match."),
        (lambda a, ts: (float(_marks(a, ts)[1] == 1), _marks(a, ts)[1]), "The same words in "
         "another order have an F1 of 1 and are no exact match."),
        (lambda a, ts: (answers.exact_match(a, ts), float(_marks(a, ts)[1] > 0)),
         "F1 tells how much is common, from 0 to 1."),
    ]  # fmt: skip

    def try_on(rule: str, answer: str, truths: list[str]) -> None:
        given = f"answer {answer!r}, truths {truths}"
        words = empty if not normalized(answer) else hint
        got = trial.call(answer, truths, given=given, hint=words)
        pair = isinstance(got, tuple | list) and len(got) == 2
        back = NOTHING if got is None else "Hand back two numbers: return em, f1."
        trial.holds(pair, "two numbers come back", back, given=given, got=got)
        got = tuple(float(x) if isinstance(x, bool | int) else x for x in got)
        wanted = _marks(answer, truths)
        wrong = (
            (value, said)
            for slip, said in slips
            if (value := _tried(slip, answer, truths)) is not None and value != wanted
        )
        trial.equals(got, wanted, rule, words, slips=wrong, given=given)

    try_on("by hand: EM 0, F1 1/2", "six old knots", ["six good knots he tied"])
    try_on("letters, marks and articles", "The RED boat!", ["a red boat"])
    try_on("one of several is right", "the pump", ["by the pump", "pump"])
    try_on("the best of several", "old red boat", ["a boat at sea", "the red boat", "sail"])
    try_on("the last of several", "a wet net", ["rope", "wet net"])
    try_on("a truth inside of an answer", "he took the red boat", ["red boat"])
    try_on("an answer inside of a truth", "boat", ["the red boat", "one red boat"])
    try_on("the same words, turned round", "boat red", ["red boat", "sail"])
    try_on("nothing in common", "at noon", ["the cook", "a cook"])
    try_on("a repeated word", "round and round and round", ["round round"])
    try_on("a repeated word earns nothing twice", "old old old boat", ["old boat"])
    try_on("an empty answer", "the", ["red boat", "sail"])
    try_on("nothing is left of both", "A", ["the"])
    vocabulary = ["red", "old", "boat", "net", "the", "sail", "and"]
    for _ in range(4):
        texts = [
            " ".join(vocabulary[i] for i in trial.integers(0, 7, trial.integer(1, 6)).tolist())
            for _ in range(trial.integer(2, 5))
        ]
        try_on("random words", texts[0], texts[1:])


def _tried(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except ZeroDivisionError:
        return None


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


class _AnswerTable:
    """As the task asks for it, or with a slip."""

    slip = ""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.answers: defaultdict[str, Counter] = defaultdict(Counter)
        self.occurs: Counter = Counter()
        seen: set[str] = set()
        texts = [normalized(passage) for _, passage, _ in questions]
        self.text = (" | " if self.slip == "letters" else " ").join(texts)
        if self.slip == "overlap":
            self.text = "  ".join(f" {text} " for text in texts)
        for question, passage, answer in questions:
            found = [] if self.slip == "different" and passage in seen else pieces(passage)
            seen.add(passage)
            if self.slip == "words":
                found = [piece for piece in found if " " not in piece]
            self.occurs.update({*found} if self.slip == "once" else found)
            kept = answer if self.slip == "raw" else normalized(answer)
            key = " ".join(question.split()[:2]) if self.slip == "capital" else question
            key = key if self.slip == "capital" else self.opening(question)
            self.answers[key][kept] += 1

    def opening(self, question: str) -> str:
        if self.slip == "articles":
            return opening(normalized(question))
        whole = {"whole": question, "first": question.lower().split()[0], "none": ""}
        return whole.get(self.slip, opening(question))

    def score(self, known: Counter, piece: str) -> float:
        if self.slip in ("letters", "joined"):
            return known[piece] / (self.text.count(piece) + 10)
        if self.slip == "overlap":
            return known[piece] / (self.text.count(f" {piece} ") + 10)
        if self.slip == "whether":
            return min(known[piece], 1) / (self.occurs[piece] + 10)
        if self.slip == "bare":
            return known[piece] / max(1, self.occurs[piece])
        if self.slip == "count":
            return known[piece]
        if self.slip == "seen":
            return float(piece in known)
        if self.slip == "one":
            return known[piece] / (self.occurs[piece] + 1)
        if self.slip == "long":
            return len(piece.split()) * known[piece] / (self.occurs[piece] + 10)
        if self.slip == "both":
            return (known[piece] + 10) / (self.occurs[piece] + 10)
        return known[piece] / (self.occurs[piece] + 10)

    def told(self, question: str) -> Callable[[str], tuple[int, int, float]]:
        """a, n and the score of a piece, for this question."""
        known = self.answers[self.opening(question)]
        return lambda piece: (known[piece], self.occurs[piece], self.score(known, piece))

    def answer(self, question: str, passage: str) -> str:
        known = self.answers[self.opening(question)]
        found = pieces(passage)
        if self.slip == "last":
            found = found[::-1]
        if self.slip == "one word":
            found = [piece for piece in found if " " not in piece]
        if self.slip == "set":
            found = list(set(found))
        if self.slip == "anywhere":
            found = [*known, *found]
        return max(found, key=lambda piece: self.score(known, piece))


_UNSEEN = "No piece of this passage was ever counted as an answer after this opening: all scores "
_UNSEEN += "are 0, and the first piece counts."
_EQUAL = "Of equal scores the first piece in the list pieces(passage) counts."
_LONG = "A piece has one to six words: pieces(passage) lists them all. Take it as it is, where you "
_LONG += "count and where you answer."
_KEY = (
    "The key is opening(question), in both methods: two words in small letters. With the whole "
    "question as a key, or with two kinds of keys, a new question hardly finds anything."
)
_TABLE_SLIPS = {
    "letters": "A piece is counted as words: 'net' does not occur in 'bonnet'. Count with "
    "pieces(passage).",
    "joined": "A piece is counted as words: 'net' does not occur in 'bonnet'. Count with "
    "pieces(passage).",
    "overlap": "str.count passes over what overlaps: in ' net net ' it finds ' net ' once. Count "
    "with pieces(passage).",
    "words": "Pieces of several words occur, too: in __init__ count all pieces(passage), and not "
    "the words alone.",
    "one word": "A piece has one to six words, and an answer may be any of them.",
    "whether": "How often a piece was the answer counts, and not only whether: += 1, not = 1.",
    "set": "Of equal scores the first piece in pieces(passage) counts, and a set has no order.",
    "articles": "The key is opening(question) itself: whoever normalizes the question first loses "
    "its articles, and makes other openings of it.",
    "different": "A passage that comes twice, with two questions, counts twice.",
    "capital": _KEY,
    "whole": _KEY,
    "first": "The first two words of a question are the key, opening(question), not the first.",
    "none": "What was answered is counted for each opening by itself.",
    "raw": "The pieces of a passage are normalized: count normalized answers, too, or 'The hat' "
    "and 'hat' never meet.",
    "bare": "Add 10 to the number of occurrences: what occurred once and was the answer then would "
    "beat everything else.",
    "one": "10 is added to the number of occurrences, not 1.",
    "count": "How often a piece was the answer is divided by how often it occurs (plus 10): a "
    "frequent piece is often an answer without being a good guess. Is n more than 0 or 1?",
    "seen": "How often it was the answer counts, and not only whether.",
    "once": "A piece that stands twice in a passage occurs twice.",
    "last": "Of equal scores the first piece counts, as max gives it.",
    "anywhere": "An answer is a piece of this passage: choose among pieces(passage).",
    "long": "The score has no factor for the length.",
    "both": "The 10 stands below the line alone: a piece that was never an answer has the score 0.",
}


def _slipped(slip: str) -> type[_AnswerTable]:
    return type("_Slipped", (_AnswerTable,), {"slip": slip})


def _counted_once(trial: Trial) -> None:
    """An answer takes no more lines of code after many passages; a clock would tell less surely."""
    learned, (asked, *_) = _made_up(trial, 30), _made_up(trial, 5)
    took, times = [], (1, 40)
    for n in times:
        given = f"AnswerTable of {n * len(learned)} made-up questions"
        mine = trial.call(learned * n, given=given)
        trial.run(mine.answer, *asked[:2], given=given)  # which may count, if it is the first
        took.append(_lines(lambda mine=mine: mine.answer(*asked[:2])))
    few, many = took
    trial.holds(
        many <= 5 * few,
        "an answer takes no longer after many passages",
        "The passages are counted once, in __init__: answer only looks the numbers up. There are "
        "thousands of passages, and each has more than a hundred pieces.",
        given=f"{len(learned)} and {times[1] * len(learned)} questions to learn from",
        got=f"{few:,} and {many:,} lines of Python run",
    )


def _lines(function: Callable[[], object]) -> int:
    """How many lines of Python a call runs, those of the functions that it calls included."""
    count, before = 0, sys.gettrace()

    def trace(*_: Any) -> Callable:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


_WORDS = [
    *("red", "blue", "six", "nine", "hat", "hatred", "net", "bonnet", "oven"),
    *("quay", "noon", "dusk", "pell", "hob", "wren", "dot", "a", "the"),
]
_OPENINGS = ("What colour", "Where did", "How many", "Who was", "What did")


def _made_up(trial: Trial, n: int) -> list[Question]:
    """Questions about passages of few words, whose answers stand in them."""
    found = []
    for _ in range(n):
        words = [_WORDS[i] for i in trial.integers(0, len(_WORDS), trial.integer(4, 9)).tolist()]
        first = trial.integer(0, len(words))
        answer = " ".join(words[first : first + trial.integer(1, 3)])
        kind = _OPENINGS[trial.integer(0, len(_OPENINGS))]
        rest = " ".join(_WORDS[i] for i in trial.integers(0, len(_WORDS), 3).tolist())
        text = " ".join(words)
        if normalized(answer):
            found.append(Question(f"{kind} {rest}?", f"{text.capitalize()}.", answer))
    return found


_TOWN = [
    Question("What colour was the hat?", "Pell had a red hat.", "red"),
    Question("What colour was it now?", "The red boat was blue now.", "blue"),
    Question("What colour is the net?", "It is a red net, and it is wet.", "red"),
    Question("What colour was it then?", "It was dark red.", "dark red"),
    Question("Who came in?", "Then Hob came in.", "Hob"),
    Question("Who sang?", "It was the cook. It was late.", "the cook"),
    Question("On the quay stood who?", "At noon Wren stood there.", "Wren"),
]


def _of_many_words() -> tuple[list[Question], list[Question]]:
    """Questions whose best piece has three to six words, or would have if it were rarer."""
    learned, asked = [], []
    for start, long, short in (
        ("When was", "late at night", "noon"),
        ("When did", "long before she came", "dusk"),
        ("How soon", "when old bells rang twice", "tomorrow"),
        ("How long", "after rain had filled every boat", "seldom"),
    ):
        learned += [Question(f"{start} he gone?", f"He went {long}.", long)]
        learned += 2 * [Question("Why was it?", f"They sang {long}.", "They")]
        learned += [Question(f"{start} she gone?", f"She left {short}.", short)]
        asked += [Question(f"{start} it?", f"They met {long}.", "")]
        asked += [Question(f"{start} it?", f"They met {long}, some {short}.", "")]
    return learned, asked


@lab.task(_AnswerTable, uses=["normalized", "pieces", "opening"])
def AnswerTable(trial: Trial) -> None:
    made = isinstance(trial.answer, type)
    trial.holds(made, "it is a class", "The class itself is checked, class AnswerTable.")
    hint = (
        "In __init__ two tables: how often each piece occurs in the passages, and for each opening "
        "how often each normalized answer was the right one. answer takes the piece of this "
        "passage with the largest score; max(..., key=...) does it."
    )

    few = f"{len(_TOWN)} questions, such as {tuple(_TOWN[0])}"
    asked = [
        Question("What colour were his boots?", "The boots were blue, and the laces red.", ""),
        Question("What colour was her hat?", "His dark red hat was hers.", ""),
        Question("Which hat was it?", "His red hat was a red hat, not a blue hat.", ""),
        Question("On the pier stood who?", "There stood Wren.", ""),
        Question("Who slept?", "It was Hob. The cook went home.", ""),
        Question("Who was wet?", "Nobody but the cook.", ""),
        Question("How far did he go?", "He went to the quay.", ""),
    ]
    sets = [("a few questions", _TOWN, asked, few)]
    for n in (40, 150):
        learned = _made_up(trial, n)
        given = f"{len(learned)} made-up questions"
        sets.append(("made-up questions", learned, _made_up(trial, 60), given))
    given += ", of which every other one comes four times"
    learned = [q for n, q in enumerate(learned) for _ in range(1 if n % 2 else 4)]
    sets.append(("passages that come again", learned, _made_up(trial, 60), given))
    many = "questions whose answers have three to six words"
    sets.append(("pieces of up to six words", *_of_many_words(), many))
    _counted_once(trial)
    alike, said = {*_TABLE_SLIPS}, []
    for _, learned, some, given in sets:
        mine = trial.call(learned, given=f"AnswerTable of {given}", hint=hint)
        ours, wrong = _AnswerTable(learned), {slip: _slipped(slip)(learned) for slip in alike}
        found: list[tuple] = []
        for question, passage, _ in some:
            where = f"AnswerTable of {given}; {question!r} about {passage!r}"
            got = trial.run(mine.answer, question, passage, given=where, hint=hint)
            back = NOTHING if got is None else "The piece itself is asked for, a text."
            trial.holds(isinstance(got, str), "the answer is a text", back, given=where, got=got)
            found.append((where, got, ours.answer(question, passage), passage, ours.told(question)))
            alike = {slip for slip in alike if wrong[slip].answer(question, passage) == got}
        said.append(found)
    words = next((text for slip, text in _TABLE_SLIPS.items() if slip in alike), hint)
    for (rule, *_), found in zip(sets, said, strict=True):
        for where, got, wanted, passage, told in found:
            why = words
            if got not in pieces(passage):
                why = _TABLE_SLIPS["anywhere"]
            elif words == hint and told(wanted)[2] == told(got)[2]:
                why = _EQUAL
            elif words == hint and rule == "pieces of up to six words":
                why = _LONG
            if told(wanted)[0] == 0:
                why = f"{_UNSEEN} {why}"
            shown = [f"{w!r}: a = {told(w)[0]}, n = {told(w)[1]}, score {told(w)[2]:.4f}"
                     for w in (got, wanted)]  # fmt: skip
            trial.holds(got == wanted, rule, why, given=where, got=shown[0], expected=shown[1])
    mine = trial.call(learned, given=f"AnswerTable of {given}")
    rest = [Question(opening(q) + " x y?", p, "") for q, p, _ in _made_up(trial, 30)]
    other = [Question(q.replace("x y", "red hat boat"), p, "") for q, p, _ in rest]
    for (q, p, _), (again, _, _) in zip(rest, other, strict=True):
        got = [trial.run(mine.answer, x, p, given=f"{x!r} about {p!r}") for x in (q, again)]
        trial.holds(got[0] == got[1], "it reads no further than the second word", "Only "
                    "opening(question) may be used of a question.", given=f"{q!r}, {again!r} about "
                    f"{p!r}", got=got)  # fmt: skip
