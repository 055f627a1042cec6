"""Plots of several seeds: every run is shown, or the range that they span; arrays in, axes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from helpers.display.palette import BLUE, VERMILION
from helpers.display.plotting import log_axis, not_drawn, reference_lines


def spread_curves(
    runs: Mapping[str, tuple[Sequence[float], Any]],
    *,
    xlabel: str,
    ylabel: str,
    floor: Mapping[str, float] | None = None,
    logx: bool = False,
    logy: bool = False,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Curves of several runs: a line through the medians, and a band from the least to the largest.

    Values that are NaN or infinite are left out, and a note says how many.

    Args:
        runs: label -> (x (N,), values (runs, N)).

    Raises:
        ValueError: values that are not one row a run, each as long as x.
    """
    if ax is None:
        ax = plt.subplots()[1]
    gaps = total = 0
    for label, (x, values) in runs.items():
        x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
        if values.ndim != 2 or values.shape[1:] != x.shape or not values.size:
            raise ValueError(
                f"'{label}' has values of shape {values.shape} for x of shape {x.shape}; give one "
                "row a run, each as long as x."
            )
        left_out = ~np.isfinite(values)
        gaps, total = gaps + int(left_out.sum()), total + values.size
        values = np.ma.masked_where(left_out, values)
        (line,) = ax.plot(x, np.ma.median(values, axis=0), label=label)
        ax.fill_between(x, values.min(0), values.max(0), color=line.get_color(), alpha=0.2, lw=0)
    ax.set(xlabel=xlabel + not_drawn(gaps, total), ylabel=ylabel, title=title)
    for wanted, axis in ((logx, ax.xaxis), (logy, ax.yaxis)):
        if wanted:
            log_axis(ax, axis)
    if floor:
        reference_lines(ax, floor)
    ax.legend()
    return ax


def dots(
    runs: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    reference: Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """One row of dots for each label, a dot a run, with a bar at the median; first label on top.

    A number that is NaN or infinite has no dot, but counts for the median; a note says how many.

    Args:
        runs: label -> one number a run.
        reference: label -> place of a dashed line.
    """
    if ax is None:
        ax = plt.subplots(figsize=(9.0, 1.4 + 0.5 * len(runs)))[1]
    gaps = total = 0
    for row, values in enumerate(runs.values()):
        values = np.asarray(values, dtype=float)
        gaps, total = gaps + int((~np.isfinite(values)).sum()), total + values.size
        # Runs that agree would hide each other: lay them out side by side in the row.
        offsets = np.linspace(-0.22, 0.22, len(values)) if len(values) > 1 else np.zeros(1)
        ax.plot(values, row + offsets, "o", color=BLUE, ms=6, alpha=0.7, markevery=1)
        ax.plot([np.median(values)] * 2, [row - 0.36, row + 0.36], "-", color=VERMILION, lw=3)
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set_ylim(len(runs) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=xlabel + not_drawn(gaps, total), title=title)
    if reference:
        reference_lines(ax, reference, vertical=True)
    return ax
