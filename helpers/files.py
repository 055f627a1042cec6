"""Files that are either there and whole or not there."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file all at once: it is complete on the disk before it gets its name.

    Whenever this is cut off, the old file or the new one is there, never a part of one.

    Args:
        path: where the file will be; its folder must exist.
        content: bytes, or text that is written in UTF-8 as it is, with its own line ends.
    """
    beside = path.with_name(f".{path.name}.part")
    try:
        with open(beside, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
