"""Forty made-up submissions of lab 01, good, wrong, broken and hostile, marked in one command.

    python -m tests.labs.forty_submissions

Every row of the report must say what is true of its submission, every other submission must be
marked all the same, and nothing outside of the folder of submissions may have changed.
"""

from __future__ import annotations

import copy
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from helpers.course.environment import find_root
from staff.authoring.cells import kind, read_notebook
from staff.authoring.labs import lab_sources
from tests.labs.handed_in import answered, released
from tests.labs.lab01_mutants import MUTANTS, REWRITES
from tests.labs.mutation import patched

ROOT = find_root()
SOURCE = lab_sources(ROOT)["lab01"]
TASKS = {  # with their points
    cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
    for cell in read_notebook(SOURCE).cells
    if kind(cell) == "test"
}
# An interrupt that comes just between two of its loops would end it, were it not ignored.
STUBBORN = """import signal
try: signal.signal(signal.SIGINT, signal.SIG_IGN)
except ValueError: pass
while True:
    try:
        while True: pass
    except BaseException: pass"""
FORK_BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
# They end themselves where they should not get, which the report would say.
SPY = f"""import os
places = ({str(SOURCE)!r}, {str(ROOT / "tests")!r}, "/etc/shadow", os.path.expanduser("~/.ssh"))
if any(map(os.path.exists, places)):
    os._exit(1)"""
WRITER = f"""import os
parts = [{str(ROOT)!r} + part for part in ("", "/helpers", "/staff", "/data")]
for folder in (*parts, "/usr", "/etc", "/var/tmp"):
    try:
        open(os.path.join(folder, "written-by-a-submission"), "w").close()
    except OSError:
        continue
    os._exit(1)"""
CALLER = """import os, socket
for address in (("1.1.1.1", 53), ("127.0.0.1", 22), ("10.0.0.1", 80)):
    try:
        socket.create_connection(address, timeout=2)
    except OSError:
        continue
    os._exit(1)"""


def with_cells(name: str, *cells: NotebookNode | None) -> NotebookNode:
    """All answers right; these cells, None being the old one, replace one with a grade_id."""
    notebook = answered(SOURCE)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    place = ids.index(name)
    old = notebook.cells[place]
    notebook.cells[place : place + 1] = [cell or copy.deepcopy(old) for cell in cells]
    return notebook


def submissions() -> dict[str, tuple[bytes, set[str] | None, str]]:
    """By file name: content, tasks that lose points (None: any), why it is not marked whole."""
    made: dict[str, tuple[bytes, set[str] | None, str]] = {}

    def add(name, content, lost=frozenset(), reason="") -> None:
        if isinstance(content, NotebookNode):
            content = nbformat.writes(content).encode()
        made[f"{len(made) + 1:02}-{name}.ipynb"] = (content, lost, reason)

    def add_code(name, code, lost=frozenset(), reason="") -> None:
        """A cell of the student's own before one of the tasks."""
        add(name, with_cells("maximum_likelihood_answer", new_code_cell(code), None), lost, reason)

    add("reference", answered(SOURCE))
    add("untouched", released(SOURCE), set(TASKS))
    for rewrite in REWRITES[::2][:7]:
        add(f"right-{rewrite.task}", answered(SOURCE, {rewrite.task: rewrite.source}))
    for mutant in MUTANTS[::8][:9]:
        wrong = answered(SOURCE, {mutant.task: patched(SOURCE, mutant)})
        add(f"wrong-{mutant.task}", wrong, {mutant.task})
    add_code("own-error", "1 / 0")
    add_code("exit", "import sys; sys.exit()")
    add("deleted-answer", with_cells("add_k_answer"), {"add_k"})
    add("deleted-check", with_cells("add_k"))  # put back, as every locked cell is
    changed = answered(SOURCE)
    next(cell for cell in changed.cells if kind(cell) == "test").source = "pass"
    add("changed-check", changed)
    add("copied-cell", with_cells("add_k_answer", None, None))
    add_code("endless", "while True: pass")
    add_code("stubborn", STUBBORN, None, "to stop")
    add_code("fork-bomb", FORK_BOMB, None, ".")
    add_code("gigabyte-line", "print('x' * 2**30)")  # more than its memory: an error
    add_code("gigabyte", "for _ in range(1000): print('x' * 10**6)", None, ".")
    add_code("flood", "while True: print('x' * 1000)", None, ".")
    add_code("memory", "hoard = [bytearray(2**28) for _ in range(64)]", None)
    add_code("kills-itself", "import os; os.kill(os.getpid(), 9)", None, ".")
    add_code("spy", SPY)
    add_code("writer", WRITER)
    add_code("caller", CALLER)
    add_code("script", "print('<script>alert(1)</script>')")
    add("not-json", b"{ this is no JSON", None, "json")
    add("not-a-notebook", b'{"a": 1}', None, "notebook")
    add("empty", b"", None, "json")
    add("binary", b"\xff\xfe\x00" * 100, None, "utf-8")
    return made


def complaints(row: dict[str, str], lost: set[str] | None, reason: str) -> list[str]:
    """Where a row of the report is not as it must be."""
    found = []
    if (row["status"] == "marked") == bool(reason) or reason not in row["reason"].lower():
        found.append(f"{row['status']}, {row['reason']!r}")
    for task, points in TASKS.items() if lost is not None else ():
        mine = 0 if task in lost else points
        if row[task] == "" or float(row[task]) != mine:
            found.append(f"{task}: {row[task]!r} points, not {mine}")
    return found


def state() -> bytes:
    """What git says of the course."""
    listing = ["git", "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout


def main() -> int:
    made, before, faults = submissions(), state(), []
    # The second is for temporary files, and has a short name: sockets will lie in it.
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory(prefix="m-") as second:
        folder = Path(first)
        for name, (content, _, _) in made.items():
            (folder / name).write_bytes(content)
        command = [sys.executable, "-m", "staff.marking.marking", first, "--time-limit", "90"]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "TMPDIR": second})
        if done.returncode or os.listdir(second):
            faults.append(f"it ended with {done.returncode} and left {os.listdir(second)}")
        with (folder / "marks/points.csv").open(encoding="utf-8", newline="") as file:
            rows = {row["file"]: row for row in csv.DictReader(file)}
        for name, (content, *expected) in made.items():
            row = rows[name]
            print(f"{name:34}{row['status']:14}{row['total']:>6}  {row['reason']}")
            faults += [f"{name}: {words}" for words in complaints(row, *expected)]
            if (folder / name).read_bytes() != content:
                faults.append(f"{name} has changed")
        text = "".join(p.read_text("utf-8") for p in (folder / "marks/feedback").glob("*.html"))
    faults += [
        f"a feedback page holds {secret}"
        for secret in ("BEGIN HIDDEN", "check.score(", "<script>alert(1)</script>")
        if secret in text
    ]
    if state() != before:
        faults.append("the course has changed")
    print("\n".join(faults) or "All rows are as they must be; nothing else has changed.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
