"""The cells of an authored lab: nbgrader's kinds of cells, and the markers in them.

In a source the solution of each task stands in a function, between markers; the test cell after it
checks what the student sees and, between markers of their own, marks on hidden inputs:

    ### Task 3 · Add-k smoothing · 2 points          (Markdown)
    def add_k(counts, context, vocabulary, k):       (solution cell)
        ### BEGIN SOLUTION
        ...
        ### END SOLUTION
    add_k = check.add_k(add_k)                       (test cell, locked, with points)
    ### BEGIN HIDDEN TESTS
    check.score("add_k", seed=0)
    ### END HIDDEN TESTS
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
SCHEME = ("=== BEGIN MARK SCHEME ===", "=== END MARK SCHEME ===")

# The line of a hidden test that marks a task; a class's own seed takes the place of 0.
SCORE = re.compile(r'\bcheck\.score\("(\w+)", seed=0\)')


def read_notebook(path: Path) -> NotebookNode:
    """A notebook file.

    Raises:
        ValueError: it is no notebook.
    """
    try:
        return nbformat.read(path, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise ValueError(f"{path.name} is not a valid notebook: {error}") from error


def kind(cell: NotebookNode) -> str:
    """What a cell is for nbgrader.

    Returns:
        "solution" (code), "test", "answer" (text, graded by hand), "question" (text with a mark
        scheme; nbgrader's manually graded task), "locked", or "" for any other cell.
    """
    meta = cell.metadata.get("nbgrader", {})
    if meta.get("task"):
        return "question"
    if meta.get("solution"):
        return "answer" if meta.get("grade") else "solution"
    return "test" if meta.get("grade") else "locked" if meta.get("locked") else ""


def regions(source: str, markers: tuple[str, str]) -> list[str]:
    """The texts between a pair of markers, each of which stands on a line of its own."""
    return _region(markers).findall(source)


def without_regions(source: str, markers: tuple[str, str]) -> str:
    """A cell's text without the marked regions."""
    return _region(markers).sub("", source).rstrip("\n")


def _region(markers: tuple[str, str]) -> re.Pattern[str]:
    begin, end = map(re.escape, markers)
    return re.compile(rf"(?ms)^[ \t]*{begin}[ \t]*\n(.*?)\n?^[ \t]*{end}[ \t]*(?:\n|\Z)")


def without_markers(source: str, markers: tuple[str, str]) -> str:
    """A cell's text without the lines that are markers."""
    return "\n".join(line for line in source.split("\n") if line.strip() not in markers)


def scored_task(cell: NotebookNode) -> str:
    """The task that a test cell marks.

    Raises:
        ValueError: it has not exactly one hidden block with one ``check.score("task", seed=0)``.
    """
    blocks = regions(cell.source, HIDDEN)
    found = [SCORE.findall(block) for block in blocks]
    if len(found) != 1 or len(found[0]) != 1 or cell.source.count("check.score(") != 1:
        raise ValueError(
            "a test cell needs one hidden block with one line 'check.score(\"task\", seed=0)'"
        )
    return found[0][0]
