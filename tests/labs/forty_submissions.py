"""Forty made-up submissions of lab 01, good, wrong, broken and hostile, marked in one command.

    python -m tests.labs.forty_submissions [--keep FOLDER]

Every row of the report must say what is true of its submission, every other submission must be
marked all the same, and nothing outside of the folder of submissions may have changed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from helpers.course.environment import find_root
from staff.authoring.cells import read_notebook
from staff.authoring.labs import lab_sources
from tests.labs import handed_in
from tests.labs.lab01_mutants import MUTANTS, REWRITES
from tests.labs.mutation import patched

ROOT = find_root()
SOURCE = lab_sources(ROOT)["lab01"]
MARKED = "marked"
TASKS = {  # with their points
    meta["grade_id"]: meta["points"]
    for cell in read_notebook(SOURCE).cells
    if (meta := cell.metadata.get("nbgrader", {})).get("grade") and not meta["solution"]
}


@dataclass
class Expected:
    """What the report must say.

    Attributes:
        lost: the tasks whose points are lost; None where it does not matter which.
        marked: whether it is marked to its end.
        reason: a part of the reason, in small letters.
    """

    lost: Collection[str] | None = ()
    marked: bool = True
    reason: str = ""


def answered(replaced: dict[str, str] | None = None) -> NotebookNode:
    """The lab with the reference's answers, some of them replaced."""
    return handed_in.answered(SOURCE, replaced)


def place(notebook: NotebookNode, name: str) -> int:
    """Where the cell with this grade_id stands."""
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    return ids.index(name)


def with_code(code: str, before: str = "count_ngrams_answer") -> NotebookNode:
    """All answers right, and a cell of the student's own before one of them."""
    notebook = answered()
    notebook.cells.insert(place(notebook, before), new_code_cell(code))
    return notebook


def without(name: str) -> NotebookNode:
    notebook = answered()
    del notebook.cells[place(notebook, name)]
    return notebook


def with_check(name: str, code: str) -> NotebookNode:
    notebook = answered()
    notebook.cells[place(notebook, name)].source = code
    return notebook


def twice(name: str) -> NotebookNode:
    notebook = answered()
    i = place(notebook, name)
    copy = nbformat.from_dict(json.loads(json.dumps(notebook.cells[i])))
    notebook.cells.insert(i, copy)
    return notebook


FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
STUBBORN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
SPY = f"""
import glob, os
places = ({str(SOURCE)!r}, {str(ROOT / "tests")!r}, "/etc/shadow", os.path.expanduser("~/.ssh"))
found = [place for place in places if os.path.exists(place)]
print("SEEN", found)
assert not found
"""
WRITER = f"""
import os
course, written = {str(ROOT)!r}, []
parts = [course + part for part in ("", "/helpers", "/staff", "/data")]
for folder in (*parts, "/usr", "/etc", "/var/tmp"):
    try:
        open(os.path.join(folder, "written-by-a-submission"), "w").close()
        written.append(folder)
    except OSError:
        pass
"""
CALLER = """
import socket
for address in (("1.1.1.1", 53), ("127.0.0.1", 22), ("10.0.0.1", 80)):
    try:
        socket.create_connection(address, timeout=2)
    except OSError:
        continue
    raise SystemExit("CONNECTED")
"""


def submissions() -> dict[str, tuple[NotebookNode | str | bytes, Expected]]:
    """File name -> what is in it, and what the report must say."""
    made: dict[str, tuple[NotebookNode | str | bytes, Expected]] = {}

    def add(name: str, content, expected: Expected | None = None) -> None:
        made[f"{len(made) + 1:02}-{name}.ipynb"] = (content, expected or Expected())

    add("reference", answered())
    add("untouched", handed_in.released(SOURCE), Expected(TASKS))
    for rewrite in REWRITES[::2][:7]:
        add(f"right-{rewrite.task}", answered({rewrite.task: rewrite.source}))
    for mutant in MUTANTS[::8][:9]:
        code = patched(SOURCE, mutant)
        add(f"wrong-{mutant.task}", answered({mutant.task: code}), Expected({mutant.task}))
    add("own-error", with_code("1 / 0"))
    add("exit", with_code("import sys; sys.exit()"))
    add("deleted-answer", without("add_k_answer"), Expected({"add_k"}))
    add("deleted-check", without("add_k"))  # put back, as every locked cell is
    add("changed-check", with_check("add_k", "pass"))
    add("copied-cell", twice("add_k_answer"))
    add("endless", with_code("while True: pass"))
    add("stubborn", with_code(STUBBORN), Expected(None, marked=False, reason="to stop"))
    add("fork-bomb", with_code(FORK_BOMB), Expected(None, marked=False))
    add("gigabyte-line", with_code("print('x' * 2**30)"))  # more than its memory: an error
    add("gigabyte", with_code("for _ in range(1000): print('x' * 10**6)"),
        Expected(None, marked=False))  # fmt: skip
    add("flood", with_code("while True: print('x' * 1000)"), Expected(None, marked=False))
    add("memory", with_code("hoard = [bytearray(2**28) for _ in range(64)]"), Expected(None))
    add("kills-itself", with_code("import os; os.kill(os.getpid(), 9)"),
        Expected(None, marked=False))  # fmt: skip
    add("spy", with_code(SPY))
    add("writer", with_code(WRITER + "assert not written"))
    add("caller", with_code(CALLER))
    add("script", with_code("print('<script>alert(1)</script>')"))
    add("not-json", "{ this is no JSON", Expected(marked=False, reason="json"))
    add("not-a-notebook", '{"a": 1}', Expected(marked=False, reason="notebook"))
    add("empty", "", Expected(marked=False, reason="json"))
    add("binary", b"\xff\xfe\x00" * 100, Expected(marked=False, reason="utf-8"))
    return made


