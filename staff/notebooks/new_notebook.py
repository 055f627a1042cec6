"""The skeleton of a new notebook: the notebook, its claims, the checks of its tasks, its quizzes.

    python -m staff.notebooks.new_notebook 15_bert_and_encoders
    python -m staff.notebooks.new_notebook further/02_smoothing

They are copies of ``template/``: the frame that all notebooks share, and two short sections to be
written over, with one of each kind of cell. Once its outputs are stored, the rules ask for nothing
but more of them.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, lesson_name
from staff.notebooks.address import TEMPLATE, read_address, write_address
from staff.notebooks.claims import claims_file


def make_notebook(root: Path, name: str) -> Path:
    """Write the skeleton of a notebook, without outputs, and what belongs to it.

    Args:
        root: of the course.
        name: of the file: its number and what it is about, such as "15_bert_and_encoders"; the
            number is the next one, or that of a notebook beside which "further/02_smoothing" is.

    Returns:
        The notebook's path.

    Raises:
        ValueError: the name has another form, its number is another one, or it is taken.
    """
    folder, name = root / "notebooks", name.removesuffix(".ipynb")
    lessons = {path.name[:2]: path for path in folder.glob("[0-9][0-9]_*.ipynb")}
    last, path = max(lessons), folder / f"{name}.ipynb"
    further, number = path.parent.name == FURTHER, path.name[:2]
    fits = number in lessons if further else number == f"{int(last) + 1:02}"
    if not fits or path.exists() or not re.fullmatch(rf"({FURTHER}/)?\d\d(_[a-z0-9]+)+", name):
        raise ValueError(
            f"'{name}' is no name of a new notebook: give the next number and what it is about in "
            f"small letters, such as {int(last) + 1:02}_bert_and_encoders, or name a further one "
            f"beside a notebook, such as {FURTHER}/{last}_smoothing."
        )
    before = lessons[number if further else last]
    title_before = nbformat.read(before, as_version=4).cells[0].source.partition("\n")[0]
    lesson, up, course = lesson_name(path), "../" * further, root / "helpers/course"
    quizzes = lesson if further else name
    places = {
        "notebook.ipynb": path,
        "claims.py": claims_file(root, path),
        "checks.py": course / f"checks/{lesson}.py",
        "quizzes.toml": course / f"quizzes/{quizzes}.toml",
    }
    for part, file in places.items():
        text = (TEMPLATE / part).read_text(encoding="utf-8")
        for old, new in (
            ("NN_title", name),
            ("NN · Title", f"{number} · {path.stem[3:].replace('_', ' ').capitalize()}"),
            ("MM · The one before", title_before.removeprefix("# ")),
            ("MM_before", up + before.stem),
            ("labs/README.md", f"{up}labs/README.md"),
            ("notebookNN", lesson),
            ("NN", lesson if further else number),
        ):
            text = text.replace(old, new)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    write_address(root, read_address(root))  # the badge and the set-up cell
    return path


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.new_notebook",
        description="Write the skeleton of a new notebook.",
    )
    parser.add_argument("name", help="its number and what it is about: 15_bert_and_encoders")
    root = find_root()
    try:
        path = make_notebook(root, parser.parse_args(arguments).name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    name = path.relative_to(root).as_posix()
    print(f"wrote {name}, its claims, and in helpers/course its checks and quizzes")
    print(f"Write it, then store its outputs: make refresh NOTEBOOK={path.stem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
