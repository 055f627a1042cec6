"""A clean copy of the course for a class: its own numbers and hidden inputs, and no solutions.

The public repository holds the sources, so its labs are formative. A class's copy keeps from the
students what differs from class to class; the functions that they are asked to write stay the same,
and the checks need the course's own versions of them (``helpers/course/checks``).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from helpers.course.checks.lab import seed_of
from staff.authoring.cells import HIDDEN, SCHEME, SOLUTION, kind, read_notebook, scored_task
from staff.authoring.labs import RELEASED, SOURCES, lab_sources, make_release, write_labs

# What a class does not get: solutions, hidden tests, known wrong answers, and what works on them.
PRIVATE = (
    *(f"{SOURCES}/", "staff/authoring/", "staff/marking/", "tests/labs/"),
    *("tests/course/checks/", "tests/staff/authoring/", "tests/staff/marking/"),
)
SHORTEST_SECRET = 16  # characters; a short one could be guessed from the variant, which is visible


def read_secret(path: Path) -> str:
    """A class's secret: the one line of a file.

    Raises:
        ValueError: there is no such file, or the secret is too short to be one.
    """
    try:
        secret = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The secret cannot be read from {path}: {error}.") from error
    if len(secret) < SHORTEST_SECRET or not secret.isprintable():
        raise ValueError(
            f"The secret in {path} must be one line of at least {SHORTEST_SECRET} characters; a "
            f"good one, drawn now: {secrets.token_hex(16)}"
        )
    return secret


def class_tree(root: Path, folder: Path, secret: str | None = None, execute: bool = True) -> None:
    """Write a class's copy of the course: git's index, less ``PRIVATE``, and the class's labs.

    Args:
        root: of the course, a clone.
        folder: for the copy; missing or empty.
        secret: of the class; None gives everyone's labs.
        execute: as for ``release``; the labs run with the copy's own package.

    Raises:
        ValueError: the folder is not empty, the root is no clone, a source is faulty, or the secret
            or a hidden part would be in the copy; nothing is left behind.
        RefreshError: an untouched lab does not run in the copy; nothing is left behind.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not an empty folder; name a new one.")
    notebooks = {path: make_release(path, secret) for path in lab_sources(root).values()}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as parent:
        tree = Path(parent) / "course"
        checkout = ["git", "-C", str(root), "checkout-index", "--all", f"--prefix={tree}/"]
        done = subprocess.run(checkout, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"{root} must be a clone of the course: {done.stderr.strip()}")
        for name in PRIVATE:
            shutil.rmtree(tree / name, ignore_errors=True)
        for stale in (tree / RELEASED).glob("*.ipynb"):
            stale.unlink()
        write_labs(notebooks, tree / RELEASED, execute)
        for cache in sorted(tree.rglob("__pycache__")):
            shutil.rmtree(cache)
        if leaks := list(_leaks(tree, secret, notebooks)):
            raise ValueError(f"Nothing was written: {leaks[0]}.")
        if folder.exists():
            folder.rmdir()
        os.replace(tree, folder)


def _leaks(tree: Path, secret: str | None, sources: Collection[Path]) -> Iterator[str]:
    """Files that hold what students must not see."""
    markers = [marker.encode() for pair in (SOLUTION, HIDDEN, SCHEME) for marker in pair]
    hidden = {secret.encode(): "the secret"} if secret else {}
    for path in sources if secret else ():
        for cell in read_notebook(path).cells:
            if kind(cell) == "test":
                task = scored_task(cell)
                seed = str(seed_of(secret, path.parent.name, task)).encode()
                hidden[seed] = f"the seed of the hidden inputs of {task}"
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        name, data = file.relative_to(tree).as_posix(), file.read_bytes()
        for part, words in hidden.items():
            if part in data:
                yield f"{name} holds {words}"
        if file.suffix == ".ipynb" and any(marker in data for marker in markers):
            yield f"{name} holds a marker of a source"
