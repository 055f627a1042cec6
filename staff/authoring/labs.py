"""The labs as files: their sources, and what students get of them."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tqdm import tqdm

from helpers.files import write_whole
from staff.authoring.cells import read_notebook
from staff.authoring.student_version import student_version, with_seeds
from staff.notebooks import refresh
from staff.notebooks.folding import fold
from staff.notebooks.refresh import RefreshError

SOURCES = "notebooks/labs/source"
RELEASED = "notebooks/labs"


def lab_sources(root: Path) -> dict[str, Path]:
    """The sources of the labs by name, such as "lab01", in order; a class's copy has none."""
    found = (root / SOURCES).glob("lab[0-9][0-9]/lab[0-9][0-9]_*.ipynb")
    return {path.parent.name: path for path in sorted(found)}


def make_release(path: Path, secret: str | None = None) -> NotebookNode:
    """The student's version of a source file, for everyone or for a class, without outputs.

    Raises:
        ValueError: the source is not as it should be; names the file.
    """
    try:
        notebook = with_seeds(read_notebook(path), path.parent.name, secret)
        for cell in notebook.cells:  # a badge leads to the release
            if cell.cell_type == "markdown":
                cell.source = cell.source.replace(
                    f"/{SOURCES}/{path.parent.name}/", f"/{RELEASED}/"
                )
        released = student_version(notebook)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    fold(released)
    refresh.normalise_metadata(released)
    return released


def write_labs(notebooks: dict[Path, NotebookNode], folder: Path, execute: bool) -> list[Path]:
    """Write released notebooks into a folder, each whole or not at all; return their paths.

    Args:
        notebooks: what ``make_release`` made, by source.
        folder: where they belong in a course.
        execute: whether to store the outputs of an untouched run.

    Raises:
        RefreshError: an untouched lab does not run; its file is as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in tqdm(notebooks.items(), desc="labs", unit="lab", disable=None):
        if execute:
            try:
                refresh.with_outputs(notebook, folder)
            except RefreshError as error:
                raise RefreshError(f"{path.name}: {error}") from error
        write_whole(folder / path.name, nbformat.writes(notebook) + "\n")
    return [folder / path.name for path in notebooks]
