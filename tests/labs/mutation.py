r"""Known wrong answers for the checks of a lab, and right ones that are written differently.

A wrong answer is a patch of the reference's source, so that it differs in one place. The cells of a
source notebook run here without a kernel, in one namespace. What stands before a task runs once;
each answer to the task then gets a copy of that namespace. (A copy holds the same functions, and
these look names up in the original.)

    python -m tests.labs.mutation lab01      print what the checks say of all answers to this lab

The answers to a lab, or to a lesson, are written as text, wrong ones below the name of their task:

    == double
    a square | x + x => x * x | add it to itself
    the sign lost | return x + x => return abs(x) + abs(x) \
        | a negative number
    always positive | a negative number
    -    return x + x
    +    x = abs(x)
    +    return x + x

That is what is wrong; a part of the solution that occurs there once, and what stands instead; and
a part of what the student reads. A line that ends in a backslash goes on in the next one. A patch
of several lines stands below as in a diff: lines with - leave the solution, lines with + take their
place, and lines with a blank are in both. A right answer is a whole solution below its name:

    == double | by a product
    def double(x):
        return 2 * x
"""

from __future__ import annotations

import argparse
import ast
import dis
import importlib
import io
import linecache
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any
from unittest import mock

from helpers.course.checks import trial
from helpers.course.checks.lab import NotSolved, Task, Verdict
from helpers.course.checks.trial import Complaint
from helpers.course.environment import find_root
from staff.authoring.cells import (
    HIDDEN,
    SOLUTION,
    kind,
    read_notebook,
    scored_task,
    without_markers,
    without_regions,
)
from staff.authoring.labs import lab_sources
from staff.notebooks.address import FIRST_LINE

SEEDS = (0, 1, 2)  # 0 is what the student's notebook uses
HIDDEN_SEED = 20_000_003  # of the hidden inputs, as a class may have it
ENDLESS = "it comes to an end"  # the rule of a call that took too long; no need to try it again
TIME_LIMIT = 12.0  # seconds for a call of a wrong answer


@dataclass(frozen=True)
class Mutant:
    """A wrong answer.

    Attributes:
        task: that it answers.
        name: what is wrong.
        old: a part of the reference's solution cell that occurs there once.
        new: what stands there instead.
        says: a part of what the student reads: of the rule, the value got or expected, or the hint.
    """

    task: str
    name: str
    old: str
    new: str
    says: str


@dataclass(frozen=True)
class Rewrite:
    """A right answer that is written differently from the reference.

    Attributes:
        task: that it answers.
        name: what is different.
        source: of the whole solution cell.
    """

    task: str
    name: str
    source: str


@dataclass(frozen=True)
class Cell:
    """A code cell without markers and hidden tests; ``task`` for solutions and test cells."""

    kind: str
    task: str
    source: str
    number: int


_MUTANT = re.compile(r"([^ +\-\n].*)\n((?:(?:[ +\-].*)?\n)*)")  # a line, and those of a diff


def mutants(text: str) -> list[Mutant]:
    """The wrong answers in a text; see above.

    Raises:
        ValueError: a line is of no such form.
    """
    found = []
    for task, part in _sections(text):
        part, place = re.sub(r" *\\\n *", " ", part).strip("\n") + "\n", 0
        while place < len(part):
            if (match := _MUTANT.match(part, place)) is None:
                raise ValueError(f"{task}: '{part[place:].splitlines()[0]}' stands below no name.")
            place = match.end()
            found.append(_mutant(task, *match.groups()))
    return found


def _mutant(task: str, line: str, lines: str) -> Mutant:
    name, _, rest = line.partition(" | ")
    if not (lines := lines.strip("\n")):
        change, _, says = rest.rpartition(" | ")
        old, arrow, new = (side.strip() for side in change.partition("=>"))
        if not (old and arrow and says):
            raise ValueError(f"{task}: '{line}' is not of the form 'name | old => new | words'.")
        return Mutant(task, name, old, new, says)
    if not rest or " | " in rest:
        raise ValueError(f"{task}: '{line}' is not of the form 'name | words'.")
    sides = (
        "\n".join(line[1:] for line in lines.split("\n") if line[:1] != other) for other in "+-"
    )
    return Mutant(task, name, *sides, rest)


