"""Pictures of attention weights: one head large, or all heads of all layers small.

A row is a query, the position that looks; a column is a key, the position that is looked at. 0 is
light and 1 is dark in every picture, so that two pictures can be compared, also printed in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from helpers.display.palette import HATCHED, ORANGE, THIN
from helpers.display.plotting import heatmap
from helpers.display.signs import visible

CMAP = "Blues"  # its lightness falls all the way, and nearly white costs no ink
_FORBIDDEN = "the mask forbids it"
_SMALLEST = 6.5  # points; smaller labels cannot be read from the back of a room


def attention_heatmap(
    weights: Any,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    mask: Any = None,
    truth: Iterable[tuple[int, int]] | None = None,
    annotate: bool | str = False,
    high: float = 1.0,
    xlabel: str = "key (looked at)",
    ylabel: str = "query (looking)",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """The attention weights of one head, with tokens on both axes.

    Args:
        weights: (T, S), row t is what query t gives to each key; between 0 and 1.
        queries, keys: the T and the S tokens.
        mask: (T, S) bool, True = may attend; cells that may not are hatched.
        truth: (row, column) cells that get an orange frame, such as a known alignment of words.
        annotate: True writes the weights into the cells; a format such as ".1f" may be given.
        high: the weight that is darkest. Leave it at 1 where pictures are compared; larger weights
            look like it, and the colour bar says so.
        xlabel, ylabel: what the keys and the queries are.

    Raises:
        ValueError: weights that are no weights or do not fit the tokens, a weight where the mask
            forbids it, or a frame outside.
    """
    weights = _checked(weights, len(queries), len(keys), "weights")
    if weights.ndim != 2:
        raise ValueError(
            f"weights has the shape {weights.shape}, expected (T, S): choose one text and one head."
        )
    _check_high(high)
    allowed, frames = _allowed(mask, weights), _frames(truth, weights.shape[-2:])
    ax = heatmap(
        np.where(allowed, weights, np.nan),
        queries,
        keys,
        xlabel=xlabel,
        ylabel=ylabel,
        value_label=_value_label(weights, high),
        annotate=annotate,
        low=0.0,
        high=high,
        missing=_FORBIDDEN,
        cmap=CMAP,
        title=title,
        ax=ax,
    )
    if frames:
        _draw_frames(ax, frames, max(weights.shape))
        ax.set_xlabel(f"{ax.get_xlabel()}\norange frame: where it should look")
    return ax


def head_grid(
    weights: Any,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    mask: Any = None,
    high: float = 1.0,
    xlabel: str = "key (looked at)",
    ylabel: str = "query (looking)",
) -> Figure:
    """All heads of all layers: a row of small pictures for each layer, with one colour bar.

    The tokens stand at the left and at the bottom; where they would be too small to read, the axis
    labels name the first and the last one instead.

    Args:
        weights: (L, H, T, S), or one (H, T, S) for each layer, whose numbers of heads may differ.
        queries, keys, mask, high, xlabel, ylabel: see ``attention_heatmap``.

    Raises:
        ValueError: see ``attention_heatmap``.
    """
    layers = [_checked(layer, len(queries), len(keys), "a layer") for layer in weights]
    if not layers or any(layer.ndim != 3 or not len(layer) for layer in layers):
        raise ValueError(
            f"The layers have the shapes {[layer.shape for layer in layers]}, expected (H, T, S) "
            "for each layer: choose one text of a batch."
        )
    _check_high(high)
    (T, S), most = layers[0].shape[1:], max(map(len, layers))
    allowed = [_allowed(mask, layer) for layer in layers]
    cell = min(12.0 / (most * S), 2.8 / T, 9.0 / (len(layers) * T), 0.4)  # inches
    points = min(11.0, 0.85 * 72 * cell)
    readable = points >= _SMALLEST
    words = 0.65 * points / 72 * max(len(str(token)) for token in (*queries, *keys)) * readable
    size = (most * (cell * S + 0.25) + words + 1.6, len(layers) * (cell * T + 0.5) + words + 1.0)
    figure, axes = plt.subplots(
        len(layers),
        most,
        figsize=(max(4.0, size[0]), max(2.5, size[1])),
        squeeze=False,
        layout="constrained",
    )
    for row, (layer, may) in enumerate(zip(layers, allowed, strict=True)):
        for ax in axes[row, len(layer) :]:
            ax.set_axis_off()
        for head, ax in enumerate(axes[row, : len(layer)]):
            image = _draw_small(ax, layer[head], may, high)
            name = f"layer {row + 1}, head {head + 1}"
            ax.set_title(name, fontsize=min(12.0, 72 * cell * S / (0.55 * len(name))))
            last = row + 1 == len(layers) or head >= len(layers[row + 1])
            if readable and head == 0:
                ax.set_yticks(range(T), list(map(visible, queries)), fontsize=points)
            if readable and last:
                ax.set_xticks(range(S), list(map(visible, keys)), fontsize=points, rotation=90)
    notes = f"\nhatched: {_FORBIDDEN}" if not all(may.all() for may in allowed) else ""
    for place, label, tokens in (("x", xlabel, keys), ("y", ylabel, queries)):
        if not readable:
            first, final = map(visible, (tokens[0], tokens[-1]))
            start, end = ("left", "right") if place == "x" else ("top", "bottom")
            label += f", from “{first}” ({start}) to “{final}” ({end})"
        write = figure.supxlabel if place == "x" else figure.supylabel
        write(label + notes * (place == "x"), fontsize=13)
    worst = max((layer.max() for layer in layers), default=0.0)
    bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.01, shrink=0.9)
    bar.set_label(_value_label(worst, high))
    bar.outline.set_visible(False)
    return figure


def _checked(weights: Any, T: int, S: int, name: str) -> np.ndarray:
    if hasattr(weights, "detach"):  # a tensor, maybe on a GPU or part of a graph
        weights = weights.detach().cpu().double().numpy()
    weights = np.asarray(weights, dtype=float)
    if weights.shape[-2:] != (T, S) or not weights.size:
        raise ValueError(
            f"{name} has the shape {weights.shape} for {T} queries and {S} keys: its last two "
            "dimensions must be the queries (rows) and the keys (columns), none of them empty."
        )
    if not ((weights >= 0) & (weights <= 1 + 1e-3)).all():  # also true for NaN
        raise ValueError(
            f"{name} holds numbers from {weights.min():.4g} to {weights.max():.4g}; attention "
            "weights lie between 0 and 1: apply the softmax to scores first."
        )
    return weights


def _allowed(mask: Any, weights: np.ndarray) -> np.ndarray:
    """The mask (T, S) as an array; all True if there is none."""
    shape = weights.shape[-2:]
    if mask is None:
        return np.ones(shape, dtype=bool)
    mask = np.asarray(mask.detach().cpu() if hasattr(mask, "detach") else mask)
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(
            f"The mask has the shape {mask.shape} and the type {mask.dtype}, expected {shape} and "
            "bool, True where a query may attend."
        )
    against = np.where(mask, 0.0, weights)
    if against.max() > 1e-6:
        row, column = np.unravel_index(against.argmax(), against.shape)[-2:]
        raise ValueError(
            f"Row {row} gives the weight {against.max():.3g} to column {column}, which the mask "
            "forbids: True means may attend; turn round a mask that means the opposite."
        )
    return mask


def _frames(
    truth: Iterable[tuple[int, int]] | None, shape: tuple[int, int]
) -> list[tuple[int, int]]:
    frames = sorted((int(row), int(column)) for row, column in truth or ())
    for row, column in frames:
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            raise ValueError(
                f"The cell {(row, column)} of truth lies outside {shape[0]} rows and {shape[1]} "
                "columns; they count from 0."
            )
    return frames


def _check_high(high: float) -> None:
    if not high > 0:
        raise ValueError(f"high is {high}; the darkest weight must be larger than 0.")


def _value_label(weights: Any, high: float) -> str:
    beyond = np.max(weights) > high + 1e-3
    return "attention weight" + (f" (darkest: {high:g} or more)" if beyond else "")


def _draw_frames(ax: Axes, frames: Sequence[tuple[int, int]], cells: int) -> None:
    width = max(1.5, min(4.0, 60 / cells))  # points
    # A thin dark rim keeps the frame apart from light and from dark cells, also in grey.
    rim = [patheffects.withStroke(linewidth=width + 1.4, foreground="black")]
    for row, column in frames:
        ax.add_patch(
            Rectangle(
                (column - 0.42, row - 0.42),
                0.84,
                0.84,
                fill=False,
                ec=ORANGE,
                lw=width,
                path_effects=rim,
            )
        )


def _draw_small(ax: Axes, weights: np.ndarray, allowed: np.ndarray, high: float) -> Any:
    """One head without labels; all forbidden cells are one patch, since there may be thousands."""
    values = np.ma.masked_where(~allowed, weights)
    image = ax.imshow(values, cmap=CMAP, vmin=0, vmax=high, interpolation="none")
    corners = np.argwhere(~allowed)[:, None, ::-1] - 0.5  # (forbidden cells, 1, 2): x, y
    if len(corners):
        square = Path.unit_rectangle()
        vertices = (corners + square.vertices).reshape(-1, 2)
        path = Path(vertices, np.tile(square.codes, len(corners)))
        ax.add_patch(PathPatch(path, **HATCHED))
    ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set(visible=True, color=THIN, lw=0.8)
    return image
