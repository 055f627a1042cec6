"""What a person adds to the marking of a folder: points for open questions, and what follows.

    python -m staff.marking.by_hand FOLDER [--hand FILE] [--roster FILE]

It reads what ``staff.marking.marking`` has left in ``FOLDER/marks``, whose own files stay as they
are, and writes beside them:

- ``questions/LAB-TASK.html``: all answers to one question below the question and its mark scheme.
  Keys give points, and *Save* writes ``by_hand-LAB-TASK.csv`` (student, task, points, comment), to
  be put into FOLDER;
- ``returned/STUDENT.html``: the pages of feedback with these points and comments;
- ``all.csv``: the table with them, with numbers from the roster and who is missing, and how much a
  hand-in shares with another one;
- ``moodle.csv`` and ``canvas.csv``: the sums, for import;
- ``returned-moodle.zip``: the pages in the folders that Moodle named, for its import of feedback.

Read are all ``FOLDER/by_hand*.csv``, of two lines for one answer the one in the newer file, or
``FILE`` alone if it is named; marking again leaves them alone.
"""

from __future__ import annotations

import argparse
import builtins
import csv
import html
import io
import json
import keyword
import re
import sys
import tokenize
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import own_files, write_whole
from staff.authoring.cells import SCHEME, kind, read_notebook, regions
from staff.authoring.labs import lab_sources
from staff.authoring.student_version import student_version
from staff.marking import report
from staff.marking.state import State
from staff.marking.submissions import (
    MARKS,
    MOODLE,
    Refused,
    find_submissions,
    grade_id,
    printed,
    read_submission,
    without_notebook,
)

HAND = "by_hand*.csv"  # a browser calls a second one "by_hand… (1).csv"
ZIP = "returned-moodle.zip"
COLUMNS = ("student", "task", "points", "comment")
ROSTER = (  # the last column is the number; the second and the third are Moodle's
    ("name", "number"),
    ("first name", "last name", "id number"),
    ("first name", "surname", "id number"),
)
PASSAGE = 8  # tokens in a row
COMMON = 0.2  # a passage that more of the class have is the course's, or the obvious one
PRINTED = 30_000  # characters of a notebook's output that are shown
LEAST = 20  # unusual passages, below which nothing can be said
_TEMPLATE = Path(__file__).with_name("by_hand.html")

Row = dict[str, Any]
Alike = tuple[str, float, int]
Given = dict[tuple[str, str], tuple[float | None, str]]  # by (student, task): points and comment


@dataclass(frozen=True)
class Question:
    """An open question: its lab, its name, the points it gives, its mark scheme, its words."""

    lab: str
    task: str
    points: float
    scheme: str
    asked: str = ""


def questions(sources: Mapping[str, Path]) -> list[Question]:
    """The open questions of the labs, in order."""
    found = []
    for lab, path in sources.items():
        asked = ""  # in the last text before the cell for the answer
        for cell in read_notebook(path).cells:
            if kind(cell) == "answer":
                about, scheme = cell.metadata.nbgrader, "\n".join(regions(cell.source, SCHEME))
                points = float(about.points)
                found.append(Question(lab, about.grade_id, points, scheme.strip(), asked))
            elif cell.cell_type == "markdown":
                asked = cell.source.strip()
    return found


def same(name: str) -> str:
    """A name as it is compared: file systems write accents in two ways, and _ for a blank."""
    return " ".join(unicodedata.normalize("NFC", name).replace("_", " ").split()).casefold()