def rewrites(text: str) -> list[Rewrite]:
    """The right answers in a text, each below a line ``== task | what is different``."""
    heads = ((head.split(" | "), source) for head, source in _sections(text))
    return [Rewrite(task, name, source.strip("\n")) for (task, name), source in heads]


def _sections(text: str) -> list[tuple[str, str]]:
    """What stands behind each ``==`` and below it."""
    _, *parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


def solutions(path: Path) -> dict[str, str]:
    """The reference's solution of each task; that of several cells is joined."""
    found: dict[str, str] = {}
    for cell in _cells(path):
        if cell.kind == "solution" and cell.task:
            before = f"{found[cell.task]}\n\n\n" if cell.task in found else ""
            found[cell.task] = before + cell.source
    return found


def run_cells(
    path: Path, replaced: dict[str, str] | None = None, until: str | None = None
) -> dict[str, Any]:
    """Run a source notebook's code cells in order, without the set-up cell and hidden tests.

    Args:
        replaced: by task, what to run in place of the reference's solution.
        until: the task before whose test cell to stop; None runs all.

    Returns:
        The namespace.
    """
    replaced, done = replaced or {}, set()
    namespace = empty_namespace()
    for cell in _cells(path):
        if cell.kind == "test" and cell.task == until:
            break
        if cell.kind != "solution" or cell.task not in replaced:
            run_cell(cell.source, namespace, path, cell.number)
        elif cell.task not in done:
            done.add(cell.task)
            run_cell(replaced[cell.task], namespace, path, cell.number)
    return namespace


def judge_mutant(path: Path, mutant: Mutant) -> Verdict:
    """What the checks say of a wrong answer.

    Returns:
        The verdict that the student reads, if it and all others complain; else one that does not.

    Raises:
        ValueError: the patch does not fit the reference, or changes nothing.
    """
    verdicts = _verdicts(path, mutant.task, patched(path, mutant), TIME_LIMIT)
    missed = [verdict for verdict in verdicts if verdict.complaint is None]
    return (missed or verdicts)[0]


def judge_rewrite(path: Path, rewrite: Rewrite) -> Verdict:
    """What the checks say of a right answer: a verdict that complains, if there is one.

    Raises:
        ValueError: it is the reference.
    """
    if same(rewrite.source, _reference(path, rewrite.task)):
        raise ValueError(f"{rewrite.task}, {rewrite.name}: this is the reference.")
    verdicts = _verdicts(path, rewrite.task, rewrite.source, trial.TIME_LIMIT)
    return ([verdict for verdict in verdicts if not verdict.right] or verdicts)[0]


def caught(mutant: Mutant, verdict: Verdict) -> bool:
    """Whether a wrong answer met a complaint with the right words."""
    wrong = verdict.complaint
    if wrong is None or not mutant.says:
        return False
    return any(
        mutant.says in words for words in (wrong.rule, wrong.got, wrong.expected, wrong.hint)
    )


def table(
    path: Path,
    mutants: Collection[Mutant],
    rewrites: Collection[Rewrite],
    wrong_answers: Callable[[Path, Mutant], Verdict] = judge_mutant,
    right_answers: Callable[[Path, Rewrite], Verdict] = judge_rewrite,
) -> list[str]:
    """Print a line for each answer; return those that the checks judge wrongly.

    Args:
        wrong_answers, right_answers: what judges them.
    """
    faults = []

    def line(answer: Mutant | Rewrite, well: bool, result: str, verdict: Verdict) -> None:
        wrong = verdict.complaint
        words = f"{wrong.rule}. {wrong.hint}" if wrong else "no complaint"
        words = words if verdict.attempted else "not attempted"
        text = f"{answer.task:24} {answer.name:40} {result:11} {words if wrong else ''}".rstrip()
        print(text)
        if not well:
            faults.append(f"{answer.task}, {answer.name}: {result}: {words}")

    for mutant in mutants:
        verdict = wrong_answers(path, mutant)
        well = caught(mutant, verdict)
        other = "OTHER WORDS" if verdict.complaint else "MISSED"
        line(mutant, well, "caught" if well else other, verdict)
    for rewrite in rewrites:
        verdict = right_answers(path, rewrite)
        line(rewrite, verdict.right, "passes" if verdict.right else "REJECTED", verdict)
    print(
        f"{len(mutants)} wrong answers, {len(rewrites)} right ones; judged wrongly: {len(faults)}"
    )
    return faults


