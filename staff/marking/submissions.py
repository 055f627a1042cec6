"""Submissions: found in a folder, read with distrust, and laid beside the lab they belong to."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, v4

from helpers.files import is_own

LARGEST_FILE = 100 * 2**20  # bytes; read, it may take twenty times as many
LARGEST = 20 * 2**20  # characters of its cells, without what running them has printed
MOST_CELLS = 2000
MOODLE = re.compile(r"_\d+_assignsubmission_file_?$")  # behind a name, on folders of Moodle
MARKS = "marks"  # the folder of results, beside the submissions


class Refused(ValueError):
    """A file that cannot be marked; says why, to the one who handed it in."""


@dataclass(frozen=True)
class Submission:
    """One file that was handed in.

    Attributes:
        student: the name of the file, or of the folder that holds it, without what Moodle adds.
        file: relative to the folder of submissions.
    """

    student: str
    file: str


def find_submissions(folder: Path) -> list[Submission]:
    """``folder/STUDENT.ipynb`` and ``folder/STUDENT/anything.ipynb``, in order.

    Raises:
        ValueError: there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}.")
    found = [Submission(path.stem, path.name) for path in _notebooks(folder)]
    for inner in sorted(folder.iterdir()):
        own = is_own(inner.name) and inner.name != MARKS
        if own and inner.is_dir() and not inner.is_symlink():
            files = _notebooks(inner)
            student = MOODLE.sub("", inner.name)
            found += [Submission(student, f"{inner.name}/{f.name}") for f in files]
    if not found:
        raise ValueError(
            f"There is no notebook in {folder}: put them there as STUDENT.ipynb or in folders "
            "STUDENT/."
        )
    return sorted(found, key=lambda submission: (submission.student, submission.file))


def without_notebook(folder: Path) -> list[tuple[str, str, str]]:
    """Folders that hold files, and none that is a notebook: student, folder, what it holds."""
    found = []
    for inner in sorted(folder.iterdir()):
        own = is_own(inner.name) and inner.name != MARKS
        if own and inner.is_dir() and not inner.is_symlink() and not any(_notebooks(inner)):
            kept = ", ".join(sorted(path.name for path in inner.iterdir())[:5])
            found.append((MOODLE.sub("", inner.name), inner.name, kept or "it is empty"))
    return found


