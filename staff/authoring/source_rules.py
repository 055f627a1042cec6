"""What is wrong with the source of a lab, one sentence each."""

from __future__ import annotations

import ast
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
    nbgrader,
    read_notebook,
    regions,
    scored_task,
    without_regions,
)
from staff.authoring.student_version import student_version, with_seeds

# Which kind of cell may hold which marked region.
PLACES = {SOLUTION: ("solution", "answer"), HIDDEN: ("test",), SCHEME: ("answer", "question")}

_HEADING = re.compile(r"#{2,4} (?:Task (\d+)|Question) · .+ · (\d+) points?")
_TASK = re.compile(r"(?m)^#{1,6} (?:Task|Question)\b.*$")
_NEAR_MARKER = re.compile(r"(?m)^.*\b(?:BEGIN|END)\s+(?:SOL|HIDD|TEST|MARK)\w*.*$")


def check_source(path: Path, tasks: Collection[str] | None = None) -> list[str]:
    """What is wrong with a lab's source, one sentence each; none means that all is well.

    Args:
        path: ``.../lab01/lab01_name.ipynb``.
        tasks: in order; without them, those of the lab's module in ``helpers.course.checks``.
    """
    lab = path.parent.name
    if tasks is None:
        try:
            tasks = importlib.import_module(f"helpers.course.checks.{lab}").lab.tasks
        except ModuleNotFoundError:
            return [f"there are no checks for it: helpers/course/checks/{lab}"]
    try:
        notebook = read_notebook(path)
    except ValueError as error:
        return [str(error)]
    complaints = [*_metadata(notebook), *_markers(notebook)]
    if complaints:  # the rest would only repeat them
        return complaints
    return [
        *_order(notebook),
        *_tests(notebook, tasks),
        *_headings(notebook),
        *_release(notebook, lab),
    ]


def _metadata(notebook: NotebookNode) -> Iterator[str]:
    validator = nbgrader("nbgraderformat").MetadataValidator()
    used = Counter(cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells)
    yield from (f"the grade_id '{name}' occurs {n} times" for name, n in used.items()
                if name is not None and n > 1)  # fmt: skip
    for number, cell in enumerate(notebook.cells, start=1):
        meta = cell.metadata.get("nbgrader")
        if meta is None:
            continue
        try:
            validator.validate_cell(cell)
        except Exception as error:  # its validators raise errors of several libraries
            yield f"cell {number}: {str(error).splitlines()[0]}"
            continue
        name, points = kind(cell), meta.get("points")
        if name and not meta.get("grade_id"):
            yield f"cell {number} has no grade_id"
        if name in ("test", "answer", "question"):
            if not isinstance(points, int) or isinstance(points, bool) or points < 1:
                yield f"cell {number}: its points are {points}, not a whole number above 0"
        elif points:
            yield f"cell {number} has points and is not graded"
        if name in ("test", "question") and not meta["locked"]:
            yield f"cell {number} is not locked"
        wanted = {"solution": "code", "test": "code", "answer": "markdown", "question": "markdown"}
        if wanted.get(name, cell.cell_type) != cell.cell_type:
            yield f"cell {number} is {cell.cell_type}, and its metadata say {name}"


def _markers(notebook: NotebookNode) -> Iterator[str]:
    for number, cell in enumerate(notebook.cells, start=1):
        for line in _NEAR_MARKER.findall(cell.source):
            if not any(line.strip() in markers for markers in PLACES):
                yield f"cell {number}: '{line.strip()}' is no marker, and looks like one"
        for markers, kinds in PLACES.items():
            try:
                found = regions(cell.source, markers)
            except ValueError as error:
                yield f"cell {number}: {error}"
                continue
            if found and kind(cell) not in kinds:
                yield f"cell {number} holds '{markers[0]}' and is not a cell for it"
            if any(not region.strip() for region in found):
                yield f"cell {number} has nothing after '{markers[0]}'"
        if kind(cell) == "solution" and SOLUTION[0] not in cell.source:
            yield f"cell {number} is a solution without '{SOLUTION[0]}'"


def _order(notebook: NotebookNode) -> Iterator[str]:
    """A test cell comes after each solution (or, of the stretch task, the leaderboard's cell)."""
    code = [(n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "code"]
    before = ""
    for i, (number, cell) in enumerate(code):
        if kind(cell) == "solution":
            following = code[i + 1][1] if i + 1 < len(code) else None
            stretch = following is not None and "check.leaderboard(" in following.source
            if not stretch and (following is None or kind(following) not in ("solution", "test")):
                yield f"cell {number} is a solution that no test cell follows"
        if kind(cell) == "test" and before != "solution":
            yield f"cell {number} is a test cell that follows no solution"
        before = kind(cell)


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


def _release(notebook: NotebookNode, lab: str) -> Iterator[str]:
    """The student's version can be made, is valid Python and runs untouched."""
    try:
        with_seeds(notebook, lab)
        released = student_version(notebook)
    except ValueError as error:
        yield str(error)
        return
    if not any(re.search(r"(?m)^check\.use_variant\(VARIANT\)$", c.source) for c in released.cells):
        yield "no cell holds the line 'check.use_variant(VARIANT)'"
    for number, cell in enumerate(released.cells, start=1):
        if cell.source != cell.source.strip("\n"):
            yield f"cell {number} begins or ends with an empty line in the student's version"
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError as error:
            yield f"cell {number} is not valid Python in the student's version: {error}"
            continue
        if any(isinstance(node, ast.Raise) for node in tree.body):
            yield (
                f"cell {number} stops an untouched notebook: put the solution into a function or "
                "a method"
            )