def lacking(
    path: Path,
    mutants: Collection[Mutant],
    rewrites: Collection[Rewrite],
    least: tuple[int, int] = (5, 2),
) -> list[str]:
    """Tasks with too few wrong or right answers, and answers to no task or of the same name."""
    return too_few(solutions(path), mutants, rewrites, least)


def slips(lab: str) -> list[Mutant]:
    """Those of a lab's tasks that are patches of the solution: wrong answers, too."""
    tasks = importlib.import_module(f"helpers.course.checks.{lab}").lab.tasks.values()
    return [
        Mutant(task.name, line, line, "", hint)
        for task in tasks
        for line, hint in getattr(task.slips, "lines", ())
    ]


def too_few(
    tasks: Collection[str],
    mutants: Collection[Mutant],
    rewrites: Collection[Rewrite],
    least: tuple[int, int],
) -> list[str]:
    """As ``lacking``, for tasks that are named."""
    found = []
    for answers, number, words in ((mutants, least[0], "wrong"), (rewrites, least[1], "right")):
        counts = Counter(answer.task for answer in answers)
        found += [
            f"{task} has {counts[task]} {words} answers, not {number}"
            for task in tasks
            if counts[task] < number
        ]
        found += [f"'{task}' is no task" for task in counts if task not in tasks]
        names = Counter((answer.task, answer.name) for answer in answers)
        found += [f"{' and '.join(name)} occurs {n} times" for name, n in names.items() if n > 1]
    return found


def patched(path: Path, mutant: Mutant) -> str:
    """The solution cell of a wrong answer.

    Raises:
        ValueError: the part to replace does not occur once, or the result is no Python or the same.
    """
    return patch(_reference(path, mutant.task), mutant)


def patch(reference: str, mutant: Mutant) -> str:
    """The source of a wrong answer to a task with this reference; raises as ``patched`` does."""
    name = f"{mutant.task}, {mutant.name}"
    if (times := reference.count(mutant.old)) != 1:
        raise ValueError(f"{name}: '{mutant.old}' occurs {times} times in the reference, not once.")
    source = reference.replace(mutant.old, mutant.new)
    try:
        unchanged = same(source, reference)
    except SyntaxError as error:
        raise ValueError(f"{name}: the patched solution is not valid Python: {error}.") from error
    if unchanged:
        raise ValueError(f"{name}: the patch changes nothing.")
    return source


def _verdicts(path: Path, task: str, source: str, seconds: float) -> list[Verdict]:
    """What a solution meets: the check with several inputs, then the marking."""
    before, test = _Before.of(path).namespace(task)
    namespace = dict(before)
    run_cell(source, namespace, path, test.number)
    check, answer = _handed_over(test, namespace, path)
    found: list[Verdict] = []
    with quiet(), time_limit(seconds):
        for seed in SEEDS:
            found.append(check.judge(answer, seed))
            if found[0].complaint and found[0].complaint.rule.startswith(ENDLESS):
                return found
        check.answer = answer
        try:
            check.lab.score(check.name, seed=HIDDEN_SEED)
            found.append(Verdict(("it is right on hidden inputs",)))
        except NotSolved as error:
            found.append(Verdict((), Complaint("it is right on hidden inputs", str(error))))
    return found


class _Before:
    """Runs what a notebook's tasks need, with the reference's solutions; keeps what stands before.

    What only shows something, such as a model that is trained for a minute, does not run.
    """

    kept: dict[tuple[Path, int], _Before] = {}  # noqa: RUF012

    def __init__(self, path: Path) -> None:
        self.path, self.cells, self.place = path, _needed(_cells(path)), 0
        self.tests = {cell.task: cell for cell in self.cells if cell.kind == "test"}
        self.running = empty_namespace()
        self.before: dict[str, dict[str, Any]] = {}

    @classmethod
    def of(cls, path: Path) -> _Before:
        """That of a file as it is now; made once."""
        key = (path.resolve(), path.stat().st_mtime_ns)
        if key not in cls.kept:
            cls.kept[key] = cls(path)
        return cls.kept[key]

    def namespace(self, task: str) -> tuple[dict[str, Any], Cell]:
        """What stands before the first solution cell of a task, and its test cell."""
        while task not in self.before:
            cell = self.cells[self.place]
            if cell.kind == "solution":
                self.before.setdefault(cell.task, dict(self.running))
            run_cell(cell.source, self.running, self.path, cell.number)
            self.place += 1
        return self.before[task], self.tests[task]


