"""The rules that every notebook of the course keeps, as checks that say what is wrong.

    python -m staff.notebooks.notebook_rules [02 ...]

Each check takes a notebook (an ``nbformat`` node) and returns its complaints, one sentence each;
none means that all is well. A cell is named by its place in the notebook, counted from 1.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, find_notebook, released_notebooks
from staff.notebooks.address import Address, read_address
from staff.notebooks.lesson_rules import check_lesson
from staff.notebooks.links import check_links
from staff.notebooks.slides import is_lecture, write_slide_types
from staff.notebooks.syntax import parse, shows

MAX_BYTES = 1_000_000
MAX_LINES = 40
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# Set by the refresh command on a cell whose output was a widget and nothing else.
WIDGET_TAG = "widget"
# Besides the standard library: what Colab's own image has, of which the course uses these.
# (Colab lists its packages in the repository googlecolab/backend-info.)
PACKAGES = {
    *("helpers", "torch", "numpy", "matplotlib", "ipywidgets", "IPython"),
    *("tqdm", "pooch", "regex", "safetensors"),
}

_MACHINE_PATH = re.compile(
    r"(?<![\w.~/-])/(?:home|root|tmp|work|content|Users|private|var/folders)/|\b[A-Z]:\\+Users\b"
)
_FENCED = re.compile(r"```.*?```", re.DOTALL)
_INSTALL = re.compile(r"\b(?:pip3?|conda|mamba|uv pip|apt|apt-get)\W+install\b")


def check_notebook(path: Path, root: Path, address: Address) -> list[str]:
    """All complaints about one notebook file."""
    notebook = nbformat.read(path, as_version=4)
    name = path.relative_to(root / "notebooks").as_posix()
    return [
        *check_opening(notebook, name, address),
        *check_setup(notebook, address),
        *check_kernel(notebook),
        *check_counts(notebook),
        *check_outputs(notebook),
        *check_paths(notebook),
        *check_captions(notebook),
        *check_missing_outputs(notebook),
        *check_sources(notebook),
        *check_imports(notebook),
        *check_slides(notebook),
        *check_headings(notebook),
        *check_lesson(notebook, name),
        *check_links(notebook, path, root),
        *check_size(path.stat().st_size),
    ]


def check_opening(notebook: NotebookNode, name: str, address: Address) -> list[str]:
    """A title, the Colab badge, what will be learned, what it builds on, how long it runs."""
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        return ["the first cell is not Markdown that begins with a title ('# ...')"]
    complaints = []
    if address.badge(name) not in first.source:
        complaints.append(f"the first cell lacks the Colab badge {address.badge(name)}")
    opening = ""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            break
        opening += cell.source + "\n\n"
    for phrase in ("you will be able to", "builds on", "minute", "lecture"):
        if phrase not in opening.lower():
            complaints.append(f"the opening does not say '{phrase}'")
    builds_on = re.search(r"(?is)builds on(.*?)(?:\n\s*\n|\Z)", opening)
    if builds_on and not name.startswith("00") and ".ipynb)" not in builds_on[1]:
        complaints.append("'builds on' links to no other notebook")
    links = re.findall(r"\(([^)\s#]+\.ipynb)", builds_on[1]) if builds_on else []
    if any((Path(name).parent / link).parent.name == FURTHER for link in links):
        complaints.append("it builds on a further notebook, which must be no prerequisite")
    return complaints


def check_setup(notebook: NotebookNode, address: Address) -> list[str]:
    """The first code cell is the set-up cell, letter by letter."""
    code = [cell for _, cell in code_cells(notebook)]
    if not code or code[0].source != address.bootstrap():
        return ["the first code cell is not the set-up cell; 'make address' writes it"]
    return []


def check_kernel(notebook: NotebookNode) -> list[str]:
    """It names the kernel 'python3', so that no one is asked for one."""
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        return ["its metadata does not name the kernel 'python3'; 'make refresh' does"]
    return []


def check_counts(notebook: NotebookNode) -> list[str]:
    """Executed from top to bottom in a fresh kernel: counts 1, 2, ..., n."""
    counts = [cell.execution_count for _, cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        return [f"not executed from top to bottom: its counts are {counts}"]
    return []


def check_outputs(notebook: NotebookNode) -> list[str]:
    """No errors, no warnings, no stored widgets."""
    complaints = []
    if "widgets" in notebook.metadata:
        complaints.append("the state of widgets is stored")
    for number, cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                complaints.append(f"cell {number} stores an error ({output.ename})")
            elif output.output_type == "stream" and output.name == "stderr":
                complaints.append(f"cell {number} writes to stderr: {output.text.strip()[:80]}")
            elif WIDGET_VIEW in output.get("data", {}):
                complaints.append(f"cell {number} stores the view of a widget")
    return complaints


def check_paths(notebook: NotebookNode) -> list[str]:
    """No absolute path of a machine, neither in a source nor in an output."""
    complaints = []
    for number, cell in enumerate(notebook.cells, start=1):
        texts = [cell.source, *(text for o in cell.get("outputs", []) for text in _texts(o))]
        for text in texts:
            if found := _MACHINE_PATH.search(text):
                around = text[max(found.start() - 20, 0) : found.end() + 30].replace("\n", " ")
                complaints.append(f"cell {number} shows a path of the machine: ...{around}...")
    return complaints


def check_captions(notebook: NotebookNode) -> list[str]:
    """Each picture is followed by its caption, a Markdown output that begins '**Figure.**'."""
    complaints = []
    for number, cell in code_cells(notebook):
        bundles = [output.get("data", {}) for output in cell.outputs]
        for bundle, following in zip(bundles, [*bundles[1:], {}], strict=False):
            caption = following.get("text/markdown", "")
            if "image/png" in bundle and not caption.startswith("**Figure.**"):
                complaints.append(f"cell {number} shows a figure without a caption after it")
    return complaints


def check_missing_outputs(notebook: NotebookNode) -> list[str]:
    """A cell that shows something has its output stored, and what nbval compares is there."""
    complaints = []
    for number, cell in code_cells(notebook):
        tags = cell.metadata.get("tags", [])
        compared = "nbval-check-output" in tags or "NBVAL_CHECK_OUTPUT" in cell.source
        stored = any(text.strip() for output in cell.outputs for text in _texts(output))
        stored = stored or any("image/png" in output.get("data", {}) for output in cell.outputs)
        if compared and not stored:
            complaints.append(f"cell {number} is to be compared, but stores no output")
        elif not stored and WIDGET_TAG not in tags and shows(cell.source):
            complaints.append(f"cell {number} shows something, but stores no output")
        if {"raises-exception", "nbval-skip"} & set(tags) or "NBVAL_SKIP" in cell.source:
            complaints.append(f"cell {number} is hidden from the tests by its tag")
    return complaints


def check_sources(notebook: NotebookNode) -> list[str]:
    """Code cells are plain Python, of a readable length, and install nothing."""
    complaints = []
    for number, cell in code_cells(notebook):
        lines = cell.source.count("\n") + 1
        if lines > MAX_LINES:
            complaints.append(f"cell {number} has {lines} lines; the limit is {MAX_LINES}")
        if _INSTALL.search(cell.source):
            complaints.append(f"cell {number} installs something")
        if parse(cell.source) is None:
            complaints.append(f"cell {number} is not plain Python (no magics, no shell)")
    for number, cell in enumerate(notebook.cells, start=1):
        if not cell.source.strip():
            complaints.append(f"cell {number} is empty")
    return complaints


def check_imports(notebook: NotebookNode) -> list[str]:
    """Everything imported is in the standard library, in ``helpers`` or in Colab's image."""
    complaints = []
    for number, cell in code_cells(notebook):
        for node in ast.walk(parse(cell.source) or ast.Module([], [])):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            else:
                continue
            for package in dict.fromkeys(module.split(".")[0] for module in modules):
                if package not in PACKAGES and package not in sys.stdlib_module_names:
                    complaints.append(f"cell {number} imports '{package}', which Colab may lack")
    return complaints


