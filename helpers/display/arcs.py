"""One row of attention as arcs: a text as it is read, and where one of its words looks.

The chosen word has a frame. From it an arc leads to each word that it looks at, the thicker the
larger the weight; the words' grounds and the numbers below them say the same. Words that a causal
model has not read yet are pale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from helpers.display.drawing import words_width
from helpers.display.palette import BLUE, FRAME, GREY, INK, VERMILION, WHITE
from helpers.display.plotting import array_of, course_style

WIDTH = 12.6  # inches of a line
LINE = 1.02  # inches from one line to the next
HEIGHT = 0.34  # of a word
GAP = 0.1  # between words
SIZE = 15
_CLOSE = set(".,;:!?¶")  # what stands close to the word before it


def attention_arcs(
    words: Sequence[str],
    weights: Any,
    chosen: int,
    *,
    least: float = 0.04,
    title: str = "",
    size: float = SIZE,
) -> Figure:
    """A text in lines, with arcs from one of its words to those that it looks at.

    Args:
        words: W of them; "¶" ends a line.
        weights: what the chosen word gives to each word, (W,); 0 to 1.
        chosen: its number, from 0. Later words are drawn pale.
        least: smaller weights get no arc and no number.
        size: of the letters, in points.

    Raises:
        ValueError: there is no such word, or weights that do not fit the words.
    """
    row = _checked(words, weights, chosen)
    boxes = _flow(words, size)  # x, y of the middle, width
    # Above the first line there is room for arcs, if it has any, and for the title.
    top = (0.95 if boxes[chosen][1] == 0 else 0.3) + (0.4 if title else 0.0)
    low = min(y for _, y, _ in boxes) - 0.5
    with course_style():
        figure = Figure(figsize=(13, top - low), layout="none")
        ax = figure.add_axes((0, 0, 1, 1), xlim=(0, 13), ylim=(low, top))
    ax.set_axis_off()
    if title:
        ax.text(0.24, top - 0.08, title, va="top", fontsize=14, color=INK)
    for number, (word, weight) in enumerate(zip(words, row, strict=True)):
        _word(ax, boxes[number], word, weight, number - chosen, size, least)
        if weight >= least and number != chosen:
            _arc(ax, boxes[chosen], boxes[number], weight)
    return figure


def _checked(words: Sequence[str], weights: Any, chosen: int) -> np.ndarray:
    """The weights of one row, which fit the words, or a sentence that says why they do not."""
    row = array_of(weights, "weights")
    if row.shape != (len(words),) or not len(words):
        raise ValueError(f"{len(words)} words need as many weights, not the shape {row.shape}.")
    if not 0 <= chosen < len(words):
        raise ValueError(f"There is no word {chosen}: they are numbered 0 to {len(words) - 1}.")
    if not (row.min() > -1e-4 and row.max() < 1 + 1e-4):
        raise ValueError("Attention weights lie between 0 and 1.")
    return row


def _flow(words: Sequence[str], size: float) -> list[tuple[float, float, float]]:
    """Where each word stands, line by line: its middle and its width."""
    places, x, y = [], 0.2, 0.0
    for number, word in enumerate(words):
        width = words_width(word, size) + 0.14
        close = number and (word[:1] in _CLOSE or words[number - 1] == "“")
        gap = 0.01 if close else GAP
        needed = gap + width
        if word == "“" and number + 1 < len(words):  # it does not stand at the end of a line
            needed += words_width(words[number + 1], size) + 0.14
        if x + needed > WIDTH:
            x, y = 0.2, y - LINE
        places.append((x + gap + width / 2, y, width))
        x += gap + width
        if word == "¶":
            x, y = 0.2, y - LINE
    return places


def _word(
    ax: Axes, box: tuple[float, float, float], word: str, weight: float, later: int, size: float,
    least: float,
) -> None:  # fmt: skip
    x, y, width = box
    shade = mpl.colormaps["Blues"](0.72 * min(1.0, max(0.0, weight)))
    ink = FRAME if later > 0 else INK
    corner = (x - width / 2, y - HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.06"
    edge, line = (VERMILION, 2.4) if later == 0 else ("none", 0.0)
    ground = WHITE if later > 0 else shade
    ax.add_patch(
        FancyBboxPatch(corner, width, HEIGHT, boxstyle=style, fc=ground, ec=edge, lw=line, zorder=3)
    )
    look = {"ha": "center", "va": "center", "zorder": 5}
    ax.text(x, y - 0.01, word, fontsize=size, color=ink, **look)
    if weight >= least and later <= 0:
        ax.text(x, y - 0.29, f"{100 * weight:.0f}", fontsize=10.5, color=GREY, **look)


def _arc(
    ax: Axes, start: tuple[float, float, float], end: tuple[float, float, float], weight: float
) -> None:
    """From the top of a word to the top of one in its line, or to the foot of one in another."""
    (x0, y0, _), (x1, y1, _) = start, end
    top = HEIGHT / 2 + 0.02
    if y0 == y1:
        rise = min(0.62, 0.22 + 0.1 * abs(x1 - x0))
        points = [(x0, y0 + top), (x0, y0 + top + rise), (x1, y1 + top + rise), (x1, y1 + top)]
    else:
        foot = y1 - HEIGHT / 2 - 0.2
        middle = (foot - y0 - top) * 0.6
        points = [(x0, y0 + top), (x0, y0 + top + middle), (x1, foot - middle), (x1, foot)]
    path = Path(points, [Path.MOVETO, *[Path.CURVE4] * 3])
    look = {"fc": "none", "ec": BLUE, "capstyle": "round", "zorder": 2}
    ax.add_patch(PathPatch(path, lw=0.8 + 7 * weight, alpha=0.35 + 0.6 * weight, **look))
