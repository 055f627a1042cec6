"""Marks one submission, in a process of its own.

    python -m staff.marking.worker FOLDER

``FOLDER/job.json`` says what to do; ``result.json`` and ``page.html`` are what comes of it. This
process is trusted; the submission is not, and its code runs in another (``autograde.py``).
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import logging
import re
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat

from helpers.files import write_whole
from staff.marking import report
from staff.marking.limits import GIB
from staff.marking.submissions import Refused, align, read_submission, which_lab


def mark(folder: Path) -> dict[str, Any]:
    """Mark the submission that a job describes.

    Returns:
        ``status`` ("marked", "stopped", "refused", "failed"), ``reason``, and, if it ran, ``lab``,
        ``points`` (by task; None waits for a person), ``possible``, ``leaderboard``.
    """
    job = json.loads((folder / "job.json").read_text("utf-8"))
    keys = {lab: Path(key) for lab, key in job["keys"].items()}
    releases = {lab: nbformat.read(key / "release.ipynb", 4) for lab, key in keys.items()}
    try:
        notebook = read_submission(Path(job["path"]))
        lab = which_lab(notebook, releases)
    except Refused as refusal:
        return {"status": "refused", "reason": str(refusal)}
    from staff.marking.autograde import Course, autograde  # nbgrader takes seconds to load

    notes = align(notebook, releases[lab])
    with Course(job, folder) as course:
        points = autograde(notebook, lab, keys[lab], folder, course)
        watchdog = course.watchdog
    assert course.executed is not None
    status = "stopped" if course.stopped_at else "marked"
    status = "failed" if watchdog.machine else status
    if course.stopped_at:
        notes.insert(0, f"Ended at {course.stopped_at}: {watchdog.reason}.")
    if course.slow:
        notes.append(report.too_slow(course.executed, course.slow, points))
    notes += filter(None, [report.unreadable(course.executed)])
    if course.no_word:
        notes.append(f"The hidden test said nothing: {', '.join(course.no_word)}; look at it.")
    sources = "\n".join(cell.source for cell in course.executed.cells)
    hidden = re.findall(r"\bseed=(\d{6,})", sources)
    result = {
        "status": status,
        "reason": " ".join(notes),
        "lab": lab,
        "points": {name: got for name, (got, _) in points.items()},
        "possible": {name: most for name, (_, most) in points.items()},
        "leaderboard": report.leaderboard(course.executed),
    }
    page = report.page(course.executed, releases[lab], job["student"], result, hidden)
    (folder / "page.html").write_text(page, encoding="utf-8")
    return result


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    log = logging.getLogger("course.labs.nbgrader")
    log.propagate = False
    log.addHandler(logging.FileHandler(folder / "log.txt", encoding="utf-8"))
    _limit_this_process()
    asyncio.set_event_loop(asyncio.new_event_loop())
    try:
        result = mark(folder)
    except Exception as error:
        log.exception("failed")
        words = " ".join(str(error).split())[:200]
        result = {"status": "failed", "reason": f"{type(error).__name__}: {words}"}
        with suppress(OSError):
            told = re.findall(r"(?m)^(\w*Error: .{1,200})", (folder / "log.txt").read_text("utf-8"))
            result["reason"] = told[0] if told else result["reason"]
    write_whole(folder / "result.json", json.dumps(result))
    return 0


def _limit_this_process() -> None:
    """What the kernel sends must not fill the machine's memory through this process, either."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, hard))
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come here


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
