"""nbgrader's autograder, with a kernel that runs in the sandbox and is not trusted.

nbgrader, its gradebook and the hidden tests stay in this process. The kernel gets the cells one by
one, through sockets in a folder that both see, and what it sends is counted and looked at as text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import psutil
import zmq
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, is_solution
from traitlets import default

from staff.marking.limits import MIB, Limits
from staff.marking.sandbox import confined, inside, user_of
from staff.marking.submissions import grade_id
from staff.marking.watchdog import Watchdog

STUDENT = "student"  # for nbgrader, whose own names for students are patterns and paths
LARGEST_MESSAGE = 8 * MIB
LOG = "course.labs.nbgrader"
# What a failed cell has left undefined, as it was handed out; names that there are stay.
AS_RELEASED = "exec({!r}, globals(), _given := {{}}); globals().update({{**_given, **globals()}})"
STUBBORN = "it went on after {}, when it was told to stop"
SCORED = re.compile(r"""\bcheck\.score\(\s*["'](\w+)["']""")


class Course:
    """The folders, the kernel's command line and the watchdog of one submission, and its story.

    nbgrader and Jupyter make their objects by themselves, so these find it as a class attribute.
    """

    def __init__(self, job: dict[str, Any], folder: Path) -> None:
        self.limits = Limits(**job["limits"])
        self.sockets, self.working = folder / "s", folder / "course" / "work" / "labs"
        self.sockets.mkdir(mode=0o700)
        self.working.mkdir(parents=True)
        self.watchdog = Watchdog(self.limits, self.sockets)
        self.stopped_at = ""
        self.executed: NotebookNode | None = None
        self.blanks: dict[str, str] = {}
        self.slow: dict[int, str] = {}
        self.no_word: list[str] = []
        root = Path(job["root"])
        slot = job["slot"] if job["sandbox"] else None
        self.user = user_of(slot)
        self.give(self.sockets)
        line = inside(self.limits, kernel="{connection_file}", slot=slot)
        if job["sandbox"]:
            line = confined(line, root, self.limits, self.sockets)
        else:  # the set-up cell looks for the course above its own folder
            (folder / "course" / "helpers").symlink_to(root / "helpers")
        kernel = Path(os.environ["JUPYTER_DATA_DIR"]) / "kernels" / "lab"
        kernel.mkdir(parents=True)
        spec = {"argv": line, "display_name": "lab", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(spec | {"interrupt_mode": "message"}))

    def give(self, path: Path | str) -> None:
        """Make a file the sandboxed user's."""
        if self.user is not None:
            os.chown(path, self.user, self.user)

    def __enter__(self) -> Course:
        Run.course = Manager.course = self
        self.watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.watchdog.stop()
        with suppress(psutil.Error):  # without a sandbox, processes may have left their parents
            for process in psutil.Process().children(recursive=True):
                process.kill()


class Manager(AsyncKernelManager):
    """Starts the kernel in the sandbox, talking through sockets in a folder that both see."""

    course: Course
    transport = "ipc"

    @default("context")
    def _context_default(self) -> zmq.asyncio.Context:
        context = zmq.asyncio.Context()
        context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        context.setsockopt(zmq.RCVHWM, 64)
        context.setsockopt(zmq.LINGER, 0)
        return context

    def client(self, **kwargs: Any):
        return super().client(context=self.context, **kwargs)

    def write_connection_file(self, **kwargs: Any) -> None:
        super().write_connection_file(**kwargs)
        self.course.give(self.connection_file)

    async def _async_start_kernel(self, **kwargs: Any) -> None:
        kwargs |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        kwargs["cwd"] = str(self.course.working)
        await super()._async_start_kernel(**kwargs)
        assert isinstance(self.provisioner, LocalProvisioner)
        self.course.watchdog.process = psutil.Process(self.provisioner.pid)
        self.course.watchdog.begin()

    start_kernel = _async_start_kernel


class Run(Execute):
    """nbgrader's step that executes a notebook, for code that means harm.

    Whatever ends the kernel ends the notebook: the tests that have run by then keep their points,
    the others get an error instead of nothing, for which nbgrader would give all points.
    """

    course: Course
    interrupt_on_timeout, allow_errors, record_timing = True, True, False
    store_widget_state, shutdown_kernel, skip_cells_with_tag = False, "immediate", ""
    kernel_name, startup_timeout, iopub_timeout = "lab", 120, 5

    @default("timeout")
    def _timeout_default(self) -> int:
        return self.course.limits.cell_seconds

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, kernel_manager_class=Manager, **kwargs)
        self.sent, self.late = 0, ""

    def preprocess(self, nb: NotebookNode, resources: Any = None, km: Any = None):
        self.course.executed = nb
        return super().preprocess(nb, resources, km)

    def create_kernel_manager(self) -> Manager:
        file = self.course.sockets / "kernel.json"
        self.km = Manager(kernel_name="lab", transport="ipc", connection_file=str(file))
        return self.km

    def reset_execution_trackers(self) -> None:
        super().reset_execution_trackers()
        self.comm_open_handlers = {}  # widgets are not driven here

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int):
        course, watchdog = self.course, self.course.watchdog
        if index == 0:
            self.comm_open_handlers = {}
            watchdog.begin()
        if not course.stopped_at:
            self.late = ""
            try:
                cell, resources = super().preprocess_cell(cell, resources, index)
                course.slow |= {index + 1: self.late} if self.late else {}
                blank = course.blanks.get(grade_id(cell), "")
                if blank and not self.late and any("ename" in o for o in cell.outputs):
                    # Else tasks below, which call the function, would be lost with this one; what a
                    # cell that was stopped has cost, the table says.
                    code = v4.new_code_cell(AS_RELEASED.format(blank))
                    super().preprocess_cell(code, resources, index)
                    self.nb.cells[index] = cell  # which the line above has replaced
            except Exception as error:
                watchdog.end(self._why(error))
                course.stopped_at = f"cell {index + 1}"
            if watchdog.reason and not course.stopped_at:  # ended while its last message came
                course.stopped_at = f"cell {index + 1}"
            if course.stopped_at and cell.cell_type == "code":
                cell.outputs = [*cell.get("outputs", []), _error("Stopped", watchdog.reason)]
        elif cell.cell_type == "code":
            cell.outputs = [_error("NotRun", f"not run: {watchdog.reason}")]
        if is_grade(cell) and cell.cell_type == "code":
            self._points_need_evidence(cell)
        return cell, resources

    async def _async_handle_timeout(self, timeout: int, cell: NotebookNode | None = None):
        self.late = f"{timeout} s"
        return await super()._async_handle_timeout(timeout, cell)

    async def _async_poll_kernel_alive(self) -> None:  # runs as long as a cell does
        work = asyncio.ensure_future(self._bound_work())
        try:
            await super()._async_poll_kernel_alive()
        finally:
            work.cancel()

    async def _bound_work(self) -> None:
        watchdog, work = self.course.watchdog, self.course.limits.work or math.inf
        began = watchdog.processor_time()
        while watchdog.processor_time() - began < work:
            await asyncio.sleep(1)
        self.late = f"{work} s of processor time"
        await self.km.interrupt_kernel()
        while watchdog.processor_time() - began < 1.2 * work + 2:
            await asyncio.sleep(1)
        watchdog.end(STUBBORN.format(self.late))

    def _why(self, error: Exception) -> str:
        if isinstance(error, CellTimeoutError):
            if self.late and self.sent < MIB:
                return STUBBORN.format(self.late)
            return "its output was too large, or had no end"
        if isinstance(error, DeadKernelError):
            return "the kernel ended itself"
        return f"the kernel sent something that is no answer ({type(error).__name__})"

    def _points_need_evidence(self, cell: NotebookNode) -> None:
        # A number that a cell shows is for nbgrader the points that it gives, even before an error;
        # and anything on stderr, a warning, say, takes all points away.
        cell.outputs = [
            output
            for output in cell.outputs
            if output.output_type != "execute_result" and output.get("name") != "stderr"
        ]
        said = "".join(o.text for o in cell.outputs if o.output_type == "stream")
        failed = any(o.output_type == "error" for o in cell.outputs)
        for task in SCORED.findall(cell.source):
            if not failed and f"✓ {task}: right on hidden inputs too." not in said:
                self.course.no_word.append(task)
                cell.outputs.append(_error("NoWord", "the hidden test said nothing"))

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int):
        content = msg.get("content")
        if msg.get("msg_type", "").startswith("comm"):
            return None
        if msg.get("msg_type") not in ("status", "execute_input"):
            self.sent += len(json.dumps(content, default=str)) + 200
            self.sent += sum(len(part) for part in msg.get("buffers", ()))
        if self.sent > self.course.limits.output * MIB:
            self.course.watchdog.end(f"its output exceeds {self.course.limits.output} MB")
            return None
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # no message of this protocol
            return None