def _lines(path: Path) -> list[dict[str, str]]:
    """Of a CSV, also as a spreadsheet saves it where numbers have a decimal comma."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not in UTF-8: save it as CSV UTF-8.") from None
    head = text.partition("\n")[0]
    delimiter = ";" if ";" in head and "," not in head else ","
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def read_hand(path: Path, rows: Sequence[Row]) -> Given:
    """Points (None: none yet) and comments by (student, task).

    Raises:
        ValueError: a line names nobody or no question, or gives too many points; says which line.
    """
    lines = _lines(path)
    if lines and not set(COLUMNS) <= set(lines[0]):
        raise ValueError(f"{path.name} needs the columns {', '.join(COLUMNS)}.")
    possible = {
        (row["student"], task): most
        for row in rows
        for task, most in row.get("possible", {}).items()
    }
    students = {row["student"] for row in rows}
    given: Given = {}
    for number, line in enumerate(lines, 2):
        student, task = (line["student"] or "").strip(), (line["task"] or "").strip()
        where = f"{path.name}, line {number}:"
        if student not in students:
            raise ValueError(f"{where} nobody called '{student}' has handed anything in.")
        if (student, task) not in possible:
            raise ValueError(f"{where} the lab of {student} has no task '{task}'.")
        written = (line["points"] or "").strip()
        try:
            points = float(written.replace(",", ".")) if written else None
        except ValueError:
            raise ValueError(f"{where} '{written}' is no number of points.") from None
        most = possible[student, task]
        if points is not None and not 0 <= points <= most:
            raise ValueError(f"{where} '{task}' gives 0 to {most:g} points, not {points:g}.")
        given[student, task] = (points, (line["comment"] or "").strip())
    return given


def combined(rows: Sequence[Row], hand: Given) -> list[Row]:
    """The rows with the points that a person gave; the automatic ones stay as they are."""
    made = []
    for row in rows:
        points = dict(row.get("points", {}))
        for task in points:
            by_person, _ = hand.get((row["student"], task), (None, ""))
            points[task] = points[task] if by_person is None else by_person
        made.append({**row, "points": points} if points else row)
    return made


def returned(page: str, before: Row, after: Row, hand: Given) -> str:
    """A page of feedback with the sum, the points and the comments of a person."""
    page = page.replace(report.heading(before), report.heading(after), 1)
    for task, got in before["points"].items():
        points, comment = hand.get((before["student"], task), (None, ""))
        if points is None and not comment:
            continue
        most = before["possible"][task]
        start = report.line(task, got, most, "").removesuffix("</td></tr>")
        row = re.search(re.escape(start) + "(.*?)</td></tr>", page, re.DOTALL)
        if row:
            said = html.unescape(row[1])
            if points is not None and said == report.by_hand(got):
                said = ""
            words = "\n".join(filter(None, [said, comment]))
            new = report.line(task, after["points"][task], most, words)
            page = page[: row.start()] + new + page[row.end() :]
    return page


def question_page(
    question: Question,
    answers: Sequence[tuple[str, str]],
    hand: Given,
    outputs: Mapping[str, str] | None = None,
) -> str:
    """All answers to a question below it and its mark scheme, with keys to give points.

    Args:
        question: which one.
        answers: (student, text).
        hand: what has been given.
        outputs: what the file of a student had printed, whose numbers an answer quotes.
    """
    sections = "".join(
        f'<section data-student="{html.escape(student, quote=True)}">'
        f"<h2>{html.escape(student)}</h2><pre>{report.escaped(answer)}</pre>"
        "<details><summary>What the notebook that was handed in had printed</summary>"
        f"<pre>{report.escaped(shown, longest=PRINTED)}</pre></details></section>"
        for student, answer in answers
        for shown in [(outputs or {}).get(student) or "Nothing."]
    )
    known = [[name, *value] for (name, task), value in hand.items() if task == question.task]
    about = {"lab": question.lab, "task": question.task, "most": question.points, "given": known}
    page = _TEMPLATE.read_text(encoding="utf-8")
    for name, text in (
        ("TITLE", html.escape(f"{question.lab}: {question.task}, {question.points:g} points")),
        ("ASKED", report.escaped(question.asked)),
        ("SCHEME", report.escaped(question.scheme)),
        ("ANSWERS", sections),
        # Inside of a script nothing may look like its end.
        ("ABOUT", json.dumps(about).replace("<", "\\u003c")),
    ):
        page = page.replace(f"{{{{{name}}}}}", text)
    return page


def passages(source: str) -> set[tuple[str, ...]]:
    """The runs of tokens in some code, without comments and the names that its author chose."""
    words = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                words.append(token.string if hasattr(builtins, token.string) else "name")
            elif token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING):
                words.append(token.string)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # what could be read so far counts
    return {tuple(words[i : i + PASSAGE]) for i in range(len(words) - PASSAGE + 1)}


def alike(codes: Mapping[str, str], released: str = "") -> dict[str, Alike]:
    """For each student the one whose code shares most unusual passages, their share, of how many.

    Unusual is what fewer than a fifth of the class have, and at least two may always have. Equal
    code need not be copied: it is a reason to talk with both.
    """
    handed_out = passages(released)  # what two have left undone is no sign
    found = {student: passages(code) - handed_out for student, code in codes.items()}
    times = Counter(passage for own in found.values() for passage in own)
    most = max(2, COMMON * len(found))
    rare = {student: {p for p in own if times[p] <= most} for student, own in found.items()}
    nearest = {}
    for student, own in rare.items():
        shares = {
            other: len(own & theirs) / min(len(own), len(theirs))
            for other, theirs in rare.items()
            if other != student and min(len(own), len(theirs)) >= LEAST
        }
        if shares:
            # A little that both have whole must not hide a hand-in that is the same throughout.
            other = max(shares, key=lambda name: (shares[name], len(own & rare[name])))
            nearest[student] = (other, shares[other], min(len(own), len(rare[other])))
    return nearest


def read_roster(path: Path) -> dict[str, str]:
    """The numbers of a class by name, from a file with the columns of ``ROSTER``.

    Two students of one name have none: nothing tells whose the file is.

    Raises:
        ValueError: it has other columns.
    """
    lines = [{same(str(name)): value for name, value in line.items()} for line in _lines(path)]
    there = set(lines[0]) if lines else set()
    columns = next((columns for columns in ROSTER if there.issuperset(columns)), None)
    if columns is None:
        raise ValueError(
            f"{path.name} needs the columns name and number, or those of Moodle: First name, "
            "Last name (or Surname) and ID number; and a line for each student."
        )
    told = [[(line[column] or "").strip() for column in columns] for line in lines]
    numbers = [(" ".join(names).strip(), number) for *names, number in told if any(names)]
    times = Counter(same(name) for name, _ in numbers)
    return {name: number if times[same(name)] == 1 else "" for name, number in numbers}


def whole_table(
    rows: Sequence[Row],
    roster: Mapping[str, str],
    nearest: Mapping[tuple[str, str], Alike],
) -> str:
    """The table with the students' numbers and with who is alike, by (student, lab)."""
    numbers = {same(name): number for name, number in roster.items()}
    lines = list(csv.reader(io.StringIO(report.table(rows))))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*lines[0], "number", "talk about (shared unusual passages)"])
    for line, row in zip(lines[1:], rows, strict=True):
        other, share, number = nearest.get((row["student"], row.get("lab", "")), ("", 0.0, 0))
        told = f"{other}: {share:.0%} of {number}" if share >= 0.5 else ""
        writer.writerow([*line, numbers.get(same(row["student"]), ""), report.cell(told)])
    return out.getvalue()


