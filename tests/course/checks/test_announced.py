"""What a lab announces: its points and minutes, and no result below a prediction."""

import re

import pytest

from helpers.course.environment import find_root
from staff.authoring.cells import kind, read_notebook
from staff.authoring.labs import RELEASED, lab_sources

SOURCES = lab_sources(find_root())
# The most that each may take.
MOST_MINUTES = {
    **{"lab01": 120, "lab02": 125, "lab03": 125},
    **{"lab04": 125, "lab05": 130, "lab06": 125, "lab07": 120, "lab08": 120},
}

every_lab = pytest.mark.parametrize("lab", MOST_MINUTES)


def _cells(lab):
    return read_notebook(SOURCES[lab]).cells


def _table(lab):
    (table,) = (cell.source for cell in _cells(lab) if "points in all" in cell.source)
    return table


@every_lab
def test_points_and_minutes_are_announced(lab):
    rows = re.findall(r"(?m)^\| (?:\d+)? ?\| .+ \| (\d+) \| (\d+) \|$", _table(lab))
    real = [c.metadata.nbgrader.points for c in _cells(lab) if kind(c) in ("test", "answer")]
    total = int(re.search(r"\*\*(\d+) points in all", _table(lab))[1])
    assert total == sum(real) == sum(int(points) for points, _ in rows)
    minutes = sum(int(minutes) for _, minutes in rows)
    time = r"\*\*Time\*\* about (\d+) min"
    announced = [int(n) for c in _cells(lab) for n in re.findall(time, c.source)]
    readme = (find_root() / RELEASED / "README.md").read_text(encoding="utf-8")
    link = re.escape(f"({SOURCES[lab].name})")
    announced += [int(n) for n in re.findall(rf"{link}.* (\d+) min", readme)]
    assert announced == [minutes, minutes]
    by_hand = sum(c.metadata.nbgrader.points for c in _cells(lab) if kind(c) == "answer")
    row = rf"(?m)^\| {lab[3:]} \| (\d+), of which (\d+) by hand \|"  # for assistants
    assert re.findall(row, readme) == [(str(total), str(by_hand))]
    assert minutes <= MOST_MINUTES[lab]


@every_lab
def test_a_task_says_the_points_and_minutes_of_the_table(lab):
    rows = re.findall(r"(?m)^\| (\d*) ?\| (?:Question: )?.+ \| (\d+) \| (\d+) \|$", _table(lab))
    heads = r"### (?:Task (\d+)|Question) · .+ · (\d+) points?\n\nAbout (\d+) minutes"
    said = [match for cell in _cells(lab) for match in re.findall(heads, cell.source)]
    assert said == [row for row in rows if row[1] != "0"]


@every_lab
def test_no_result_stands_below_a_prediction_in_the_release(lab):
    cells = read_notebook(find_root() / RELEASED / SOURCES[lab].name).cells
    asking = [c for c in cells if c.cell_type == "code" and "check.predicted(" in c.source]
    assert len(asking) >= 3
    for cell in asking:
        shown = "".join(output.get("text", "?") for output in cell.outputs)
        assert shown.startswith("First write your prediction")
        assert len(cell.outputs) == 1