def _error(name: str, words: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=words, traceback=[words])


def autograde(
    notebook: NotebookNode, lab: str, key: Path, folder: Path, course: Course
) -> dict[str, tuple[float | None, float]]:
    """nbgrader's own three steps: sanitize, execute, score; returns points and possible points."""
    root, release = folder / "nbgrader", nbformat.read(key / "release.ipynb", 4)
    submitted = root / "submitted" / STUDENT / lab
    submitted.mkdir(parents=True)
    shutil.copy(key / "gradebook.db", root / "gradebook.db")
    nbformat.write(notebook, submitted / f"{key.name}.ipynb")
    database = f"sqlite:///{root / 'gradebook.db'}"
    directory = CourseDirectory(
        root=str(root), assignment_id=lab, student_id=STUDENT, db_url=database
    )
    course.blanks = {
        grade_id(cell): cell.source
        for cell in release.cells
        if cell.cell_type == "code" and is_solution(cell) and not is_grade(cell)
    }
    steps = [Run if step is Execute else step for step in Autograde().autograde_preprocessors]
    converter = Autograde(coursedir=directory, autograde_preprocessors=steps)
    converter.log = logging.getLogger(LOG)
    converter.start()
    with Gradebook(database) as gradebook:
        found = gradebook.find_submission_notebook(key.name, lab, STUDENT)
        points = {
            grade.name: (None if grade.needs_manual_grade else grade.auto_score, grade.max_score)
            for grade in found.grades
        }
    order = [grade_id(cell) for cell in release.cells]
    return {name: points[name] for name in order if name in points}