def without_points(
    folder: Path, rows: Sequence[Row], waiting: Mapping[str, str], roster: Mapping[str, str]
) -> list[Row]:
    """Rows for what is not marked yet (file: student), is no notebook, or was not handed in."""
    found = [
        {"student": student, "file": file, "status": "not marked yet", "reason": ""}
        for file, student in waiting.items()
    ]
    for student, name, kept in without_notebook(folder):
        reason = f"No notebook is in its folder: {kept}."
        found.append({"student": student, "file": name, "status": "no notebook", "reason": reason})
    there = {same(row["student"]) for row in [*rows, *found]}
    missing = [name for name in roster if same(name) not in there]
    return found + [
        {"student": n, "file": "", "status": "not handed in", "reason": ""} for n in missing
    ]


def twice(rows: Sequence[Row]) -> dict[tuple[str, str], list[str]]:
    """The files by (student, lab), where they are several: one student's, or two of one name."""
    files: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if "lab" in row:
            files.setdefault((same(row["student"]), row["lab"]), []).append(row["file"])
    found = {}
    for row in rows:
        names = files.get((same(row["student"]), row.get("lab", "")), [])
        if len(names) > 1:
            found[row["student"], row["lab"]] = names
    return found


def export(rows: Sequence[Row], roster: Mapping[str, str], kind_of: str) -> str:
    """The sums for a platform: ``moodle`` or ``canvas``.

    No sum has who waits for a person, and of whom there are two notebooks of a lab.
    """
    labs = sorted({row["lab"] for row in rows if row.get("points")})
    numbers = {same(name): number for name, number in roster.items()}
    sums: dict[str, dict[str, float]] = {}
    for row in rows:
        points = row.get("points", {})
        if (
            points
            and None not in points.values()
            and (row["student"], row["lab"]) not in twice(rows)
        ):
            sums.setdefault(row["student"], {})[row["lab"]] = sum(points.values())
    head = {
        "moodle": ["Full name", "ID number", *labs],
        "canvas": ["Student", "ID", "SIS User ID", "Section", *labs],
    }[kind_of]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for student in dict.fromkeys(row["student"] for row in rows):
        number = numbers.get(same(student), "")
        middle = [number] if kind_of == "moodle" else ["", number, ""]
        got = [report.cell(sums.get(student, {}).get(lab)) for lab in labs]
        writer.writerow([report.cell(student), *middle, *got])
    return out.getvalue()