def check_slides(notebook: NotebookNode) -> list[str]:
    """What each cell is in a slide show follows from the tags."""
    copy = nbformat.from_dict(notebook)
    if is_lecture(notebook):
        write_slide_types(copy)
    return [
        f"cell {number}: its slide type is not that of the tags 'show' (refresh the notebook)"
        for number, (cell, wanted) in enumerate(zip(notebook.cells, copy.cells, strict=True), 1)
        if cell.metadata.get("slideshow") != wanted.metadata.get("slideshow")
    ]


def check_headings(notebook: NotebookNode) -> list[str]:
    """A section's heading begins its cell: JupyterLab folds, and the clock counts, by cells."""
    return [
        f"cell {number}: a section begins in the middle of it"
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "markdown" and "\n## " in _FENCED.sub("", cell.source)
    ]


def check_size(size: int) -> list[str]:
    """Under one megabyte."""
    return [] if size < MAX_BYTES else [f"{size:,} bytes; the limit is {MAX_BYTES:,}"]


def code_cells(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """The code cells, each with its place in the notebook, counted from 1."""
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            yield number, cell


def _texts(output: NotebookNode) -> Iterator[str]:
    """What an output says in words: printed text, tracebacks and all textual forms of a result."""
    if output.output_type == "stream":
        yield output.text
    elif output.output_type == "error":
        yield "\n".join(output.traceback)
    for kind, content in output.get("data", {}).items():
        if kind.startswith("text/") or kind == "image/svg+xml":
            yield content


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.notebook_rules",
        description="Say which of the course's rules a notebook breaks.",
    )
    parser.add_argument("notebooks", nargs="*", help="such as 02; without it, all of them")
    options = parser.parse_args(arguments)
    root = find_root()
    folder = root / "notebooks"
    paths = [folder / find_notebook(root, name) for name in options.notebooks]
    address = read_address(root)
    wrong = 0
    for path in paths or [folder / path for path in released_notebooks(root)]:
        for complaint in check_notebook(path, root, address):
            print(f"{path.name}: {complaint}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
