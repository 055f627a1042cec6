"""Which lectures each notebook follows, read from the notebooks themselves.

Every notebook says so once, in the paragraph ``**Lectures** [G] Galerne, *...*`` of its first cell.
The course's map, in its first notebook, is drawn from what stands there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from helpers.course.environment import find_root
from helpers.course.workspace import released_notebooks

_PARAGRAPH = re.compile(r"\*\*Lectures\*\*(.*?)(?:\n\s*\n|\Z)", re.DOTALL)
_LETTER = re.compile(r"\[([A-Z])\](?!\()")  # a link, [G](...), is none


def lectures_of_notebooks(root: Path | None = None) -> dict[str, str]:
    """The letters of the lectures, in the order in which a notebook names them.

    Returns:
        File name below ``notebooks/`` -> letters, such as "01_language_modeling.ipynb" -> "BYGL",
        labs included; "" where a notebook names none.
    """
    root = find_root() if root is None else root
    found = {}
    for path in released_notebooks(root):
        cells = json.loads((root / "notebooks" / path).read_text(encoding="utf-8"))["cells"]
        first = "".join(cells[0]["source"]) if cells else ""
        paragraph = _PARAGRAPH.search(first)
        letters = _LETTER.findall(paragraph[1]) if paragraph else []
        found[Path(path).as_posix()] = "".join(dict.fromkeys(letters))
    return found
