"""Mark a folder of submissions of the labs, by nbgrader's autograder, in a sandbox.

    python -m staff.marking.marking FOLDER
    python -m staff.marking.marking FOLDER --secret-file SECRET --workers 4

``FOLDER`` holds STUDENT.ipynb, or folders STUDENT/ with a notebook of any name; which lab it is,
its cells tell. Results are in ``FOLDER/marks``, and nothing else changes: ``points.csv``,
``feedback/STUDENT.html``, and ``state.json``, from which a second call knows what is new or changed
and has to be marked. With the secret of a class, hidden inputs are its own; choose a new one for
every sitting, since a student's code can tell what it was given (see ``report.py``).

Each submission has a process of its own (``worker.py``), and its code runs in a sandbox
(``sandbox.py``, which says what that isolates and what not). ``--no-sandbox`` leaves out the
sandbox: the code then runs as the user who marks, with limits on memory and time alone, and may
read and write whatever this user may. Do so only in a container or a virtual machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import setenv
from tqdm import tqdm

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import own_files
from staff.authoring.cells import read_notebook
from staff.authoring.class_tree import read_secret
from staff.authoring.labs import lab_sources
from staff.authoring.student_version import student_version, with_seeds
from staff.marking import sandbox
from staff.marking.limits import Limits
from staff.marking.pool import Workers, environment_path
from staff.marking.sandbox import NoSandbox
from staff.marking.state import VERSION, State
from staff.marking.submissions import MARKS, find_submissions


def make_key(source: Path, secret: str | None, folder: Path) -> Path:
    """What a worker needs of a lab: nbgrader's gradebook with the hidden tests, and the release.

    Args:
        source: the authored notebook.
        secret: of the class, if it has one.
        folder: where to put it.

    Returns:
        A folder that has the name of the notebook.
    """
    lab = source.parent.name
    notebook = with_seeds(read_notebook(source), lab, secret)
    key = folder / lab / source.stem
    (key / "source" / lab).mkdir(parents=True)
    nbformat.write(notebook, key / "source" / lab / source.name)
    # A new gradebook takes three seconds of a program of its own: one is made, and copied.
    empty = folder / "empty.db"
    if not empty.exists():
        with setenv(PATH=environment_path()):
            Gradebook(f"sqlite:///{empty}").close()
    shutil.copy(empty, key / "gradebook.db")
    course = CourseDirectory(
        root=str(key), assignment_id=lab, student_id=".", db_url=f"sqlite:///{key / 'gradebook.db'}"
    )
    converter = GenerateAssignment(coursedir=course)
    converter.log = logging.getLogger("course.labs.nbgrader")
    converter.log.propagate = False
    converter.log.addHandler(logging.NullHandler())
    with setenv(PATH=environment_path()):
        converter.start()
    nbformat.write(student_version(notebook), key / "release.ipynb")
    shutil.rmtree(key / "source")  # the worker's process needs no solutions
    return key


@dataclass(frozen=True)
class Marking:
    """One call: what is marked, and how.

    Attributes:
        folder: of the submissions.
        secret: of the class; None for the public numbers.
        workers: how many submissions are marked at a time.
        limits: of each, on a machine of speed 1.
        sandboxed: whether the code is confined.
        again: mark those that have not changed as well.
        sources: the labs' sources by lab; None for the course's.
    """

    folder: Path
    secret: str | None = None
    workers: int = 2
    limits: Limits = field(default_factory=Limits)
    sandboxed: bool = True
    again: bool = False
    sources: Mapping[str, Path] | None = None

    def run(self) -> list[dict[str, Any]]:
        """Mark what is new or changed, write the results, and return all rows.

        Raises:
            ValueError: there is nothing to mark, or there are no labs.
            NoSandbox: the code cannot be confined here.
            KeyboardInterrupt: someone stopped it; what was done by then is written.
        """
        root = find_root()
        sources = self.sources or lab_sources(root)
        if not sources:
            raise ValueError(
                "Marking needs the sources of the labs, which a class's copy does not have."
            )
        submissions = find_submissions(self.folder)
        if self.sandboxed:
            sandbox.try_out(root, self.limits)
        marks = self.folder / MARKS
        (marks / "feedback").mkdir(parents=True, exist_ok=True)
        state = State(marks, submissions, self._fingerprint(root, sources))
        todo = [s for s in submissions if self.again or not state.is_done(s, self.folder)]
        state.write()
        state.tidy()
        if not todo:
            return state.rows()
        print(f"{len(todo)} of {len(submissions)} notebooks are to be marked; preparing ...")
        # Short, since the path of a socket may have a hundred characters.
        short = "/tmp" if len(tempfile.gettempdir()) > 40 and os.path.isdir("/tmp") else None
        temporary = Path(tempfile.mkdtemp(prefix="marking-", dir=short)).resolve()
        try:
            # Its own user alone may look inside, and with it go the hidden tests.
            keys = {
                lab: make_key(path, self.secret, temporary / "k") for lab, path in sources.items()
            }
            job = {
                "keys": {lab: str(key) for lab, key in keys.items()},
                "root": str(root),
                "limits": asdict(self.limits.here()),
                "sandbox": self.sandboxed,
            }
            with (
                Workers(self.folder, temporary, self.workers, job) as workers,
                tqdm(total=len(todo), unit="notebook", desc="Marking") as progress,
            ):

                def tell(slow: str) -> None:
                    progress.set_postfix_str(slow and f"waiting for {slow}")

                for submission, result, page in workers.mark(todo, tell):
                    state.add(submission, result, page)
                    progress.set_postfix_str(f"{submission.student[:20]}: {result['status']}")
                    progress.update()
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return state.rows()

    def _fingerprint(self, root: Path, sources: Mapping[str, Path]) -> str:
        """Of all that decides about points, beside the submission."""
        checks = own_files(root / "helpers/course/checks", "*.py")
        parts = [path.read_bytes() for path in [*sources.values(), *checks]]
        parts.append(json.dumps([VERSION, asdict(self.limits), self.sandboxed]).encode())
        digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
        if self.secret is None:
            return digest.hexdigest()
        # Slow on purpose: the secret should not be guessed from state.json.
        return hashlib.pbkdf2_hmac("sha256", self.secret.encode(), digest.digest(), 300_000).hex()


def stop_as_by_ctrl_c() -> None:
    """Let a closed terminal and ``kill`` end what has been started, and take away hidden tests."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores it
            signal.signal(number, stop)


