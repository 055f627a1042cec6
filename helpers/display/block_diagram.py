"""One transformer block as a picture: the residual stream, its branches, a shape on every arrow.

The pictures know no model. Names and shapes are the caller's, best those of a real forward pass
(``helpers.models.shapes.record_shapes``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Polygon

from helpers.display.palette import BLUE, GREEN, GREY, INK, PURPLE, VERMILION

# A step of a sub-layer: what it is called, and the shape of what it hands on, in numbers or words.
Step = tuple[str, Any]

STREAM, NORM, SUB_LAYERS = GREY, GREEN, (BLUE, VERMILION, PURPLE)
# Lengths in inches: from a fork or an addition to the next box, from box to box, a box's height.
_ENDS, _STEP, _HEIGHT = 0.68, 0.95, 0.46


def pre_norm_picture(
    stream: str | Sequence[int],
    sub_layers: Sequence[Sequence[Step]],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A block whose sub-layers read a normalized copy of the stream: x <- x + f(norm(x)).

    Drawn from bottom to top. The norms stand on the branches, so what enters at the bottom is
    only added to until it leaves at the top.

    Example::

        pre_norm_picture(
            (1, 5, 8),
            [
                [("norm", (1, 5, 8)), ("attention", (1, 5, 8))],
                [("norm", (1, 5, 8)), ("W1, GELU", (1, 5, 32)), ("W2", (1, 5, 8))],
            ],
        )

    Args:
        stream: the shape of what enters, (B, T, D), or words.
        sub_layers: for each sub-layer its steps in the order of computation, the norm first; each
            step is (name, shape of what it hands on).
        ax: needs about 6 x 8 inches; two such pictures side by side, figsize=(12, 8).

    Raises:
        ValueError: no sub-layer, one of fewer than two steps, or one whose output has not the
            stream's shape and could not be added to it.
    """
    picture = _Picture(stream, sub_layers, ax)
    for steps, colour in zip(sub_layers, picture.colours, strict=True):
        picture.branch(steps, [NORM, *[colour] * (len(steps) - 1)])
    return picture.finish(title)


