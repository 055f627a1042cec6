"""One trial of an answer: calls that are watched, and properties that must hold.

A check is a function that gets a ``Trial``, calls the student's answer through it, and states
properties. The first one that does not hold ends the trial with a ``Complaint``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips, differs, known_slip, same, snapshot
from helpers.course.checks.describing import describe, describe_call
from helpers.course.checks.watching import TooLong, time_limit, where
from helpers.device import time_for

LEFT_ALONE = "it leaves its input as it is"
NOTHING = (
    "None is what a function hands back that ends without return, or returns what print gives."
)
ERROR = "Its name says what kind of error it is, the line where it arose."
NAME = (
    "A name from a cell above is there once that cell has run: Run > Run All Above Selected Cell "
    "(on Colab: Runtime > Run before). If it is one of your own, compare how it is spelled."
)
FORM = (
    "Its type or form is not the one of the docstring: print what your code gives for a small "
    "input."
)
TYPE = "It is of another type than the docstring asks for: compare yours with what is expected."
TENSOR = "A tensor of PyTorch is asked for: no list, no array, no plain number."
DECIMALS = 6e-4  # how far a number on paper, rounded to three decimals, may be off
TIME_LIMIT = 20.0  # seconds a call may take on a machine of speed 1 (helpers/device.py)


@dataclass(eq=False)
class Complaint(Exception):
    """What does not hold.

    Attributes:
        rule: the property, such as "each row sums to 1".
        hint: what to think about and where to read on; never the solution.
        given: the input, in words; empty where there is none.
        got: what the answer made of it.
        expected: what should have come out.
    """

    rule: str
    hint: str
    given: str = ""
    got: str = ""
    expected: str = ""


class NotAttempted(Exception):
    """The answer is still the blank that was handed out."""


@contextmanager
def with_hints(hints: Mapping[str, str]) -> Iterator[None]:
    """An error of the answer gets the first hint whose key is among the error's words."""
    try:
        yield
    except Complaint as wrong:
        wrong.hint = next((hint for words, hint in hints.items() if words in wrong.got), wrong.hint)
        raise


