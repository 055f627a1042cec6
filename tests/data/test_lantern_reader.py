"""The Lantern Bay Reader: whole records, the town's names, a split without near-duplicates, and
statements that say what they are told to say of their own labels."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter

import numpy as np
import pytest

from benchmarks import lantern_reader as study
from helpers.data import lantern_reader as reader
from helpers.data.corpora import Corpus, CorpusError, lantern_reader
from helpers.data.lantern_reader import (
    LABELS,
    PEOPLE,
    Story,
    inference_test,
    named_people,
    part_of_each,
    read_stories,
)
from helpers.data.reading import DATA_FOLDER
from helpers.models.naive_bayes import NaiveBayes

FOLDER = DATA_FOLDER / "lantern_reader"


@pytest.fixture(scope="module")
def stories() -> tuple[Story, ...]:
    return read_stories()


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return lantern_reader()


@functools.cache
def stories_of(part: str) -> tuple[Story, ...]:
    return read_stories(part)


@functools.cache
def chosen_for_inference() -> tuple[Story, ...]:
    return inference_test()


@functools.cache
def assignments() -> dict[str, list[str]]:
    lines = (FOLDER / "assignments.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {row[0]: row[1:] for row in (line.split("\t") for line in lines)}


def prose(story: Story) -> list[str]:
    """All that is written about a story in sentences."""
    asked = [text for pair in story.questions for text in pair]
    return [story.text, story.summary, *asked, *story.statements]


# Records


def test_there_are_24_books_of_200_stories_in_order(stories):
    assert [story.id for story in stories] == [
        f"{book:02d}{number:03d}" for book in range(1, 25) for number in range(1, 201)
    ]
    assert [story.id for story in stories] == list(assignments())


def test_stories_written_out_again_are_the_files(stories):
    books: dict[str, list[str]] = {}
    for s in stories:
        asked = "".join(f"Q: {question}\nA: {answer}\n" for question, answer in s.questions)
        labelled = "".join(f"{label}: {text}\n" for label, text in zip(LABELS, s.statements))
        books.setdefault(s.book, []).append(
            f"### {s.id}\nTITLE: {s.title}\nWORDS: {', '.join(s.words)}\nSTORY:\n{s.text}\n"
            f"SUMMARY: {s.summary}\n{asked}{labelled}"
        )
    files = sorted(path for path in FOLDER.glob("*.txt") if path.stem.isdigit())
    assert [path.stem for path in files] == list(books)
    for path in files:
        assert path.read_bytes() == "\n".join(books[path.stem]).encode("ascii")


# Names


def test_people_are_those_named_in_the_story(stories):
    alike = more = fewer = 0
    for story in stories:
        expected = {name.partition(" the ")[0] for name in assignments()[story.id][0].split(", ")}
        assert expected <= set(PEOPLE)
        named = set(story.people)
        assert len(named) == len(story.people)
        assert all(PEOPLE[name] in story.text for name in named)
        alike += named == expected
        more += bool(named - expected)
        fewer += bool(expected - named)
    assert f"In {alike:,} stories these are just" in section()
    assert f"in {more:,} others are named too, and in {fewer} somebody" in section()
    assert fewer < 20


def test_a_name_that_is_a_word_does_not_count_where_a_sentence_begins():
    text = 'Plum jam was gone. "Silver," said old Odd. Button and Moss saw it.'
    assert named_people(text) == ("Odd", "Moss")
    assert named_people(text, ["Silver"]) == ("Silver", "Odd", "Moss")
    assert named_people("There was Mayor Plum with Button's hat.") == ("Mayor Plum", "Button")
    assert named_people("A wren sat on the odd button; Kits and Ivyleaf do not count.") == ()


# The corpus


def test_documents_are_the_stories_in_the_form_of_the_tales(corpus, stories):
    assert corpus.name == "lantern_reader"
    for document, story in zip(corpus.documents, stories, strict=True):
        title, *paragraphs = document.text.split("\n\n")
        assert title == document.title == story.title
        assert "\n".join(paragraphs) == story.text
        assert (document.book, document.mood) == (story.id[:2], story.mood)


def test_split_is_by_story_and_the_same_share_of_each_book(corpus, stories):
    assert Counter(corpus.parts) == {"train": 4152, "validation": 240, "test": 408}
    for part, size in (("validation", 10), ("test", 17)):
        chosen = stories_of(part)
        assert Counter(story.book for story in chosen) == dict.fromkeys(
            sorted({story.book for story in stories}), size
        )
        expected = [s for s, its in zip(stories, corpus.parts, strict=True) if its == part]
        assert list(chosen) == expected
    ids = [{story.id for story in stories_of(part)} for part in reader.PARTS]
    assert sum(map(len, ids)) == len(set.union(*ids)) == 4800


def test_split_stays_the_same_for_ever(stories):
    parts = part_of_each(story.id for story in stories)
    listed = "\n".join(f"{part} {story}" for story, part in parts.items())
    assert hashlib.sha256(listed.encode()).hexdigest() == SPLIT_SHA256


SPLIT_SHA256 = "acbd98648ddad4a9a51b63601bafe49ccfbafaa9b4444ad365e966a5e849abe2"


# Statements that give themselves away


def test_the_filtered_stories_hide_their_labels_from_naive_bayes():
    """And they are as many as they can be: one more story would make it more than 45 %."""
    train, test, chosen = stories_of("train"), stories_of("test"), chosen_for_inference()
    model = NaiveBayes(
        [statement for story in train for statement in story.statements], [0, 1, 2] * len(train)
    )
    right = {
        story.id: int((model.classify(story.statements) == np.arange(3)).sum()) for story in test
    }
    assert set(chosen) < set(test)
    assert sum(right[story.id] for story in chosen) <= 0.45 * 3 * len(chosen)
    fewest = np.cumsum(sorted(right.values())) / (3 * np.arange(1, len(test) + 1))
    assert len(chosen) == (fewest <= 0.45).sum()
    assert max(right[s.id] for s in chosen) <= min(right[s.id] for s in set(test) - set(chosen))


def test_card_and_benchmark_tell_how_far_the_statements_give_themselves_away(stories):
    result = study.STUDY.read()
    texts = "\n".join(study.statements(stories)[0])
    # Statements were reworded: run `python -m benchmarks.lantern_reader --choose`.
    assert result["sha256 of the statements"] == hashlib.sha256(texts.encode()).hexdigest()
    assert result["stories"] == {"test part": 408, "`inference_test`": len(chosen_for_inference())}
    for name, row in result["right"].items():
        shares = list(row.values())
        assert card_rows(name)[name] == [f"{100 * share:.1f} %" for share in shares[:6]]
    filtered = [row["`inference_test`"] for row in result["right"].values()]
    apart = [result["right"][n]["`inference_test`, one of each"] for n in list(result["right"])]
    said = (max(row["test part"] for row in result["right"].values()), filtered[2])
    for share in (*said, apart[0], apart[2]):
        assert f" {100 * share:.1f} %" in section()
    assert f"lists {len(chosen_for_inference())} of its 408 stories" in section()


# The data card


@functools.cache
def section() -> str:
    """The card's section on the reader, its lines joined where they are prose."""
    sections = (DATA_FOLDER / "README.md").read_text(encoding="utf-8").split("\n## ")
    text = next(part for part in sections if part.startswith("`lantern_reader/`"))
    return re.sub(r"(?<=[^|\n])\n(?=[^|\n ])", " ", text)


