"""The pictures of a notebook as PNG and SVG, for a lecturer's own slides.

    python -m staff.notebooks.figures 09 [--out FOLDER]     runs it, and writes into figures/

Each picture is named after its cell. ``README.md`` beside them shows all, with the captions as
the text that is read where a picture cannot be seen.
"""

from __future__ import annotations

import argparse
import base64
import sys
from pathlib import Path

import nbformat

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import find_notebook
from staff.notebooks.refresh import RefreshError, execute, strip_widgets

SVG = "image/svg+xml"
# Run behind the set-up cell: every figure is drawn a second time, without dots.
_BOTH = f"""
from helpers.display import figures


def _both(figure, as_png=figures.figure_output):
    import io

    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", bbox_inches="tight", facecolor="white")
    return as_png(figure) | {{"{SVG}": drawn.getvalue()}}


figures.figure_output = _both
"""


def write(path: Path, folder: Path) -> list[Path]:
    """Run a notebook and write its pictures; return their PNG files, in order.

    Raises:
        RefreshError: a cell raised.
    """
    notebook = nbformat.read(path, as_version=4)
    first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first + 1, nbformat.v4.new_code_cell(_BOTH))
    execute(notebook, path.parent)
    strip_widgets(notebook)
    written, lines = [], [f"# Figures of {path.stem}"]
    folder.mkdir(parents=True, exist_ok=True)
    for cell in notebook.cells:
        shown = [output.get("data", {}) for output in cell.get("outputs", [])]
        captions = [data["text/markdown"] for data in shown if "text/markdown" in data]
        for data in (data for data in shown if "image/png" in data):
            name = f"{len(written) + 1:02}_{cell.id}"
            caption = next((c for c in captions if c.startswith("**Figure.**")), "").partition(" ")[
                2
            ]
            target = folder / f"{name}.png"
            target.write_bytes(base64.b64decode(data["image/png"]))
            if SVG in data:
                target.with_suffix(".svg").write_text(data[SVG], encoding="utf-8")
            alternative = caption.replace("[", "(").replace("]", ")")
            lines += [f"## {name}", f"![{alternative}]({name}.png)", caption]
            written.append(target)
    (folder / "README.md").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return written


def main(arguments: list[str] | None = None) -> int:
    print_all()
    root = find_root()
    parser = argparse.ArgumentParser(prog="python -m staff.notebooks.figures")
    parser.add_argument("notebook", help="the beginning of its name: 09, further/12_gemma")
    parser.add_argument("--out", type=Path, default=root / "figures")
    options = parser.parse_args(arguments)
    try:
        path = root / "notebooks" / find_notebook(root, options.notebook)
        folder = options.out / path.stem
        print(f"wrote {len(write(path, folder))} figures to {folder}")
    except (RefreshError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
