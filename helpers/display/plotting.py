"""The course's plots: arrays in, axes out; no model is imported here.

Every function takes an optional ``ax`` and returns the axes, so that plots can be put side by side
and changed afterwards. Curves differ in line style and marker as well as in colour, and the maps
of colours grow steadily in lightness: all plots can be read in grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox, ScaledTranslation

from helpers.display.palette import COLOURS, GREY, HATCHED, LIGHT, LIGHTEST
from helpers.display.signs import visible

STEADY, SIGNED, PALE = "cividis", "RdBu_r", "Blues"  # colours of matrices, by name
LINE_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "--")

STYLE: dict[str, Any] = {
    "figure.figsize": (9.0, 4.6),
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "savefig.bbox": "tight",
    "figure.constrained_layout.use": True,
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.labelsize": 13,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 12,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.85,
    "legend.handlelength": 3.2,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT,
    "grid.linewidth": 0.8,
    "image.cmap": STEADY,
    # A marker about every tenth of the axes' diagonal, however many points a curve has.
    "axes.prop_cycle": cycler(color=COLOURS)
    + cycler(linestyle=LINE_STYLES)
    + cycler(marker=MARKERS)
    + cycler(markevery=[0.1] * len(COLOURS)),
}


def set_style() -> None:
    """Set matplotlib's defaults for the rest of the session; the import cell calls this once."""
    mpl.rcParams.update(STYLE)


def course_style() -> AbstractContextManager[None]:
    """A context in which ``set_style`` holds; the settings from before come back after it."""
    return mpl.rc_context(STYLE)


