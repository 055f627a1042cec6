"""The course in one file, for students without git, and for Colab before the course has an address.

    python -m staff.notebooks.course_zip      write language-model-course.zip into the root

The set-up cell of every notebook finds that file beside the notebook or in the student's Drive.
The file holds what students use and nothing else, in one folder. The same tree gives the same
bytes, with one version of Python.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import is_own, write_whole
from staff.notebooks.tracked import known_to_git

FOLDER = "language-model-course"
NAME = f"{FOLDER}.zip"
MAX_BYTES = 20_000_000
# What students use. The sources of the labs hold the solutions.
FOLDERS = ("data/", "helpers/", "notebooks/")
FILES = {
    *("CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "pyproject.toml", "requirements.txt"),
}
LEFT_OUT = "notebooks/labs/source/"
COURSE = "helpers/course/environment.py"  # by which set-up cells know the course

_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can hold


def course_zip(root: Path, limit: int = MAX_BYTES) -> bytes:
    """The content of ``NAME``.

    Args:
        root: of the course, a clone or a plain folder.
        limit: the most bytes that the file may have.

    Raises:
        ValueError: the course is not there, a file is a link, the zip would be too large, or git
            cannot list the files.
    """
    names = course_files(root)
    if COURSE not in names:
        raise ValueError(
            f"The course is not among the files found in {root}: {COURSE} is missing; in a new "
            "clone of your own, 'git add --all' makes its files known to git."
        )
    if links := [name for name in names if (root / name).is_symlink()]:
        raise ValueError(f"{links[0]} is a link, which a zip cannot hold: put the file there.")
    content = _packed(root, names)
    if len(content) > limit:
        largest = max(names, key=lambda name: (root / name).stat().st_size)
        raise ValueError(
            f"{NAME} would have {len(content) / 1e6:.1f} MB, and the limit is {limit / 1e6:g} MB: "
            f"make what it holds smaller; the largest file is {largest}."
        )
    return content


def course_files(root: Path) -> list[str]:
    """The files that students get, sorted, relative to the root with ``/`` between the parts.

    In a clone they are among those that git knows, so nothing that git ignores is there. Elsewhere
    they are found in the folders, without hidden files and caches.

    Raises:
        ValueError: git cannot list the files of the clone.
    """
    names = known_to_git(root) if (root / ".git").exists() else _found(root)
    return sorted(
        name
        for name in names
        if name in FILES or (name.startswith(FOLDERS) and not name.startswith(LEFT_OUT))
    )


def _found(root: Path) -> Iterator[str]:
    """The files in a folder that is no clone; links are among them, and are not followed."""
    for folder, inner, files in os.walk(root):
        place = Path(folder)
        links = [name for name in inner if (place / name).is_symlink()]
        inner[:] = [name for name in inner if not _is_waste(name)]
        for name in [*files, *links]:
            if not _is_waste(name):
                yield (place / name).relative_to(root).as_posix()


def _is_waste(name: str) -> bool:
    return not is_own(name) or name.endswith((".pyc", ".egg-info"))


def _packed(root: Path, names: list[str]) -> bytes:
    """A zip of these files: no times, owners or modes of this machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", _TIME)
            entry.create_system = 3  # Unix, wherever it is made, so that the mode counts
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, (root / name).read_bytes(), compresslevel=9)
    return buffer.getvalue()


def main() -> int:
    print_all()
    root = find_root()
    try:
        content = course_zip(root)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    write_whole(root / NAME, content)
    print(f"wrote {NAME} ({len(content) / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
