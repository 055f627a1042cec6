"""nbgrader's autograder gives solutions all points and untouched releases none, for every lab.

It also executes the solutions from top to bottom, which therefore are left out of nbval's run.
"""

import csv
import shutil

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="marking needs nbgrader")

from helpers.course.environment import find_root
from staff.authoring.cells import kind, read_notebook
from staff.authoring.labs import lab_sources
from staff.marking.marking import Marking
from tests.labs.handed_in import answered, released

pytestmark = pytest.mark.marking
LABS = lab_sources(find_root())
# What trains for long to show something, and decides about no points.
SHORTER = {
    "lab03": ("N_BATCHES = 500", "N_BATCHES = 40"),
    "lab05": ("N_STEPS = 400", "N_STEPS = 8"),
}
SECRET = "of a class that the tests teach"


def solved(lab, source):
    """A right answer to every task, with short demonstrations."""
    notebook = answered(source, secret=SECRET)
    if lab in SHORTER:
        (cell,) = (cell for cell in notebook.cells if SHORTER[lab][0] in cell.source)
        cell.source = cell.source.replace(*SHORTER[lab])
    return notebook


def untouched(source):
    """A release without its demonstrations: nbval runs them, and here they would train again."""
    notebook = released(source, secret=SECRET)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell for cell in code[2:] if "nbgrader" not in cell.metadata]
    notebook.cells = [cell for cell in notebook.cells if cell not in shown]
    return notebook


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Solutions and untouched releases of all labs, marked."""
    folder = tmp_path_factory.mktemp("submissions")
    for lab, source in LABS.items():
        nbformat.write(solved(lab, source), folder / f"{lab}-solved.ipynb")
        nbformat.write(untouched(source), folder / f"{lab}-untouched.ipynb")
    # Two at a time: much of marking is waiting for kernels that start.
    Marking(folder, SECRET, workers=2, sandboxed=shutil.which("bwrap") is not None).run()
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    with (folder / "marks" / "points.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(params=LABS)
def lab(request):
    """A lab with the points of its graded cells: by the autograder, by a person."""
    cells = [cell for cell in read_notebook(LABS[request.param]).cells if kind(cell)]
    points = {"test": {}, "answer": {}}
    for cell in cells:
        if kind(cell) in points:
            points[kind(cell)][cell.metadata.nbgrader.grade_id] = cell.metadata.nbgrader.points
    assert len(points["test"]) >= 6
    return request.param, points["test"], points["answer"]


def test_solutions_get_full_marks(rows, lab):
    name, tested, by_hand = lab
    row = rows[f"{name}-solved"]
    assert (row["status"], row["reason"], row["lab"]) == ("marked", "", name)
    assert {task: float(row[task]) for task in tested} == tested
    assert float(row["total"]) == sum(tested.values())
    assert float(row["out of"]) == sum(tested.values()) + sum(by_hand.values())
    assert row["by hand"] == ", ".join(f"{task} ({points})" for task, points in by_hand.items())


def test_no_cell_of_a_solution_raises(folder, lab):
    page = (folder / "marks" / "feedback" / f"{lab[0]}-solved.html").read_text(encoding="utf-8")
    assert page.count('<pre class="output">') > len(lab[1])
    assert 'class="error"' not in page
    assert "The cell ended with" not in page


def test_untouched_releases_get_nothing(folder, rows, lab):
    name, tested, by_hand = lab
    row = rows[f"{name}-untouched"]
    assert (row["status"], row["reason"], row["lab"]) == ("marked", "", name)
    assert {float(row[task]) for task in [*tested, *by_hand]} == {0.0}
    assert float(row["total"]) == 0
    page = (folder / "marks" / "feedback" / f"{name}-untouched.html").read_text(encoding="utf-8")
    said = [task for task in tested if f"○ {task}: not attempted" in page]
    assert said == list(tested)
