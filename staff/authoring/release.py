"""Make the released labs from their sources, or a clean copy of the course for a class.

python -m staff.authoring.release            make all labs anew, with stored outputs
python -m staff.authoring.release lab01      this one
python -m staff.authoring.release --check    say what is wrong with the sources, or stale
... --class-tree FOLDER --secret-file FILE   a copy of the course for the class with this
                                             secret (``class_tree.py``)
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Collection
from pathlib import Path

from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import own_files
from staff.authoring.cells import read_notebook
from staff.authoring.class_tree import class_tree, read_secret
from staff.authoring.labs import RELEASED, lab_sources, make_release, write_labs
from staff.authoring.source_rules import check_source
from staff.notebooks import notebook_rules
from staff.notebooks.refresh import RefreshError

AGAIN = "run python -m staff.authoring.release"


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
    return write_labs(notebooks, root / RELEASED, execute)


def is_current(root: Path) -> list[str]:
    """Complaints about released labs that do not belong to their sources; outputs do not count."""
    sources = {path.name: path for path in lab_sources(root).values()}
    complaints = []
    for name, path in sources.items():
        file = root / RELEASED / name
        if not file.exists():
            complaints.append(f"{RELEASED}/{name} is missing; {AGAIN}")
            continue
        if _lasting(make_release(path)) != _lasting(read_notebook(file)):
            complaints.append(f"{RELEASED}/{name} does not belong to its source; {AGAIN}")
    for file in own_files(root / RELEASED, "*.ipynb", deep=False):
        if file.name not in sources:
            complaints.append(f"{RELEASED}/{file.name} has no source")
    return complaints


def _lasting(notebook: NotebookNode) -> NotebookNode:
    """A notebook without what a run leaves in it."""
    notebook = copy.deepcopy(notebook)
    for _, cell in notebook_rules.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        tags = [tag for tag in cell.metadata.pop("tags", []) if tag != notebook_rules.WIDGET_TAG]
        if tags:
            cell.metadata["tags"] = tags
    return notebook


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.authoring.release",
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
            class_tree(root, folder, secret)
            if secret is None:
                print("Without --secret-file the hidden inputs are those of the public repository.")
            print(
                f"{folder} is ready. Its Colab badges still lead to the public repository; where "
                "the class has its own: python -m staff.notebooks.address OWNER/NAME REF, there."
            )
        elif not options.check:
            for path in release(root, labs=options.labs or None):
                print(f"released {path.relative_to(root).as_posix()}")
    except (ValueError, RefreshError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
