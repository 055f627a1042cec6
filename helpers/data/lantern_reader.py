"""The Lantern Bay Reader: 4,800 very short stories with questions and statements about each.

A story is made of words that a child of six knows, and tells one small event with a turn: small
models can learn to write such stories (R. Eldan and Y. Li, TinyStories, 2023). Beside it stand a
summary, two questions whose answers are words of the story, and three statements: one that follows
from the story (YES), one that contradicts it (NO), and one of which it says nothing (MAYBE).
``corpora.lantern_reader`` gives the stories alone, as a text to train models on. The data card,
``data/README.md``, tells how the stories came about and how far the statements give themselves
away.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from helpers.data.reading import DATA_FOLDER, RESTORE, CorpusError, read_text

LABELS = ("YES", "NO", "MAYBE")
PARTS = ("train", "validation", "test")
MOODS = ("gentle", "merry", "sad", "tense")
# Everybody who has a name in Lantern Bay: the name, and the word of it that no one else has.
PEOPLE = {
    **{name: name for name in ("Wren", "Fenn", "Lise", "Dunn", "Pip", "Dot", "Kit", "Tobin")},
    **{name: name for name in ("Nell", "Cass", "Bram", "Hob", "Odd", "Petra", "Sorrel", "Jory")},
    **{name: name for name in ("Mara", "Signe")},
    **{"Grandmother Ivy": "Ivy", "Old Pell": "Pell", "Miss Alder": "Alder"},
    **{"Doctor Quill": "Quill", "Mayor Plum": "Plum", "Captain Rusk": "Rusk"},
    **{"Brother Anselm": "Anselm", "Mr Vane": "Vane"},
    **{name: name for name in ("Moss", "Biscuit", "Button", "Juno", "Admiral", "Silver")},
}
_NAME_OF_WORD = {word: name for name, word in PEOPLE.items()}
_NAME = re.compile(rf"\b({'|'.join(_NAME_OF_WORD)})\b")
# Names that also begin a sentence as plain words ("Plum jam," he said). Odd, Moss, Dot and others
# are words too, but no story has one at the beginning of a sentence and does not mean the name.
_WORD_LIKE = {"Button", "Plum", "Silver"}
_SENTENCE_STARTS = re.compile(r"""(?:^|\n|[.!?:]["']* |["'])$""")

_TEST_PER_BOOK, _VALIDATION_PER_BOOK = 17, 10
# Three pairs of stories share six runs of eight words; no other pair shares more than five. They
# are trained on, so that no story of another part has its like anywhere.
_ALIKE = {"07056", "18057", "16058", "16168", "16101", "20182"}

_ASSIGNMENT = ("id", "people", "place", "turn", "mood", "manner")
_RECORD = re.compile(
    r"### (\d{5})\nTITLE: (.+)\nWORDS: (.+)\nSTORY:\n(.+(?:\n.+)*?)\nSUMMARY: (.+)\n"
    r"Q: (.+)\nA: (.+)\nQ: (.+)\nA: (.+)\nYES: (.+)\nNO: (.+)\nMAYBE: (.+)"
)


class Statements(NamedTuple):
    """Three statements about one story, in the order of ``LABELS``."""

    yes: str
    no: str
    maybe: str


@dataclass(frozen=True)
class Story:
    """One story and what belongs to it.

    Attributes:
        id: five digits, the first two of them the book's.
        text: the story, a paragraph a line.
        words: the three words that its writer was given; they occur in some form.
        people: who of ``PEOPLE`` is named in the text, in the order of their first mention. A name
            counts where it stands as such, with a capital letter; Button, Plum and Silver, which
            are also words, do not count at the beginning of a sentence, unless the writer was
            asked for them. Who is only called "the mayor" is not named.
        place: where it was to happen.
        mood: one of ``MOODS``.
        summary: one sentence, in the present tense.
        questions: two pairs of a question and its answer, a piece of the text word for word.
        statements: what follows from the story, what contradicts it, and what it leaves open.
    """

    id: str
    title: str
    text: str = field(repr=False)
    words: tuple[str, str, str]
    people: tuple[str, ...]
    place: str
    mood: str
    summary: str = field(repr=False)
    questions: tuple[tuple[str, str], tuple[str, str]] = field(repr=False)
    statements: Statements = field(repr=False)

    @property
    def document(self) -> str:
        """The story in the form of the tales: title and paragraphs, blank lines between them."""
        return "\n\n".join([self.title, *self.text.split("\n")])

    @property
    def book(self) -> str:
        """The first two digits of the id, "01" to "24"."""
        return self.id[:2]


def read_stories(part: str | None = None) -> tuple[Story, ...]:
    """All stories in the order of their ids, or those of one of ``PARTS``.

    Raises:
        CorpusError: the data folder is missing, or a record in it is not whole.
        ValueError: there is no such part.
    """
    if part not in (None, *PARTS):
        raise ValueError(f"There is no part {part!r}: give one of {', '.join(PARTS)}, or none.")
    folder = _folder()
    assigned = _read_assignments(folder / "assignments.tsv")
    stories = []
    for path in sorted(folder.glob("[0-9][0-9].txt")):
        for record in read_text(path).removesuffix("\n").split("\n\n"):
            stories.append(_story(record, path, assigned))
    if [story.id for story in stories] != list(assigned):
        found = {story.id for story in stories}
        missing = next((story for story in assigned if story not in found), None)
        wrong = f"lacks story {missing}" if missing else "holds a story twice or out of order"
        raise CorpusError(f"{folder} {wrong}: {RESTORE}.")
    if part is None:
        return tuple(stories)
    parts = part_of_each(assigned)
    return tuple(story for story in stories if parts[story.id] == part)


def inference_test() -> tuple[Story, ...]:
    """Stories of the test part whose statements tell little about their own labels.

    They are chosen by adversarial filtering: naive Bayes, trained on the statements of the train
    part without their stories, gets at most 45 % of theirs right, where guessing gets 33 %. So a
    model that does well here has used the story. ``benchmarks/lantern_reader.py`` chooses them;
    ``data/README.md`` tells how much more other classifiers get right.

    Raises:
        CorpusError: the data folder is missing.
    """
    path = _folder() / "inference_test.txt"
    chosen = set(read_text(path).split())
    return tuple(story for story in read_stories("test") if story.id in chosen)


def part_of_each(ids: Iterable[str]) -> dict[str, str]:
    """id -> part, in the order of the ids; it depends on the ids alone, for ever.

    Of each book, in the order of the SHA-256 of the ids, the first 17 stories are for the test and
    the next ten for validation; the few stories that are nearly alike are passed over.
    """
    ids = list(ids)
    books = defaultdict(list)
    for story in sorted(ids, key=lambda story: hashlib.sha256(story.encode()).digest()):
        if story not in _ALIKE:
            books[story[:2]].append(story)
    parts = dict.fromkeys(ids, "train")
    for book in books.values():
        held_out = book[: _TEST_PER_BOOK + _VALIDATION_PER_BOOK]
        parts |= dict.fromkeys(held_out, "validation")
        parts |= dict.fromkeys(held_out[:_TEST_PER_BOOK], "test")
    return parts


def named_people(text: str, expected: Iterable[str] = ()) -> tuple[str, ...]:
    """Who of ``PEOPLE`` is named in a text, in the order of their first mention.

    Args:
        expected: people whose names count at the beginning of a sentence too, although they are
            also words (Button, Plum, Silver).
    """
    doubtful = _WORD_LIKE - {PEOPLE[name] for name in expected}
    found = dict.fromkeys(
        match[0]
        for match in _NAME.finditer(text)
        if match[0] not in doubtful or not _SENTENCE_STARTS.search(text, 0, match.start())
    )
    return tuple(_NAME_OF_WORD[word] for word in found)


def _folder() -> Path:
    folder = DATA_FOLDER / "lantern_reader"
    if not folder.is_dir():
        raise CorpusError(f"The corpus folder {folder} is missing: {RESTORE}.")
    return folder


def _read_assignments(path: Path) -> dict[str, dict[str, str]]:
    """id -> what the writer was asked for, by column."""
    rows = [line.split("\t") for line in read_text(path).splitlines()[1:]]
    return {row[0]: dict(zip(_ASSIGNMENT, row, strict=True)) for row in rows}


def _story(record: str, path: Path, assigned: dict[str, dict[str, str]]) -> Story:
    match = _RECORD.fullmatch(record)
    if match is None:
        raise CorpusError(
            f"{path} holds a record that is not whole, beginning {record[:20]!r}: {RESTORE}."
        )
    number, title, words, text, summary, q1, a1, q2, a2, *statements = match.groups()
    row = assigned[number]
    expected = [name.partition(" the ")[0] for name in row["people"].split(", ")]
    return Story(
        id=number,
        title=title,
        text=text,
        words=tuple(words.split(", ")),
        people=named_people(text, expected),
        place=row["place"],
        mood=row["mood"],
        summary=summary,
        questions=((q1, a1), (q2, a2)),
        statements=Statements(*statements),
    )