def _notebooks(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() == ".ipynb" and is_own(path.name):
            yield path


def read_bytes(path: Path) -> bytes:
    """A file's content.

    Raises:
        Refused: it is a link, a folder, a pipe, or too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        reason = "is a link to another file" if path.is_symlink() else "cannot be read"
        raise Refused(f"The file {reason}.") from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Refused("It is not a file.")
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        size = max(len(content), status.st_size) // 2**20
        raise Refused(
            f"The file is too large ({size} MB, at most {LARGEST_FILE // 2**20}): clear its "
            "outputs."
        )
    return content


def read_submission(path: Path) -> NotebookNode:
    """A notebook with nothing of the file's but the kind, the text and the grade_id of each cell.

    So tags, attachments, stored outputs and whatever else a file may hold have no effect.

    Raises:
        Refused: the file is no notebook; says what it is.
    """
    text = read_bytes(path)
    try:
        content = json.loads(text.decode("utf-8-sig"))  # some editors begin with a mark
    except UnicodeDecodeError as error:
        raise Refused("The file is not a notebook: it is not text in UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise Refused("The file is not a notebook: it is not JSON.") from error
    except MemoryError as error:
        raise Refused("The file is not a notebook: it takes too much memory.") from error
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        old = isinstance(content, dict) and "worksheets" in content
        hint = "its format is older than 4; open and save it in JupyterLab" if old else "no cells"
        raise Refused(f"The file is not a notebook: {hint}.")
    if len(content["cells"]) > MOST_CELLS:
        raise Refused(f"It has {len(content['cells'])} cells, more than {MOST_CELLS}.")
    cells = [_clean(number, cell) for number, cell in enumerate(content["cells"], 1)]
    if (size := sum(len(cell.source) for cell in cells)) > LARGEST:
        raise Refused(f"Its cells are too large ({size // 2**20} MB, at most {LARGEST // 2**20}).")
    return v4.new_notebook(cells=cells)


def printed(path: Path) -> str:
    """What the cells of a notebook had printed when it was handed in; nothing is run.

    Raises:
        Refused: as ``read_submission``, which has to come first.
    """
    cells, found = json.loads(read_bytes(path).decode("utf-8-sig"))["cells"], []
    for cell in cells:
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            if isinstance(output, dict):
                data = output.get("data")
                shown = data.get("text/plain") if isinstance(data, dict) else output.get("text")
                lines = shown if isinstance(shown, list) else [shown]
                found.append("".join(line for line in lines if isinstance(line, str)).rstrip())
    return "\n".join(filter(None, found))


def _clean(number: int, cell: Any) -> NotebookNode:
    if not isinstance(cell, dict):
        raise Refused(f"The file is not a notebook: cell {number} is none.")
    source, kind = cell.get("source", ""), str(cell.get("cell_type"))
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise Refused(f"The file is not a notebook: cell {number} has no text.")
    # Lone surrogates are legal in JSON, and nothing can write them.
    source = "".join(lines).encode("utf-8", "replace").decode("utf-8")
    make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}.get(kind, v4.new_raw_cell)
    clean = make(source, id=f"cell-{number}")
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(nbgrader, dict) and isinstance(nbgrader.get("grade_id"), str):
        clean.metadata["nbgrader"] = {"grade_id": nbgrader["grade_id"]}
    return clean


def grade_id(cell: NotebookNode) -> str:
    """What nbgrader calls a cell; empty for one that it does not know."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def which_lab(submission: NotebookNode, releases: Mapping[str, NotebookNode]) -> str:
    """The lab that a notebook belongs to, by the names of its cells; file names do not count.

    Raises:
        Refused: it has no cell of any lab.
    """
    own = {grade_id(cell) for cell in submission.cells} - {""}
    known = {lab: {grade_id(cell) for cell in nb.cells} for lab, nb in releases.items()}
    shared = {lab: len(own & names) for lab, names in known.items()}
    best = max(shared, key=shared.__getitem__, default=None)
    if best is None or shared[best] == 0:
        raise Refused(
            f"The notebook has no cell of a lab ({', '.join(releases)}): perhaps it was made anew, "
            "or is another one."
        )
    return best


def align(submission: NotebookNode, release: NotebookNode) -> list[str]:
    """Give cells that nbgrader knows the metadata of the release, and put back missing ones.

    nbgrader itself then restores the text of locked cells and adds the hidden tests.

    Returns:
        What was out of order, in words.
    """
    known = {grade_id(cell): cell for cell in release.cells if grade_id(cell)}
    counts: Counter[str] = Counter()
    for cell in reversed(submission.cells):
        name = grade_id(cell)
        counts[name] += 1
        if name not in known or counts[name] > 1:  # of several, the last counts, as for nbgrader
            cell.metadata.pop("nbgrader", None)
            continue
        cell.metadata["nbgrader"] = dict(known[name].metadata["nbgrader"])
        if cell.cell_type != known[name].cell_type:
            make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
            fresh = make[known[name].cell_type](cell.source, id=cell.id, metadata=cell.metadata)
            submission.cells[submission.cells.index(cell)] = fresh
    place = -1  # of the cell that comes before, in the release
    for number, (name, cell) in enumerate(known.items()):
        if counts[name]:
            place = [grade_id(other) for other in submission.cells].index(name)
        else:
            place += 1
            submission.cells.insert(place, _again(cell, f"restored-{number}"))
    missing = [name for name in known if not counts[name]]
    several = [name for name in known if counts[name] > 1]
    words = {"Cells were missing and put back": missing, "Cells occur twice": several}
    return [f"{what}: {_few(names)}." for what, names in words.items() if names]


def _again(cell: NotebookNode, name: str) -> NotebookNode:
    """A copy of a release's cell as it was handed out, under another id."""
    make = v4.new_code_cell if cell.cell_type == "code" else v4.new_markdown_cell
    return make(cell.source, id=name, metadata={"nbgrader": dict(cell.metadata["nbgrader"])})


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
