"""The zip holds what students use and nothing else, and its bytes follow from the files alone."""

import io
import os
import re
import subprocess
import sys
import zipfile

import pytest

from helpers.course.workspace import released_notebooks
from staff.notebooks import course_zip as module
from staff.notebooks.course_zip import COURSE, FOLDER, MAX_BYTES, NAME, course_files, course_zip

STUDENTS = [
    "LICENSE",
    "README.md",
    "data/ü.txt",
    COURSE,
    "notebooks/00_a.ipynb",
    "notebooks/figures/a.png",
    "notebooks/labs/lab01_a.ipynb",
]
STAFF = [
    *(".ci/run", ".gitignore", "README.md.old", "benchmarks/a.py", "staff/a.py", "tests/a.py"),
    "notebooks/labs/source/lab01/lab01_a.ipynb",
]
IGNORED = ["data/__pycache__/a.pyc", "notebooks/.ipynb_checkpoints/00.ipynb", "work/00_a.ipynb"]
LEFT = ["__MACOSX/README.md", "data/README.md~", "notebooks/~$00.ipynb", "data/__MACOSX/a.txt"]


def write_course(folder):
    """A plain folder with a small course and what lies about in one."""
    for number, name in enumerate([*STUDENTS, *STAFF, *IGNORED]):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number} {name}\n" * 50, encoding="utf-8")
    return folder


def write_clone(folder):
    write_course(folder)
    (folder / ".gitignore").write_text("__pycache__/\n.ipynb_checkpoints/\nwork/\nnotes.txt\n")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("write", [write_course, write_clone])
def test_what_students_get(write, tmp_path):
    course = write(tmp_path / "course")
    assert course_files(course) == sorted(STUDENTS)
    with zipfile.ZipFile(io.BytesIO(course_zip(course))) as file:
        assert file.namelist() == [f"{FOLDER}/{name}" for name in sorted(STUDENTS)]
        for name in STUDENTS:
            assert file.read(f"{FOLDER}/{name}") == (course / name).read_bytes()


def test_what_programs_leave_in_a_plain_folder_stays_out(tmp_path):
    course = write_course(tmp_path)
    for name in LEFT:
        (course / name).parent.mkdir(exist_ok=True)
        (course / name).write_text("left")
    assert course_files(course) == sorted(STUDENTS)


def test_what_git_ignores_or_does_not_know_stays_out(tmp_path):
    course = write_clone(tmp_path)
    for name in ("data/notes.txt", "notebooks/Untitled.ipynb"):
        (course / name).write_text("mine")
    assert course_files(course) == sorted(STUDENTS)
    (course / "data/ü.txt").unlink()  # known, but gone
    assert course_files(course) == sorted({*STUDENTS} - {"data/ü.txt"})


def test_the_same_files_give_the_same_bytes(tmp_path):
    plain, clone = write_course(tmp_path / "plain"), write_clone(tmp_path / "clone")
    os.utime(plain / COURSE, (1_700_000_000, 1_700_000_000))
    (plain / COURSE).chmod(0o700)
    content = course_zip(plain)
    assert content == course_zip(clone)
    (clone / COURSE).write_text("changed")
    assert content != course_zip(clone)


@pytest.mark.parametrize("write", [write_course, write_clone])
@pytest.mark.parametrize("target", ["LICENSE", "notebooks"])
def test_links_are_refused(write, target, tmp_path):
    course = write(tmp_path / "course")
    try:
        (course / "data" / "link").symlink_to(course / target)
    except OSError:
        pytest.skip("links cannot be made here")
    if write is write_clone:
        subprocess.run(["git", "add", "data/link"], cwd=course, check=True)
    with pytest.raises(ValueError, match=r"data/link is a link, .*: put the file there\."):
        course_zip(course)


def test_a_zip_that_is_too_large(tmp_path):
    course = write_course(tmp_path)
    (course / "data" / "noise").write_bytes(os.urandom(60_000))
    assert len(course_zip(course, limit=70_000)) > 60_000
    with pytest.raises(ValueError, match=r"would have 0\.1 MB, .* 0\.05 MB: .* data/noise\.$"):
        course_zip(course, limit=50_000)


def test_folders_that_hold_no_course(tmp_path):
    with pytest.raises(ValueError, match=f"{COURSE} is missing"):
        course_zip(tmp_path)
    write_course(tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    with pytest.raises(ValueError, match="'git add --all' makes its files known"):
        course_zip(tmp_path)
    (tmp_path / ".git" / "HEAD").unlink()
    with pytest.raises(ValueError, match=r"git cannot list the files of .*: fatal: "):
        course_zip(tmp_path)


def test_the_command(tmp_path, monkeypatch, capsys):
    course = write_course(tmp_path)
    monkeypatch.setattr(module, "find_root", lambda: course)
    assert module.main() == 0
    assert capsys.readouterr().out == f"wrote {NAME} (0.0 MB)\n"
    content = (course / NAME).read_bytes()
    assert content == course_zip(course)  # which does not hold itself
    (course / COURSE).unlink()
    assert module.main() == 1
    assert "is missing" in capsys.readouterr().err
    assert (course / NAME).read_bytes() == content


def test_the_zip_of_the_course_itself(root, tmp_path):
    content = course_zip(root)
    assert len(content) < MAX_BYTES
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        file.extractall(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    course = tmp_path / FOLDER
    assert {path.name for path in course.iterdir()} == (
        module.FILES | {name.rstrip("/") for name in module.FOLDERS}
    )
    assert released_notebooks(course) == released_notebooks(root)
    for path in course.rglob("*.ipynb"):
        assert "### BEGIN" not in path.read_text(encoding="utf-8"), path
    readme = (course / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^):#]+)\)", readme)
    assert len(links) > 20
    assert [link for link in links if not (course / link).exists()] == []
    # It is enough to lay working copies, which is what `make lab` does first.
    command = [sys.executable, "-m", "helpers.course.workspace"]
    environment = {**os.environ, "PYTHONPATH": str(course)}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert "laid work/labs/lab01_ngrams.ipynb" in done.stdout, done.stderr
