"""Where the course's data lies, and how texts are read: what cannot be read says what to do."""

from __future__ import annotations

from pathlib import Path

DATA_FOLDER = Path(__file__).resolve().parents[2] / "data"
RESTORE = "restore it with `git checkout -- data`, or clone the course again"


class CorpusError(ValueError):
    """A corpus that cannot be read; the message says why and what to do."""


def read_bytes(path: Path) -> bytes:
    """The content of a file.

    Raises:
        CorpusError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check the path.") from error


def read_text(path: Path, may_be_blank: bool = False) -> str:
    """The text of a UTF-8 file. Line ends become "\\n", a byte-order mark goes.

    Raises:
        CorpusError: it cannot be read, is binary, not UTF-8, or, unless it may be, blank.
    """
    content = read_bytes(path)
    if b"\0" in content:
        raise CorpusError(
            f"{path} is not a text but binary (byte {content.index(0)} is zero): save it as UTF-8."
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is not UTF-8 (byte {error.start} is 0x{content[error.start]:02x}): save it as "
            "UTF-8 in your editor."
        ) from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not (text.strip() or may_be_blank):
        raise CorpusError(f"{path} is empty: give a file that holds text.")
    return text
