"""A lab: its tasks, what they say to the student, and what counts when it is marked."""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from helpers.course.checks.trial import LEFT_ALONE, Complaint, NotAttempted, Trial
from helpers.course.checks.watching import BORROWED
from helpers.display.figures import publish

MARKING_TRIALS = 3
LEADERBOARD = "application/vnd.course.leaderboard+json"
# What is left of a function without a body, and what follows three dots that wait for an answer.
_IDLE = {"RESUME", "NOP", "COPY_FREE_VARS", "MAKE_CELL"}
_HANDING_BACK = {"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
_SETTING = {
    *("STORE_FAST", "STORE_DEREF", "STORE_FAST_LOAD_FAST", "RETURN_VALUE"),
    *("UNPACK_SEQUENCE", "COPY", "DUP_TOP"),  # kept, mass = ..., and x = y = ...
}
_LOOKING_UP = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD", "IMPORT_")
# The course's modules that draw and print, and solve no task.
_SHOWING = tuple(f"helpers.display.{name}" for name in ("figures", "plotting", "spread"))


class NotSolved(Exception):
    """A task that gets no points when a lab is marked; says why without the hidden input."""

    def _render_traceback_(self) -> list[str]:  # what IPython shows instead of a traceback
        return [str(self)]


@dataclass
class Lab:
    """The tasks of one lab.

    Attributes:
        name: such as "lab01".
        tasks: by name, in order.
        shows: the course's functions that make something readable, such as a tokenizer's decode:
            an answer may call them to look at what it does, as it may call what draws.
        variant: which class's numbers the tasks have; see ``use_variant``.
    """

    name: str
    tasks: dict[str, Task] = field(default_factory=dict)
    shows: Collection[Callable[..., Any]] = ()
    variant: int = 0

    def task(
        self,
        fallback: Any,
        *,
        uses: Collection[str] = (),
        without: Collection[str] = (),
        lent: bool = True,
    ) -> Callable[[Callable[[Trial], None]], Task]:
        """Make a task of a check; its name is that of the check.

        Args:
            fallback: what later cells use where the answer is missing or wrong.
            uses: names of the course's own functions and classes that an answer may use.
            without: names that an answer must not use, such as ``cross_entropy``.
            lent: whether later cells get the fallback; False where they need nothing, as after
                numbers on paper, which the fallback would tell.
        """

        def make(check: Callable[[Trial], None]) -> Task:
            names = frozenset(uses), frozenset(without)
            task = Task(self, check.__name__, check, fallback, *names, lent=lent)
            self.tasks[task.name] = task
            return task

        return make

    def use_variant(self, variant: int) -> None:
        """Choose the numbers of this class; every release may have its own."""
        self.variant = variant

    def generator(self, purpose: str) -> torch.Generator:
        """Random numbers that depend on the lab, the purpose and the variant alone."""
        return torch.Generator().manual_seed(seed_of(self.name, purpose, self.variant))

    def score(self, name: str, seed: int) -> None:
        """Mark the answer that was handed to the task's check last, on hidden inputs.

        Args:
            name: of the task.
            seed: of the hidden inputs.

        Raises:
            NotSolved: the answer is missing or wrong; says which property does not hold.
        """
        task = self.tasks[name]
        answer, task.answer = task.answer, None
        for trial in range(MARKING_TRIALS):
            verdict = task.judge(answer, seed_of(self.name, name, seed, trial))
            if not verdict.right:
                raise NotSolved(verdict.words(name, hidden=True))
        print(f"✓ {name}: right on hidden inputs too.")


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        rules: the properties that hold.
        complaint: the first one that does not, if any.
        attempted: whether there was an answer at all.
    """

    rules: tuple[str, ...] = ()
    complaint: Complaint | None = None
    attempted: bool = True

    @property
    def right(self) -> bool:
        """Whether the answer passed."""
        return self.attempted and self.complaint is None

    def words(self, name: str, hidden: bool = False) -> str:
        """What the student reads; without inputs and values where these are hidden."""
        if not self.attempted:
            return f"○ {name}: not attempted yet."
        if self.complaint is None:
            own = [rule for rule in self.rules if rule != LEFT_ALONE]
            return f"✓ {name}: " + "; ".join(own) + "."
        wrong = self.complaint
        lines = [f"✗ {name}: this does not hold: {wrong.rule}."]
        if not hidden:
            for label, text in (
                ("input", wrong.given),
                ("yours", wrong.got),
                ("expected", wrong.expected),
            ):
                if text:
                    lines.append(f"  {label:9}" + text.replace("\n", "\n" + " " * 11))
        return "\n".join([*lines, f"  hint     {wrong.hint}"])


@dataclass(eq=False)
class Task:
    """One task: call it with an answer, and take what it hands back.

    Attributes:
        lab, name, check, fallback, uses, without, lent: see ``Lab.task``.
        answer: what it was called with last; this is what is marked.
        slips: (wrong version, hint) of known slips, where the task is written as ``turn``.
    """

    lab: Lab
    name: str
    check: Callable[[Trial], None]
    fallback: Any
    uses: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    lent: bool = True
    answer: Any = None
    slips: Iterable[tuple[Callable[..., Any], str]] = ()

    def __call__(self, answer: Any) -> Any:
        """Check an answer, say what was found; return it, or the course's own where it is lent."""
        if answer is self.fallback:
            print(
                f"○ {self.name}: this is the course's own version. Run the cell with your answer "
                "again, then this one."
            )
            return answer
        self.answer = answer
        verdict = self.judge(answer)
        words = verdict.words(self.name)
        if not self.lent:
            print(words)
            return answer
        print(words if verdict.right else f"{words}\n  Later cells use the course's own version.")
        return answer if verdict.right else self.fallback

    def judge(self, answer: Any, seed: int = 0) -> Verdict:
        """Try an answer on random inputs; says nothing."""
        if answer is None or answer is Ellipsis or _has_blanks(answer):
            return Verdict(attempted=False)
        trial = Trial(answer, seed)
        try:
            self._is_own_work(trial)
            self.check(trial)
        except NotAttempted:
            return Verdict(attempted=False)
        except Complaint as complaint:
            return Verdict(tuple(trial.rules), complaint)
        except Exception as error:  # no answer may end the check, or the notebook with it
            return Verdict(tuple(trial.rules), trial.cannot_compare(error))
        return Verdict(tuple(trial.rules))

    def _is_own_work(self, trial: Trial) -> None:
        fallbacks = [task.fallback for task in self.lab.tasks.values()]
        for name, value in _used(trial.answer, self.lab.shows):
            if name in self.without:
                raise Complaint(
                    f"it is written without {name}",
                    f"{name} does the whole task; the exercise is to write it yourself.",
                )
            own = any(value is fallback for fallback in fallbacks) or name in self.uses
            if _is_borrowed(value) and not own:
                raise Complaint(
                    f"it is your own work: {name} is the course's",
                    "The course's package holds a solution of most tasks, so an answer may not use "
                    f"it: take {name} out, and read it afterwards.",
                )


def announce(number: float, unit: str) -> None:
    """Show a number for the leaderboard, where the marking finds it too."""
    words = f"Leaderboard: {number:.4f} {unit}."
    publish({"text/plain": words, LEADERBOARD: {"number": number, "unit": unit}})


def on_leaderboard(unit: str) -> Callable[[Callable[..., float]], Callable[..., None]]:
    """Make a measurement the call of a stretch task: it shows the number, or why there is none.

    Args:
        unit: of the number.
    """

    def make(measure: Callable[..., float]) -> Callable[..., None]:
        @wraps(measure)
        def leaderboard(*arguments: Any, **named: Any) -> None:
            try:
                number = measure(*arguments, **named)
            except NotAttempted:
                print("○ The stretch task is not attempted yet.")
            except Complaint as wrong:
                got = f" ({wrong.got})" if wrong.got else ""
                words = f"this does not hold: {wrong.rule}{got}. {wrong.hint}"
                print(f"No number for the leaderboard: {words}")
            except Exception as error:  # what came back is of a kind that nobody expected
                print(
                    "No number for the leaderboard: what comes back has not the form that the "
                    f"docstring asks for ({type(error).__name__}: {error})."
                )
            else:
                announce(number, unit)

        return leaderboard

    return make


def seed_of(*parts: Any) -> int:
    """A seed that depends on all parts: below 2**63, the same on every machine."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _used(answer: Any, shows: Collection[Any]) -> Iterator[tuple[str, Any]]:
    """Names that a function, or the methods of a class, use, and what they stand for, if known.

    What only shows something is left out.
    """
    if isinstance(answer, type):
        bases = [base for base in answer.__mro__ if _module(base).split(".")[0] != "torch"]
        yield from ((base.__name__, base) for base in bases)
        parts = [value for base in bases for value in vars(base).values()]
    else:
        parts = [answer]
        yield getattr(answer, "__name__", "it"), answer
    for part in parts:
        function = getattr(part, "__func__", part)
        if isinstance(function, FunctionType):
            for operation, name, then in _names(function.__code__):
                value = None  # of an attribute
                if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                    value = function.__globals__.get(name)
                elif operation == "IMPORT_NAME":
                    value = sys.modules.get(name)
                if not _only_shows(value, then, shows):
                    yield name, value


def _only_shows(value: Any, attribute: str, shows: Collection[Any]) -> bool:
    """Whether what stands for a name, or this attribute of it, is the course's and only shows."""
    if not _is_borrowed(value):
        return False
    found = [value, getattr(value, attribute, None)]
    methods = [getattr(each, "__func__", each) for each in found]
    return _module(value) in _SHOWING or any(m is one for m in methods for one in shows)


def _has_blanks(answer: Any) -> bool:
    """Whether a function, or a method of a class, still is, or sets something to, three dots."""
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    functions = [getattr(part, "__func__", part) for part in parts]
    return any(_blank(f.__code__) for f in functions if isinstance(f, FunctionType))


def _blank(code: CodeType) -> bool:
    steps = [step for step in dis.get_instructions(code) if step.opname not in _IDLE]
    if all(step.opname in _HANDING_BACK and step.argval is None for step in steps):
        return True  # a docstring and three dots, or pass, leave nothing else
    return any(
        step.argval in (..., (..., ...))
        and (step.opname.startswith("RETURN") or then.opname in _SETTING)
        for step, then in pairwise([*steps, steps[-1]])
    )


def _names(code: CodeType) -> Iterator[tuple[str, str, str]]:
    """How a name is looked up, the name, and the attribute that is looked up in it, if any."""
    steps = list(dis.get_instructions(code))
    for step, then in pairwise([*steps, steps[-1]]):
        if isinstance(step.argval, CodeType):
            yield from _names(step.argval)
        elif step.opname.startswith(_LOOKING_UP):
            in_it = then.opname in ("LOAD_ATTR", "LOAD_METHOD")
            yield step.opname, step.argval, then.argval if in_it else ""


def _is_borrowed(value: Any) -> bool:
    return _module(value).split(".")[0] == BORROWED


def _module(value: Any) -> str:
    """The module that something is, or that it comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    return getattr(value, "__module__", None) or ""