def main(arguments: Sequence[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.marking.marking",
        description="Mark a folder of submissions by nbgrader's autograder, in a sandbox.",
    )
    parser.add_argument("folder", type=Path, help="with STUDENT.ipynb or STUDENT/anything.ipynb")
    parser.add_argument("--secret-file", type=Path, help="holds the secret of the class")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (2)")
    time_help = "seconds for a notebook on a machine of speed 1; a slower one gets more (300)"
    parser.add_argument("--time-limit", type=int, default=300, help=time_help)
    parser.add_argument("--memory", type=float, default=3, help="GiB for a notebook (3)")
    parser.add_argument("--no-sandbox", action="store_true", help="only within a container")
    parser.add_argument("--again", action="store_true", help="mark all, not only what is new")
    options = parser.parse_args(arguments)
    if options.workers < 1 or options.time_limit < 1 or options.memory <= 0:
        parser.error("workers, time limit and memory must be above 0")
    limits = Limits(memory=options.memory, seconds=options.time_limit)
    folder = options.folder.expanduser().absolute()
    if options.no_sandbox:
        print(
            "No sandbox: submitted code runs as you, with limits on time and memory alone. It can "
            "read and write what you can, hidden tests and network included.",
            file=sys.stderr,
        )
    try:
        secret = read_secret(options.secret_file.expanduser()) if options.secret_file else None
        sandboxed = not options.no_sandbox
        marking = Marking(folder, secret, options.workers, limits, sandboxed, options.again)
        rows = marking.run()
    except NoSandbox as error:
        print(
            f"Nothing was marked: {error}. Install it anew (Debian, Ubuntu: apt install "
            "bubblewrap) or, from the course's folder, mark in a container:",
            *sandbox.container_commands(folder),
            sep="\n  ",
            file=sys.stderr,
        )
        return 2
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted: call it again to mark the rest.", file=sys.stderr)
        return 1
    count = Counter(row["status"] for row in rows)
    told = ", ".join(f"{number} {status}" for status, number in sorted(count.items()))
    print(f"{len(rows)} submissions: {told}. See {folder / MARKS}.")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    stop_as_by_ctrl_c()
    sys.exit(main())
