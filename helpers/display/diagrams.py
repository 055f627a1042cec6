"""Drawings of networks unrolled over time: what goes in, what comes out, what flows where."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from helpers.display.palette import BLUE, GREEN, GREY, VERMILION


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    style = "round,pad=0.02,rounding_size=0.1"
    ax.add_patch(FancyBboxPatch((x - 0.3, y - 0.22), 0.6, 0.44, boxstyle=style, fc="w", ec=colour))
    ax.text(x, y, text, ha="center", va="center", color=colour, fontsize=12)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], **style) -> None:
    style = {"color": GREY, "lw": 1.5, "arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, **style}
    ax.annotate("", end, start, arrowprops=style)


def unrolled(
    inputs: Sequence[str | None],
    outputs: Sequence[str | None],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A recurrent network over time: input below, state in the middle, output above each step.

    Args:
        inputs, outputs: one entry a step; None where nothing is read, or nothing is said.

    Raises:
        ValueError: lists of different length.
    """
    if len(inputs) != len(outputs) or not inputs:
        raise ValueError(
            f"{len(inputs)} inputs and {len(outputs)} outputs; give one of each a step, None where "
            "there is none."
        )
    if ax is None:
        ax = plt.subplots(figsize=(1.2 + len(inputs), 3.2))[1]
    for t, (read, said) in enumerate(zip(inputs, outputs, strict=True)):
        _box(ax, t, 1, f"$h_{{{t + 1}}}$", BLUE)
        if t:
            _arrow(ax, (t - 0.68, 1), (t - 0.34, 1))
        if read is not None:
            _box(ax, t, 0, read, GREEN)
            _arrow(ax, (t, 0.26), (t, 0.74))
        if said is not None:
            _box(ax, t, 2, said, VERMILION)
            _arrow(ax, (t, 1.26), (t, 1.74))
    _finish(ax, len(inputs), 2.4, title)
    return ax


def _finish(ax: Axes, steps: int, top: float, title: str) -> None:
    ax.set(xlim=(-0.6, steps - 0.4), ylim=(-0.4, top), title=title)
    ax.set_axis_off()
