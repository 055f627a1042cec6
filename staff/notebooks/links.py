"""Whether a notebook's relative links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
from nbformat import NotebookNode

_LINK = re.compile(r"\]\(<?([^)\s>]+)|\b(?:src|href)=[\"']([^\"']+)")
_CODE_OR_FORMULA = re.compile(r"(?s)```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(.+?)[ \t#]*$")


def check_links(notebook: NotebookNode, path: Path, root: Path) -> list[str]:
    """Relative links and images of the Markdown cells lead to files and headings that exist."""
    complaints = []
    for number, cell in enumerate(notebook.cells, start=1):
        text = _CODE_OR_FORMULA.sub("", cell.source) if cell.cell_type == "markdown" else ""
        for target in (match[1] or match[2] for match in _LINK.finditer(text)):
            if re.match(r"(?:https?|mailto):", target):
                continue
            file, _, anchor = unquote(target).partition("#")
            linked = (path.parent / file).resolve()
            if file.startswith("/") or not linked.is_relative_to(root.resolve()):
                problem = "leads out of the course"
            elif not linked.exists():
                problem = "leads to nothing"
            elif anchor and not _has_heading(anchor, linked if file else notebook):
                problem = "names no heading there"
            else:
                continue
            complaints.append(f"cell {number}: the link '{target}' {problem}")
    return complaints


def _has_heading(anchor: str, there: Path | NotebookNode) -> bool:
    """Whether a notebook has this heading; JupyterLab's anchors have hyphens for spaces."""
    if isinstance(there, Path):
        if there.suffix != ".ipynb":
            return True  # of other files, nothing is known
        there = nbformat.read(there, as_version=4)
    sources = [cell.source for cell in there.cells if cell.cell_type == "markdown"]
    titles = [title for source in sources for title in _HEADING.findall(source)]
    return anchor in {re.sub(r"[*`]", "", title).replace(" ", "-") for title in titles}
