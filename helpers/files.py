"""Files that are either there and whole or not there, and those of a folder that are its own."""

from __future__ import annotations

import os
import unicodedata
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from tempfile import TemporaryFile


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


def check_writable(folder: Path) -> None:
    """Make a folder if need be, and refuse one in which no file can be made.

    Raises:
        ValueError: it cannot be made, or nothing can be written in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"Nothing can be written in the folder {folder} ({error.strerror}): name another one."
        ) from error


def is_own(name: str) -> bool:
    """Whether a file or folder of this name is somebody's own, not what a program left beside it.

    Left are hidden ones (``.ipynb_checkpoints``, ``.DS_Store``, ``._a.txt``), ``__MACOSX``,
    caches of Python, and the backups and locks of editors (``a.txt~``, ``~$a.txt``, ``#a.txt#``).
    """
    left = name in ("__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini")
    left = left or name.startswith((".", "~$"))
    return not (left or name.endswith("~") or (name[:1] == name[-1:] == "#"))


def own_files(folder: Path, pattern: str = "*", deep: bool = True) -> list[Path]:
    """The files of a folder that fit ``pattern`` and are its own (``is_own``).

    They and their order are the same on every system: small letters and capitals are told apart,
    and names are sorted by their code points, whichever form of Unicode a disk gives them.
    """
    found = folder.rglob(pattern) if deep else folder.glob(pattern)
    last = PurePath(pattern).name
    files = [
        path
        for path in found
        if all(map(is_own, path.relative_to(folder).parts))
        and fnmatchcase(path.name, last)
        and path.is_file()
    ]
    return sorted(files, key=lambda path: (name_in(folder, path), str(path)))


def name_in(folder: Path, path: Path) -> str:
    """The name of a file in a folder, with ``/`` between its parts, the same on every system."""
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
