"""One trial of an answer: calls that are watched, and properties that must hold.

A check is a function that gets a ``Trial``, calls the student's answer through it, and states
properties. The first one that does not hold ends the trial with a ``Complaint``.
"""

from __future__ import annotations

import copy
import math
import signal
import sysconfig
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

BORROWED = "helpers"  # the package whose functions are no answers
LEFT_ALONE = "it leaves its input as it is"
NOTHING = (
    "None is what a function hands back that ends without return, or returns what print gives."
)
TENSOR = "A tensor of PyTorch is asked for: no list, no array, no plain number."
MOST_SHOWN = 24  # numbers of a tensor; more are described by their shape
TIME_LIMIT = 20.0  # seconds a call may take


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
            seconds: how long it may take.
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
        kept = copy.deepcopy((arguments, named))
        try:
            with _time_limit(seconds):
                value = self.value = function(*arguments, **named)
        except NotImplementedError as error:
            raise NotAttempted from error
        except _TooLong as error:
            raise Complaint(
                f"it comes to an end within {seconds:g} s",
                "Look for a loop whose condition never becomes false, or one loop too many.",
                given,
                "still running",
            ) from error
        except Complaint:
            raise
        except (Exception, SystemExit, RecursionError) as error:
            usual = "Its name says what kind of error it is, the line where it arose."
            raise Complaint(
                "it runs without an error",
                usual if isinstance(error, NameError) else hint or usual,
                given,
                _where(error),
            ) from error
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
            "Its type or form is not the one of the docstring: print what your code gives for a "
            "small input.",
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
        given: Any = "",
        tolerance: float = 1e-6,
    ) -> None:
        """Numbers, tensors, sequences and dictionaries are alike, numbers within a tolerance.

        Type and shape are complained about first, and None gets a hint of its own. The tolerance
        is absolute and relative.
        """
        difference = differs(got, expected, tolerance)
        hint = NOTHING if got is None else hint
        if difference is None:
            self.holds(True, rule, hint)
            return
        place, got, expected, kind = difference
        rule = f"{rule}: {kind}" if kind else rule
        given = " ".join(filter(None, [describe(given), place and f"({place})"]))
        self.holds(False, rule, hint, given=given, got=got, expected=expected)

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


def differs(got: Any, expected: Any, tolerance: float = 1e-6) -> tuple[str, Any, Any, str] | None:
    """Where two values differ first: (place, got, expected, kind), or None if they do not.

    ``kind`` is "type", "shape", "length" or "keys", or empty for a value.
    """
    if isinstance(expected, Tensor):
        return _tensor_differs(got, expected, tolerance)
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return None if _equal(_plain(got), expected) else ("", got, expected, "")
    if isinstance(expected, int | float):
        number = _plain(got)
        if isinstance(number, bool) or not isinstance(number, int | float):
            return "", got, f"a number, {describe(expected)}", "type"
        return None if _near(number, expected, tolerance) else ("", number, expected, "")
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping):
            return "", got, "a dictionary", "type"
        for key in expected:
            if key not in got:
                return "", f"no key {key!r}", expected[key], "keys"
        for key in got:
            if key not in expected:
                return "", f"a key {key!r}", "no such key", "keys"
        pairs = [(repr(key), got[key], expected[key]) for key in expected]
    elif isinstance(expected, Sequence):
        if isinstance(got, str) or not isinstance(got, Sequence | Tensor):
            return "", got, f"{type(expected).__name__} of {len(expected)} values", "type"
        if len(got) != len(expected):
            return "", f"{len(got)} values: {describe(got)}", describe(expected), "length"
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(got, expected, strict=True))]
    else:
        return None if _equal(got, expected) else ("", got, expected, "")
    for name, mine, theirs in pairs:
        if (found := differs(mine, theirs, tolerance)) is not None:
            place = f"at {name}" + (f", {found[0]}" if found[0] else "")
            return place, *found[1:]
    return None


