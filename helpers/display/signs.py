"""Signs for the characters that cannot be seen: a space, the end of a line, a tab."""

from __future__ import annotations

SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}
_TABLE = str.maketrans(SIGNS)


def visible(text: object) -> str:
    """The text with signs in place of its blanks."""
    return str(text).translate(_TABLE)
