"""How long a notebook takes a student to work through, estimated by rule, and its *Time* paragraph.

    python -m staff.notebooks.clock              the minutes of all notebooks
    python -m staff.notebooks.clock 02           those of this one and of its sections
    python -m staff.notebooks.clock 02 --write   and bring its *Time* paragraph up to date

A minute is spent on 180 words of prose, on four visible lines of code, on a picture, a prediction
or a quiz; a task takes six. What is folded is not counted, but for its outputs. By a stop watch,
people have taken about a tenth longer.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, find_notebook, released_notebooks
from helpers.files import write_whole
from staff.notebooks.folding import FOLDED_TAG

SITTING = 90  # minutes that a notebook may take
# Notebooks that take longer still. One that does not must leave the list.
NOT_YET_CUT: set[str] = set()

WORDS, LINES = 180, 4  # a minute
TASK, QUESTION, PICTURE = 6, 1, 1  # minutes
PRINTED = 1.5  # at most, for one output: nobody reads a long table to its end
STEP = 5  # to which the whole is rounded

_TIME = re.compile(r"^\*\*Time\*\*.*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_RUN = re.compile(r"to work through, (.*?)\.(?:\s|$)", re.DOTALL)
_UNREAD = re.compile(r"<details>.*?</details>|```.*?```", re.DOTALL)
_QUIZ = re.compile(r"^quiz\(", re.MULTILINE)
_COMMENT_OR_BLANK = re.compile(r"\s*(?:#|$)")


def minutes(cell: NotebookNode) -> float:
    """How many minutes a cell takes; the *Time* paragraph takes none."""
    if cell.cell_type == "markdown":
        return _words(_UNREAD.sub("", _TIME.sub("", cell.source))) / WORDS
    tags = cell.metadata.get("tags", [])
    spent = sum(map(_output_minutes, cell.outputs))
    if "your-turn" in tags:
        return spent + TASK
    if "prediction" in tags or _QUIZ.search(cell.source):
        return spent + QUESTION
    if FOLDED_TAG in tags or cell.metadata.get("jupyter", {}).get("source_hidden"):
        return spent
    lines = [line for line in cell.source.split("\n") if not _COMMENT_OR_BLANK.match(line)]
    return spent + len(lines) / LINES


def _output_minutes(output: NotebookNode) -> float:
    data = output.get("data", {})
    said = data.get("text/markdown", "")
    if output.get("name") == "stdout":
        said += output.text
    return PICTURE * ("image/png" in data) + min(_words(said) / WORDS, PRINTED)


def _words(text: str) -> int:
    return len(text.split())


def sections(notebook: NotebookNode) -> dict[str, float]:
    """The minutes of each section, by its heading; "" is what stands before the first."""
    found, heading = {"": 0.0}, ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.split("\n")[0].removeprefix("## ").strip()
        found[heading] = found.get(heading, 0.0) + minutes(cell)
    return found


def whole(notebook: NotebookNode) -> float:
    """The minutes of a notebook."""
    return sum(sections(notebook).values())


def run_words(seconds: float, before: str = "") -> str:
    """How long a notebook runs, in words.

    Args:
        seconds: on a machine of speed 1. Slow machines of students have a third of that.
        before: what has stood there; it stays while it is true within a factor of about 1.5.
    """
    said = [_run_words(factor * seconds) for factor in (1, 0.7, 1.5)]
    return before if before in said else said[0]


def _run_words(seconds: float) -> str:
    if seconds < 40:
        return "less than a minute to run on a recent laptop, about two on a slow one"
    if seconds < 90:
        return "about a minute to run on a recent laptop, about three on a slow one"
    count = round(seconds / 60)
    return f"about {count} minutes to run on a recent laptop, about {3 * count} on a slow one"


def time_paragraph(notebook: NotebookNode, run: str) -> str:
    """The *Time* paragraph: to work through, to run, and the minutes of the sections.

    Args:
        run: as of ``run_words``.
    """
    parts = [
        f"{_short(heading)} ({max(1, round(spent))})"
        for heading, spent in sections(notebook).items()
        if heading and heading != "Summary"
    ]
    about = STEP * round(whole(notebook) / STEP)
    listed = f" Minutes by section: {', '.join(parts)}." if parts else ""
    return f"**Time** about {about} minutes to work through, {run}.{listed}"


def _short(heading: str) -> str:
    """A heading up to its first stop outside of a formula: 'Queries, keys' is 'Queries'."""
    return re.sub(r"((?:\$[^$]*\$|[^,:;?!.(]|[,:.](?=\S))*).*", r"\1", heading, count=1).strip()


def write_time(notebook: NotebookNode, seconds: float | None = None) -> None:
    """Write the *Time* paragraph of the first cell anew.

    Args:
        seconds: that the notebook ran, on a machine of speed 1; None leaves what it says of that.
    """
    first = notebook.cells[0] if notebook.cells else None
    if first is None or not (stored := _TIME.search(first.source)):
        return
    found = _RUN.search(stored[0])
    run = found[1] if found else ""
    if seconds is not None:
        run = run_words(seconds, run)
    paragraph = time_paragraph(notebook, run or _run_words(60))
    first.source = first.source[: stored.start()] + paragraph + first.source[stored.end() :]


def is_one_sitting(notebook: Path) -> bool:
    """Whether it must be one sitting: a further notebook, or a lesson that is not on the list."""
    folder = notebook.parent.name
    return folder == FURTHER or (folder != "labs" and notebook.name[:2] not in NOT_YET_CUT)


def time_complaints(notebook: NotebookNode, name: str) -> list[str]:
    """One sitting, and the *Time* paragraph says so."""
    spent = whole(notebook)
    if not is_one_sitting(Path(name)):
        cut = f"it takes {spent:.0f} minutes: take it off NOT_YET_CUT in staff/notebooks/clock.py"
        return [cut] if spent <= SITTING else []
    complaints = []
    if spent > SITTING:
        complaints.append(f"it takes {spent:.0f} minutes to work through; the limit is {SITTING}")
    stored = _TIME.search(notebook.cells[0].source) if notebook.cells else None
    run = _RUN.search(stored[0]) if stored else None
    if not stored or not run or stored[0] != time_paragraph(notebook, run[1]):
        complaints.append(
            "its first cell has no paragraph '**Time** ...' that agrees with the clock: "
            f"'python -m staff.notebooks.clock {Path(name).stem} --write' mends it"
        )
    return complaints


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.clock",
        description="Say how many minutes a notebook takes to work through.",
    )
    parser.add_argument("notebooks", nargs="*", help="such as 02; without it, all of them")
    parser.add_argument("--write", action="store_true", help="into the Time paragraph")
    options = parser.parse_args(arguments)
    root = find_root()
    names = [find_notebook(root, name) for name in options.notebooks]
    for name in names or [path for path in released_notebooks(root) if path.parent.name != "labs"]:
        path = root / "notebooks" / name
        notebook = nbformat.read(path, as_version=4)
        print(f"{whole(notebook):5.0f}  {name.as_posix()}")
        if names:
            for heading, spent in sections(notebook).items():
                print(f"{spent:8.0f}  {heading or 'before the first section'}")
        if options.write:
            write_time(notebook)
            write_whole(path, nbformat.writes(notebook) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
