"""What a person adds to the marking of a folder: points for open questions, and what follows.

    python -m staff.marking.by_hand FOLDER [--hand FILE] [--roster FILE]

It reads what ``staff.marking.marking`` has left in ``FOLDER/marks``, whose own files stay as they
are, and writes beside them:

- ``questions/LAB-TASK.html``: all answers to one question below its mark scheme. Keys give points,
  and *Save* writes ``by_hand.csv`` (student, task, points, comment), to be put into FOLDER;
- ``returned/STUDENT.html``: the pages of feedback with these points and comments;
- ``all.csv``: the table with them, with numbers from the roster and who is missing, and how much a
  hand-in shares with another one;
- ``moodle.csv`` and ``canvas.csv``: the sums, for import.

``FILE`` is ``FOLDER/by_hand.csv`` unless another one is named; marking again leaves it alone.
"""

from __future__ import annotations

import argparse
import builtins
import csv
import html
import io
import json
import keyword
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import write_whole
from staff.authoring.cells import SCHEME, kind, read_notebook, regions
from staff.authoring.labs import lab_sources
from staff.marking import report
from staff.marking.state import State
from staff.marking.submissions import (
    MARKS,
    Refused,
    find_submissions,
    grade_id,
    read_submission,
)

HAND = "by_hand.csv"
COLUMNS = ("student", "task", "points", "comment")
PASSAGE = 8  # tokens in a row
COMMON = 0.2  # a passage that more of the class have is the course's, or the obvious one
LEAST = 20  # unusual passages, below which nothing can be said
_TEMPLATE = Path(__file__).with_name("by_hand.html")

Row = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """An open question: its lab, its name, the points it gives, its mark scheme."""

    lab: str
    task: str
    points: float
    scheme: str


def questions(sources: Mapping[str, Path]) -> list[Question]:
    """The open questions of the labs, in order."""
    found = []
    for lab, path in sources.items():
        for cell in read_notebook(path).cells:
            if kind(cell) == "answer":
                about, scheme = cell.metadata.nbgrader, "\n".join(regions(cell.source, SCHEME))
                found.append(Question(lab, about.grade_id, float(about.points), scheme.strip()))
    return found


def read_hand(path: Path, rows: Sequence[Row]) -> dict[tuple[str, str], tuple[float, str]]:
    """Points and comments by (student, task).

    Raises:
        ValueError: a line names nobody or no question, or gives too many points; says which line.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if lines and not set(COLUMNS) <= set(lines[0]):
        raise ValueError(f"{path.name} needs the columns {', '.join(COLUMNS)}.")
    possible = {
        (row["student"], task): most
        for row in rows
        for task, most in row.get("possible", {}).items()
    }
    students = {row["student"] for row in rows}
    given = {}
    for number, line in enumerate(lines, 2):
        student, task = (line["student"] or "").strip(), (line["task"] or "").strip()
        where = f"{path.name}, line {number}:"
        if student not in students:
            raise ValueError(f"{where} nobody called '{student}' has handed anything in.")
        if (student, task) not in possible:
            raise ValueError(f"{where} the lab of {student} has no task '{task}'.")
        try:
            points = float((line["points"] or "").replace(",", "."))
        except ValueError:
            raise ValueError(f"{where} '{line['points']}' is no number of points.") from None
        most = possible[student, task]
        if not 0 <= points <= most:
            raise ValueError(f"{where} '{task}' gives 0 to {most:g} points, not {points:g}.")
        given[student, task] = (points, (line["comment"] or "").strip())
    return given


def combined(rows: Sequence[Row], hand: Mapping[tuple[str, str], tuple[float, str]]) -> list[Row]:
    """The rows with the points that a person gave; the automatic ones stay as they are."""
    made = []
    for row in rows:
        points = {
            task: hand[row["student"], task][0] if (row["student"], task) in hand else got
            for task, got in row.get("points", {}).items()
        }
        made.append({**row, "points": points} if points else row)
    return made


def returned(
    page: str, before: Row, after: Row, hand: Mapping[tuple[str, str], tuple[float, str]]
) -> str:
    """A page of feedback with the sum, the points and the comments of a person."""
    page = page.replace(report.heading(before), report.heading(after), 1)
    for task, got in before["points"].items():
        if (before["student"], task) in hand:
            points, comment = hand[before["student"], task]
            old = report.line(task, got, before["possible"][task], report.by_hand(got))
            page = page.replace(
                old, report.line(task, points, before["possible"][task], comment), 1
            )
    return page


def question_page(
    question: Question,
    answers: Sequence[tuple[str, str]],
    hand: Mapping[tuple[str, str], tuple[float, str]],
) -> str:
    """All answers to a question below its mark scheme, with keys to give points.

    Args:
        question: which one.
        answers: (student, text).
        hand: what has been given, to this question and to others: all of it is saved again.
    """
    sections = "".join(
        f'<section data-student="{html.escape(student, quote=True)}">'
        f"<h2>{html.escape(student)}</h2><pre>{report.escaped(answer)}</pre></section>"
        for student, answer in answers
    )
    known = [[*key, *value] for key, value in hand.items()]
    about = {"lab": question.lab, "task": question.task, "most": question.points, "given": known}
    page = _TEMPLATE.read_text(encoding="utf-8")
    for name, text in (
        ("TITLE", html.escape(f"{question.lab}: {question.task}, {question.points:g} points")),
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


def alike(codes: Mapping[str, str]) -> dict[str, tuple[str, float]]:
    """For each student the one whose code shares most unusual passages, and their share.

    Unusual is what fewer than a fifth of the class have, and at least two may always have. Equal
    code need not be copied: it is a reason to talk with both.
    """
    found = {student: passages(code) for student, code in codes.items()}
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
            other = max(shares, key=shares.__getitem__)
            nearest[student] = (other, shares[other])
    return nearest


def read_roster(path: Path) -> dict[str, str]:
    """The numbers of a class by name, from a file with the columns name and number.

    Raises:
        ValueError: it has other columns.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or not {"name", "number"} <= set(lines[0]):
        raise ValueError(
            f"{path.name} needs the columns name and number, and a line for each student."
        )
    return {line["name"].strip(): line["number"].strip() for line in lines}


