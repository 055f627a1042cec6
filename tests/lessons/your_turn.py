"""The tasks inside a lesson: what the student is handed, the solution below, and other answers.

A cell with the tag ``your-turn`` defines a function with three dots in it and ends in ``name =
check.task(name)``; the cell below folds a solution away. Answers run here without a kernel, each in
a namespace of its own, which holds what the notebook imports, the functions of cells with the tag
``given`` and, of the tasks before, the course's own versions. Wrong answers are patches of the
printed solution, as for the labs; where a task is written as ``turn``, its slips are wrong answers,
too, which need not be written again.

    python -m tests.lessons.your_turn 02      print what the checks say of all answers to its tasks
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import matplotlib as mpl
import nbformat
from nbformat import NotebookNode

from helpers.course.checks import trial
from helpers.course.checks.lab import Task, Verdict
from helpers.course.checks.turn import Slips
from helpers.course.environment import find_root
from helpers.course.workspace import find_notebook, lesson_name, released_notebooks
from staff.notebooks.lesson_rules import YOUR_TURN_TAG, solution_below
from tests.labs.mutation import (
    ENDLESS,
    SEEDS,
    TIME_LIMIT,
    Mutant,
    Rewrite,
    empty_namespace,
    patch,
    run_cell,
    same,
    table,
    time_limit,
    too_few,
)

GIVEN_TAG = "given"  # of a cell with functions that answers may call
LEAST = (3, 1)  # wrong and other right answers to a task
# What every task says where it knows nothing better.
GENERIC = (trial.ERROR, trial.NAME, trial.FORM)


@dataclass(frozen=True)
class Turn:
    """A task inside a lesson.

    Attributes:
        task: its name, that of its check.
        number: of the student's cell, counted from 1.
        blank: what the student is handed, up to the check.
        solution: the code of the printed solution.
        given: the expression that is handed to the check.
        kept: the name (or names) for what the check hands back.
    """

    task: str
    number: int
    blank: str
    solution: str
    given: str
    kept: str


@dataclass(frozen=True)
class Slip:
    """A slip of a task, as a wrong answer.

    Attributes:
        task: its name.
        name: what the slip patches.
        says: its hint, all of it.
        check: the task.
        version: the wrong answer.
    """

    task: str
    name: str
    says: str
    check: Task
    version: Callable[..., Any]


def lessons(root: Path) -> dict[str, Path]:
    """The notebooks in which the student writes, by name: "notebook02", "further_02_smoothing"."""
    paths = [root / "notebooks" / path for path in released_notebooks(root)]
    return {lesson_name(p): p for p in paths if p.parent.name != "labs" and turns(p)}


def answers(lesson: str) -> ModuleType | SimpleNamespace:
    """Wrong answers (``MUTANTS``) and right ones (``REWRITES``) to a notebook; maybe none yet."""
    name = f"tests.lessons.{lesson}_mutants"
    if importlib.util.find_spec(name) is None:
        return SimpleNamespace(MUTANTS=[], REWRITES=[])
    return importlib.import_module(name)


@cache
def slips(lesson: str) -> list[Slip]:
    """The slips of all tasks of a notebook that are written as ``turn``."""
    name = f"helpers.course.checks.{lesson}"
    if importlib.util.find_spec(name) is None:
        return []
    tasks = importlib.import_module(name).turns.tasks.values()
    return [
        Slip(task.name, line, hint, task, version)
        for task in tasks
        if isinstance(task.slips, Slips)
        for (line, hint), (version, _) in zip(task.slips.lines, task.slips)
    ]


@cache
def turns(path: Path) -> dict[str, Turn]:
    """The tasks of a notebook by name, in order.

    Raises:
        ValueError: a cell of the student's does not hand its answer to a check.
    """
    notebook = _read(path)
    found: dict[str, Turn] = {}
    for number, cell in enumerate(notebook.cells, start=1):
        if YOUR_TURN_TAG not in cell.metadata.get("tags", []):
            continue
        body = ast.parse(cell.source).body
        checks = [(place, *_checked(step)) for place, step in enumerate(body) if _checked(step)]
        if not checks:
            raise ValueError(f"Cell {number} of {path.name} has no line 'name = check.task(name)'.")
        lines = cell.source.split("\n")
        blank = "\n".join(lines[: body[checks[0][0]].lineno - 1]).rstrip()
        for _, task, given, kept in checks:
            solution = solution_below(notebook, number)
            found[task] = Turn(task, number, blank, solution, given, kept)
    return found


def judge(path: Path, task: str, source: str, seconds: float = trial.TIME_LIMIT) -> list[Verdict]:
    """What the check says of an answer, once for each seed.

    Args:
        source: what stands in place of the blank.
        seconds: how long a call may take.
    """
    check, answer = handed_over(path, task, source)
    found: list[Verdict] = []
    with time_limit(seconds):
        for seed in SEEDS:
            found.append(check.judge(answer, seed))
            if found[0].complaint and found[0].complaint.rule.startswith(ENDLESS):
                break
    return found


def judge_slip(slip: Slip) -> Verdict:
    """What the check says of a slip; of several inputs, one where it is not its own hint counts."""
    verdicts = [slip.check.judge(slip.version, seed) for seed in SEEDS]
    others = [v for v in verdicts if v.complaint is None or v.complaint.hint != slip.says]
    return (others or verdicts)[0]


def judge_mutant(path: Path, mutant: Mutant) -> Verdict:
    """What the check says of a wrong answer; of several inputs, the one that misses it counts.

    Raises:
        ValueError: the patch does not fit the printed solution, or changes nothing.
    """
    source = patch(_turn(path, mutant.task).solution, mutant)
    verdicts = judge(path, mutant.task, source, TIME_LIMIT)
    return ([verdict for verdict in verdicts if verdict.complaint is None] or verdicts)[0]


def judge_rewrite(path: Path, rewrite: Rewrite) -> Verdict:
    """What the check says of a right answer: a verdict that complains, if there is one.

    Raises:
        ValueError: it is the printed solution.
    """
    if same(rewrite.source, _turn(path, rewrite.task).solution):
        raise ValueError(f"{rewrite.task}, {rewrite.name}: this is the printed solution.")
    verdicts = judge(path, rewrite.task, rewrite.source)
    return ([verdict for verdict in verdicts if not verdict.right] or verdicts)[0]


def handed_over(path: Path, task: str, source: str) -> tuple[Task, Any]:
    """The task, and the answer that its cell hands over once ``source`` stands in it."""
    turn = _turn(path, task)
    namespace = _namespace(path, turn)
    run_cell(source, namespace, path, turn.number)
    return getattr(namespace["check"], task), eval(turn.given, namespace)


def lacking(path: Path, module: ModuleType | SimpleNamespace) -> list[str]:
    """Tasks with too few wrong or right answers, and answers to no task or of the same name."""
    wrong = [*slips(lesson_name(path)), *module.MUTANTS]
    return too_few(turns(path), wrong, module.REWRITES, LEAST)


def _judge_wrong(path: Path, answer: Slip | Mutant) -> Verdict:
    return judge_slip(answer) if isinstance(answer, Slip) else judge_mutant(path, answer)


def _turn(path: Path, task: str) -> Turn:
    found = turns(path)
    if task not in found:
        raise ValueError(f"'{task}' is no task of {path.name}; there are: {', '.join(found)}.")
    return found[task]


def _namespace(path: Path, turn: Turn) -> dict[str, Any]:
    """What the notebook imports and gives, and the course's own versions of the tasks before."""
    code = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    namespace = empty_namespace()
    with mpl.rc_context():  # the cell of imports sets the style of plots
        run_cell(code[1].source, namespace, path, 2)
    for number, cell in enumerate(code, start=1):
        if GIVEN_TAG in cell.metadata.get("tags", []):
            run_cell(cell.source, namespace, path, number)
    for other in turns(path).values():
        if other.number < turn.number:
            namespace["_fallback"] = getattr(namespace["check"], other.task).fallback
            run_cell(f"{other.kept} = _fallback", namespace, path, other.number)
    return namespace


def _checked(step: ast.stmt) -> tuple[str, str, str] | None:
    """Of ``kept = check.task(given)``: the task, given, and kept."""
    if not isinstance(step, ast.Assign) or not isinstance(step.value, ast.Call):
        return None
    called = step.value.func
    if not isinstance(called, ast.Attribute) or getattr(called.value, "id", "") != "check":
        return None
    return called.attr, ast.unparse(step.value.args[0]), ast.unparse(step.targets[0])


@cache
def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lessons.your_turn")
    parser.add_argument("notebook", help="such as 02")
    root = find_root()
    path = root / "notebooks" / find_notebook(root, parser.parse_args(arguments).notebook)
    module = answers(lesson_name(path))
    wrong = [*slips(lesson_name(path)), *module.MUTANTS]
    faults = table(path, wrong, module.REWRITES, _judge_wrong, judge_rewrite)
    faults = [*lacking(path, module), *faults]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
