"""What a submission may use of the machine."""

from __future__ import annotations

import platform
import re
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import psutil

from helpers.device import time_for

GIB, MIB = 2**30, 2**20


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        memory: in GiB, of all its processes; also what each may add to its address space.
        seconds: of wall-clock time for all cells; also of processor time for each process. Of a
            machine of speed 1 (``helpers.device.speed``) until ``here`` is asked.
        cell_seconds: for one cell.
        processes: with threads.
        file_size, folder_size, output: in MiB.
        open_files: for each process.
    """

    memory: float = 3.0
    seconds: int = 300
    processes: int = 128
    file_size: int = 64
    folder_size: int = 256
    output: int = 10
    open_files: int = 256

    @property
    def cell_seconds(self) -> int:
        """A third of the time for all cells."""
        return max(1, self.seconds // 3)

    def here(self) -> Limits:
        """The same with the time that this machine needs for as much work."""
        return replace(self, seconds=round(time_for(self.seconds)))

    def for_inside(self, root: bool) -> dict[str, int]:
        """What ``inside.py`` needs to know.

        Args:
            root: whether it starts as root, whose processes are counted by ``FIRST_USER`` alone.
        """
        wanted = asdict(self) | {"memory": int(self.memory * GIB)}
        if not root and (sys.platform != "linux" or _kernel() < (5, 14)):
            # There the limit counts all processes of the user, wherever they run.
            with suppress(psutil.Error):
                name = psutil.Process().username()
                others = psutil.process_iter(["username", "num_threads"])
                mine = (p.info["num_threads"] or 0 for p in others if p.info["username"] == name)
                wanted["processes"] += sum(mine)
        return wanted


def _kernel() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
