"""Execute notebooks from top to bottom and store their outputs.

    python -m staff.notebooks.refresh            all notebooks
    python -m staff.notebooks.refresh 02         this one

Each notebook runs in a kernel of its own. What is stored is what a reader without a kernel can
see: views of widgets are left out, and what they bring as text, HTML or pictures stays. A file is
written only if all went well and all its claims hold; otherwise it stays as it was.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import NATIVE_KERNEL_NAME
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbclient.output_widget import OutputWidget
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course import own_work
from helpers.course.environment import find_root
from helpers.course.workspace import find_notebook, released_notebooks
from helpers.device import speed, time_for
from helpers.display.widgets import FIRST_STATE
from helpers.files import write_whole
from staff.notebooks.claims import Block, claims_file, read_claims
from staff.notebooks.clock import is_one_sitting, whole, write_time
from staff.notebooks.folding import fold
from staff.notebooks.notebook_rules import (
    WIDGET_TAG,
    WIDGET_VIEW,
    check_counts,
    check_outputs,
    check_paths,
    code_cells,
)
from staff.notebooks.slides import is_lecture, write_slide_types

TIMEOUT = 300  # seconds for one cell, on a machine of speed 1


class RefreshError(RuntimeError):
    """A notebook could not be executed, or its outputs are not fit to be stored."""


def refresh(path: Path, timeout: int = TIMEOUT, claims: Sequence[Block] = ()) -> bool:
    """Execute one notebook and store its outputs; return whether the file changed.

    Args:
        path: of the notebook.
        timeout: seconds for one cell on a machine of speed 1; a slower one gets more.
        claims: what must hold after which cells.

    Raises:
        RefreshError: a cell raised, a claim does not hold, or an output breaks a rule; the file is
            as it was.
    """
    notebook = nbformat.read(path, as_version=4)
    seconds = with_outputs(notebook, path.parent, timeout, claims)
    if is_one_sitting(path):
        write_time(notebook, seconds * speed("thread_time"))  # most of it runs on one core
    text = nbformat.writes(notebook) + "\n"
    if text == path.read_text(encoding="utf-8"):
        return False
    write_whole(path, text)
    return True


def with_outputs(
    notebook: NotebookNode, folder: Path, timeout: int = TIMEOUT, claims: Sequence[Block] = ()
) -> float:
    """Execute a notebook in a folder, and make of it what is stored; errors as for ``refresh``.

    Returns:
        The seconds that its cells took.
    """
    seconds = execute(notebook, folder, timeout, claims)
    tidy(notebook)
    complaints = [*check_counts(notebook), *check_outputs(notebook), *check_paths(notebook)]
    if complaints:
        raise RefreshError("; ".join(complaints))
    return seconds


class CapturedOutput(OutputWidget):
    """An Output widget's stand-in: what a callback shows stays out of the cell's outputs.

    It sends nothing back to the kernel: nbclient would do so while it waits on the same socket for
    the end of the cell, and then sometimes never hears of it (jupyter/nbclient, issue 312).
    """

    def send(self, data=None, metadata=None, buffers=None) -> None:
        pass

    def output(self, outs, msg, display_id, cell_index) -> None:
        if msg["msg_type"] == "error":
            content = msg["content"]
            self.executor.raised.append((cell_index, content["ename"], content["evalue"]))
        super().output(outs, msg, display_id, cell_index)


class Client(NotebookClient):
    """Runs a notebook's cells; errors in the callbacks of widgets count, too."""

    def __init__(
        self,
        notebook: NotebookNode,
        folder: Path,
        timeout: int,
        claims: Sequence[Block] = (),
        **options,
    ) -> None:
        self.claims = claims
        resources = {"metadata": {"path": str(folder)}}
        # Output widgets need their stored state while cells run; it is removed afterwards.
        # A busy machine may take longer than nbclient's four seconds to hand over a picture.
        patience = {"iopub_timeout": 60}
        options = {"record_timing": False, "store_widget_state": True, **patience, **options}
        super().__init__(notebook, resources=resources, timeout=timeout, **options)
        self.widget_registry = {"@jupyter-widgets/output": {"OutputModel": CapturedOutput}}
        self.raised: list[tuple[int, str, str]] = []
        self.running = 0
        self.seconds = 0.0  # that the cells took, without the claims
        self.on_cell_start = self._note

    def _note(self, cell: NotebookNode, cell_index: int) -> None:
        self.running = cell_index

    async def async_execute_cell(self, cell, cell_index, *arguments, **named) -> NotebookNode:
        """Execute a cell, and then the claims that name it, which leave no trace in it."""
        began = time.monotonic()
        done = await super().async_execute_cell(cell, cell_index, *arguments, **named)
        self.seconds += time.monotonic() - began
        counted = self.code_cells_executed
        for block in self.claims:
            if block.cell == cell.get("id"):
                code = nbformat.v4.new_code_cell(block.in_kernel())
                try:
                    await super().async_execute_cell(code, cell_index, store_history=False)
                except CellExecutionError as error:
                    said = block.failed(error.ename, error.evalue, [error.traceback])
                    raise RefreshError(f"a claim does not hold: {said}") from None
        # nbclient has put the claims in the cell's place, and counted them.
        self.nb.cells[cell_index], self.code_cells_executed = done, counted
        return done

    def run(self, environment: dict[str, str]) -> None:
        """Run all cells in a fresh kernel with these environment variables.

        Raises:
            RefreshError: a cell or a callback raised, a cell took too long, or the kernel died.
        """
        index = None
        try:
            self.execute(env=environment)
            if not self.raised:
                return
            index, name, value = self.raised[0]
            problem = f"has a widget whose callback raised {name}: {value}"
        except CellExecutionError as error:
            problem = f"raised {error.ename}: {error.evalue}"
        except CellTimeoutError:
            problem = f"took more than {self.timeout} seconds"
        except DeadKernelError:
            problem = "ended the kernel (too little memory, perhaps)"
        index = self.running if index is None else index
        first = self.nb.cells[index].source.split("\n")[0]
        raise RefreshError(f"cell {index + 1} ({first}) {problem}")


