"""A watchdog over the processes of a submission: their memory and time, all together."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from staff.marking.limits import GIB, MIB, Limits


class Watchdog(threading.Thread):
    """Ends a process with all that it started when they use too much, and remembers why.

    Args:
        limits: memory and time of all processes together.
        shared: a folder in which there may be sockets and one small file, and nothing else.

    Attributes:
        process: the first process; None while there is none.
        reason: why it was ended; empty while it was not.
        machine: whether it was the machine's fault, rather than that of the code.
    """

    def __init__(self, limits: Limits, shared: Path) -> None:
        super().__init__(daemon=True)
        self.limits, self.shared = limits, shared
        self.process: psutil.Process | None = None
        self.reason, self.machine = "", False
        self._began, self._done = time.monotonic(), threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.1):
            if self.process is not None and (complaint := self._complaint()):
                self.end(complaint)

    def begin(self) -> None:
        """Count the time from now on."""
        self._began = time.monotonic()

    def end(self, reason: str) -> None:
        """End all processes; the first reason is kept."""
        self.reason = self.reason or reason
        if self.process is not None:
            end_processes(self.process)

    def stop(self) -> None:
        """End what is left, and look no more."""
        self._done.set()
        if self.process is not None:
            end_processes(self.process)

    def processor_time(self) -> float:
        """Seconds that all processes have computed so far, those that have ended included."""
        used = 0.0
        for process in _family(self.process) if self.process else ():
            with suppress(psutil.Error):
                used += sum(process.cpu_times()[:4])  # user, system, and those of ended children
        return used

    def _complaint(self) -> str:
        if time.monotonic() - self._began > self.limits.seconds:
            return f"it took more than {self.limits.seconds} s in all"
        used = count = 0
        for process in _family(self.process):
            with suppress(psutil.Error):
                used += process.memory_info().rss
                count += 1
        if used > self.limits.memory * GIB:
            several = f" with {count} processes" if count > 4 else ""
            return f"it used more than {self.limits.memory:g} GiB of memory{several}"
        memory = psutil.virtual_memory()
        if memory.available < min(memory.total // 20, GIB // 2):
            self.machine = True
            return "the machine ran short of memory"
        with suppress(OSError):
            entries = list(os.scandir(self.shared))
            sizes = [e.stat(follow_symlinks=False).st_size for e in entries]
            if len(entries) > 12 or sum(sizes) > MIB or any(e.is_symlink() for e in entries):
                return "it wrote to the folder of its connection"
        return ""


def end_processes(process: psutil.Process) -> None:
    """Kill a process with its descendants, until there are none."""
    for _ in range(50):
        family = [p for p in _family(process) if _alive(p)]
        if not family:
            return
        for member in family:  # stopped at first, so that none starts others meanwhile
            with suppress(psutil.Error):
                member.send_signal(signal.SIGSTOP)
        for member in reversed(family):
            with suppress(psutil.Error):
                member.kill()
        time.sleep(0.02)


def _family(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return [process, *process.children(recursive=True)]
    return [process]


def _alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