def fitting(got: Any, slips: Iterable[tuple[Any, str]], usual: str, tolerance: float = 1e-6) -> str:
    """The hint of the known slip, (value, hint), that gives just this value, or the usual one."""
    return next((hint for value, hint in slips if differs(got, value, tolerance) is None), usual)


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same, bit for bit in tensors; unknown objects count as same."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        alike = isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape
        return alike and a.dtype == b.dtype and bool(((a == b) | ((a != a) & (b != b))).all())
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, str | int | float | bytes | set | frozenset | type(None)):
        return type(a) is type(b) and (a == b or (a != a and b != b))
    return True


def describe(value: Any) -> str:
    """A value in at most a few lines; text stays as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, Tensor):
        if value.numel() > MOST_SHOWN:
            return f"a tensor of shape {tuple(value.shape)}, {value.dtype}"
        listed = value.detach().tolist()
        return f"{_rounded(listed)}" + (f", shape {tuple(value.shape)}" if value.dim() > 1 else "")
    shown = repr(_rounded(value))
    if len(shown) > 200:
        size = f" ({len(value)} entries)" if hasattr(value, "__len__") else ""
        shown = f"{shown[:190]} ...{size}"
    return shown


def describe_call(arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The arguments of a call, in words."""
    shown = [repr(a) if isinstance(a, str) and len(a) < 60 else describe(a) for a in arguments]
    shown = [text if len(text) <= 200 else f"{text[:60]} ... ({len(text)} long)" for text in shown]
    return ", ".join([*shown, *(f"{name}={describe(value)}" for name, value in named.items())])


def _tensor_differs(got: Any, expected: Tensor, tolerance: float):
    if not isinstance(got, Tensor):
        return "", got, f"a tensor of shape {tuple(expected.shape)}", "type"
    if got.shape != expected.shape:
        return "", f"shape {tuple(got.shape)}", f"shape {tuple(expected.shape)}", "shape"
    if got.dtype != expected.dtype:
        return "", str(got.dtype), str(expected.dtype), "type"
    mine, theirs = got.detach().double(), expected.detach().double()
    unlike = (mine - theirs).abs() > tolerance * (1 + theirs.abs())
    wrong = (unlike | mine.isnan() | (mine.isinf() | theirs.isinf())) & (mine != theirs)
    wrong &= ~(mine.isnan() & theirs.isnan())
    if not wrong.any():
        return None
    if expected.numel() <= MOST_SHOWN:
        return "", got, expected, ""
    place = tuple(wrong.nonzero()[0].tolist())
    return f"first at {place}", float(mine[place]), float(theirs[place]), ""


def _plain(value: Any) -> Any:
    """The one number in a tensor or an array of NumPy's; anything else as it is."""
    size = value.numel() if isinstance(value, Tensor) else getattr(value, "size", 1)
    return value.item() if hasattr(value, "item") and size == 1 else value


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are equal; never an array of answers."""
    return type(equal := a == b) is bool and equal


def _near(a: float, b: float, tolerance: float) -> bool:
    if math.isnan(b) or math.isinf(b) or math.isinf(a):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= tolerance * (1 + abs(b))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Tensor):
        return _rounded(value.tolist()) if value.numel() <= MOST_SHOWN else describe(value)
    if isinstance(value, Mapping):
        return {key: _rounded(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_rounded, value))
    return value


def _where(error: BaseException) -> str:
    """The kind of error, its words, and the student's line."""
    words = f"{type(error).__name__}: {error}"
    ours, library = (BORROWED, "site-packages", "torch"), sysconfig.get_path("stdlib")
    theirs = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not set(ours) & set(Path(frame.filename).parts)
        and not Path(frame.filename).is_relative_to(library)
    ]
    line = theirs[-1].line if theirs else ""
    return f"{words}, in the line: {line}" if line else words


class _TooLong(BaseException):
    """Not an Exception, so that a student's `except Exception` does not swallow it."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise ``_TooLong`` after so many seconds, where the system has alarms."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
