"""A loss over a plane, drawn as filled contours; arrays in, axes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps, patheffects
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from helpers.display.palette import HATCHED, VERMILION

CMAP = "Blues"  # from light, a low loss, steadily to dark: readable in grey
_HALO = [patheffects.withStroke(linewidth=2.5, foreground="white")]


def surface(
    alphas: Any,
    betas: Any,
    losses: Any,
    *,
    value_label: str = "loss",
    low: float | None = None,
    high: float | None = None,
    levels: int = 10,
    centre: str = "model",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Contours of the loss around a model, labelled, with the model itself at (0, 0).

    Give the same ``low`` and ``high`` to two surfaces that are compared: they then have the same
    contours in the same shades.

    Args:
        alphas: (A,) increasing, along x.
        betas: (B,) increasing, along y.
        losses: (A, B), as of ``helpers.learning.loss_surface.loss_surface``. Where a loss is not
            finite the plane is hatched, and a note says so.
        value_label: what the numbers are, with the unit.
        low, high: first and last contour; the losses' own ends by default. What lies beyond is
            shaded as the last band, with a pointed end of the colour bar.
        levels: about how many contours.
        centre: the word beside the mark at (0, 0).

    Raises:
        ValueError: shapes that do not fit, steps that do not increase, no finite loss, or a range
            that is empty.
    """
    alphas, betas, losses = _array(alphas), _array(betas), _array(losses)
    if losses.shape != (alphas.size, betas.size) or min(losses.shape) < 2:
        raise ValueError(
            f"losses has the shape {losses.shape} for {alphas.size} alphas and {betas.size} betas; "
            "expected (A, B), at least 2 of each."
        )
    if (np.diff(alphas) <= 0).any() or (np.diff(betas) <= 0).any():
        raise ValueError("alphas and betas must increase: sort them, and the losses with them.")
    finite = np.isfinite(losses)
    if not finite.any():
        raise ValueError("No loss is finite, so there is nothing to draw: take smaller steps.")
    edges = _edges(losses[finite], low, high, levels)
    ax = plt.subplots(figsize=(6.6, 5.6))[1] if ax is None else ax
    note = ""
    if not finite.all():
        size = np.ptp(alphas), np.ptp(betas)
        ax.add_patch(Rectangle((alphas[0], betas[0]), *size, **HATCHED))
        note = "\nhatched: the loss is not finite"
    values = np.ma.masked_where(~finite, losses).T  # rows along y
    below, above = losses[finite].min() < edges[0], losses[finite].max() > edges[-1]
    extend = ("neither", "min", "max", "both")[below + 2 * above]
    # A shade a band; those beyond the ends are kept for them, so that equal ends give equal shades.
    # The darkest quarter of the scale is left out: lines could not be seen on it.
    shades = colormaps[CMAP](np.linspace(0.02, 0.75, len(edges) + 1))
    shades = shades[0 if below else 1 : None if above else -1]
    bands = ax.contourf(alphas, betas, values, edges, colors=shades, extend=extend)
    if ((edges > values.min()) & (edges < values.max())).any():
        lines = ax.contour(alphas, betas, values, edges, colors="black", linewidths=0.9)
        _keep_apart(ax.clabel(lines, fmt="%g", fontsize=11, inline=False), alphas, betas)
    bar = ax.figure.colorbar(bands, ax=ax, ticks=edges, fraction=0.05, pad=0.02, shrink=0.9)
    bar.ax.set_yticklabels([f"{edge:g}" for edge in edges])
    bar.set_label(value_label)
    if alphas[0] <= 0 <= alphas[-1] and betas[0] <= 0 <= betas[-1]:
        look = {"color": VERMILION, "mec": "black", "ms": 15, "markevery": 1, "zorder": 5}
        ax.plot(0, 0, ls="", marker="*", **look)
        words = ax.annotate(centre, (0, 0), (9, 5), textcoords="offset points", fontsize=12)
        words.set(path_effects=_HALO, zorder=6)
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.set(
        xlabel=f"α, steps along the first direction{note}",
        ylabel="β, steps along the second",
        title=title,
        aspect="equal",
    )
    return ax


def _edges(finite: np.ndarray, low: float | None, high: float | None, levels: int) -> np.ndarray:
    """Round numbers that reach from low to high or a little further."""
    if low is None and high is None and finite.min() == finite.max():  # a plain
        low, high = finite[0] - 0.05 * abs(finite[0] or 1), finite[0] + 0.05 * abs(finite[0] or 1)
    low = float(finite.min() if low is None else low)
    high = float(finite.max() if high is None else high)
    if not low < high < np.inf or levels < 1:
        raise ValueError(
            f"The contours reach from {low:g} to {high:g} in {levels} levels; expected low < high, "
            "both finite, and 1 level or more."
        )
    return MaxNLocator(levels, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)


def _keep_apart(labels: Sequence[Text], alphas: np.ndarray, betas: np.ndarray) -> None:
    """Leave out the labels that would be cut off, or cover each other or the centre's word."""
    corner, size = np.array([alphas[0], betas[0]]), np.array([np.ptp(alphas), np.ptp(betas)])
    taken = [(np.array([x, 0.0]) - corner) / size for x in (0.0, 0.08 * size[0], 0.16 * size[0])]
    for text in labels:
        place = (np.array(text.get_position()) - corner) / size  # both between 0 and 1
        if min(*place, *(1 - place)) < 0.04 or min(np.hypot(*(place - t)) for t in taken) < 0.08:
            text.remove()
        else:
            text.set_path_effects(_HALO)
            taken.append(place)


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "detach"):  # a tensor, maybe on a GPU or part of a graph
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=float)
