"""The zip holds what students use and nothing else, and its bytes follow from the commit alone."""

import os
import re
import subprocess
import sys
import zipfile

from helpers.course.workspace import released_notebooks

MAX_BYTES = 20_000_000


def test_what_students_get(course_zip, root, tmp_path):
    assert course_zip.stat().st_size < MAX_BYTES
    with zipfile.ZipFile(course_zip) as file:
        file.extractall(tmp_path)
    (course,) = tmp_path.iterdir()
    assert course.name == "language-model-course"
    assert {path.name for path in course.iterdir()} == {
        *("CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "data", "guide", "helpers"),
        *("notebooks", "pyproject.toml", "requirements.txt"),
    }
    notebooks = subprocess.run(
        ["git", "ls-files", "notebooks/*.ipynb", ":!notebooks/labs/source"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert sorted(p.relative_to(course).as_posix() for p in course.rglob("*.ipynb")) == notebooks
    for path in course.rglob("*.ipynb"):
        assert "### BEGIN" not in path.read_text(encoding="utf-8"), path
    readme = (course / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^):#]+)\)", readme)
    assert len(links) > 20
    assert [link for link in links if not (course / link).exists()] == []
    assert len(released_notebooks(course)) == len(notebooks)
    # It is enough to lay working copies, which is what `make lab` does first.
    command = [sys.executable, "-m", "helpers.course.workspace"]
    environment = {**os.environ, "PYTHONPATH": str(course)}
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert "laid work/labs/lab01_ngrams.ipynb" in done.stdout, done.stderr


def test_the_same_commit_gives_the_same_bytes(course_zip, root, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = tmp_path / "again.zip"
    subprocess.run(["make", "--silent", "-C", root, "zip", f"ZIP={again}"], check=True)
    assert again.read_bytes() == course_zip.read_bytes()