def heatmap(
    matrix: Any,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    xlabel: str,
    ylabel: str,
    value_label: str,
    annotate: bool | str = False,
    low: float | None = None,
    high: float | None = None,
    missing: str = "no value",
    cmap: str = "",
    tokens: bool = True,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A matrix as coloured cells, rows from top to bottom, with tokens on both axes.

    Args:
        matrix: (rows, columns) numbers. Cells that are NaN or infinite are hatched, and a note
            under the plot says ``missing``.
        row_labels, column_labels: one label per row and column; spaces, line breaks and tabs in
            them are made visible.
        xlabel, ylabel: what the columns and the rows are.
        value_label: what the colours mean, with the unit; stands beside the colour bar.
        annotate: True writes the numbers into the cells; a format such as ".1f" may be given.
        low, high: the ends of the colour scale; the matrix' own by default. Where it has both
            signs, zero is in the middle unless both are given.
        cmap: matplotlib's name of the colours. Left out, they grow steadily in lightness, or, for a
            matrix with both signs, diverge from white at zero.
        tokens: False where the labels are names rather than tokens: their spaces stay spaces.

    Raises:
        ValueError: if the matrix is empty or not two-dimensional, or the labels do not fit it.
    """
    matrix = array_of(matrix, "matrix")
    if matrix.ndim != 2:
        raise ValueError(f"A heatmap needs a matrix of rows and columns; got shape {matrix.shape}.")
    rows, columns = matrix.shape
    for name, labels, size in (
        ("row_labels", row_labels, rows),
        ("column_labels", column_labels, columns),
    ):
        if len(labels) != size:
            raise ValueError(
                f"{name} has {len(labels)} labels for a matrix of shape {matrix.shape}: "
                f"give {size}."
            )
    if ax is None:
        ax = plt.subplots(figsize=_heatmap_size(row_labels, column_labels))[1]
    finite = np.isfinite(matrix)
    around_zero = signed(matrix) and (low is None or low < 0) and (high is None or high > 0)
    values = np.ma.masked_where(~finite, matrix)
    if not finite.any():
        low, high = low or 0.0, 1.0 if high is None else high
    elif around_zero and not cmap:
        cmap, given = SIGNED, low if high is None else high
        reach = float(np.abs(values).max()) if given is None else abs(given)
        low, high = -reach if low is None else low, reach if high is None else high
    cmap = cmap or STEADY
    image = ax.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="equal", interpolation="none")
    size = max(7.5, min(13.0, 66 * _cell(rows, columns)))
    shown = _visible if tokens else list
    _label_cells(ax, shown(row_labels), shown(column_labels), size)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    place = "top" if 2 * rows < columns else "right"
    bar = ax.figure.colorbar(image, ax=ax, location=place, fraction=0.05, pad=0.02, shrink=0.9)
    bar.set_label(value_label)
    bar.outline.set_visible(False)
    for row, column in np.argwhere(~finite):
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, **HATCHED))
    if not finite.all():
        ax.set_xlabel(f"{xlabel}\nhatched: {missing}")
    if annotate:
        text = ".2f" if annotate is True else annotate
        for row, column in np.argwhere(finite):
            shade = image.cmap(image.norm(matrix[row, column]))
            colour = "black" if luminance(shade) > 0.2 else "white"
            number = format(matrix[row, column], text)
            ax.text(column, row, number, ha="center", va="center", color=colour, fontsize=size - 1)
    return ax


def curves(
    series: Mapping[str, tuple[Any, ...]],
    *,
    xlabel: str,
    ylabel: str,
    floor: Mapping[str, float] | None = None,
    logx: bool = False,
    logy: bool = False,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Curves with a legend, each with its own colour, line style and marker.

    Args:
        series: label -> (x, y) or (x, y, spread); a spread is drawn as a band y - spread to
            y + spread. Values that are NaN or infinite leave a gap, and a note says how many.
        xlabel, ylabel: what is drawn, with the unit.
        floor: label -> height of a dashed reference line, named at its right end.
        logx, logy: logarithmic scales.

    Raises:
        ValueError: if a curve has no points, or its parts differ in length.
    """
    ax = plt.subplots()[1] if ax is None else ax
    gaps, total = 0, 0
    for k, (label, parts) in enumerate(series.items()):
        if len(parts) not in (2, 3):
            raise ValueError(f"Curve {label!r} needs (x, y) or (x, y, spread); got {len(parts)}.")
        x, y, *spread = (array_of(part, f"curve {label!r}") for part in parts)
        if any(part.shape != x.shape or part.ndim != 1 for part in (y, *spread)):
            shapes = ", ".join(str(part.shape) for part in (x, y, *spread))
            raise ValueError(f"The parts of curve {label!r} differ in length: {shapes}.")
        gaps, total = gaps + int((~np.isfinite(y)).sum()), total + len(y)
        y = np.where(np.isfinite(y), y, np.nan)
        k %= len(COLOURS)
        ax.plot(
            x,
            y,
            label=label,
            color=COLOURS[k],
            linestyle=LINE_STYLES[k],
            marker=MARKERS[k],
            markevery=1 if _discrete(x) else 0.1,
        )
        if spread:
            ax.fill_between(x, y - spread[0], y + spread[0], color=COLOURS[k], alpha=0.18, lw=0)
    for axis, logarithmic in ((ax.xaxis, logx), (ax.yaxis, logy)):
        if logarithmic:
            log_axis(ax, axis)
    ax.set(xlabel=xlabel + not_drawn(gaps, total), ylabel=ylabel, title=title)
    reference_lines(ax, floor or {})
    if len(series) > 1:
        ax.legend()
    return ax


def bars(
    labels: Sequence[str],
    values: Any,
    *,
    xlabel: str,
    floor: Mapping[str, float] | None = None,
    value_format: str = ".2f",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Lying bars with their values written at the ends, the first at the top.

    Args:
        labels: one per bar; spaces, line breaks and tabs in them are made visible where a label
            consists of nothing else.
        values: one number per bar, or {name: numbers} for groups of bars with a legend. A value
            that is NaN or infinite has no bar; it is written out as a word instead.
        xlabel: what is drawn, with the unit.
        floor: label -> position of a dashed reference line.
        value_format: how the values are written; "" leaves them out.

    Raises:
        ValueError: if the numbers do not fit the labels.
    """
    groups = values if isinstance(values, Mapping) else {"": values}
    if ax is None:
        height = max(1.8, 1.2 + 0.42 * len(labels) * (1 + 0.6 * (len(groups) - 1)))
        ax = plt.subplots(figsize=(9.0, height))[1]
    places, width = np.arange(len(labels)), 0.8 / len(groups)
    for k, (name, numbers) in enumerate(groups.items()):
        numbers = array_of(numbers, "values")
        if numbers.shape != (len(labels),):
            raise ValueError(
                f"{len(labels)} labels need as many values; these have shape {numbers.shape}."
            )
        at = places + (k - (len(groups) - 1) / 2) * width
        lengths = np.where(np.isfinite(numbers), numbers, 0.0)
        look = {
            "label": name,
            "color": COLOURS[k % len(COLOURS)],
            "hatch": HATCHES[k % len(HATCHES)],
            "edgecolor": "white",
        }
        drawn = ax.barh(at, lengths, height=width * 0.92, **look)
        if value_format:
            words = [
                format(number, value_format) if math.isfinite(number) else word_of(number)
                for number in numbers
            ]
            ax.bar_label(drawn, labels=words, padding=4, fontsize=12)
    ax.set_yticks(places, _visible(labels, only_blank=True))
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.margins(x=0.12)
    ax.set(xlabel=xlabel, title=title)
    reference_lines(ax, floor or {}, vertical=True)
    if len(groups) > 1:
        ax.legend()
    return ax


def heatmaps(
    panels: Mapping[str, Any],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    xlabel: str,
    ylabel: str,
    value_label: str,
    high: float | None = None,
    annotate: bool | str = False,
    tokens: bool = True,
) -> Figure:
    """Matrices side by side that are to be compared: one colour scale, one bar of colours.

    Args:
        panels: title -> matrix, all of the same shape.
        high: the largest absolute value of the scale; that of all panels by default.
        row_labels, column_labels, xlabel, ylabel, value_label, annotate, tokens: as for
            ``heatmap``.

    Raises:
        ValueError: a panel does not fit the labels.
    """
    matrices = {title: array_of(matrix, title) for title, matrix in panels.items()}
    everything = np.concatenate([matrix.ravel() for matrix in matrices.values()])
    reach = _reach(everything) if high is None else high
    both, below = signed(everything), bool((everything[np.isfinite(everything)] < 0).any())
    width, height = _heatmap_size(row_labels, column_labels)
    size = (min(13.0, 0.9 * width * len(panels) + 1), min(6.0, height))
    figure, axes = plt.subplots(1, len(panels), figsize=size, squeeze=False)
    for ax, (title, matrix) in zip(axes[0], matrices.items(), strict=True):
        heatmap(
            matrix,
            row_labels,
            column_labels,
            xlabel=xlabel,
            ylabel=ylabel if ax is axes[0, 0] else "",
            value_label=value_label,
            annotate=annotate,
            low=-reach if below else 0.0,
            high=reach if both or not below else 0.0,
            cmap=SIGNED if both else STEADY,
            tokens=tokens,
            title=title,
            ax=ax,
        )
        if ax is not axes[0, -1]:
            ax.images[0].colorbar.remove()
    return figure


def not_drawn(gaps: int, total: int) -> str:
    """The note below a picture that leaves out some of its numbers; empty where it does not."""
    return f"\n({gaps} of {total} values are infinite or missing and not drawn)" if gaps else ""


def signed(values: Any) -> bool:
    """Whether numbers lie on both sides of zero, so that colours should diverge there."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() < 0 < finite.max())


def colours_of(values: Any, high: float | None = None) -> Callable[[float], tuple[Any, str]]:
    """A function from a number to the colours of its cell: (ground, ink).

    Args:
        values: all numbers that will be shown together.
        high: the absolute value of the darkest colour; the largest one, if left out.
    """
    reach = high or _reach(values)
    both = signed(values)
    shades = mpl.colormaps[SIGNED if both else PALE]

    def paint(value: float) -> tuple[Any, str]:
        if not math.isfinite(value):
            return LIGHTEST, GREY
        shade = shades((value / reach + 1) / 2 if both else abs(value) / reach)
        return shade, "black" if luminance(shade) > 0.2 else "white"

    return paint


def uncover(figure: Figure) -> None:
    """Move every legend that covers data to where there is none: above its axes."""
    if any(ax.get_legend() for ax in figure.axes):
        figure.draw_without_rendering()  # so that everything has its place
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is None or not _covers(ax, legend.get_window_extent()):
            continue
        entries = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        title = legend.get_title().get_text()
        width = max((len(words) for words in entries[1]), default=1)
        room = ax.get_window_extent().width / figure.dpi
        columns = max(1, min(len(entries[1]), int(room / (0.085 * width + 0.75))))
        legend.remove()
        # In inches above the axes, which shrink to make room for it: over a title and other words.
        above = (ax.get_tightbbox().y1 - ax.get_window_extent().y1) / figure.dpi
        shift = ScaledTranslation(0, max(0.0, above), figure.dpi_scale_trans)
        look = {"loc": "lower left", "borderaxespad": 0.2, "frameon": False, "title": title or None}
        place = {"bbox_to_anchor": (0, 1), "bbox_transform": ax.transAxes + shift}
        ax.legend(*entries, ncols=columns, **place, **look)


def _covers(ax: Axes, box: Bbox) -> bool:
    """Whether a box on the canvas covers a line, a band, a bar or a point of the axes."""
    for line in ax.lines:
        path = line.get_transform().transform_path(line.get_path())
        if not line.get_visible():
            continue
        if line.get_linestyle() == "None":  # points without a line between them
            if any(box.contains(*point) for point in path.vertices):
                return True
        elif path.intersects_bbox(box, filled=False):
            return True
    if any(p.get_visible() and p.get_window_extent().overlaps(box) for p in ax.patches):
        return True
    for collection in ax.collections:
        if isinstance(collection, PathCollection):  # points
            points = collection.get_offset_transform().transform(collection.get_offsets())
            if any(box.contains(*point) for point in points):
                return True
            continue
        filled = isinstance(collection, PolyCollection)  # a band, maybe in pieces; else lines
        paths = map(collection.get_transform().transform_path, collection.get_paths())
        if any(path.intersects_bbox(box, filled=filled) for path in paths):
            return True
    return False


def _reach(values: Any) -> float:
    """The largest absolute value that is finite, and never zero."""
    values = np.asarray(values, dtype=float)
    return float(np.abs(values[np.isfinite(values)]).max(initial=1e-12))


def _discrete(x: np.ndarray) -> bool:
    """Whether every point of a curve should be marked: few of them, or whole positions."""
    whole = bool(np.all(x == np.round(x))) and bool(np.all(np.diff(x) == 1))
    return len(x) <= 15 or (whole and len(x) <= 64)


def reference_lines(ax: Axes, lines: Mapping[str, float], *, vertical: bool = False) -> None:
    """Dashed lines at given heights (or positions), each named at its end, outside the axes.

    Names that would overlap are moved apart, and a line outside the limits has none; call this
    after everything else has been drawn.
    """
    ordered = sorted(lines.items(), key=lambda item: item[1])
    for _, value in ordered:
        draw = ax.axvline if vertical else ax.axhline
        draw(value, color=GREY, ls=(0, (5, 3)), lw=1.6, marker="", zorder=1)
    # Asking for the limits makes matplotlib work them out; then positions in points are known.
    low, high = sorted((ax.get_xlim if vertical else ax.get_ylim)())
    ordered = [(label, value) for label, value in ordered if low <= value <= high]
    points = [
        float(ax.transData.transform((value, value))[0 if vertical else 1]) * 72 / ax.figure.dpi
        for _, value in ordered
    ]
    style = {"textcoords": "offset points", "color": GREY, "fontsize": 12}
    if vertical:
        # Names stand above the axes, a row higher where they would run into the one before.
        row, end = 0, -math.inf
        for point, (label, value) in zip(points, ordered, strict=True):
            half = 4.0 * len(label)
            row, end = (
                (row + 1, max(end, point + half)) if point - half < end else (0, point + half)
            )
            at = {"xy": (value, 1), "xycoords": ax.get_xaxis_transform()}
            ax.annotate(label, **at, xytext=(0, 5 + 15 * row), ha="center", va="bottom", **style)
        return
    for point, place, (label, value) in zip(points, _apart(points, 15), ordered, strict=True):
        at = {"xy": (1, value), "xycoords": ax.get_yaxis_transform()}
        ax.annotate(label, **at, xytext=(6, place - point), ha="left", va="center", **style)


def log_axis(ax: Axes, axis: Axis) -> None:
    """A logarithmic scale; over fewer than three decades with plain numbers at 1, 2, 5, 10, ..."""
    (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    low, high = ax.get_xlim() if axis is ax.xaxis else ax.get_ylim()
    if high / low < 1000:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """The nearest increasing places with at least ``gap`` between neighbours (least squares)."""
    blocks: list[list[float]] = []  # each block: [mean of place - index * gap, size]
    for index, place in enumerate(places):
        blocks.append([place - index * gap, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, size = blocks.pop()
            before, count = blocks[-1]
            blocks[-1] = [(before * count + mean * size) / (count + size), count + size]
    flat = [mean for mean, size in blocks for _ in range(int(size))]
    return [value + index * gap for index, value in enumerate(flat)]


def array_of(values: Any, name: str) -> np.ndarray:
    """Numbers, a tensor on any device among them, as an array of floats.

    Raises:
        ValueError: there are none; says so by this name.
    """
    if hasattr(values, "detach"):  # a tensor, maybe on a GPU or part of a graph
        values = values.detach().cpu().double().numpy()
    array = np.asarray(values, dtype=float)
    if not array.size:
        raise ValueError(f"There is nothing to draw: {name} is empty.")
    return array


def _visible(labels: Sequence[str], *, only_blank: bool = False) -> list[str]:
    return [label if only_blank and label.strip() else visible(label) for label in map(str, labels)]


def word_of(number: float) -> str:
    """What is written for a number that is not finite."""
    return "no value" if math.isnan(number) else ("∞" if number > 0 else "−∞")


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance of an sRGB colour (WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _cell(rows: int, columns: int) -> float:
    """The side of a heatmap's cell in inches, with which the figure fits a projector."""
    return min(0.75, 8.0 / columns, 4.6 / rows)


def _heatmap_size(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches that leave room for square cells, labels and the colour bar."""
    cell = _cell(len(rows), len(columns))
    longest = [min(20, max(len(str(label)) for label in ends)) for ends in (rows, columns)]
    beside, below = 0.1 * longest[0], 0.1 * longest[1]
    width = 1.8 + beside + cell * len(columns)
    return max(4.0, width), 0.9 + below + cell * len(rows) + (2 * len(rows) < len(columns)) * 0.9


def _label_cells(ax: Axes, rows: list[str], columns: list[str], size: float) -> None:
    ax.set_xticks(range(len(columns)), columns, fontsize=size)
    ax.set_yticks(range(len(rows)), rows, fontsize=size)
    if max(map(len, columns)) > 2:
        steep = len(columns) > 10
        for label in ax.get_xticklabels():
            label.set(rotation=90 if steep else 45, ha="right", rotation_mode="anchor")
            label.set_verticalalignment("center" if steep else "top")
    ax.tick_params(length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
