"""Notebooks as students hand them in, made from a lab's source."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from staff.authoring.cells import read_notebook
from staff.authoring.student_version import student_version, with_seeds
from tests.labs.mutation import solutions

MINE = "What I think, in my own words."


def released(source: Path, secret: str | None = None) -> NotebookNode:
    """The untouched lab, of everyone or of a class."""
    return student_version(with_seeds(read_notebook(source), source.parent.name, secret))


def answered(
    source: Path, replaced: dict[str, str] | None = None, secret: str | None = None
) -> NotebookNode:
    """The lab with the reference's answers, some of them replaced, and the question answered."""
    notebook, code = released(source, secret), {**solutions(source), **(replaced or {})}
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        task = meta.get("grade_id", "").removesuffix("_answer")
        if meta.get("solution") and task in code:
            cell.source = code[task]
        elif meta.get("solution") and meta.get("grade"):
            cell.source = MINE
    return notebook


def with_predictions(source: Path, folder: Path, but: str = "none") -> Path:
    """A copy of a source in which all predictions but one are made: its results are computed."""
    notebook = read_notebook(source)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(rf"(?m)^(?!{but} )(my_\w+) = \.\.\.", r"\1 = 1", cell.source)
    nbformat.write(notebook, folder / source.name)
    return folder / source.name
