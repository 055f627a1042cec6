"""Make the released labs from their sources, and a clean copy of the course for a class.

    python -m helpers.course.labs.release            make all labs anew, with stored outputs
    python -m helpers.course.labs.release lab01      this one
    python -m helpers.course.labs.release --check    say what is wrong with the sources, or stale
    ... --class-tree FOLDER --secret-file FILE       a copy of the course for the class with this
                                                     secret: its own numbers and hidden inputs,
                                                     no solutions of the labs, no hidden tests

The public repository holds the sources, so its labs are formative. A class's copy keeps from the
students what differs from class to class; the functions that they are asked to write stay the same,
and the checks need the course's own versions of them (``helpers/course/checks``).
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

import nbformat
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME
from nbformat import NotebookNode
from tqdm import tqdm

from helpers.course import contract, refresh
from helpers.course.checks.lab import seed_of
from helpers.course.environment import find_root
from helpers.course.labs.authoring import (
    HIDDEN,
    SCHEME,
    SOLUTION,
    check_source,
    kind,
    read_notebook,
    scored_task,
    student_version,
    with_seeds,
)
from helpers.course.refresh import RefreshError
from helpers.files import write_whole

SOURCES = "notebooks/labs/source"
RELEASED = "notebooks/labs"
# What a class does not get: solutions, hidden tests, known wrong answers, and what works on them.
PRIVATE = (
    *(f"{SOURCES}/", "helpers/course/labs/"),
    *("tests/course/checks/", "tests/course/labs/", "tests/labs/"),
)
SHORTEST_SECRET = 16  # characters; a short one could be guessed from the variant, which is visible
AGAIN = "run python -m helpers.course.labs.release"

_LINK = re.compile(r"\]\(<?([^)\s>#]+)")


def lab_sources(root: Path) -> dict[str, Path]:
    """The sources of the labs by name, such as "lab01", in order; none where there is no folder.

    Raises:
        ValueError: the folder of sources is empty, or one of its folders does not hold exactly one
            notebook that is named after it.
    """
    folder = root / SOURCES
    if not folder.exists():
        return {}
    found = {}
    for place in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        if not (place.is_dir() and re.fullmatch(r"lab\d\d", place.name)):
            raise ValueError(f"{SOURCES}/{place.name} is not the folder of a lab, such as lab01.")
        notebooks = sorted(place.glob("*.ipynb"))
        if len(notebooks) != 1 or not notebooks[0].name.startswith(f"{place.name}_"):
            names = ", ".join(path.name for path in notebooks) or "none"
            raise ValueError(
                f"{SOURCES}/{place.name} must hold one notebook '{place.name}_name.ipynb', and "
                f"holds: {names}."
            )
        found[place.name] = notebooks[0]
    if not found:
        raise ValueError(f"{SOURCES} holds no lab; a lab is a folder in it, such as lab01.")
    return found


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
    refresh.normalise_metadata(released)
    return released


def release(root: Path, execute: bool = True, labs: Collection[str] | None = None) -> list[Path]:
    """Write the released labs of everyone, all or these; return their paths.

    Args:
        root: of the course.
        execute: whether to store the outputs of an untouched run.
        labs: names such as "lab01".

    Raises:
        ValueError: a source is not as it should be, or a lab is unknown; nothing is written.
        RefreshError: an untouched lab does not run; its file is as it was.
    """
    sources = lab_sources(root)
    unknown = sorted(set(labs or ()) - set(sources))
    if unknown:
        raise ValueError(
            f"There is no lab {unknown[0]}; there are: {', '.join(sources) or 'none'}."
        )
    notebooks = {p: make_release(p) for lab, p in sources.items() if labs is None or lab in labs}
    return list(_write(notebooks, root / RELEASED, execute))


def is_current(root: Path) -> list[str]:
    """Complaints about released labs that do not belong to their sources; outputs do not count."""
    sources = {path.name: path for path in lab_sources(root).values()}
    complaints = []
    for name, path in sources.items():
        file = root / RELEASED / name
        if not file.exists():
            complaints.append(f"{RELEASED}/{name} is missing; {AGAIN}")
            continue
        new, old = _lasting(make_release(path)), _lasting(read_notebook(file))
        if place := _difference(new, old):
            complaints.append(f"{RELEASED}/{name}: {place} does not belong to its source; {AGAIN}")
    for file in sorted((root / RELEASED).glob("*.ipynb")):
        if file.name not in sources:
            complaints.append(f"{RELEASED}/{file.name} has no source")
    return complaints


def read_secret(path: Path) -> str:
    """A class's secret: the one line of a file.

    Raises:
        ValueError: there is no such file, or the secret is too short to be one.
    """
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The secret cannot be read from {path}: {error}.") from error
    if len(secret) < SHORTEST_SECRET or not secret.isprintable():
        raise ValueError(
            f"The secret in {path} must be one line of at least {SHORTEST_SECRET} characters; a "
            f"good one, drawn now: {secrets.token_hex(16)}"
        )
    return secret


def class_tree(
    root: Path, folder: Path, secret: str | None = None, execute: bool = True
) -> list[str]:
    """Write a class's copy of the course: what git knows, less ``PRIVATE``, and the class's labs.

    Args:
        root: of the course, a clone.
        folder: for the copy; missing or empty.
        secret: of the class; None gives everyone's labs.
        execute: as for ``release``; the labs run with the copy's own package.

    Returns:
        Links in the copy's Markdown files that lead to what it does not have, one sentence each.

    Raises:
        ValueError: the folder is not empty, the root is no clone, a source is faulty, or the secret
            or a hidden part would be in the copy; nothing is left behind.
        RefreshError: an untouched lab does not run in the copy; nothing is left behind.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is not an empty folder; name a new one.")
    notebooks = {path: make_release(path, secret) for path in lab_sources(root).values()}
    files = [name for name in _tracked(root) if not name.startswith(PRIVATE)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as parent:
        tree = Path(parent) / "course"
        for name in files:
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target, follow_symlinks=False)
        for stale in (tree / RELEASED).glob("*.ipynb"):
            stale.unlink()
        for _ in _write(notebooks, tree / RELEASED, execute):
            pass
        if leaks := list(_leaks(tree, secret, notebooks)):
            raise ValueError(f"Nothing was written: {leaks[0]}.")
        if folder.exists():
            folder.rmdir()
        os.replace(tree, folder)
    return list(_missing_links(folder))


