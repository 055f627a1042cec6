"""Checks of lab 06, tasks 4 and 5: a reader that does not read, and questions exchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

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


_KEY = (
    "The key is opening(question), in both methods: two words in small letters. With the whole "
    "question as a key, or with two kinds of keys, a new question hardly finds anything."
)
_TWO = "An opening has two words: opening(question) gives them. "
_PIECES = "A piece has one to six words: pieces(passage) lists them all, where you count and where "
_PIECES += "you answer."


@turn(
    lab,
    "In __init__ two tables: how often each piece occurs in all passages, and for each opening how "
    "often each normalized answer was the right one. answer takes the piece of this passage with "
    "the largest a / (n + 10), and of equals the first in the list pieces(passage), also where all "
    "scores are 0; max(..., key=...) does it.",
    cases=_lessons,
    call=_answered,
    uses=["normalized", "pieces", "opening"],
    errors={
        "ZeroDivision": "Add 10 to the number of occurrences: a piece may be new, so n is 0.",
        "empty": "Choose among all of pieces(passage): where none was ever an answer after this "
        "opening, all scores are 0, and the first piece counts.",
    },
    slips=f"""
    update(pieces(passage)) => update(pieces(passage, 1))
    max(pieces(passage) => max(pieces(passage, 1)
        {_PIECES}
    [opening(question)][ => [question][ ;; known = self.answers[opening(question)] => \
    known = self.answers[question]
    [opening(question)][ => [question][
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
    known[w] / ( => (w in known) / (
        How often it was the answer counts, and not only whether: += 1.
    (self.occurs[w] + 10) => max(1, self.occurs[w])
        Add 10 to the number of occurrences: what occurred once and was the answer then would beat
        everything else.
    + 10) => + 1)
        10 is added to the number of occurrences, not 1.
    known[w] / (self.occurs[w] + 10) => known[w]
    self.occurs.update(pieces(passage)) => self.occurs[normalized(answer)] += 1
        How often a piece was the answer is divided by how often it occurs in all passages, plus 10:
        a frequent piece is often an answer without being a good guess.
    known[w] / (self.occurs[w] + 10) => w in known
        The score is a number, how often it was the answer over how often it occurs, plus 10.
    known[w] / => len(w.split()) * known[w] /
        The score has no factor for the length.
    known[w] / => (known[w] + 10) /
        The 10 stands below the line alone: a piece that was never an answer has the score 0.
    update(pieces(passage)) => update(set(pieces(passage)))
        A piece that stands twice in a passage occurs twice.
    self.occurs.update(pieces(passage)) => \
    self.occurs.update(pieces(passage) if passage not in self.__dict__ else []); \
    self.__dict__[passage] = 1
        A passage that comes with two questions counts twice.
    self.answers, self.occurs = defaultdict(Counter), Counter() => \
    self.answers, self.occurs = defaultdict(Counter), Counter(); \
    kept = " | ".join(normalized(p) for _, p, _ in questions) ;; \
    self.occurs.update(pieces(passage)) => \
    self.occurs.update({{w: kept.count(w) - self.occurs[w] for w in pieces(passage)}})
        Occurrences are counted as words: *net* does not occur in *bonnet*. pieces(passage) has
        them.
    max(pieces(passage) => max(pieces(passage)[::-1]
        Of equal scores the first piece in the list counts, as max gives it.
    max(pieces(passage) => max([*known, *pieces(passage)]
        An answer is a piece of this passage: choose among pieces(passage).
    """,
)
class AnswerTable:
    def __init__(self, questions):
        self.answers, self.occurs = defaultdict(Counter), Counter()
        for question, passage, answer in questions:
            self.occurs.update(pieces(passage))
            self.answers[opening(question)][normalized(answer)] += 1

    def answer(self, question, passage):
        known = self.answers[opening(question)]
        return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10))


def _any(question: str) -> str:
    return "any"


def _swapped(answer: Callable, questions: list[Question], key: Callable) -> list[tuple[Any, ...]]:
    found = answer(questions, key)
    three = isinstance(found, list) and all(isinstance(q, tuple) and len(q) == 3 for q in found)
    if found is not None and not three:
        hint = "A list of questions comes back, Question(question, passage, answer) each."
        raise Complaint("a list of questions", hint, got=str(found)[:80])
    return found and [tuple(q) for q in found]


def _lists(trial: Trial) -> Iterator[Case]:
    verbs = "sang", "slept", "ate", "wept", "left"
    five = [Question(f"Who {verb}?", f"Passage {i}.", f"{i}") for i, verb in enumerate(verbs)]
    given = "Who sang?, Who slept?, Who ate?, Who wept?, Who left?, any question as good"
    yield Case("by hand, one group", five, _any, given=given)
    mixed = [five[0], _TOWN[0], five[1], _TOWN[1], five[2], _TOWN[6], _TOWN[2], five[3], _TOWN[3]]

    def first(question: str) -> str:
        return question.split()[0]

    given = "questions that begin with Who, What and On, by their first word"
    yield Case("groups that are mixed", mixed, first, given=given)
    given = "two questions, any question as good"
    yield Case("a group of two stays as it is", five[:2], _any, given=given)
    yield Case("no question at all", [], _any, given="an empty list")
    given = "40 made-up questions, by their opening"
    yield Case("any questions", made_up(trial, 40), opening, given=given)


@turn(
    lab,
    "First a dictionary from each key to the places of its questions, in the order of the list: "
    "groups[key(q.question)].append(k). Then in each group place k gets the question of the place "
    "two further on, and the last two get those of the first two: group[2:] + group[:2] is the "
    "group, two further on. key gets the question alone, a text.",
    cases=_lists,
    call=_swapped,
    uses=["Question", "opening"],
    slips="""
    group[2:] + group[:2] => group[1:] + group[:1]
        That is the next question of the group, which is often of the same story: take the one two
        places further on.
    group[2:] + group[:2] => group[-2:] + group[:-2]
        That is two places back: the question comes from two places further on.
    group[2:] + group[:2] => group[::-1]
        The group is turned round here: each takes the question two places further on.
    group[2:] + group[:2], strict=True => group[2:], strict=False
        The last two of a group take the questions of its first two.
    questions[k]._replace(question=questions[other].question) => questions[other]
    questions[k]._replace(question=questions[other].question) => \
    questions[other]._replace(question=questions[k].question)
        Passages and answers stay where they are, and only the question is exchanged.
    (question=questions[other].question) => \
    (question=questions[other].question, answer=questions[other].answer)
        The right answer is still that of the passage's own question: it stays.
    (question=questions[other].question) => \
    (question=questions[other].question, passage=questions[other].passage)
        The passage stays: a question about another passage is put to it.
    key(q.question) => q.question
        Those with the same key form a group: key(q.question), not the question itself.
    key(q.question) => "any"
        Only questions with the same key are exchanged.
    return found => return [found[k] for group in groups.values() for k in group]
        The list keeps its order, whatever group a question belongs to.
    for group in groups.values(): => for group in [list(range(len(questions)))]:
        Only questions with the same key are exchanged.
    return found => \
    return [found[k] for group in groups.values() if len(group) > 2 for k in sorted(group)]
    return found => return [q for k, q in enumerate(found) if len(groups[key(questions[k][0])]) > 2]
        A group of one or two stays as it is, and stays in the list.
    """,
)
def exchanged(questions, key):
    groups, found = defaultdict(list), list(questions)
    for k, q in enumerate(questions):
        groups[key(q.question)].append(k)
    for group in groups.values():
        for k, other in zip(group, group[2:] + group[:2], strict=True):
            found[k] = questions[k]._replace(question=questions[other].question)
    return found