def _cells(path: Path) -> list[Cell]:
    """The code cells, without the set-up cell; a solution's task is that of the next test cell."""
    found: list[Cell] = []
    task = ""
    numbered = list(enumerate(read_notebook(path).cells, start=1))
    for number, cell in reversed(numbered):
        if cell.cell_type != "code" or cell.source.startswith(FIRST_LINE):
            continue
        name = kind(cell)
        if name == "test":
            task = scored_task(cell)
        source = without_markers(without_regions(cell.source, HIDDEN), SOLUTION)
        # A solution whose next cell of any code is no test cell (the stretch task) has none.
        follows = found[-1] if found else None
        graded = follows is not None and follows.kind in ("solution", "test") and follows.task
        mine = task if name == "test" else follows.task if name == "solution" and graded else ""
        found.append(Cell(name, mine, source, number))
    return found[::-1]


def _needed(cells: list[Cell]) -> list[Cell]:
    """The cells of the tasks, and those that make a name which one of these looks up."""
    kept: list[Cell] = []
    wanted: set[str] = set()
    for cell in reversed(cells):
        steps = list(_steps(compile(cell.source, "<cell>", "exec", dont_inherit=True)))
        made = {step.argval for step in steps if step.opname == "STORE_NAME"}
        if cell.task or made & wanted:
            kept.append(cell)
            looked_up = ("LOAD_NAME", "LOAD_GLOBAL")
            wanted |= {step.argval for step in steps if step.opname in looked_up}
    return kept[::-1]


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    """The instructions of code and of all functions and classes in it."""
    for step in dis.get_instructions(code):
        yield step
        if isinstance(step.argval, CodeType):
            yield from _steps(step.argval)


def _handed_over(test: Cell, namespace: dict[str, Any], path: Path) -> tuple[Task, Any]:
    """The task and the answer in ``name = check.task(answer)``; what stands before it is run."""
    tree = ast.parse(test.source)
    for i, statement in enumerate(tree.body):
        for node in ast.walk(statement):
            called = getattr(node, "func", None)
            if isinstance(called, ast.Attribute) and called.attr == test.task:
                first = ast.unparse(ast.Module(tree.body[:i], []))
                run_cell(first, namespace, path, test.number)
                check = eval(ast.unparse(called), namespace)
                return check, eval(ast.unparse(node.args[0]), namespace)
    raise ValueError(f"cell {test.number} of {path.name} does not call check.{test.task}.")


def run_cell(source: str, namespace: dict[str, Any], path: Path, number: int) -> None:
    """Run the source of a notebook's cell of that number; what it prints is not seen.

    Raises:
        ValueError: it is not plain Python.
    """
    name = f"<{path.stem}, cell {number}, {hash(source) % 10**8}>"
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise ValueError(f"Cell {number} of {path.name} is not plain Python: {error}.") from error
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with quiet():
        exec(code, namespace)


def _reference(path: Path, task: str) -> str:
    found = solutions(path)
    if task not in found:
        raise ValueError(f"'{task}' is no task of {path.name}; there are: {', '.join(found)}.")
    return found[task]


def same(source: str, other: str) -> bool:
    """Whether two sources are the same program."""
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def empty_namespace() -> dict[str, Any]:
    """What a notebook has before its first cell."""
    return {"__name__": "__main__", "__builtins__": __builtins__}


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that is printed in it is seen."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Calls that a check watches take at most so long; complaints still name the usual limit."""
    usual = trial.time_limit
    with mock.patch.object(trial, "time_limit", lambda own: usual(min(own, seconds))):
        yield


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.labs.mutation")
    parser.add_argument("lab", help="such as lab01")
    lab = parser.parse_args(arguments).lab
    answers = importlib.import_module(f"tests.labs.{lab}_mutants")
    path = lab_sources(find_root())[lab]
    too_few = lacking(path, [*slips(lab), *answers.MUTANTS], answers.REWRITES)
    faults = [*too_few, *table(path, answers.MUTANTS, answers.REWRITES)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
