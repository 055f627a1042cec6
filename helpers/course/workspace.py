"""Working copies of the notebooks, in ``work/``, which git ignores.

    python -m helpers.course.workspace              lay the copies that are missing
    python -m helpers.course.workspace --fresh 02   a fresh copy beside the old one

A student's copy is never overwritten, so ``git pull`` never conflicts with it. The copies keep the
folders of ``notebooks/``: every relative link in them leads where it did.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import own_files, write_whole

# Further reading: notebooks beside the one of the same number, on which nothing builds.
FURTHER = "further"


def released_notebooks(root: Path) -> list[Path]:
    """The notebooks, further notebooks and released labs, in order, relative to ``notebooks/``."""
    folder = root / "notebooks"
    return [
        path.relative_to(folder)
        for pattern in ("*.ipynb", f"{FURTHER}/*.ipynb", "labs/*.ipynb")
        for path in own_files(folder, pattern, deep=False)
    ]


def lesson_name(notebook: Path) -> str:
    """The name of what belongs to a notebook: its checks, its claims and other answers.

    Args:
        notebook: its path; a lab is none.

    Returns:
        ``notebook02``, or ``further_02_smoothing`` for ``further/02_smoothing.ipynb``.
    """
    if notebook.parent.name == FURTHER:
        return f"{FURTHER}_{notebook.stem}"
    return f"notebook{notebook.stem[:2]}"


def find_notebook(root: Path, name: str) -> Path:
    """The released notebook that ``name`` means, relative to ``notebooks/``.

    Args:
        name: the beginning of its file name, such as ``02`` or ``lab01``, or the whole of it.
            A further notebook is meant where no other begins so: ``02_sm`` or ``02_smoothing``.

    Raises:
        ValueError: no notebook or several begin so.
    """
    stem = Path(name).name.removesuffix(".ipynb")
    released = released_notebooks(root)
    found = [path for path in released if path.stem == stem]
    if not found and stem:
        begin = [path for path in released if path.stem.startswith(stem)]
        found = [path for path in begin if path.parent.name != FURTHER] or begin
    if len(found) != 1:
        names = ", ".join(path.stem for path in found or released) or "none"
        problem = "Several notebooks begin" if found else "No notebook begins"
        raise ValueError(f"{problem} with '{name}'; there are: {names}.")
    return found[0]


def lay_copies(root: Path) -> list[Path]:
    """Copy to ``work/`` what is missing there; return the paths laid.

    Drawings are brought up to date as well, since nobody edits them and fresh copies show them.
    """
    source, target = root / "notebooks", root / "work"
    laid = []
    for path in released_notebooks(root):
        if not (target / path).exists():
            _copy(source / path, target / path)
            laid.append(target / path)
    for drawing in own_files(source / "figures"):
        copy = target / drawing.relative_to(source)
        if not (copy.exists() and copy.read_bytes() == drawing.read_bytes()):
            _copy(drawing, copy)
            laid.append(copy)
    return laid


def lay_fresh_copy(root: Path, name: str) -> Path:
    """Lay ``work/02_..._fresh.ipynb`` (``_fresh2`` if that exists, and so on); return its path."""
    notebook = find_notebook(root, name)
    old = root / "work" / notebook
    copy, number = old.with_name(f"{old.stem}_fresh.ipynb"), 1
    while copy.exists():
        number += 1
        copy = old.with_name(f"{old.stem}_fresh{number}.ipynb")
    _copy(root / "notebooks" / notebook, copy)
    return copy


def _copy(source: Path, target: Path) -> None:
    """Copy a file so that an interruption leaves no half-written one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, source.read_bytes())


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m helpers.course.workspace",
        description="Lay working copies of the notebooks in work/; nothing there is overwritten.",
    )
    parser.add_argument("--fresh", metavar="NOTEBOOK", help="a fresh copy of this one, e.g. 02")
    options = parser.parse_args(arguments)
    root = find_root()
    try:
        laid = lay_copies(root)
        if options.fresh is not None:
            laid.append(lay_fresh_copy(root, options.fresh))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path in laid:
        if path.suffix == ".ipynb":
            print(f"laid {path.relative_to(root).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
