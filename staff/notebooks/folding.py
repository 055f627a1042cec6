"""Cells that are folded away: one tag says so, and the metadata of two front ends follow from it.

``folded`` hides the source of a cell that draws, lays out a table or sets something up; ``answer``
hides the outputs of a cell until the student asks for them. JupyterLab reads ``jupyter``, Colab a
first line that begins ``# @title`` together with ``cellView``.
"""

from __future__ import annotations

from nbformat import NotebookNode

FOLDED_TAG, ANSWER_TAG = "folded", "answer"
TITLE = "# @title "


def fold(notebook: NotebookNode) -> None:
    """Write the metadata that belong to the tags; the set-up cell is always folded."""
    setup = True
    for cell in notebook.cells:
        if cell.cell_type == "code":
            fold_cell(cell, setup)
            setup = False


def fold_cell(cell: NotebookNode, setup: bool = False) -> None:
    """Write the metadata that belong to the tags of one code cell, or to the set-up cell."""
    tags = set(cell.metadata.get("tags", []))
    hidden = setup or FOLDED_TAG in tags
    jupyter = dict(cell.metadata.get("jupyter", {}))
    for name, wanted in (("source_hidden", hidden), ("outputs_hidden", ANSWER_TAG in tags)):
        jupyter.pop(name, None)
        if wanted:
            jupyter[name] = True
    for name, value in (("jupyter", jupyter), ("cellView", "form" if hidden else "")):
        cell.metadata.pop(name, None)
        if value:
            cell.metadata[name] = value