def plainly(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call an answer as a task calls it that says nothing else."""
    return answer(*arguments)


class Trial:
    """An answer, and random inputs to try it on.

    Args:
        answer: the student's function or class.
        seed: of the random inputs.

    Attributes:
        generator: where random inputs come from.
        rules: the properties that have held so far, in order, each once.
        value: what the answer handed back last.
    """

    def __init__(self, answer: Any, seed: int = 0) -> None:
        self.answer, self.rules, self.value = answer, [], None
        self.generator = torch.Generator().manual_seed(seed)

    def call(
        self, *arguments: Any, given: str = "", seconds: float = TIME_LIMIT, hint: str = "",
        **named: Any,
    ):  # fmt: skip
        """The answer's value for these arguments, which it must leave as they are.

        Args:
            given: the input in words; left out, the arguments are described.
            seconds: how long it may take on a machine of speed 1; a slower one gets more.
            hint: where an error is likely, what to think about.

        Raises:
            NotAttempted: it is still blank.
            Complaint: it raised, took too long, or changed an argument.
        """
        return self.run(self.answer, *arguments, given=given, seconds=seconds, hint=hint, **named)

    def run(
        self, function: Callable, *arguments: Any, given: str = "", seconds: float = TIME_LIMIT,
        hint: str = "", **named: Any,
    ):  # fmt: skip
        """As ``call``, for something that the answer made: an object's method, a closure."""
        given = given or describe_call(arguments, named)
        kept, gradients = snapshot((arguments, named)), torch.is_grad_enabled()
        seconds = time_for(seconds)
        try:
            with time_limit(seconds):
                value = self.value = function(*arguments, **named)
        except NotImplementedError as error:
            raise NotAttempted from error
        except TooLong as error:
            raise Complaint(
                f"it comes to an end within {seconds:.3g} s",
                "Look for a loop whose condition never becomes false, or one loop too many.",
                given,
                "still running",
            ) from error
        except Complaint:
            raise
        except (Exception, SystemExit, RecursionError) as error:
            if isinstance(error, NameError):
                hint = ERROR if isinstance(error, UnboundLocalError) else NAME
            raise Complaint(
                "it runs without an error",
                hint or ERROR,
                given,
                where(error),
            ) from error
        finally:  # a call that is stopped as it enters torch.no_grad() would leave it at work
            torch.set_grad_enabled(gradients)
        self.holds(
            same(kept, (arguments, named)),
            LEFT_ALONE,
            "Something is changed in place, by an operation such as x += 1, list.append or "
            "x[i] = ...: make a copy, or compute a new value.",
            given=given,
        )
        return value

    def cannot_compare(self, error: Exception) -> Complaint:
        """The complaint about a value that a check could not work with, which raised this error."""
        try:
            got = f"{type(self.value).__name__}: {describe(self.value)}"
        except Exception:  # of a class of the student's own, say
            got = type(self.value).__name__
        return Complaint(
            "it hands back what the task asks for",
            FORM,
            "",
            f"{got} (comparing it ended with {type(error).__name__})",
        )

    def holds(
        self, condition: Any, rule: str, hint: str, *, given: Any = "", got: Any = "",
        expected: Any = "",
    ) -> None:  # fmt: skip
        """State a property; values that are no text are described."""
        if not condition:
            given, got, expected = (describe(value) for value in (given, got, expected))
            raise Complaint(rule, hint, given, got, expected)
        if rule not in self.rules:
            self.rules.append(rule)

    def equals(
        self,
        got: Any,
        expected: Any,
        rule: str,
        hint: str,
        *,
        slips: Slips = (),
        given: Any = "",
        tolerance: float = 1e-6,
        none_counts: bool = False,
    ) -> None:
        """Numbers, tensors, sequences and dictionaries are alike, numbers within a tolerance.

        Type and shape are complained about first. None gets a hint of its own; so does, where
        slips are known, what is no tensor and should be one.

        Args:
            hint: what to think about, unless a slip gives just what the answer gave.
            slips: (value, hint) of known slips; looked at only where the answer is wrong, so that
                a generator may make them.
            tolerance: absolute and relative.
            none_counts: whether None is an answer like others, and right for some arguments.
        """
        difference = differs(got, expected, tolerance)
        if difference is None:
            self.holds(True, rule, hint)
            return
        place, shown, wanted, kind = difference
        if got is None and none_counts:
            kind, hint = "", known_slip(got, slips, tolerance) or hint
        elif got is None:
            hint = NOTHING
        elif slips and isinstance(expected, Tensor) and not isinstance(got, Tensor):
            hint = TENSOR
        else:
            hint = known_slip(got, slips, tolerance) or hint
        rule = f"{rule}: {kind}" if kind else rule
        given = " ".join(filter(None, [describe(given), place and f"({place})"]))
        self.holds(False, rule, hint, given=given, got=shown, expected=wanted)

    def agrees(
        self,
        reference: Callable[..., Any],
        *arguments: Any,
        rule: str,
        hint: str,
        slips: Iterable[tuple[Callable[..., Any], str]] = (),
        given: str = "",
        tolerance: float = 1e-6,
        none_counts: bool = False,
        call: Callable[..., Any] = plainly,
    ) -> None:
        """For these arguments the answer gives what a reference gives.

        Args:
            reference: the course's own function.
            rule: the property, such as "by hand".
            hint: what to think about, unless a slip gives just what the answer gave.
            slips: (wrong version of the reference, hint); called only where the answer is wrong,
                and passed over where it raises for these arguments.
            given: the input in words; left out, the arguments are described.
            tolerance: absolute and relative.
            none_counts: see ``equals``.
            call: (answer or reference, *arguments) -> what is compared.
        """
        given = given or describe_call(arguments, {})
        got = self.run(call, self.answer, *arguments, given=given, hint=hint)
        expected = call(reference, *arguments)

        def wrong() -> Iterator[tuple[Any, str]]:
            for slip, words in slips:
                with suppress(Exception):  # such as a division by a sum of no counts
                    yield call(slip, *arguments), words

        difference = differs(got, expected, tolerance)
        if difference and difference[3] == "type" and not (got is None and none_counts):
            hint = TYPE
        self.equals(got, expected, rule, hint, slips=wrong(), given=given, tolerance=tolerance,
                    none_counts=none_counts)  # fmt: skip

    def named(self, got: Any, names: Collection[str]) -> None:
        """What comes back is a dictionary with these names, as in the tasks on paper."""
        hint = "Hand back one dictionary with these very names, and fill in what belongs to each."
        self.holds(
            isinstance(got, Mapping) and set(got) == set(names),
            f"a dictionary with the {len(names)} names",
            NOTHING if got is None else hint,
            got=got,
            expected=list(names),
        )

    def is_class_from(self, parent: str, *names: str) -> None:
        """The answer is a class with these methods, as one made from the parent has them."""
        made = isinstance(self.answer, type) and all(hasattr(self.answer, name) for name in names)
        hint = f"The class itself is checked, class ...({parent}), and no object of it."
        got = type(self.answer).__name__
        self.holds(made, f"it is a class made from {parent}", hint, got=got)

    def leaves_open(self) -> None:
        """A method that still raises NotImplementedError is the parent's, unless all of them do.

        Who has mended one method of a broken class then reads what is still in the others.
        """
        own = {n: m.__code__ for n, m in vars(self.answer).items() if isinstance(m, FunctionType)}
        left = [name for name, code in own.items() if "NotImplementedError" in code.co_names]
        if len(left) < len(own):
            methods = {name: getattr(self.answer.__mro__[1], name) for name in left}
            self.answer = type(self.answer.__name__, (self.answer,), methods)

    def has_no_fault(self, shows: Mapping[str, str], gone: Iterable[bool], given: str) -> None:
        """Of the faults planted in a class none is left; all that are left are told at once.

        Args:
            shows: for each fault what holds without it, and by what it shows, a sentence.
            gone: whether it is gone.
        """
        found = dict(zip(shows, gone, strict=True))
        left = [f"({i}) {shows[rule]}" for i, rule in enumerate(shows, start=1) if not found[rule]]
        self.rules += [f"fault found: {rule}" for rule in shows if found[rule]]
        still = f" (still in: {len(left)})" if left else ""
        self.holds(
            not left, f"all {len(shows)} faults are found{still}", " ".join(left), given=given
        )

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Random whole numbers from low to high - 1."""
        return torch.randint(low, high, shape, generator=self.generator)

    def integer(self, low: int, high: int) -> int:
        """One of them."""
        return int(self.integers(low, high, 1))

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Random numbers, normally distributed."""
        return torch.randn(*shape, generator=self.generator, dtype=dtype)

    def text(self, length: int, alphabet: str) -> str:
        """Random letters."""
        return "".join(alphabet[i] for i in self.integers(0, len(alphabet), length).tolist())
