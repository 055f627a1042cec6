"""What is wrong with the source of a lab, one sentence each.

nbgrader itself refuses what is wrong with its metadata and markers, when it makes a release.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from nbformat import NotebookNode

from staff.authoring.cells import (
    HIDDEN,
    SCHEME,
    SOLUTION,
    kind,
    read_notebook,
    scored_task,
    without_regions,
)
from staff.authoring.student_version import student_version, with_seeds

_HEADING = re.compile(r"#{2,4} (?:Task (\d+)|Question) · .+ · (\d+) points?")
_TASK = re.compile(r"(?m)^#{1,6} (?:Task|Question)\b.*$")
_NEAR_MARKER = re.compile(r"(?m)^.*\b(?:BEGIN|END)\s+(?:SOL|HIDD|TEST|MARK)\w*.*$")


def check_source(path: Path) -> list[str]:
    """What is wrong with a lab's source, one sentence each; none means that all is well.

    Args:
        path: ``.../lab01/lab01_name.ipynb``.
    """
    lab = path.parent.name
    try:
        tasks = importlib.import_module(f"helpers.course.checks.{lab}").lab.tasks
        notebook = read_notebook(path)
        released = student_version(with_seeds(notebook, lab))
    except ModuleNotFoundError:
        return [f"there are no checks for it: helpers/course/checks/{lab}"]
    except ValueError as error:
        return [str(error)]
    complaints = [*_markers(notebook), *_tests(notebook, tasks), *_headings(notebook)]
    if not any(re.search(r"(?m)^check\.use_variant\(VARIANT\)$", c.source) for c in released.cells):
        complaints.append("no cell holds the line 'check.use_variant(VARIANT)'")
    return complaints


def _markers(notebook: NotebookNode) -> Iterator[str]:
    for number, cell in enumerate(notebook.cells, start=1):
        for line in _NEAR_MARKER.findall(cell.source):
            if line.strip() not in (*SOLUTION, *HIDDEN, *SCHEME):
                yield f"cell {number}: '{line.strip()}' is no marker, and looks like one"


def _tests(notebook: NotebookNode, tasks: Collection[str]) -> Iterator[str]:
    used = []
    for number, cell in enumerate(notebook.cells, start=1):
        if kind(cell) != "test":
            continue
        try:
            used.append(scored_task(cell))
        except ValueError as error:
            yield f"cell {number}: {error}"
            continue
        called = re.findall(r"\bcheck\.(\w+)\(", without_regions(cell.source, HIDDEN))
        if called != used[-1:]:
            yield (
                f"cell {number} marks '{used[-1]}' and shows the student "
                f"{' and '.join(map(repr, called)) or 'no check'}"
            )
    if used != list(tasks):
        yield f"the tasks marked are {', '.join(used)}; the checks have {', '.join(tasks)}"


def _headings(notebook: NotebookNode) -> Iterator[str]:
    """Points in the headings are those in the metadata."""
    announced: list[tuple[str, int]] = []
    real: Counter[int] = Counter()  # place in `announced` -> points
    for number, cell in enumerate(notebook.cells, start=1):
        for title in _TASK.findall(cell.source) if cell.cell_type == "markdown" else ():
            form = _HEADING.fullmatch(title)
            if form is None or int(form[1] or len(announced) + 1) != len(announced) + 1:
                wanted = f"### Task {len(announced) + 1} · Its name · 2 points"
                yield f"cell {number}: its heading is '{title}', not of the form '{wanted}'"
            announced.append((title, int(form[2]) if form else -1))
        if kind(cell) in ("test", "answer", "question"):
            real[len(announced) - 1] += cell.metadata.nbgrader.points
    if real[-1]:
        yield "a graded cell stands before the first heading of a task"
    for place, (title, points) in enumerate(announced):
        if points not in (-1, real[place]):
            yield f"'{title}' announces {points} points, and its cells have {real[place]}"
