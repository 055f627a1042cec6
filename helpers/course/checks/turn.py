"""A task of a lesson, written as data: its model solution, cases to try it on, and slips.

    @turn(
        turns,
        "Multiply a number by itself.",
        cases=lambda draw: [Case("by hand", 3), Case("any number", draw.integer(0, 9))],
        slips='''
        x * x => x + x
            That is twice the number: multiply it by itself.
    ''',
    )
    def square(x):
        return x * x

The function (or class) is what the notebook prints as a solution, word for word. A slip is a patch
of it, with the hint below for an answer that gives the same. Where one hint is enough for several
patches, they stand above each other; a slip of several places, ``old => new ;; old => new``, is
patched one by one. A line without ``=>`` takes the place of a function's whole body; its own name
then means the right one: ``return 2 * square(x)``. A backslash continues a long line.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import FunctionType, MappingProxyType
from typing import Any

import torch

from helpers.course.checks.lab import Lab, Task
from helpers.course.checks.trial import Trial, plainly, with_hints

_SLIP = re.compile(r"((?:\S.*\n)+)((?: .*\n)+)")  # lines at the margin, and indented ones below


class Case:
    """Arguments to try an answer on.

    Attributes:
        rule: the property that holds if the answer is right, such as "by hand".
        arguments: of the task's function.
        given: the arguments in words; where it is empty, they are described.
        hint: where this case needs another one than the task.
    """

    def __init__(self, rule: str, *arguments: Any, given: str = "", hint: str = "") -> None:
        # Copies: an answer that changes its input must not spoil the check for the next one.
        self.rule, self.arguments = rule, tuple(map(_own, arguments))
        self.given, self.hint = given, hint


def _own(value: Any) -> Any:
    """A copy of lists, dictionaries, sets and tensors, also in each other; all else as it is."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple, set):
        return type(value)(map(_own, value))
    if type(value) is dict:
        return {key: _own(item) for key, item in value.items()}
    return value


def turn(
    lab: Lab, hint: str, *, cases: Callable[[Trial], Iterable[Case]], slips: str = "",
    call: Callable[..., Any] = plainly, tolerance: float = 1e-6, none_counts: bool = False,
    errors: Mapping[str, str] = MappingProxyType({}),
    also: Callable[[Trial], None] = lambda trial: None, **options: Any,
) -> Callable[[Callable[..., Any]], Task]:  # fmt: skip
    """Make a task of the model solution below it; its name is that of the function.

    A solution may call those of the tasks before it by their names.

    Args:
        hint: what to think about where no slip is recognised.
        cases: what an answer is tried on, in this order; random inputs are drawn from the trial.
        slips: see above; of two that give the same, the first one counts.
        call: (answer, *arguments of a case) -> what is compared, where that is not just the call.
        tolerance: absolute and relative.
        none_counts: whether None is right for some arguments, so that it is judged as an answer.
        errors: hints for an answer that raises, each by a part of the error's words.
        also: states what must hold beside the cases, such as how much is computed.
        options: see ``Lab.task``.
    """

    def make(solution: Callable[..., Any]) -> Task:
        reference = _with_names(solution, {n: task.fallback for n, task in lab.tasks.items()})
        wrong = Slips(reference, slips)

        def check(trial: Trial) -> None:
            with with_hints(errors):
                for case in cases(trial):
                    trial.agrees(
                        reference, *case.arguments, rule=case.rule, hint=case.hint or hint,
                        slips=wrong, given=case.given, tolerance=tolerance, call=call,
                        none_counts=none_counts,
                    )  # fmt: skip
                also(trial)

        check.__name__ = reference.__name__
        task = lab.task(reference, **options)(check)
        task.slips = wrong
        return task

    return make


class Slips:
    """The wrong versions of a function or class, each with its hint; made once they are asked for.

    Args:
        reference: the right version.
        text: see above.
    """

    def __init__(self, reference: Callable[..., Any], text: str) -> None:
        self.reference, self.text = reference, text

    def __iter__(self) -> Iterator[tuple[Callable[..., Any], str]]:
        return iter(self.versions)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """(what is wrong, hint) of each slip.

        Raises:
            ValueError: a slip has no hint.
        """
        text, found = textwrap.dedent(self.text) + "\n", []
        for patches, hint in _SLIP.findall(text):
            found += [(patch, " ".join(hint.split())) for patch in patches.splitlines()]
        if len(found) != len(re.findall(r"^\S", text, re.MULTILINE)):
            raise ValueError(f"{self.reference.__name__}: a slip has no hint below it.")
        return found

    @cached_property
    def versions(self) -> list[tuple[Callable[..., Any], str]]:
        """(wrong version, hint) of each slip.

        Raises:
            ValueError: a slip has no hint, or a patch does not fit the body just once.
        """
        return [(self._version(line), hint) for line, hint in self.lines]

    def _version(self, line: str) -> Callable[..., Any]:
        name = self.reference.__name__
        head, body = head_and_body(source_of(self.reference))
        if whole := "=>" not in line:
            body = f"    {line}\n"
        for patch in [] if whole else line.split(";;"):
            old, _, new = (part.strip() for part in patch.partition("=>"))
            if (times := body.count(old)) != 1:
                raise ValueError(f"{name}: '{old}' occurs {times} times in its body, not once.")
            body = body.replace(old, new)
        # It is an answer like a student's: none of the course's own functions.
        scope = {**_functions(self.reference)[0].__globals__, "__name__": "slip"}
        exec(head + body, scope)
        version = scope[name]
        if whole:
            scope[name] = self.reference
        return version


def _functions(solution: Callable[..., Any]) -> list[FunctionType]:
    """The function itself, or the methods of a class."""
    parts = vars(solution).values() if isinstance(solution, type) else [solution]
    return [part for part in parts if isinstance(part, FunctionType)]


def _with_names(solution: Callable[..., Any], names: dict[str, Any]) -> Callable[..., Any]:
    """The solution, in which these names stand for something else than in its module."""
    made = {
        f.__name__: FunctionType(
            f.__code__, {**f.__globals__, **names}, f.__name__, f.__defaults__, f.__closure__
        )
        for f in _functions(solution)
    }
    if not isinstance(solution, type):
        return made[solution.__name__]
    for name, method in made.items():
        setattr(solution, name, method)
    return solution


def source_of(function: Callable[..., Any]) -> str:
    """A function or class as it is written, without its decorators."""
    source = textwrap.dedent(inspect.getsource(function))
    return "".join(source.splitlines(keepends=True)[_definition(source).lineno - 1 :])


def head_and_body(source: str) -> tuple[str, str]:
    """The source of a function or class up to its docstring, if it has one, and the rest."""
    function, lines = _definition(source), source.splitlines(keepends=True)
    first = function.body[0]
    end = first.end_lineno if ast.get_docstring(function) is not None else first.lineno - 1
    return "".join(lines[:end]), "".join(lines[end:])


def _definition(source: str) -> ast.FunctionDef | ast.ClassDef:
    return ast.parse(source).body[0]
