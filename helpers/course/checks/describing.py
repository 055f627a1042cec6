"""Values and calls in words that a student can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

MOST_SHOWN = 24  # numbers of a tensor; more are described by their shape


def describe(value: Any) -> str:
    """A value in at most a few lines; text stays as it is, but blanks stand in quotes."""
    if isinstance(value, str):
        return value if value == "" or value.strip() else repr(value)
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
