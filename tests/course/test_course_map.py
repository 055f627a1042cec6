"""The map of notebook 00 agrees with what every notebook says of its lectures."""

import ast
import json
import re

import pytest

from helpers.course.course_map import lectures_of_notebooks
from helpers.course.environment import find_root
from helpers.course.own_work import SHIPPED_GPT

ROOT = find_root()
FOLLOWS = lectures_of_notebooks()
LESSONS = [name for name in FOLLOWS if "/" not in name and not name.startswith("00")]
LABS = [name for name in FOLLOWS if name.startswith("labs/")]
CELLS = json.loads((ROOT / "notebooks/00_start_here.ipynb").read_text(encoding="utf-8"))["cells"]
SOURCES = ["".join(cell["source"]) for cell in CELLS]
WRONG = "mend the map in section 2 of notebook 00"


def drawn(name):
    """The value that a cell of notebook 00 gives to a name."""
    for source in SOURCES:
        if re.search(rf"^{name} = ", source, re.MULTILINE):
            for step in ast.parse(source).body:
                if isinstance(step, ast.Assign) and getattr(step.targets[0], "id", "") == name:
                    return ast.literal_eval(step.value)
    raise AssertionError(f"Notebook 00 has no {name}.")


def test_every_notebook_says_which_lectures_it_follows():
    assert len(LESSONS) >= 14
    assert len(LABS) >= 5
    assert [name for name in [*LESSONS, *LABS] if not FOLLOWS[name]] == []
    assert set("".join(FOLLOWS.values())) == set(drawn("LECTURES"))


def test_the_drawing_holds_every_notebook_in_order_and_every_lab():
    numbers = [number for part in drawn("PARTS").values() for number in part]
    assert numbers == [name[:2] for name in LESSONS], WRONG
    labs = [f"Lab {name[8:10]}" for name in LABS]
    assert list(drawn("LABS").values()) == labs, WRONG


def test_each_lab_stands_below_the_last_lesson_that_it_builds_on():
    for number, lab in drawn("LABS").items():
        (path,) = (ROOT / "notebooks/labs").glob(f"lab{lab[-2:]}_*.ipynb")
        first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        builds_on = first.split("**Builds on**")[1].split("\n\n")[0]
        assert max(re.findall(r"\.\./(\d\d)_", builds_on)) == number, f"{lab}: {WRONG}"


@pytest.mark.parametrize(
    ("first_cell", "letters"),
    [
        ("# 01\n\n**Lectures** [B] *x*; [Y] *y*,\n[B] again.\n\n[Z] later.", "BY"),
        ("# 01\n\n**Lectures** all five; see [G](00.ipynb).", ""),
        ("# 01", ""),
    ],
)
def test_letters_are_read_once_and_from_their_paragraph(tmp_path, first_cell, letters):
    (tmp_path / "notebooks/labs").mkdir(parents=True)
    cells = [{"cell_type": "markdown", "source": first_cell.splitlines(True)}]
    (tmp_path / "notebooks/01_x.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert lectures_of_notebooks(tmp_path) == {"01_x.ipynb": letters}


def test_notebook_00_was_run_with_the_gpt_that_ships():
    config = json.loads((ROOT / SHIPPED_GPT / "config.json").read_text(encoding="utf-8"))
    printed = "".join(
        "".join(output["text"])
        for cell in CELLS
        for output in cell.get("outputs", [])
        if output["output_type"] == "stream"
    )
    found = re.search(r"the course, version (\w+)", printed)
    assert found, "notebook 00 prints the first figures of the weights' SHA-256"
    assert len(found[1]) == 12
    assert config["weights_sha256"].startswith(found[1]), "run make refresh for notebook 00"
