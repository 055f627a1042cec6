"""What a notebook claims is asserted in its kernel, and never in front of a student.

The claims of notebook 09 stand in ``tests/claims/notebook09.py``, those of the further notebook
``02_smoothing`` in ``tests/claims/further_02_smoothing.py``: blocks of Python, each under a line
that names the cell after which it runs::

    # %% c031
    assert Q.tolist() == [[1, 0], [0, 2], [1, 2]]

    # %% c094 trained
    assert share > 0.9

A block sees the notebook's names and leaves none of its own; random numbers go on as if it had not
run. A block is *exact* (a formula, a count, an equality, a stored study) and runs always, or it is
``trained``: then it speaks of what was trained in the notebook itself, and runs only where the
trainings are whole (``make refresh``, ``make test-machines``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers.course.workspace import lesson_name

FOLDER = Path("tests/claims")
_HEAD = re.compile(r"^# %% (\S+)( trained)?[ ]*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """Claims that are checked after a cell.

    Attributes:
        file: the path of the file in which they stand.
        line: the number of their first line there.
        cell: the id of the cell after which they run.
        trained: whether they speak of what was trained in the notebook.
        source: what is run.
    """

    file: Path
    line: int
    cell: str
    trained: bool
    source: str

    def in_kernel(self) -> str:
        """The code that a kernel executes; its tracebacks name file and line of the claim."""
        padded = "\n" * (self.line - 1) + self.source
        return (
            "with __import__('torch').random.fork_rng(devices=[]):\n"
            f"    exec(compile({padded!r}, {str(self.file)!r}, 'exec'), dict(globals()))"
        )

    def failed(self, name: str, value: str, traceback: list[str]) -> str:
        """What to say of a block that raised: the file, the line, and what stands there."""
        words = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
        source = self.source.split("\n")
        last = self.line + len(source) - 1
        # The module of a notebook's checks has the same name as the file of its claims.
        here = rf"{self.file.parent.name}[/\\]{re.escape(self.file.name)}:(\d+)"
        lines = [int(number) for number in re.findall(here, words)]
        line = next((n for n in reversed(lines) if self.line <= n <= last), self.line)
        shown = source[line - self.line].strip()
        return f"{FOLDER / self.file.name}:{line}: {shown} ({name}{': ' if value else ''}{value})"


def claims_file(root: Path, notebook: Path) -> Path:
    """Where the claims of a notebook stand; the file need not exist."""
    return root / FOLDER / f"{lesson_name(notebook)}.py"


def read_claims(file: Path) -> list[Block]:
    """The blocks of a file of claims, in order; none where there is no file.

    Raises:
        ValueError: it asserts above its first block, or a block has no assert that surely runs.
    """
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    if "assert " in text[: heads[0].start() if heads else len(text)]:
        raise ValueError(f"{file.name} asserts above its first '# %% cell'.")
    blocks = []
    for head, end in zip(heads, ends, strict=True):
        source = text[head.end() + 1 : end].rstrip() + "\n"
        if not any(isinstance(step, ast.Assert) for step in _surely_run(ast.parse(source).body)):
            raise ValueError(f"{file.name}: the block of {head[1]} has no assert that surely runs.")
        line = text.count("\n", 0, head.end() + 1) + 1
        blocks.append(Block(file, line, head[1], bool(head[2]), source))
    return blocks


def _surely_run(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run whenever the block does; loops are taken to run at least once."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.With):
            yield from _surely_run(statement.body)
