"""Every notebook keeps the rules, and they are numbered in order."""

from pathlib import Path

import pytest

from helpers.course.workspace import FURTHER, released_notebooks
from staff.notebooks.address import read_address
from staff.notebooks.notebook_rules import check_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [ROOT / "notebooks" / path for path in released_notebooks(ROOT)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    assert check_notebook(path, ROOT, read_address(ROOT)) == []


def test_notebooks_are_numbered_in_order():
    lessons = [path.name[:2] for path in NOTEBOOKS if path.parent.name == "notebooks"]
    assert lessons == [f"{number:02}" for number in range(len(lessons))]
    further = [path.name[:2] for path in NOTEBOOKS if path.parent.name == FURTHER]
    assert set(further) <= set(lessons)
    labs = [path.name[:5] for path in NOTEBOOKS if path.parent.name == "labs"]
    assert labs == [f"lab{number:02}" for number in range(1, 1 + len(labs))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_in_the_readme_and_a_further_one_beside_its_own(path):
    name = path.relative_to(ROOT / "notebooks").as_posix()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"](notebooks/{name})" in readme
    if path.parent.name == FURTHER:
        assert read_address(ROOT).badge(name) in readme
        (core,) = path.parents[1].glob(f"{path.name[:2]}_*.ipynb")
        assert f"](further/{path.name}" in core.read_text(encoding="utf-8")
        assert f"](../{core.name}" in path.read_text(encoding="utf-8")