def whole_table(
    rows: Sequence[Row], roster: Mapping[str, str], nearest: Mapping[str, tuple[str, float]]
) -> str:
    """The table with the students' numbers, with those who are missing, and with who is alike."""
    numbers = {name.casefold(): number for name, number in roster.items()}
    handed_in = {row["student"].casefold() for row in rows}
    missing = [name for name in roster if name.casefold() not in handed_in]
    no_more = [{"student": n, "file": "", "status": "not handed in", "reason": ""} for n in missing]
    lines = list(csv.reader(io.StringIO(report.table([*rows, *no_more]))))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*lines[0], "number", "talk about (shared unusual passages)"])
    for line, row in zip(lines[1:], [*rows, *no_more], strict=True):
        other, share = nearest.get(row["student"], ("", 0.0))
        told = f"{other}: {share:.0%}" if share >= 0.5 else ""
        writer.writerow([*line, numbers.get(row["student"].casefold(), ""), report.cell(told)])
    return out.getvalue()


def export(rows: Sequence[Row], roster: Mapping[str, str], kind_of: str) -> str:
    """The sums for a platform: ``moodle`` or ``canvas``. Who waits for a person has no sum yet."""
    labs = sorted({row["lab"] for row in rows if row.get("points")})
    numbers = {name.casefold(): number for name, number in roster.items()}
    sums: dict[str, dict[str, float]] = {}
    for row in rows:
        points = row.get("points", {})
        if points and None not in points.values():
            sums.setdefault(row["student"], {})[row["lab"]] = sum(points.values())
    head = {
        "moodle": ["Full name", "ID number", *labs],
        "canvas": ["Student", "ID", "SIS User ID", "Section", *labs],
    }[kind_of]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for student in dict.fromkeys(row["student"] for row in rows):
        number = numbers.get(student.casefold(), "")
        middle = [number] if kind_of == "moodle" else ["", number, ""]
        got = [report.cell(sums.get(student, {}).get(lab)) for lab in labs]
        writer.writerow([report.cell(student), *middle, *got])
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
    hand_file = hand_file or folder / HAND
    hand = read_hand(hand_file, rows) if hand_file.is_file() else {}
    roster = read_roster(roster_file) if roster_file else {}
    codes: dict[str, dict[str, str]] = {}
    answers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    known = {(q.lab, q.task): q for q in questions(sources)}
    for row in rows:
        try:
            cells = read_submission(folder / row["file"]).cells
        except Refused:
            continue
        lab = row.get("lab", "")
        for cell in cells:
            question = known.get((lab, grade_id(cell)))
            # nbgrader gives 0 to what was left as it was handed out: there is nothing to read.
            if question and row.get("points", {}).get(question.task) != 0:
                given = (row["student"], cell.source)
                answers.setdefault((question.lab, question.task), []).append(given)
        code = "\n".join(c.source for c in cells if c.cell_type == "code" and grade_id(c))
        codes.setdefault(lab, {})[row["student"]] = code
    for key, said in answers.items():
        page = question_page(known[key], said, hand)
        _write(marks / "questions" / f"{key[0]}-{key[1]}.html", page)
    after = combined(rows, hand)
    for row, full in zip(rows, after, strict=True):
        page_file = marks / "feedback" / state.pages[row["file"]]
        if page_file.is_file():
            page = returned(page_file.read_text(encoding="utf-8"), row, full, hand)
            _write(marks / "returned" / page_file.name, page)
    nearest = {}
    for of_lab in codes.values():
        nearest |= alike(of_lab)
    _write(marks / "all.csv", whole_table(after, roster, nearest))
    for kind_of in ("moodle", "canvas"):
        _write(marks / f"{kind_of}.csv", export(after, roster, kind_of))
    waiting = sum(got is None for row in after for got in row.get("points", {}).values())
    said = [f"{waiting} answers wait for a person: open {marks / 'questions'}."] if waiting else []
    missing = len({n.casefold() for n in roster} - {row["student"].casefold() for row in rows})
    said += [f"{missing} of the roster have handed nothing in."] if missing else []
    return [*said, f"See {marks / 'all.csv'} and {marks / 'returned'}."]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "replace"))


def main(arguments: Iterable[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(prog="python -m staff.marking.by_hand")
    parser.add_argument("folder", type=Path, help="of the submissions, after marking")
    parser.add_argument("--hand", type=Path, help="points and comments (FOLDER/by_hand.csv)")
    parser.add_argument("--roster", type=Path, help="a CSV with the columns name and number")
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
