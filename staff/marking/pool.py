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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from helpers.device import SPEED, speed, time_for
from staff.marking.sandbox import MARKINGS
from staff.marking.submissions import Submission
from staff.marking.watchdog import end_processes

# Seconds that a worker may take before the first cell and after the last, at speed 1.
START_AND_END = 150


class Workers:
    """Marks submissions, so many at a time.

    Args:
        folder: of the submissions.
        temporary: where workers have their folders.
        number: how many at a time.
        job: what is the same for all (``worker.mark``).
    """

    def __init__(self, folder: Path, temporary: Path, number: int, job: Mapping[str, Any]) -> None:
        self.folder, self.temporary, self.job = folder, temporary, job
        self.slots: queue.Queue[int] = queue.Queue()
        for slot in range(number):
            self.slots.put(os.getpid() % MARKINGS + MARKINGS * slot)
        self.stopping = threading.Event()
        self.began: dict[Submission, float] = {}
        self.pool = ThreadPoolExecutor(number)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()  # the threads end their processes
        self.pool.shutdown(wait=True, cancel_futures=True)

    def mark(
        self, submissions: Sequence[Submission], tell: Callable[[str], object] = str
    ) -> Iterator[tuple[Submission, dict[str, Any], str | None]]:
        """Results and pages as they come; meanwhile ``tell`` is told whom one waits for long."""
        told = ""
        waiting: dict[Future, Submission] = {
            self.pool.submit(self._one, number, submission): submission
            for number, submission in enumerate(submissions)
        }
        while waiting:
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), *future.result()
            if (slow := self._slow()) != told:
                tell(told := slow)

    def _slow(self) -> str:
        """Whose notebooks have taken minutes so far."""
        now, began = time.monotonic(), sorted(self.began.copy().items(), key=lambda one: one[1])
        minutes = [(submission.student[:20], int(now - since) // 60) for submission, since in began]
        return ", ".join(f"{student}: {number} min" for student, number in minutes if number > 1)

    def _one(self, number: int, submission: Submission) -> tuple[dict[str, Any], str | None]:
        slot, folder, page = self.slots.get(), self.temporary / f"{number}", None
        self.began[submission] = time.monotonic()
        try:
            folder.mkdir(mode=0o700)
            path = str((self.folder / submission.file).absolute())
            own = {"path": path, "student": submission.student}
            text = json.dumps({**self.job, **own, "slot": slot})
            (folder / "job.json").write_text(text, encoding="utf-8")
            complaint = self._wait_for(folder)
            with suppress(OSError, ValueError):
                page = (folder / "page.html").read_text(encoding="utf-8")
            try:
                result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                complaint = complaint or "The worker ended early."
            return {"status": "failed", "reason": complaint} if complaint else result, page
        except Exception as error:  # one submission must not end the others
            return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}, None
        finally:
            del self.began[submission]
            shutil.rmtree(folder, ignore_errors=True)
            self.slots.put(slot)

    def _wait_for(self, folder: Path) -> str:
        """Run a worker; says why it had to be ended, if it had to be."""
        process = subprocess.Popen(
            [sys.executable, "-m", "staff.marking.worker", str(folder)],
            cwd=folder,
            env=worker_environment(self.job["root"], folder),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        latest = time.monotonic() + time_for(START_AND_END) + self.job["limits"]["seconds"]
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


def worker_environment(root: str, folder: Path) -> dict[str, str]:
    """Variables of a worker: nothing of Jupyter, IPython or the home folder is read or written."""
    kept = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    home = folder / "home"
    home.mkdir()
    variables = {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_NO_CONFIG": "1",
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "PATH": environment_path(),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": root,
        SPEED: f"{speed():.3g}",  # measured once, and not beside other work
        "TMPDIR": str(home),
    }
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    return variables


def environment_path() -> str:
    """With the programs of this Python's environment, of which nbgrader calls one (alembic)."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
