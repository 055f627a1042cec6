"""Working copies are laid once, never overwritten, and never half written."""

import os
from pathlib import Path

import pytest

from helpers.course import workspace

NOTEBOOKS = ["00_start.ipynb", "02_ngrams.ipynb", "further/02_smoothing.ipynb"]
NOTEBOOKS += ["labs/lab01_ngrams.ipynb"]


@pytest.fixture
def course(tmp_path):
    notebooks = tmp_path / "notebooks"
    (notebooks / "labs").mkdir(parents=True)
    (notebooks / "figures").mkdir()
    (notebooks / "further").mkdir()
    for name in NOTEBOOKS:
        (notebooks / name).write_text(f"published {name}")
    (notebooks / "figures" / "a.svg").write_text("<svg/>")
    (notebooks / "labs" / "source").mkdir()
    (notebooks / "labs" / "source" / "lab01.ipynb").write_text("with solutions")
    return tmp_path


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_copies_are_laid_where_links_still_lead(course):
    laid = workspace.lay_copies(course)
    expected = sorted([*NOTEBOOKS, "figures/a.svg"])
    assert files(course / "work") == expected
    assert sorted(p.relative_to(course / "work").as_posix() for p in laid) == expected
    text = (course / "work" / "labs" / "lab01_ngrams.ipynb").read_text()
    assert text == "published labs/lab01_ngrams.ipynb"


def test_what_programs_leave_is_not_laid(course):
    for name in ("._02_ngrams.ipynb", "figures/.DS_Store", "figures/.ipynb_checkpoints/a.svg"):
        path = course / "notebooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("left")
    workspace.lay_copies(course)
    expected = sorted([*NOTEBOOKS, "figures/a.svg"])
    assert files(course / "work") == expected


def test_a_students_copy_is_never_overwritten(course):
    workspace.lay_copies(course)
    mine = course / "work" / "02_ngrams.ipynb"
    mine.write_text("my notes")
    (course / "work" / "00_start.ipynb").unlink()
    (course / "notebooks" / "02_ngrams.ipynb").write_text("a newer release")
    (course / "notebooks" / "figures" / "a.svg").write_text("<svg><g/></svg>")
    laid = workspace.lay_copies(course)
    assert [p.name for p in laid] == ["00_start.ipynb", "a.svg"]
    assert mine.read_text() == "my notes"
    assert workspace.lay_copies(course) == []


def test_fresh_copies_stand_beside_the_old_ones(course):
    workspace.lay_copies(course)
    (course / "work" / "02_ngrams.ipynb").write_text("my notes")
    names = [workspace.lay_fresh_copy(course, "02").name for _ in range(3)]
    assert names == [f"02_ngrams_fresh{n}.ipynb" for n in ("", 2, 3)]
    assert (course / "work" / names[-1]).read_text() == "published 02_ngrams.ipynb"
    assert (course / "work" / "02_ngrams.ipynb").read_text() == "my notes"


@pytest.mark.parametrize("name", ["02", "02_ngrams", "02_ngrams.ipynb", "work/02_ngrams.ipynb"])
def test_a_notebook_is_found_by_the_beginning_of_its_name(course, name):
    assert workspace.find_notebook(course, name).as_posix() == "02_ngrams.ipynb"


def test_labs_and_further_notebooks_are_found_too(course):
    assert [path.as_posix() for path in workspace.released_notebooks(course)] == NOTEBOOKS
    assert workspace.find_notebook(course, "lab01").as_posix() == "labs/lab01_ngrams.ipynb"
    for name in ("02_s", "further/02_smoothing.ipynb"):
        assert workspace.find_notebook(course, name).as_posix() == "further/02_smoothing.ipynb"


def test_the_name_of_what_belongs_to_a_notebook():
    names = [workspace.lesson_name(Path(name)) for name in NOTEBOOKS[1:3]]
    assert names == ["notebook02", "further_02_smoothing"]


@pytest.mark.parametrize(
    ("name", "message"), [("07", "No notebook begins"), ("", "No notebook"), ("0", "Several")]
)
def test_names_that_mean_no_single_notebook(course, name, message):
    with pytest.raises(ValueError, match=message):
        workspace.find_notebook(course, name)


def test_a_whole_name_wins_over_longer_ones(course):
    (course / "notebooks" / "02_ngrams_more.ipynb").write_text("")
    assert workspace.find_notebook(course, "02_ngrams").as_posix() == "02_ngrams.ipynb"


def test_an_interrupted_copy_leaves_nothing(course, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.lay_copies(course)
    assert files(course / "work") == []
    monkeypatch.undo()
    workspace.lay_copies(course)
    assert (course / "work" / "00_start.ipynb").read_text() == "published 00_start.ipynb"


def test_the_command(course, monkeypatch, capsys):
    monkeypatch.setattr(workspace, "find_root", lambda: course)
    assert workspace.main(["--fresh", "02"]) == 0
    assert "laid work/02_ngrams_fresh.ipynb" in capsys.readouterr().out
    assert workspace.main(["--fresh", "09"]) == 1
    assert "No notebook begins with '09'" in capsys.readouterr().err