def execute(
    notebook: NotebookNode, folder: Path, timeout: int = TIMEOUT, claims: Sequence[Block] = ()
) -> float:
    """Run all cells in a fresh kernel of this Python, in a folder, and keep their outputs.

    Returns:
        The seconds that the cells took.

    Raises:
        RefreshError: a cell or a callback raised, a claim does not hold, a cell took too long, or
            the kernel died.
    """
    for _, cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        cell.metadata.pop("execution", None)
    client = Client(
        notebook, folder, round(time_for(timeout)), claims, kernel_name=NATIVE_KERNEL_NAME
    )
    client.run(environment())
    return client.seconds


def environment() -> dict[str, str]:
    """The variables with which a notebook runs whose outputs are stored.

    Driven widgets are for tests; what is stored is what a student sees at first, and nothing of the
    author's own work is read.
    """
    kept = {k: v for k, v in os.environ.items() if k != "COURSE_DRIVE_WIDGETS"}
    return {**kept, "COURSE_STORE_FIRST_STATE": "1", own_work.TESTS: "1"}


def tidy(notebook: NotebookNode) -> None:
    """Make of an executed notebook what is stored."""
    strip_widgets(notebook)
    merge_streams(notebook)
    fold(notebook)
    if is_lecture(notebook):
        write_slide_types(notebook)
    normalise_metadata(notebook)


def strip_widgets(notebook: NotebookNode) -> None:
    """Remove stored widgets, keeping what their outputs hold for readers without a kernel.

    Beside the view of a widget, plain text is its Python name and goes with it, unless HTML,
    Markdown or a picture shows that the output was made to be read. What a widget shows at first
    (``FIRST_STATE``) becomes outputs of its own, behind it. A cell that lost an output whole, with
    nothing in its place, is tagged.
    """
    notebook.metadata.pop("widgets", None)
    for _, cell in code_cells(notebook):
        kept, tags = [], cell.metadata.get("tags", [])
        lost = False
        for output in cell.outputs:
            first = output.get("data", {}).pop(FIRST_STATE, [])
            if WIDGET_VIEW in output.get("data", {}):
                del output.data[WIDGET_VIEW]
                output.get("metadata", {}).pop(WIDGET_VIEW, None)
                if set(output.data) - {"text/plain"}:
                    kept.append(output)
                else:
                    lost = lost or not first
                kept += [nbformat.v4.new_output("display_data", data=data) for data in first]
            else:
                kept.append(output)
        cell.outputs = kept
        tags = [tag for tag in tags if tag != WIDGET_TAG] + [WIDGET_TAG] * lost
        if tags:
            cell.metadata["tags"] = tags
        else:
            cell.metadata.pop("tags", None)


def merge_streams(notebook: NotebookNode) -> None:
    """Join pieces of printed text that follow each other: where they part is chance."""
    for _, cell in code_cells(notebook):
        kept: list[NotebookNode] = []
        for output in cell.outputs:
            stream = output.get("name") if output.output_type == "stream" else None
            if stream and kept and kept[-1].get("name") == stream:
                kept[-1].text += output.text
            else:
                kept.append(output)
        cell.outputs = kept


def normalise_metadata(notebook: NotebookNode) -> None:
    """Leave nothing in the metadata that differs between machines."""
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    }


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.refresh",
        description="Execute notebooks from top to bottom and store their outputs.",
    )
    parser.add_argument("notebooks", nargs="*", help="such as 02; without it, all of them")
    parser.add_argument(
        "--timeout", type=int, default=TIMEOUT, help="seconds for one cell, at speed 1"
    )
    options = parser.parse_args(arguments)
    root = find_root()
    folder = root / "notebooks"
    try:
        paths = [folder / find_notebook(root, name) for name in options.notebooks]
    except ValueError as error:
        parser.error(str(error))
    failed = 0
    for path in paths or [folder / path for path in released_notebooks(root)]:
        began = time.monotonic()
        try:
            changed = refresh(path, options.timeout, read_claims(claims_file(root, path)))
        except RefreshError as error:
            print(f"{path.name} was left as it was: {error}", file=sys.stderr)
            failed += 1
            continue
        seconds = time.monotonic() - began
        said = f"{path.name}: {'outputs stored' if changed else 'unchanged'} ({seconds:.0f} s)"
        if path.parent.name != "labs":
            said += f"; {whole(nbformat.read(path, as_version=4)):.0f} minutes to work through"
        print(said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