def _write(notebooks: dict[Path, NotebookNode], folder: Path, execute: bool) -> Iterator[Path]:
    """Write released notebooks, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in tqdm(notebooks.items(), desc="labs", unit="lab", disable=None):
        if execute:
            _execute(notebook, path.name, folder)
        write_whole(folder / path.name, nbformat.writes(notebook) + "\n")
        yield folder / path.name


def _execute(notebook: NotebookNode, name: str, folder: Path) -> None:
    """Run an untouched lab where it will lie, and keep the outputs as refreshing would."""
    kept = {k: v for k, v in os.environ.items() if k != "COURSE_DRIVE_WIDGETS"}
    environment = {**kept, "PYTHONDONTWRITEBYTECODE": "1"}  # a class's copy stays clean
    try:
        refresh.Client(notebook, folder, refresh.TIMEOUT, kernel_name=NATIVE_KERNEL_NAME).run(
            environment
        )
    except RefreshError as error:
        raise RefreshError(f"{name}: {error}") from error
    refresh.strip_widgets(notebook)
    refresh.merge_streams(notebook)
    refresh.normalise_metadata(notebook)
    complaints = [
        *contract.check_counts(notebook),
        *contract.check_outputs(notebook),
        *contract.check_paths(notebook),
    ]
    if complaints:
        raise RefreshError(f"{name}: {'; '.join(complaints)}")


def _lasting(notebook: NotebookNode) -> NotebookNode:
    """A notebook without what a run leaves in it."""
    notebook = copy.deepcopy(notebook)
    for _, cell in contract.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        tags = [tag for tag in cell.metadata.pop("tags", []) if tag != contract.WIDGET_TAG]
        if tags:
            cell.metadata["tags"] = tags
    return notebook


def _difference(new: NotebookNode, old: NotebookNode) -> str | None:
    """The first place where two notebooks differ."""
    for number, (a, b) in enumerate(zip(new.cells, old.cells, strict=False), start=1):
        if a != b:
            return f"cell {number}"
    if len(new.cells) != len(old.cells):
        return "its number of cells"
    return None if new == old else "its metadata"


def _tracked(root: Path) -> list[str]:
    """The files that git knows and that are there."""
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached"]
    try:
        done = subprocess.run(listing, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        words = getattr(error, "stderr", b"") or str(error).encode()
        raise ValueError(
            f"git cannot list the files of {root}, which must be a clone of the course: "
            f"{words.decode(errors='replace').strip()}"
        ) from error
    names = done.stdout.decode("utf-8").split("\0")
    return [name for name in names if name and os.path.lexists(root / name)]


def _leaks(tree: Path, secret: str | None, sources: Collection[Path]) -> Iterator[str]:
    """Files that hold what students must not see."""
    markers = [marker.encode() for pair in (SOLUTION, HIDDEN, SCHEME) for marker in pair]
    hidden = {secret.encode(): "the secret"} if secret else {}
    for path in sources if secret else ():
        for cell in read_notebook(path).cells:
            if kind(cell) == "test":
                task = scored_task(cell)
                seed = str(seed_of(secret, path.parent.name, task)).encode()
                hidden[seed] = f"the seed of the hidden inputs of {task}"
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        name, data = file.relative_to(tree).as_posix(), file.read_bytes()
        for part, words in hidden.items():
            if part in data:
                yield f"{name} holds {words}"
        if file.suffix == ".ipynb" and any(marker in data for marker in markers):
            yield f"{name} holds a marker of a source"


def _missing_links(tree: Path) -> Iterator[str]:
    for file in sorted(tree.rglob("*.md")):
        for target in _LINK.findall(file.read_text(encoding="utf-8")):
            if ":" not in target and not (file.parent / unquote(target)).exists():
                name = file.relative_to(tree).as_posix()
                yield f"{name} links to {target}, which the class's copy does not have"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m helpers.course.labs.release",
        description="Make the released labs from their sources, or a class's copy of the course.",
    )
    parser.add_argument("labs", nargs="*", help="such as lab01; without it, all of them")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is wrong")
    parser.add_argument("--class-tree", type=Path, metavar="FOLDER", help="new folder for a class")
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="the class's secret")
    options = parser.parse_args(arguments)
    if options.secret_file and not options.class_tree:
        parser.error("--secret-file belongs to --class-tree FOLDER")
    if options.class_tree and (options.labs or options.check):
        parser.error("--class-tree takes all labs and does not go with --check")
    root = find_root()
    try:
        sources = lab_sources(root)
        complaints = [f"{p.name}: {c}" for p in sources.values() for c in check_source(p)]
        if options.check and not complaints:
            complaints = is_current(root)
        if complaints:
            print("\n".join(complaints), file=sys.stderr)
            return 1
        if options.class_tree:
            secret = read_secret(options.secret_file.expanduser()) if options.secret_file else None
            folder = options.class_tree.expanduser().resolve()
            notes = class_tree(root, folder, secret)
            print("\n".join([*notes, *_advice(folder, secret)]))
        elif not options.check:
            for path in release(root, labs=options.labs or None):
                print(f"released {path.relative_to(root).as_posix()}")
    except (ValueError, RefreshError, ModuleNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _advice(folder: Path, secret: str | None) -> Iterator[str]:
    if secret is None:
        yield "Without --secret-file the hidden inputs are those of the public repository."
    yield (
        f"{folder} is ready. Its Colab badges still lead to the public repository; where the class "
        "has its own: python -m helpers.course.address OWNER/NAME REF, there."
    )


if __name__ == "__main__":
    sys.exit(main())