def post_norm_picture(
    stream: str | Sequence[int],
    sub_layers: Sequence[Sequence[Step]],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A block that normalizes after each addition: x <- norm(x + f(x)).

    As ``pre_norm_picture``, but the norm is the last step of each sub-layer, and stands on the
    stream.

    Raises:
        ValueError: see ``pre_norm_picture``; the step before the norm must fit the stream too.
    """
    picture = _Picture(stream, sub_layers, ax)
    for (*steps, norm), colour in zip(sub_layers, picture.colours, strict=True):
        picture.check_fits(*steps[-1])
        picture.branch(steps, [colour] * len(steps))
        picture.norm_on_the_stream(norm[0])
    return picture.finish(title)


class _Picture:
    """The stream at x = 0 and how far up it has been drawn (y); the branches stand to its right."""

    def __init__(self, stream: Any, sub_layers: Sequence[Sequence[Step]], ax: Axes | None) -> None:
        self.stream, self.y = _words(stream), 0.0
        if not sub_layers or min(map(len, sub_layers)) < 2:
            raise ValueError(
                f"The sub-layers have {[len(steps) for steps in sub_layers]} steps; give one "
                "sub-layer or more, each with a norm and at least one other step."
            )
        for steps in sub_layers:
            self.check_fits(*steps[-1])
        longest = max(len(name) for steps in sub_layers for name, _ in steps)
        self.width = max(1.5, 0.3 + 0.115 * longest)  # of a box, for a font of 13 points
        self.x = self.width + 0.55  # where the branches stand
        widest = max(len(_words(shape)) for steps in sub_layers for _, shape in steps)
        self.left = -max(0.4 + 0.115 * len(self.stream), 0.1 + self.width / 2, 0.8)
        self.right = self.x + max(0.1 + self.width / 2, 0.3 + 0.115 * widest)
        height = sum(2 * _ENDS + _STEP * (len(s) - 1) for s in sub_layers) + 0.55 * len(sub_layers)
        if ax is None:
            ax = plt.subplots(figsize=(self.right - self.left, height + 1.2))[1]
        self.ax = ax
        self.colours = [SUB_LAYERS[k % len(SUB_LAYERS)] for k in range(len(sub_layers))]
        self.shape_on_the_stream(self.y + 0.3)
        self.y += 0.55

    def check_fits(self, name: str, shape: str | Sequence[int]) -> None:
        if _words(shape) != self.stream:
            raise ValueError(
                f"{name!r} hands on {_words(shape)}, which cannot be added to the stream of "
                f"{self.stream}: the last step must lead back to the stream's shape."
            )

    def branch(self, steps: Sequence[Step], colours: Sequence[str]) -> None:
        """Leave the stream, pass through the steps and come back in an addition."""
        self.ax.plot([0, self.x], [self.y] * 2, "-", marker="", color=INK, lw=1.6, zorder=0.9)
        bottom, shape = self.y, self.stream
        for k, ((name, handed_on), colour) in enumerate(zip(steps, colours, strict=True)):
            centre = self.y + _ENDS + k * _STEP
            self._arrow((self.x, bottom), (self.x, centre - _HEIGHT / 2), shape)
            self._box(self.x, centre, name, colour)
            bottom, shape = centre + _HEIGHT / 2, _words(handed_on)
        self.y += 2 * _ENDS + (len(steps) - 1) * _STEP
        self.ax.plot([self.x] * 2, [bottom, self.y], "-", marker="", color=INK, lw=1.6, zorder=2)
        self._say(self.x + 0.12, (bottom + self.y) / 2, shape, "left")
        self._arrow((self.x, self.y), (0.19, self.y))
        self.ax.add_patch(Circle((0, self.y), 0.19, fc="white", ec=INK, lw=1.8, zorder=5))
        self.ax.text(0, self.y, "+", ha="center", va="center_baseline", fontsize=18, zorder=6)
        self.shape_on_the_stream(self.y + 0.38)
        self.y += 0.55

    def norm_on_the_stream(self, name: str) -> None:
        self._box(0, self.y + _HEIGHT / 2 + 0.1, name, NORM)
        self.y += _STEP - 0.1
        self.shape_on_the_stream(self.y - 0.12)
        self.y += 0.1

    def shape_on_the_stream(self, y: float) -> None:
        self._say(-0.16, y, self.stream, "right")

    def finish(self, title: str) -> Axes:
        top = self.y + 0.35
        self.ax.plot([0, 0], [-0.1, top - 0.2], "-", marker="", color=STREAM, lw=7, zorder=1)
        self.ax.add_patch(
            Polygon([(-0.17, top - 0.25), (0.17, top - 0.25), (0, top)], color=STREAM, lw=0)
        )
        style = {"ha": "center", "va": "top", "color": STREAM, "fontsize": 13}
        self.ax.text(0, -0.2, "residual stream", **style)
        self.ax.set(
            xlim=(self.left, self.right), ylim=(-0.45, top + 0.05), aspect="equal", title=title
        )
        self.ax.set_axis_off()
        return self.ax

    def _box(self, x: float, y: float, name: str, colour: str) -> None:
        corner = (x - self.width / 2 + 0.08, y - _HEIGHT / 2 + 0.08)
        size = (self.width - 0.16, _HEIGHT - 0.16)
        look = {"boxstyle": "round,pad=0.08", "fc": "white", "ec": colour, "lw": 2.4, "zorder": 3}
        self.ax.add_patch(FancyBboxPatch(corner, *size, **look))
        self.ax.text(x, y, name, ha="center", va="center", color=INK, fontsize=13, zorder=4)

    def _arrow(self, start: tuple[float, float], end: tuple[float, float], shape: str = "") -> None:
        style = {"arrowstyle": "-|>", "color": INK, "lw": 1.6, "mutation_scale": 16}
        self.ax.annotate("", end, start, arrowprops={**style, "shrinkA": 0, "shrinkB": 0})
        if shape:
            self._say(self.x + 0.12, (start[1] + end[1]) / 2, shape, "left")

    def _say(self, x: float, y: float, words: str, side: str) -> None:
        self.ax.text(x, y, words, ha=side, va="center", color=INK, fontsize=13)


def _words(shape: str | Sequence[int]) -> str:
    return shape if isinstance(shape, str) else " × ".join(map(str, shape))
