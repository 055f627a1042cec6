"""Several workers at a time, each a thread that waits for a process."""

from __future__ import annotations

import json
import os
import queue
import shutil
import site
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from helpers.device import SPEED, speed, time_for
from staff.marking.limits import Limits
from staff.marking.sandbox import MARKINGS
from staff.marking.submissions import Submission
from staff.marking.watchdog import end_processes

# Seconds that a worker may take before the first cell and after the last, at speed 1.
START, END = 90, 60
MOST_RESULT = 8 * 2**20  # bytes of a page or a result


class Workers:
    """Marks submissions, so many at a time.

    Args:
        folder: of the submissions.
        root: of the course.
        temporary: where workers have their folders.
        keys: what ``marking.make_key`` made, by lab.
        number, limits, sandboxed: see ``marking.Marking``.
    """

    def __init__(
        self,
        folder: Path,
        root: Path,
        temporary: Path,
        keys: Mapping[str, Path],
        number: int,
        limits: Limits,
        sandboxed: bool,
    ) -> None:
        self.folder, self.root, self.temporary, self.keys = folder, root, temporary, keys
        self.limits, self.sandboxed = limits, sandboxed
        self.slots: queue.Queue[int] = queue.Queue()
        first = os.getpid() % MARKINGS
        for slot in range(number):
            self.slots.put(first + MARKINGS * slot)
        self.stopping = threading.Event()
        self.pool = ThreadPoolExecutor(number)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()  # the threads end their processes
        self.pool.shutdown(wait=True, cancel_futures=True)

    def mark(
        self, submissions: Sequence[Submission]
    ) -> Iterator[tuple[Submission, dict[str, Any], str | None]]:
        """Results as they come."""
        waiting: dict[Future, Submission] = {
            self.pool.submit(self._one, number, submission): submission
            for number, submission in enumerate(submissions)
        }
        while waiting:
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), *future.result()

    def _one(self, number: int, submission: Submission) -> tuple[dict[str, Any], str | None]:
        slot = self.slots.get()
        folder = self.temporary / f"{number}"
        try:
            folder.mkdir(mode=0o700)
            self._describe(submission, folder, slot)
            complaint = self._wait_for(folder)
            try:
                result = json.loads(_read(folder / "result.json"))
            except (OSError, ValueError):
                return {"status": "failed", "reason": complaint or "The worker ended early."}, None
            if complaint:
                result = {"status": "failed", "reason": complaint}
            with suppress(OSError, ValueError):
                return result, _read(folder / "page.html")
            return result, None
        except Exception as error:  # one submission must not end the others
            return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}, None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self.slots.put(slot)

    def _describe(self, submission: Submission, folder: Path, slot: int) -> None:
        job = {
            "path": str((self.folder / submission.file).absolute()),
            "student": submission.student,
            "named": submission.named,
            "keys": {lab: str(key) for lab, key in self.keys.items()},
            "root": str(self.root),
            "limits": asdict(self.limits),
            "sandbox": self.sandboxed,
            "slot": slot,
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")

    def _wait_for(self, folder: Path) -> str:
        """Run a worker; says why it had to be ended, if it had to be."""
        command = [sys.executable, "-m", "staff.marking.worker", str(folder)]
        environment, nowhere = worker_environment(self.root, folder), subprocess.DEVNULL
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            start_new_session=True,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
        )
        latest = time.monotonic() + time_for(START + END) + self.limits.seconds
        try:
            while process.poll() is None:
                if self.stopping.is_set():
                    return "Marking was interrupted."
                if time.monotonic() > latest:
                    return "It could not be ended in time."
                time.sleep(0.05)
            return ""
        finally:
            if process.poll() is None:  # otherwise its number may be another process's by now
                with suppress(psutil.Error):
                    end_processes(psutil.Process(process.pid))
                process.kill()
            process.wait()


def worker_environment(root: Path, folder: Path) -> dict[str, str]:
    """Variables of a worker: nothing of Jupyter, IPython or the home folder is read or written."""
    kept = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
    variables = {name: os.environ[name] for name in kept if name in os.environ}
    home = folder / "home"
    home.mkdir()
    for name in ("CONFIG", "DATA", "RUNTIME"):
        variables[f"JUPYTER_{name}_DIR"] = str(home / name.lower())
    variables |= {
        SPEED: f"{speed():.3g}",  # measured once, and not beside other work
        "PATH": environment_path(),
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_NO_CONFIG": "1",
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(root),
        "TMPDIR": str(home),
    }
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    return variables


def environment_path() -> str:
    """With the programs of this Python's environment, of which nbgrader calls one (alembic)."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _read(path: Path) -> str:
    if path.stat().st_size > MOST_RESULT:
        raise ValueError(f"{path.name} is too large.")
    return path.read_text(encoding="utf-8")
