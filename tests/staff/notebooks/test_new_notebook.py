"""A new notebook keeps the rules from its first day."""

import shutil
import subprocess
import sys

import nbformat
import pytest

from helpers.course import quiz_texts
from staff.notebooks import clock, new_notebook
from staff.notebooks.address import read_address
from staff.notebooks.new_notebook import make_notebook
from staff.notebooks.notebook_rules import check_notebook
from staff.notebooks.refresh import refresh

NAME = "01_bert_and_encoders"


@pytest.fixture
def course(root, tmp_path):
    """A small copy of the course, with its first notebook."""
    # The course's own notebook 01 is not in this copy, nor are its checks and quizzes.
    ignored = shutil.ignore_patterns("__pycache__", ".*", "notebook01.py", "01_*.toml")
    for folder in ("helpers", "data/lantern_bay"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    (tmp_path / "notebooks/labs").mkdir(parents=True)
    for name in ("pyproject.toml", "notebooks/00_start_here.ipynb", "notebooks/labs/README.md"):
        shutil.copy(root / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "lesson", "link", "left_to_do"),
    [
        (
            NAME,
            "notebook01",
            "00_start_here.ipynb",
            [
                "the student writes in 1 tasks; 4 or more",
                "it asks for 1 predictions; 2 or more",
            ],
        ),
        (
            "further/00_bert_and_encoders",
            "further_00_bert_and_encoders",
            "../00_start_here.ipynb",
            [],
        ),
    ],
)
def test_a_new_notebook_keeps_the_rules(course, monkeypatch, name, lesson, link, left_to_do):
    monkeypatch.setattr(clock, "NOT_YET_CUT", set())
    path = make_notebook(course, name)
    assert path == course / "notebooks" / f"{name}.ipynb"
    opening = nbformat.read(path, as_version=4).cells[0].source
    assert opening.startswith(f"# {path.stem[:2]} · Bert and encoders\n")
    assert f"[00 · Start here]({link})" in opening
    assert refresh(path)
    monkeypatch.setattr(quiz_texts, "FOLDER", course / "helpers/course/quizzes")
    # What is left to do is to write more of it.
    assert check_notebook(path, course, read_address(course)) == left_to_do
    checks = f"helpers/course/checks/{lesson}.py"
    assert (course / "tests/claims" / f"{lesson}.py").exists()
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, path.relative_to(course), checks]
        done = subprocess.run(ruff, cwd=course, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name",
    ["00_start_here", "02_x", "further/01_x", "labs/01_x", "", "bert", "1_x", "01_A", "01"],
)
def test_names_that_are_refused(course, name, monkeypatch, capsys):
    monkeypatch.setattr(new_notebook, "find_root", lambda: course)
    assert new_notebook.main([name]) == 1
    assert capsys.readouterr().err.startswith(f"'{name}' is no name of a new notebook")
    assert [path.name for path in course.rglob("*.ipynb")] == ["00_start_here.ipynb"]


def test_the_command(course, monkeypatch, capsys):
    monkeypatch.setattr(new_notebook, "find_root", lambda: course)
    for name in (NAME, "further/00_x"):
        assert new_notebook.main([name]) == 0
        assert f"wrote notebooks/{name}.ipynb" in capsys.readouterr().out
        assert new_notebook.main([name]) == 1