def fingerprint(folder: Path, left_out: Callable[[Path], bool]) -> dict[str, str]:
    """Every file below a folder with a hash of its content."""
    found = {}
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not left_out(Path(parent, name))]
        for name in files:
            path = Path(parent, name)
            if path.is_file() and not left_out(path):
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def complaints(row: dict[str, str], expected: Expected) -> list[str]:
    """Where a row of the report is not as it must be."""
    found = []
    if (row["status"] == MARKED) != expected.marked:
        found.append(f"status {row['status']!r}")
    if not expected.marked and not row["reason"]:
        found.append("no reason")
    if expected.reason not in row["reason"].lower():
        found.append(f"reason {row['reason']!r}")
    if expected.lost is None or not expected.marked:
        return found
    for task, points in TASKS.items():
        mine = 0 if task in expected.lost else points
        if row[task] in ("", None) or float(row[task]) != mine:
            found.append(f"{task}: {row[task]!r} points, not {mine}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.labs.forty_submissions")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep submissions and marks")
    keep = parser.parse_args().keep
    temporary = tempfile.TemporaryDirectory()
    folder = keep or Path(temporary.name, "submissions")
    folder.mkdir(parents=True)
    made = submissions()
    for name, (content, _) in made.items():
        text = content if isinstance(content, str | bytes) else nbformat.writes(content)
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)

    def passing(path: Path) -> bool:  # what Python, pytest and git keep for themselves
        return path.name in {"__pycache__", ".git", ".venv", ".pytest_cache", ".ruff_cache"}

    before = fingerprint(ROOT, passing)
    handed_in = fingerprint(folder, lambda path: path.name == "marks")
    workplace = tempfile.TemporaryDirectory(prefix="m-")  # short: sockets will lie in it
    began = time.monotonic()
    command = [sys.executable, "-m", "staff.marking.marking", str(folder)]
    environment = {**os.environ, "TMPDIR": workplace.name}
    done = subprocess.run([*command, "--time-limit", "90"], cwd=ROOT, env=environment)
    seconds = time.monotonic() - began
    with (folder / "marks" / "points.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    faults = [] if done.returncode == 0 else [f"the command ended with {done.returncode}"]
    for name, (_, expected) in made.items():
        if name not in rows:
            faults.append(f"{name}: no row")
            continue
        faults += [f"{name}: {words}" for words in complaints(rows[name], expected)]
        print(f"{name:34}{rows[name]['status']:14}{rows[name]['total']:>6}  {rows[name]['reason']}")
    if fingerprint(ROOT, passing) != before:
        faults.append("the course has changed")
    if fingerprint(folder, lambda path: path.name == "marks") != handed_in:
        faults.append("a submission has changed")
    if left := os.listdir(workplace.name):
        faults.append(f"left in the temporary folder: {', '.join(sorted(left))}")
    pages = list((folder / "marks" / "feedback").glob("*.html"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for secret in ("BEGIN HIDDEN", "check.score(", "<script>alert(1)</script>"):
        if secret in text:
            faults.append(f"a feedback page holds {secret}")
    print(f"{len(made)} submissions in {seconds:.0f} s, {len(pages)} feedback pages.")
    print("\n".join(faults) or "All rows are as they must be; nothing else has changed.")
    temporary.cleanup()
    workplace.cleanup()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
