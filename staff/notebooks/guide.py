"""What the lecturer's guide says of a notebook and can be computed from it.

    python -m staff.notebooks.guide 09    brings guide/09_self_attention.md up to date, or begins it

A page of ``guide/`` is written by hand, but for what stands between two comments,
``<!-- facts -->`` and ``<!-- predictions -->``, and their ends. A link to a notebook whose text is
a number names that section: ``[3](../notebooks/09_self_attention.ipynb)``.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, find_notebook
from helpers.files import write_whole
from staff.notebooks.claims import claims_file, read_claims
from staff.notebooks.clock import sections, whole
from staff.notebooks.folding import ANSWER_TAG
from staff.notebooks.slides import SHOW_TAG, tags_of

# The parts of a page, each with what its author writes there.
PARTS = {
    "Ninety minutes": "| Minutes | Section | Show | Say |\n|---|---|---|---|",
    "Forty-five minutes": "Which of these rows stay, and what is dropped first.",
    "Usual wrong answers": "To the predictions above, and what each shows of the room.",
    "Misconceptions": "| They believe | What refutes it | Section |\n|---|---|---|",
    "Slips of the slides": "| Lecture, slide | It says | Right is | Section |\n|---|---|---|---|",
    "Live": "Which slider or cell, from where to where, what is seen; and if it fails.",
    "An exam question": "With its answer.",
}
_SECTION_LINK = re.compile(r"\[(\d+)\]\(\.\./notebooks/([\w/]+\.ipynb)\)")


def facts(notebook: NotebookNode, root: Path, path: Path) -> str:
    """Minutes, slides, predictions, tasks and quizzes of each section; what belongs to it."""
    rows = [
        "| Section | Minutes | Slides | Predictions | Tasks | Quizzes |",
        "|---|---|---|---|---|---|",
    ]
    spent = sections(notebook)
    counts = {heading: [0, 0, 0, 0] for heading in spent}
    trained = {block.cell for block in read_claims(claims_file(root, path)) if block.trained}
    heading, differs = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.split("\n")[0].removeprefix("## ").strip()
        tags = tags_of(cell)
        for i, here in enumerate(
            (SHOW_TAG in tags, "prediction" in tags, "your-turn" in tags, "quiz(" in cell.source)
        ):
            counts[heading][i] += here and (i == 0 or cell.cell_type == "code")
        if cell.id in trained and heading not in differs:
            differs.append(heading)
    for name, numbers in counts.items():
        cells = [str(number or "") for number in numbers]
        rows.append(f"| {name or 'Opening'} | {spent[name]:.0f} | {' | '.join(cells)} |")
    further = sorted((path.parent / FURTHER).glob(f"{path.name[:2]}_*.ipynb"))
    lines = [
        f"[{path.stem}](../notebooks/{path.name}) takes a student about {whole(notebook):.0f} "
        f"minutes; `make slides NOTEBOOK={path.name[:2]}` writes its lecture.",
        "\n".join(rows),
    ]
    if further:
        links = (
            f"[{p.stem[3:].replace('_', ' ')}](../notebooks/further/{p.name})" for p in further
        )
        lines.append(f"To go further: {', '.join(links)}.")
    if differs:
        said = ", ".join(name.split(" ")[0] for name in differs)
        lines.append(f"Trained live, so that numbers differ a little by machine: section {said}.")
    return "\n\n".join(lines)


def predictions(notebook: NotebookNode) -> str:
    """Every question that is put before its answer, with what came out."""
    rows, question = ["| Question | What came out |", "|---|---|"], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and "**Before you go on**" in cell.source:
            question = cell.source.partition("**Before you go on**")[2].lstrip(":, ")
        elif ANSWER_TAG in tags_of(cell) and question:
            said = [
                o.data["text/markdown"]
                for o in cell.outputs
                if "text/markdown" in o.get("data", {})
            ]
            found = [
                match[1].strip()
                for text in said
                if (match := re.search(r"</summary>(.*?)</details>", text, re.DOTALL))
            ]
            row = [
                " ".join(text.split()).replace("|", "\\|") for text in (question, " ".join(found))
            ]
            rows.append(f"| {row[0]} | {row[1]} |")
            question = ""
    return "\n".join(rows)


def up_to_date(text: str, root: Path, path: Path) -> str:
    """A page with its computed parts written anew; an empty text becomes a page to be written."""
    notebook = nbformat.read(path, as_version=4)
    if not text:
        title = notebook.cells[0].source.split("\n")[0].removeprefix("# ")
        text = f"# {title}\n\n<!-- facts -->\n<!-- end of facts -->\n\n"
        text += "## Predictions to put to the room\n\n"
        text += "<!-- predictions -->\n<!-- end of predictions -->\n"
        text += "".join(f"\n## {part}\n\n{hint}\n" for part, hint in PARTS.items())
    made = {"facts": facts(notebook, root, path), "predictions": predictions(notebook)}
    for name, block in made.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{block}\n\n{end}{rest.partition(end)[2]}"
    return text


def complaints(text: str, root: Path, path: Path) -> list[str]:
    """What is wrong with a page: out of date, a part not written, a section that is not there."""
    found = []
    if up_to_date(text, root, path) != text:
        found.append(f"it is out of date: python -m staff.notebooks.guide {path.name[:2]}")
    for part, hint in PARTS.items():
        body = text.partition(f"\n## {part}\n")[2].partition("\n## ")[0].strip()
        if not body or body == hint.strip():
            found.append(f"its part '{part}' is not written")
    for number, name in _SECTION_LINK.findall(text):
        there = root / "notebooks" / name
        headings = sections(nbformat.read(there, as_version=4)) if there.is_file() else {}
        if not any(heading.split(" ")[0] == number for heading in headings):
            found.append(f"{name} has no section {number}")
    return found


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(prog="python -m staff.notebooks.guide")
    parser.add_argument("notebooks", nargs="+", help="such as 09")
    root = find_root()
    for name in parser.parse_args(arguments).notebooks:
        path = root / "notebooks" / find_notebook(root, name)
        page = root / "guide" / f"{path.stem}.md"
        page.parent.mkdir(exist_ok=True)
        old = page.read_text(encoding="utf-8") if page.is_file() else ""
        write_whole(page, up_to_date(old, root, path))
        print(f"wrote {page.relative_to(root).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