def zipped(pages: Mapping[str, Path]) -> bytes:
    """A zip of pages by their names in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, path in pages.items():
            file.write(path, name)
    return out.getvalue()


def write_all(folder: Path, hand_file: Path | None, roster_file: Path | None) -> list[str]:
    """Write everything; return what to say.

    Raises:
        ValueError: nothing is marked, or a file is not what it should be.
    """
    sources = lab_sources(find_root())
    marks, submissions = folder / MARKS, find_submissions(folder)
    state = State(marks, submissions, "")
    rows = state.rows()
    if not rows:
        raise ValueError(f"Nothing in {folder} is marked: make mark does that first.")
    if hand_file is not None and not hand_file.is_file():
        raise ValueError(f"There is no file {hand_file}.")
    # The newest last: it decides.
    hand_files = [hand_file] if hand_file else own_files(folder, HAND, deep=False)
    hand_files.sort(key=lambda path: (path.stat().st_mtime, path.name))
    hand: Given = {}
    for path in hand_files:
        hand |= read_hand(path, rows)
    roster = read_roster(roster_file) if roster_file else {}
    several = twice(rows)
    codes: dict[str, dict[str, str]] = {}
    answers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    outputs: dict[str, dict[str, str]] = {}
    known = {(q.lab, q.task): q for q in questions(sources)}
    for row in rows:
        try:
            cells = read_submission(folder / row["file"]).cells
            shown = printed(folder / row["file"])
        except Refused:
            continue
        lab = row.get("lab", "")
        outputs.setdefault(lab, {})[row["student"]] = shown
        for cell in cells:
            question = known.get((lab, grade_id(cell)))
            # nbgrader gives 0 to what was left as it was handed out: there is nothing to read.
            if question and row.get("points", {}).get(question.task) != 0:
                given = (row["student"], cell.source)
                if (row["student"], lab) not in several:
                    answers.setdefault((question.lab, question.task), []).append(given)
        own = codes.setdefault(lab, {})
        own[row["student"]] = own.get(row["student"], "") + "\n" + _code(cells)
    for key, given_answers in answers.items():
        page = question_page(known[key], given_answers, hand, outputs[key[0]])
        _write(marks / "questions" / f"{key[0]}-{key[1]}.html", page)
    after = combined(rows, hand)
    pages: set[str] = set()
    of_moodle: dict[str, Path] = {}
    for row, full in zip(rows, after, strict=True):
        page_file = marks / "feedback" / state.pages[row["file"]]
        if page_file.is_file():
            page = returned(page_file.read_text(encoding="utf-8"), row, full, hand)
            path = marks / "returned" / page_file.name
            _write(path, page)
            pages.add(page_file.name)
            if MOODLE.search(inner := row["file"].rpartition("/")[0]):
                of_moodle[f"{inner}/{page_file.name}"] = path
    for old in own_files(marks / "returned", "*.html", deep=False):
        if old.name not in pages:  # of a file that is gone, or of a student who is two by now
            old.unlink()
    (marks / ZIP).unlink(missing_ok=True)
    if of_moodle:
        write_whole(marks / ZIP, zipped(of_moodle))
    waiting = {s.file: s.student for s in submissions if s.file not in state.done}
    nearest = {
        (student, lab): other
        for lab, of_lab in codes.items()
        if lab in sources and not waiting  # among a few, much is unusual
        for student, other in alike(
            of_lab, _code(student_version(read_notebook(sources[lab])).cells)
        ).items()
    }
    rest = without_points(folder, rows, waiting, roster)
    _write(marks / "all.csv", whole_table([*after, *rest], roster, nearest))
    for kind_of in ("moodle", "canvas"):
        _write(marks / f"{kind_of}.csv", export(after, roster, kind_of))
    return [
        *_what_to_look_at(after, rest, roster),
        *([f"Points by hand are from {', '.join(p.name for p in hand_files)}."] * bool(hand_files)),
        *_what_to_read(after, marks),
        f"See {marks / 'all.csv'} and {marks / 'returned'}.",
    ]


def _code(cells: Iterable[NotebookNode]) -> str:
    return "\n".join(c.source for c in cells if c.cell_type == "code" and grade_id(c))


def _what_to_look_at(
    rows: Sequence[Row], rest: Sequence[Row], roster: Mapping[str, str]
) -> list[str]:
    """What is not as one thinks when one sees the table alone."""
    labs = Counter(row["lab"] for row in rows if "lab" in row)
    told = ", ".join(f"{number} of {lab}" for lab, number in sorted(labs.items()))
    said = [f"There are several labs: {told}."] if len(labs) > 1 else []
    for (student, lab), files in twice(rows).items():
        said.append(
            f"{student} has {len(files)} notebooks of {lab}: {', '.join(files)}. No sum of theirs "
            "is exported and none is on the page: leave one in the folder, or rename a namesake."
        )
    names = {same(name) for name in roster}
    strangers = dict.fromkeys(
        r["student"] for r in [*rows, *rest] if same(r["student"]) not in names
    )
    if roster and strangers:
        said.append(f"Not on the roster, so without a number: {', '.join(strangers)}.")
    status = Counter(row["status"] for row in rest)
    empty = ", ".join(row["student"] for row in rest if row["status"] == "no notebook")
    said += [f"No notebook is in the folder of {empty}."] if empty else []
    for name, words in (
        ("not marked yet", "still to be marked: call make mark again"),
        ("not handed in", "of the roster have handed nothing in"),
    ):
        said += [f"{status[name]} {words}."] if status[name] else []
    return said


def _what_to_read(rows: Sequence[Row], marks: Path) -> list[str]:
    several = twice(rows)  # these are not on the page
    read = [row for row in rows if (row["student"], row.get("lab")) not in several]
    waiting = sum(got is None for row in read for got in row.get("points", {}).values())
    return [f"{waiting} answers wait for a person: open {marks / 'questions'}."] if waiting else []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "replace"))


def main(arguments: Iterable[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(prog="python -m staff.marking.by_hand")
    parser.add_argument("folder", type=Path, help="of the submissions, after marking")
    parser.add_argument("--hand", type=Path, help="points and comments (all FOLDER/by_hand*.csv)")
    parser.add_argument("--roster", type=Path, help="a CSV with names and numbers")
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        folder = options.folder.expanduser().absolute()
        print("\n".join(write_all(folder, options.hand, options.roster)))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
