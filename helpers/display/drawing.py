"""Schematic drawings: boxes, arrows with shapes on them, matrices, bands of tokens, stacks.

One style for all notebooks, which can be read in grey and from the back of a room. A unit is an
inch, x grows to the right and y upwards. Everything has a name, and arrows join names::

    d = Drawing()
    d.band("w", 0, 0, ["the", "old", "net"])
    d.box("h", 1.2, 1.2, "$h$", colour=BLUE)
    d.arrows("w0 -> h, w1 -> h: 4 × 8, w2 ~> h")
    show(d, "Two words enter; the third is left out.")

In ``arrows`` the sign says how the arrow looks: ``->`` plain, ``=>`` thick and coloured, ``~>``
dashed, ``--`` without a head. ``a -> b -> c`` is a chain, what follows a colon stands beside the
arrow, and ``a.top``, ``a.left`` and so on are points on the edge of a node. ``animate`` steps
through drawings with a slider; the first is stored, for readers without a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, Rectangle
from matplotlib.textpath import TextPath

from helpers.display.figures import show
from helpers.display.palette import FRAME, GREY, INK, LIGHTEST, PALEST_BLUE, VERMILION, WHITE
from helpers.display.plotting import array_of, colours_of, course_style, luminance
from helpers.display.signs import visible
from helpers.display.widgets import explore, slider

FONT = 14
HEIGHT = 0.56  # of a box
MARGIN = 0.12  # around the drawing
MAX_SIZE = (13.0, 6.0)  # inches that fit a projector
_SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, 1), "bottom": (0, -1)}
_KINDS = ("->", "=>", "~>", "--")  # of arrows
_PLACES = ("middle", "left", "right", "above", "below", "above left", "above right", "below left",
           "below right")  # fmt: skip
_ARROW = re.compile(rf"\s*({'|'.join(_KINDS)})\s*")

Point = tuple[float, float]


@dataclass(frozen=True)
class Node:
    """Something with a name that arrows lead to: its middle, its size, and its outline."""

    x: float
    y: float
    width: float
    height: float
    patch: Patch | None

    def side(self, name: str) -> Point:
        """The middle of its left, right, top or bottom edge.

        Raises:
            ValueError: it has no such edge.
        """
        if name not in _SIDES:
            raise ValueError(f"A node has the sides {', '.join(_SIDES)}, not {name!r}.")
        dx, dy = _SIDES[name]
        return self.x + dx * self.width / 2, self.y + dy * self.height / 2


class Drawing:
    """A picture that grows as things are added; its figure is as large as what is in it.

    Whatever is added raises a ValueError, in one sentence, where a name is taken or unknown, or
    where there is nothing to add.
    """

    def __init__(self, title: str = "") -> None:
        self.nodes: dict[str, Node] = {}
        with course_style():
            figure = Figure(figsize=(1, 1), layout="none")
            self.ax: Axes = figure.add_axes((0, 0, 1, 1))
        self.ax.set_axis_off()
        self.title = title
        self._low, self._high = np.full(2, np.inf), np.full(2, -np.inf)
        self._scale = 1.0

    def box(
        self,
        name: str,
        x: float,
        y: float,
        text: str | None = None,
        *,
        width: float | None = None,
        height: float = HEIGHT,
        colour: str = INK,
        fill: str = WHITE,
        kind: str = "box",
        size: float = FONT,
    ) -> Node:
        """A box with words in it, its middle at (x, y).

        Args:
            name: by which arrows find it.
            text: its name, if left out; formulas in dollars.
            width: as wide as the words need, if left out.
            colour: of its edge and its words.
            kind: "box", "circle" (for operations), or "plain" (words without an edge).
        """
        text = name if text is None else text
        patch: Patch | None = None
        if kind == "circle":
            width = height = 0.44
            patch = Circle((x, y), width / 2, fc=fill, ec=colour, lw=2.0, zorder=3)
        else:
            width = max(words_width(text, size) + 0.28, height) if width is None else width
            if kind == "box":
                patch = _rounded(x, y, width, height, fc=fill, ec=colour, lw=2.2, zorder=3)
        if patch is not None:
            self.ax.add_patch(patch)
        self._words(x, y, text, size, colour if kind != "plain" else INK)
        return self._add(name, Node(x, y, width, height, patch))

    def boxes(self, places: Mapping[str, tuple[Any, ...]], **look: Any) -> None:
        """Many boxes: name -> (x, y) or (x, y, text); ``look`` as for ``box``."""
        for name, place in places.items():
            self.box(name, *place, **look)

    def band(
        self,
        name: str,
        x: float,
        y: float,
        tokens: Sequence[str],
        *,
        width: float | None = None,
        height: float = HEIGHT,
        marked: Sequence[int] = (),
        hidden: Sequence[int] = (),
        colour: str = INK,
        down: bool = False,
        size: float = FONT,
    ) -> list[Node]:
        """Tokens side by side (or, ``down``, below each other), the first one's middle at (x, y).

        They are nodes called ``name0``, ``name1``, and so on, and ``name`` is the whole band.

        Args:
            width: of each token; as wide as the widest one needs, if left out.
            marked: indices of tokens on a coloured ground.
            hidden: indices of tokens that are pale.
        """
        shown = [visible(token) if not token.strip() else token for token in tokens]
        width = max(words_width(t, size) for t in shown) + 0.22 if width is None else width
        width = max(width, 0.36)
        nodes = []
        for k, token in enumerate(shown):
            at = (x, y - k * height) if down else (x + k * width, y)
            ground = PALEST_BLUE if k in marked else WHITE
            patch = Rectangle(
                (at[0] - width / 2, at[1] - height / 2), width, height, fc=ground, ec=colour, lw=1.4
            )
            self.ax.add_patch(patch).set_zorder(3)
            ink = FRAME if k in hidden else INK
            self._words(*at, token, size, ink, weight="bold" if k in marked else "normal")
            nodes.append(self._add(f"{name}{k}", Node(*at, width, height, patch)))
        first, last = nodes[0], nodes[-1]
        whole = Node(
            (first.x + last.x) / 2,
            (first.y + last.y) / 2,
            abs(last.x - first.x) + width,
            abs(last.y - first.y) + height,
            None,
        )
        self._add(name, whole)
        return nodes

    def matrix(
        self,
        name: str,
        x: float,
        y: float,
        values: Any,
        *,
        label: str = "",
        shape: str = "",
        cell: float = 0.3,
        numbers: str = "",
        high: float | None = None,
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        colour: str = "",
    ) -> Node:
        """A matrix as cells, its middle at (x, y).

        Args:
            values: (rows, columns) numbers that colour the cells, NaN for hatched ones; or the
                number of rows and columns, such as (4, 3), for cells without values.
            label: stands above it, such as "$Q$"; shape: below it, such as "T × d".
            cell: the side of a cell in inches.
            numbers: a format such as ".2f" writes the values into the cells.
            high: the value of the darkest colour; the largest one, if left out.
            rows, columns: words beside the rows and above the columns.
            colour: of its edge and its label; all cells get a pale tint of it, whatever they hold.
        """
        plain = isinstance(values, tuple) and all(isinstance(size, int) for size in values)
        table = np.zeros(values) if plain else array_of(values, f"the matrix {name!r}")
        if table.ndim != 2 or not table.size:
            raise ValueError(f"The matrix {name!r} needs rows and columns, not {table.shape}.")
        n, m = table.shape
        left, top = x - m * cell / 2, y + n * cell / 2
        paint = colours_of(table, high)
        for i, j in np.ndindex(n, m):
            corner = (left + j * cell, top - (i + 1) * cell)
            ground, ink = (PALEST_BLUE, INK) if plain else paint(table[i, j])
            ground, ink = (_pale(colour), INK) if colour else (ground, ink)
            hatch = "/////" if np.isnan(table[i, j]) else ""
            self.ax.add_patch(
                Rectangle(corner, cell, cell, fc=ground, ec=GREY, lw=0.9, hatch=hatch, zorder=3)
            )
            if numbers and not np.isnan(table[i, j]):
                middle = (corner[0] + cell / 2, corner[1] + cell / 2)
                self._words(*middle, format(table[i, j], numbers), 24 * cell + 2, ink)
        patch = Rectangle((left, top - n * cell), m * cell, n * cell, fc="none", lw=1.8)
        patch.set_edgecolor(colour or INK)
        self.ax.add_patch(patch).set_zorder(3)  # as its cells: what is drawn later covers it
        for i, word in enumerate(rows):
            self.note(left - 0.08, top - (i + 0.5) * cell, word, side="left", size=12)
        for j, word in enumerate(columns):
            self.note(left + (j + 0.5) * cell, top + 0.05, word, side="above", size=12)
        if label:
            above = top + (0.3 if columns else 0.05)
            self.note(x, above, label, side="above", size=FONT + 2, colour=colour or INK)
        if shape:
            self.note(x, top - n * cell - 0.05, shape, side="below", size=12)
        return self._add(name, Node(x, y, m * cell, n * cell, patch))

    def stack(
        self,
        name: str,
        x: float,
        y: float,
        steps: Sequence[str | tuple[str, str]],
        *,
        width: float | None = None,
        gap: float = 0.42,
        colour: str = INK,
        fill: str = WHITE,
    ) -> list[Node]:
        """Boxes above each other, the lowest at (x, y), with an arrow from each to the next.

        They are nodes called ``name0``, ``name1``, and so on.

        Args:
            steps: what stands in them, from below; (words, shape) writes a shape beside the arrow
                that leaves the box upwards.
        """
        pairs = [(step, "") if isinstance(step, str) else step for step in steps]
        width = max(words_width(text) for text, _ in pairs) + 0.28 if width is None else width
        nodes = []
        for k, (text, shape) in enumerate(pairs):
            at = y + k * (HEIGHT + gap)
            look = {"width": width, "colour": colour, "fill": fill}
            nodes.append(self.box(f"{name}{k}", x, at, text, **look))
            if k:
                self.arrow(f"{name}{k - 1}", f"{name}{k}", pairs[k - 1][1])
            if shape and k == len(pairs) - 1:
                self.note(x, at + HEIGHT / 2 + 0.04, shape, side="above", size=12)
        return nodes

    def arrow(
        self,
        start: str | Point,
        end: str | Point,
        label: str = "",
        *,
        bend: float = 0.0,
        kind: str = "->",
        colour: str | None = None,
        at: float = 0.5,
    ) -> None:
        """An arrow between nodes, edges of nodes (``"a.top"``) or points.

        Args:
            label: stands beside it: a shape, as a rule.
            bend: how far it leaves the straight line, as a share of its length.
            kind: see the module.
            at: where on its way the label stands, 0 to 1.
        """
        if kind not in _KINDS:
            raise ValueError(f"An arrow is one of {', '.join(_KINDS)}, not {kind!r}.")
        (p, before), (q, after) = self._end(start), self._end(end)
        strong = kind == "=>"
        look = {
            "arrowstyle": "-" if kind == "--" else "-|>",
            "linestyle": (0, (4, 3)) if kind == "~>" else "-",
            "color": colour or (VERMILION if strong else INK),
            "lw": 3.2 if strong else 1.6,
            "mutation_scale": 20 if strong else 15,
            "connectionstyle": f"arc3,rad={bend}",
            "zorder": 2,
        }
        patches = {"patchA": before, "patchB": after, "shrinkA": 0, "shrinkB": 0}
        self.ax.add_patch(FancyArrowPatch(p, q, **patches, **look))
        for share in (0.0, 0.25, 0.5, 0.75, 1.0) if bend else (0.0, 1.0):
            self._reach(*_on_arc(p, q, bend, share))
        if label:
            self._label(p, q, label, bend, at)

    def arrows(self, words: str, **look: Any) -> None:
        """Arrows in words, "a -> b: shape, b => c"; ``look`` as for ``arrow``."""
        for chain in words.split(","):
            route, _, label = chain.partition(":")
            parts = _ARROW.split(route.strip())
            if len(parts) < 3:
                raise ValueError(f"{chain.strip()!r} is no arrow: write such as 'a -> b: 3 × 4'.")
            names, kinds = parts[::2], parts[1::2]
            for k, kind in enumerate(kinds):
                last = label.strip() if k == len(kinds) - 1 else ""
                self.arrow(names[k], names[k + 1], last, kind=kind, **look)

    def path(
        self, points: Sequence[str | Point], label: str = "", *, kind: str = "->", **look: Any
    ) -> None:
        """A line with corners through points or edges of nodes, with a head at its end."""
        if len(points) < 2:
            raise ValueError(f"A path needs two points or more, not {len(points)}.")
        ends = [self._end(point)[0] for point in points]
        style = {"color": look.pop("colour", INK), "lw": 3.2 if kind == "=>" else 1.6, **look}
        dashes = (0, (4, 3)) if kind == "~>" else "-"
        x, y = zip(*ends[:-1], strict=True)
        self.ax.plot(x, y, linestyle=dashes, marker="", zorder=2, solid_joinstyle="round", **style)
        self.arrow(ends[-2], points[-1], kind=kind, colour=style["color"])
        for point in ends:
            self._reach(*point)
        if label:
            middle = len(ends) // 2
            self._label(ends[middle - 1], ends[middle], label, 0.0, 0.5)

    def joint(self, x: float, y: float) -> None:
        """A dot where wires meet, to say that they are joined."""
        self.ax.add_patch(Circle((x, y), 0.055, fc=INK, ec=INK, lw=0, zorder=2.6))
        self._reach(x, y)

    def hop(self, x: float, y: float, radius: float = 0.11) -> None:
        """A bow at the crossing of an upright wire and a level one, to say that they do not join.

        Both wires must have been drawn.
        """
        look = {"linestyle": "-", "marker": "", "solid_capstyle": "butt"}
        self.ax.plot([x, x], [y - radius, y + radius], color=WHITE, lw=4.5, zorder=2.2, **look)
        level = [x - 0.4 * radius, x + 0.4 * radius]  # what the white has covered, no more
        self.ax.plot(level, [y, y], color=INK, lw=1.6, zorder=2.3, **look)
        angle = np.linspace(-np.pi / 2, np.pi / 2, 30)
        bow = x + radius * np.cos(angle), y + radius * np.sin(angle)
        self.ax.plot(*bow, color=INK, lw=1.6, zorder=2.4, **look)
        self._reach(x + radius, y + radius)

    def frame(self, names: str, label: str = "", *, colour: str = GREY, pad: float = 0.2) -> None:
        """A dashed frame around some nodes ("a b c"), with words at its upper left corner."""
        left, low, right, high = self._around(names, pad)
        look = {"fc": LIGHTEST, "ec": colour, "lw": 1.4, "ls": (0, (5, 3)), "zorder": 0.5}
        self.ax.add_patch(
            _rounded((left + right) / 2, (low + high) / 2, right - left, high - low, **look)
        )
        for corner in ((left, low), (right, high)):
            self._reach(*corner)
        if label:
            self.note(left + 0.06, high + 0.02, label, side="above right", size=12, colour=colour)

    def brace(self, names: str, label: str, *, above: bool = False, colour: str = GREY) -> None:
        """A bracket below (or above) some nodes, with words in its middle."""
        left, low, right, high = self._around(names)
        left, right = left + 0.04, right - 0.04
        edge, sign = (high, 1) if above else (low, -1)
        y, tip = edge + sign * 0.1, edge + sign * 0.22
        look = {"color": colour, "lw": 1.8, "marker": "", "linestyle": "-", "zorder": 3}
        self.ax.plot([left, left, right, right], [y, tip, tip, y], **look)
        self._reach(left, tip)
        side = "above" if above else "below"
        self.note((left + right) / 2, tip + sign * 0.05, label, side=side, colour=colour)

    def note(
        self,
        x: float,
        y: float,
        text: str,
        *,
        side: str = "middle",
        size: float = FONT,
        colour: str = INK,
    ) -> None:
        """Words at a point, or to one side of it: left, right, above, below, above right, ..."""
        if side not in _PLACES:
            raise ValueError(f"Words stand at one of {', '.join(_PLACES)}, not {side!r}.")
        across = "left" if "right" in side else "right" if "left" in side else "center"
        down = "bottom" if "above" in side else "top" if "below" in side else "center"
        look = {"ha": across, "va": down, "fontsize": size, "color": _readable(colour), "zorder": 6}
        self.ax.text(x, y, text, **look)
        lines = text.split("\n")
        width, height = max(words_width(line, size) for line in lines), len(lines) * size / 55
        left = x - {"left": 0.0, "center": width / 2, "right": width}[across]
        low = y - {"bottom": 0.0, "center": height / 2, "top": height}[down]
        self._reach(left, low)
        self._reach(left + width, low + height)

    def get_figure(self) -> Figure:
        """The figure, as large as what is in it; what does not fit a projector is made smaller."""
        if not np.isfinite(self._low).all():
            raise ValueError("There is nothing in this drawing: add a box, a band or a matrix.")
        if self.title:
            self.note(self._low[0], self._high[1] + MARGIN, self.title, side="above right")
            self.title = ""
        low, high = self._low - MARGIN, self._high + MARGIN
        self.ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        size = high - low
        scale = min(1.0, *(np.array(MAX_SIZE) / size))
        for words in self.ax.texts:  # so that they still fit their boxes
            words.set_fontsize(words.get_fontsize() * scale / self._scale)
        self._scale = scale
        self.ax.figure.set_size_inches(size * scale)
        return self.ax.figure

    def _end(self, place: str | Point) -> tuple[Point, Patch | None]:
        """Where an arrow ends, and the outline that cuts it off, if there is one."""
        if not isinstance(place, str):
            return place, None
        name, _, side = place.partition(".")
        node = self._node(name)
        if side:
            return node.side(side), None
        outline = node.patch or Rectangle(
            (node.x - node.width / 2, node.y - node.height / 2), node.width, node.height
        )
        if node.patch is None:
            outline.set_transform(self.ax.transData)
        return (node.x, node.y), outline

    def _node(self, name: str) -> Node:
        if name not in self.nodes:
            raise ValueError(
                f"There is no {name!r} in this drawing; there are: {', '.join(self.nodes)}."
            )
        return self.nodes[name]

    def _around(self, names: str, pad: float = 0.0) -> tuple[float, float, float, float]:
        """Left, low, right and high of what surrounds some nodes ("a b c")."""
        nodes = [self._node(name) for name in names.split()]
        return (
            min(n.x - n.width / 2 for n in nodes) - pad,
            min(n.y - n.height / 2 for n in nodes) - pad,
            max(n.x + n.width / 2 for n in nodes) + pad,
            max(n.y + n.height / 2 for n in nodes) + pad,
        )

    def _label(self, p: Point, q: Point, words: str, bend: float, at: float) -> None:
        (x0, y0), (x1, y1) = p, q
        x, y = _on_arc(p, q, bend, at)
        level, upright = abs(y1 - y0) < 0.3 * abs(x1 - x0), abs(x1 - x0) < 0.3 * abs(y1 - y0)
        if upright:
            self.note(x + 0.08, y, words, side="right", size=12)
        elif level:
            self.note(x, y + 0.05, words, side="above", size=12)
        else:
            self.note(x, y, words, size=12)
            self.ax.texts[-1].set_bbox({"fc": WHITE, "ec": "none", "pad": 1.2})

    def _words(self, x: float, y: float, text: str, size: float, colour: str, **look: Any) -> None:
        look = {"ha": "center", "va": "center", "fontsize": size, "zorder": 5} | look
        self.ax.text(x, y, text, color=_readable(colour), **look)

    def _add(self, name: str, node: Node) -> Node:
        if name in self.nodes:
            raise ValueError(f"There is a {name!r} already: every part needs a name of its own.")
        self.nodes[name] = node
        self._reach(node.x - node.width / 2, node.y - node.height / 2)
        self._reach(node.x + node.width / 2, node.y + node.height / 2)
        return node

    def _reach(self, x: float, y: float) -> None:
        self._low = np.minimum(self._low, (x, y))
        self._high = np.maximum(self._high, (x, y))


def animate(
    draw: Callable[[int], Drawing],
    steps: int,
    caption: str,
    *,
    label: str = "step",
    start: int = 0,
    description: str = "Move the slider to see the next step.",
) -> None:
    """Step through drawings with a slider; the first one is stored for readers without a kernel.

    Args:
        draw: makes the drawing of step 0 .. steps - 1; nothing is kept between them.
        start: the step that is shown at first, and stored.
    """

    def show_step(step: int) -> None:
        show(draw(step), caption)

    explore(show_step, description=description, step=slider(start, 0, steps - 1, label=label))


def words_width(text: str, size: float = FONT) -> float:
    """How wide words are in inches; formulas in dollars are measured as they are drawn."""
    if not text.strip():
        return 0.1
    lines = [TextPath((0, 0), line or " ", size=size) for line in text.split("\n")]
    return max(line.get_extents().width for line in lines) / 72


def _readable(colour: str) -> str:
    """The colour for words on white: darkened to a contrast of 4.5 (WCAG 2, AA). Pale ones, and
    FRAME, in which hidden tokens are written, stay."""
    shade = to_rgb(colour)
    while colour != FRAME and 0.183 < luminance(shade) < 0.5:  # 1.05 / (0.183 + 0.05) is 4.5
        shade = tuple(0.95 * part for part in shade)
        colour = to_hex(shade)
    return colour


def _pale(colour: str) -> tuple[float, ...]:
    """A tint of a colour on which black words can be read."""
    return tuple(0.25 * part + 0.75 for part in to_rgb(colour))


def _on_arc(p: Point, q: Point, bend: float, share: float) -> Point:
    """A point on matplotlib's "arc3", whose control point lies to the right of the way."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    away = 2 * share * (1 - share) * bend
    return p[0] + share * dx + away * dy, p[1] + share * dy - away * dx


def _rounded(x: float, y: float, width: float, height: float, **look: Any) -> FancyBboxPatch:
    style = "round,pad=0,rounding_size=0.1"
    return FancyBboxPatch((x - width / 2, y - height / 2), width, height, boxstyle=style, **look)
