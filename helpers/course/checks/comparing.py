"""Whether two values are alike, and where they differ first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor

from helpers.course.checks.describing import MOST_SHOWN, describe

Slips = Iterable[tuple[Any, str]]  # what known slips give, each with the hint that it deserves


def differs(got: Any, expected: Any, tolerance: float = 1e-6) -> tuple[str, Any, Any, str] | None:
    """Where two values differ first: (place, got, expected, kind), or None if they do not.

    ``kind`` is "type", "shape", "length" or "keys", or empty for a value.
    """
    if isinstance(expected, Tensor):
        return _tensor_differs(got, expected, tolerance)
    if isinstance(expected, bool | str | bytes) or expected is None:
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
        if isinstance(got, str | bytes) or not isinstance(got, Sequence | Tensor):
            return "", got, f"{type(expected).__name__} of {len(expected)} values", "type"
        if len(got) != len(expected):
            return "", f"{len(got)} values: {describe(got)}", describe(expected), "length"
        if expected and all(isinstance(token, bytes) for token in expected):
            return None if list(got) == list(expected) else ("", got, expected, "")  # read whole
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(got, expected, strict=True))]
    else:
        return None if _equal(got, expected) else ("", got, expected, "")
    for name, mine, theirs in pairs:
        if (found := differs(mine, theirs, tolerance)) is not None:
            place = f"at {name}" + (f", {found[0]}" if found[0] else "")
            return place, *found[1:]
    return None


def known_slip(got: Any, slips: Slips, tolerance: float = 1e-6) -> str:
    """The hint of the first slip that gives just this value; empty where none does."""
    return next((hint for value, hint in slips if differs(got, value, tolerance) is None), "")


def snapshot(value: Any) -> Any:
    """A copy of what ``same`` compares; other objects, such as a model, stand for themselves."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, Mapping):
        return {key: snapshot(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [snapshot(entry) for entry in value]
    return value.copy() if isinstance(value, set) else value


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


def _tensor_differs(got: Any, expected: Tensor, tolerance: float):
    if not isinstance(got, Tensor):
        return "", got, f"a tensor of shape {tuple(expected.shape)}", "type"
    if got.shape != expected.shape:
        return "", f"shape {tuple(got.shape)}", f"shape {tuple(expected.shape)}", "shape"
    if got.dtype != expected.dtype:
        return "", str(got.dtype), str(expected.dtype), "type"
    mine, theirs = got.detach().double(), expected.detach().double()
    unlike = (mine - theirs).abs() > tolerance * (1 + theirs.abs())
    odd = mine.isnan() | theirs.isnan() | mine.isinf() | theirs.isinf()
    wrong = (unlike | odd) & (mine != theirs)
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
