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
        if cell.cell_type != "markdown":
            continue
        text = _CODE_OR_FORMULA.sub("", cell.source)
        for target in (match[1] or match[2] for match in _LINK.finditer(text)):
            if re.match(r"(?:https?|mailto):", target):
                continue
            if problem := _broken(target, notebook, cell, path, root):
                complaints.append(f"cell {number}: the link '{target}' {problem}")
    return complaints


def _broken(
    target: str, notebook: NotebookNode, cell: NotebookNode, path: Path, root: Path
) -> str | None:
    """What is wrong with a relative link, if anything."""
    if target.startswith("attachment:"):
        name = target.removeprefix("attachment:")
        return None if name in cell.get("attachments", {}) else "names no attachment of its cell"
    file, _, anchor = unquote(target).partition("#")
    linked = (path.parent / file).resolve() if file else path.resolve()
    if file.startswith("/") or not linked.is_relative_to(root.resolve()):
        return "leads out of the course"
    if file and not linked.exists():
        return "leads to nothing"
    if anchor and linked.suffix == ".ipynb":
        there = nbformat.read(linked, as_version=4) if file else notebook
        if anchor not in headings(there):
            return "names no heading there"
    elif anchor and linked.suffix == ".md":
        titles = _HEADING.findall(linked.read_text(encoding="utf-8"))
        slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
        if anchor not in slugs:
            return "names no heading there"
    return None


def headings(notebook: NotebookNode) -> set[str]:
    """The anchors of a notebook's headings as JupyterLab makes them: spaces become hyphens."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    titles = [title for source in sources for title in _HEADING.findall(source)]
    return {re.sub(r"[*`]", "", title).replace(" ", "-") for title in titles}
