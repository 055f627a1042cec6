"""What a submission may use of the machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helpers.device import time_for

GIB, MIB = 2**30, 2**20


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        memory: in GiB, of all its processes; also what each may add to its address space.
        seconds: of wall-clock time for all cells; also of processor time for each process. Of a
            machine of speed 1 (``helpers.device.speed``) until ``here`` is asked.
        work: of processor time for one cell and all its processes, twice what the cell has of
            wall-clock time, which grows with whatever else the machine does.
        processes: with threads.
        file_size, folder_size, output: in MiB.
        open_files: for each process.
    """

    memory: float = 3.0
    seconds: int = 300
    work: int | None = None
    processes: int = 128
    file_size: int = 64
    folder_size: int = 256
    output: int = 10
    open_files: int = 256

    @property
    def cell_seconds(self) -> int:
        """For one cell: a third of the time for all."""
        return max(1, self.seconds // 3)

    def here(self) -> Limits:
        """The same with the time that this machine needs for as much work."""
        work = round(time_for(self.work or 2 * self.cell_seconds, "thread_time"))
        return replace(self, seconds=round(time_for(self.seconds)), work=work)