def card_rows(pattern: str) -> dict[str, list[str]]:
    rows = re.findall(rf"^\| ({pattern}) \| (.+) \|$", section(), flags=re.MULTILINE)
    return {name.strip("`"): rest.replace(",", "").split(" | ") for name, rest in rows}


def test_card_gives_the_sizes_of_the_parts(corpus):
    rows = card_rows("train|validation|test|all")
    for part in (*reader.PARTS, "all"):
        text = corpus.text if part == "all" else getattr(corpus, part)
        number = len(corpus.documents) if part == "all" else corpus.parts.count(part)
        words = re.findall(r"[a-z']+", text.lower())
        expected = [number, len(text), len(words), len(set(words)), len(set(text))]
        assert list(map(int, rows[part])) == expected


def test_card_gives_the_hash_and_size_of_each_file():
    rows = card_rows("`[a-z0-9_.]+`")
    assert set(rows) == {path.name for path in FOLDER.iterdir()} - {"LICENSE"}
    for name, (size, digest) in rows.items():
        content = (FOLDER / name).read_bytes()
        assert int(size) == len(content)
        assert digest.strip("`") == hashlib.sha256(content).hexdigest()


def test_card_describes_what_the_files_hold(stories):
    for mood, number in Counter(story.mood for story in stories).items():
        assert f"{number:,} {mood}" in section()
    lengths = [len(story.text.split()) for story in stories]
    assert f"{min(lengths)} to {max(lengths)} words long" in section()
    licence = (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert "https://creativecommons.org/publicdomain/zero/1.0/legalcode" in licence


# Bad input

RECORD = """### 01001
TITLE: The Hat
WORDS: hat, run, wet
STORY:
Wren ran after her wet hat.
"Stop!" she said.
SUMMARY: Wren runs after her hat.
Q: Who ran?
A: Wren
Q: What was wet?
A: hat
YES: The hat was wet.
NO: The hat was dry.
MAYBE: The hat was blue.
"""
TABLE = "id\tpeople\tplace\tturn\tmood\tmanner\n01001\tWren\tthe quay\ta turn\tsad\ta manner\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with one story."""
    monkeypatch.setattr(reader, "DATA_FOLDER", tmp_path)
    folder = tmp_path / "lantern_reader"
    folder.mkdir()
    (folder / "01.txt").write_text(RECORD, encoding="utf-8")
    (folder / "assignments.tsv").write_text(TABLE, encoding="utf-8")
    (folder / "inference_test.txt").write_text("01001\n", encoding="utf-8")
    return folder


def test_one_story_is_read(folder):
    (story,) = read_stories()
    assert (story.id, story.book, story.title) == ("01001", "01", "The Hat")
    assert story.text == 'Wren ran after her wet hat.\n"Stop!" she said.'
    assert (story.words, story.people) == (("hat", "run", "wet"), ("Wren",))
    assert (story.place, story.mood) == ("the quay", "sad")
    assert story.summary == "Wren runs after her hat."
    assert story.questions == (("Who ran?", "Wren"), ("What was wet?", "hat"))
    assert story.statements.yes == "The hat was wet."
    assert story.statements.no == "The hat was dry."
    assert story.statements.maybe == "The hat was blue."
    assert read_stories("test") == inference_test() == (story,)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("01.txt", "MAYBE: The hat was blue.\n", "", "record that is not whole, beginning '### 01"),
        ("01.txt", RECORD, RECORD + "\n" + RECORD, "holds a story twice or out of order"),
        ("assignments.tsv", TABLE, TABLE + "01002" + TABLE[-40:], "lacks story 01002"),
    ],
)
def test_altered_files_are_named_in_one_sentence(folder, file, old, new, message):
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CorpusError, match=message) as error:
        inference_test()
    assert "\n" not in str(error.value)
    assert "git checkout -- data" in str(error.value)


def test_a_missing_folder_and_an_unknown_part_are_named(folder, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="There is no part 'dev': give one of train, validation"):
        read_stories("dev")
    monkeypatch.setattr(reader, "DATA_FOLDER", tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="is missing: restore it with"):
        read_stories()
    with pytest.raises(CorpusError, match="is missing: restore it with"):
        lantern_reader()
