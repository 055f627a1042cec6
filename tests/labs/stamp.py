"""Whether labs, their checks or their marking have changed since `make test-marking` last passed.

python -m tests.labs.stamp            exits with 1 if they have
python -m tests.labs.stamp --write    writes down that it has passed, for what is here now
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from helpers.course.environment import find_root
from helpers.files import name_in, own_files

STAMP = Path("tests/labs/marking_passed.txt")
FOLDERS = (
    *("notebooks/labs", "helpers/course/checks", "staff/authoring", "staff/marking"),
    *("tests/course/checks", "tests/labs", "tests/staff/authoring", "tests/staff/marking"),
)
KINDS = {".py", ".ipynb", ".toml", ".md"}
LESSONS = ("notebook", "further_")  # among the checks, those of lessons: no lab asks them


def fingerprint(root: Path) -> str:
    """Of the names and contents of all files on which labs and marking depend."""
    digest = hashlib.sha256()
    for folder in FOLDERS:
        files = (path for path in own_files(root / folder) if path.suffix in KINDS)
        for path in (path for path in files if not path.name.startswith(LESSONS)):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            name = name_in(root, path)
            digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.labs.stamp")
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args(arguments).write
    root = find_root()
    now, path = fingerprint(root), root / STAMP
    if write:
        path.write_text(now + "\n", encoding="utf-8")
        return 0
    return 0 if path.is_file() and path.read_text(encoding="utf-8").strip() == now else 1


if __name__ == "__main__":
    sys.exit(main())
