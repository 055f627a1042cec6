"""Schematic drawings: five that the course needs, what stands where, and what is refused."""

from __future__ import annotations

import base64
import io
from itertools import combinations

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch
from PIL import Image

from helpers.display import drawing, palette
from helpers.display.drawing import HEIGHT, MARGIN, MAX_SIZE, Drawing, Node, animate, words_width
from helpers.display.figures import DPI, figure_output
from helpers.display.palette import FRAME, VERMILION
from helpers.display.plotting import colours_of, course_style, luminance
from staff.notebooks.lesson_rules import FRAME as TIGHT
from tests.display.example_drawings import EXAMPLES, growing_cache, queries_keys_values

DRAWN = [*EXAMPLES, *(lambda k=k: growing_cache(k) for k in (1, 2, 3))]


@pytest.fixture(autouse=True)
def _style():
    with course_style():
        yield


def inches(figure):
    return tuple(figure.get_size_inches())


def extents(d, artists):
    """Where things stand, in the drawing's inches: left, low, right, high of each."""
    d.get_figure().draw_without_rendering()
    back = d.ax.transData.inverted()
    boxes = [artist.get_window_extent().transformed(back) for artist in artists]
    return [(box.x0, box.y0, box.x1, box.y1) for box in boxes]


def extent(d, artist):
    """That of one."""
    return extents(d, [artist])[0]


def arrows(d):
    return [patch for patch in d.ax.patches if isinstance(patch, FancyArrowPatch)]


def words(d):
    return [text.get_text() for text in d.ax.texts]


# --- the five examples ---


@pytest.mark.parametrize("make", DRAWN)
def test_the_examples_fit_a_projector(make):
    d = make()
    width, height = inches(d.get_figure())
    assert 1 < width <= MAX_SIZE[0]
    assert 1 < height <= MAX_SIZE[1]
    png = base64.b64decode(figure_output(d.get_figure())["image/png"])
    stored = np.array(Image.open(io.BytesIO(png)).size) / DPI
    assert (stored <= np.array(MAX_SIZE) + TIGHT).all()


@pytest.mark.parametrize("make", DRAWN)
def test_the_words_of_the_examples_fit_their_boxes(make):
    d = make()
    places = {(node.x, node.y): node for node in d.nodes.values() if node.patch is not None}
    inside = 0
    for text, (left, low, right, high) in zip(d.ax.texts, extents(d, d.ax.texts)):
        node = places.get(text.get_position())
        if node is not None:
            assert left >= node.x - node.width / 2, text
            assert right <= node.x + node.width / 2, text
            assert low >= node.y - node.height / 2, text
            assert high <= node.y + node.height / 2, text
            inside += 1
    assert inside > 4 or make is queries_keys_values  # which has none


@pytest.mark.parametrize("make", DRAWN)
def test_the_boxes_of_the_examples_do_not_overlap(make):
    nodes = {name: node for name, node in make().nodes.items() if node.patch is not None}
    for (a, one), (b, other) in combinations(nodes.items(), 2):
        apart = max(
            abs(one.x - other.x) - (one.width + other.width) / 2,
            abs(one.y - other.y) - (one.height + other.height) / 2,
        )
        assert apart > -1e-9, (a, b)


@pytest.mark.parametrize("make", DRAWN)
def test_nothing_of_the_examples_is_cut_off(make):
    d = make()
    size = np.array(inches(d.get_figure()))
    low = np.array([d.ax.get_xlim()[0], d.ax.get_ylim()[0]])
    artists = [*d.ax.texts, *d.ax.patches]
    for artist, (left, bottom, right, top) in zip(artists, extents(d, artists)):
        assert left >= low[0] - 0.1, artist
        assert bottom >= low[1] - 0.1, artist
        assert right <= low[0] + size[0] + 0.1, artist
        assert top <= low[1] + size[1] + 0.1, artist


# --- the figure ---


def test_the_figure_is_as_large_as_what_is_in_it():
    d = Drawing()
    d.box("a", 0, 0, "", width=2, height=1)
    d.box("b", 3, 2, "", width=1, height=1)
    assert inches(d.get_figure()) == pytest.approx((4.5 + 2 * MARGIN, 3 + 2 * MARGIN))
    assert inches(d.get_figure()) == pytest.approx((4.5 + 2 * MARGIN, 3 + 2 * MARGIN))
    left, low, right, high = extent(d, d.nodes["b"].patch)
    assert (left, low, right, high) == pytest.approx((2.5, 1.5, 3.5, 2.5))
    unit = d.ax.transData.transform((1, 1)) - d.ax.transData.transform((0, 0))
    assert unit == pytest.approx([d.ax.figure.dpi] * 2)  # a unit is an inch


@pytest.mark.parametrize(("x", "y"), [(40, 0), (0, 30), (40, 30)])
def test_what_is_too_large_is_made_smaller_with_its_words(x, y):
    d = Drawing("A title")
    d.box("first", 0, 0)
    d.box("last", x, y)
    figure = d.get_figure()
    width, height = inches(figure)
    assert width <= MAX_SIZE[0] + 1e-9
    assert height <= MAX_SIZE[1] + 1e-9
    size = d.ax.texts[0].get_fontsize()
    assert size < drawing.FONT / 2
    left, _, right, _ = extent(d, d.ax.texts[0])
    assert right - left < d.nodes["first"].width
    assert d.get_figure() is figure
    assert d.ax.texts[0].get_fontsize() == pytest.approx(size)


def test_a_title_stands_above_and_is_not_cut_off():
    d = Drawing("A title that is wider than the drawing")
    d.box("a", 0, 0)
    width, _ = inches(d.get_figure())
    assert width >= words_width("A title that is wider than the drawing")
    _, low, right, _ = extent(d, d.ax.texts[-1])
    assert low > HEIGHT / 2
    assert right <= d.ax.get_xlim()[1]
    assert inches(d.get_figure())[0] == width
    assert words(d) == ["a", "A title that is wider than the drawing"]


def test_an_empty_drawing():
    with pytest.raises(ValueError, match="nothing in this drawing: add a box"):
        Drawing("title").get_figure()


# --- its parts ---


def test_the_sides_of_a_node():
    node = Node(1, 2, 4, 6, None)
    sides = {name: node.side(name) for name in ("left", "right", "top", "bottom")}
    assert sides == {"left": (-1, 2), "right": (3, 2), "top": (1, 5), "bottom": (1, -1)}
    with pytest.raises(ValueError, match="the sides left, right, top, bottom, not 'middle'"):
        node.side("middle")


def test_boxes_are_as_wide_as_their_words():
    d = Drawing()
    short, long = d.box("a", 0, 0), d.box("b", 0, 2, "a box with many words")
    assert (short.width, short.height) == (HEIGHT, HEIGHT)
    assert long.width > words_width("a box with many words")
    circle = d.box("+", 0, 4, kind="circle")
    assert circle.width == circle.height
    assert words(d) == ["a", "a box with many words", "+"]
    d.boxes({"c": (0, 6), "d": (2, 6, "words")}, width=1.5)
    assert (d.nodes["d"].x, d.nodes["d"].width) == (2, 1.5)
    assert words(d)[-2:] == ["c", "words"]


def test_plain_words_have_no_edge_but_arrows_end_before_them():
    d = Drawing()
    d.box("words", 0, 0, kind="plain")
    d.box("b", 3, 0)
    assert len(d.ax.patches) == 1
    d.arrows("words -> b, b -> words")
    d.get_figure().draw_without_rendering()
    for arrow in arrows(d):
        left, _, right, _ = extent(d, arrow)
        assert left >= d.nodes["words"].width / 2 - 0.05
        assert right <= 3 - d.nodes["b"].width / 2 + 0.05


def test_a_band_of_tokens():
    d = Drawing()
    nodes = d.band("w", 1, 2, ["the", " ", "boat"], width=1, marked=[0], hidden=[2])
    assert [(node.x, node.y) for node in nodes] == [(1, 2), (2, 2), (3, 2)]
    assert [d.nodes[f"w{k}"] for k in range(3)] == nodes
    whole = d.nodes["w"]
    assert (whole.x, whole.y, whole.width, whole.height) == (2, 2, 3, HEIGHT)
    assert words(d) == ["the", "␣", "boat"]
    assert [text.get_color() for text in d.ax.texts][2] == FRAME
    grounds = [patch.get_facecolor() for patch in d.ax.patches]
    assert grounds[0] != grounds[1] == grounds[2]
    down = d.band("d", 0, 0, "ab", down=True)
    assert [(node.x, node.y) for node in down] == [(0, 0), (0, -HEIGHT)]
    assert d.nodes["d"].height == pytest.approx(2 * HEIGHT)


def test_a_matrix_of_values():
    d = Drawing()
    values = torch.tensor([[0.0, 1.0, float("nan")], [0.5, 0.25, 0.0]], requires_grad=True)
    look = {"label": "$Q$", "shape": "T × d", "rows": ["a", "b"], "columns": list("xyz")}
    node = d.matrix("m", 1, 2, values, numbers=".2f", cell=0.5, **look)
    assert (node.x, node.y, node.width, node.height) == (1, 2, 1.5, 1.0)
    cells = d.ax.patches[:6]
    corners = [(round(c.get_x(), 9), round(c.get_y(), 9)) for c in cells]
    assert corners[:2] == [(0.25, 2.0), (0.75, 2.0)]  # the first row is the upper one
    assert [bool(cell.get_hatch()) for cell in cells] == [False, False, True, False, False, False]
    paint = colours_of(values.detach())
    assert cells[3].get_facecolor() == pytest.approx(paint(0.5)[0])
    assert words(d) == [
        "0.00",
        "1.00",
        "0.50",
        "0.25",
        "0.00",
        "a",
        "b",
        "x",
        "y",
        "z",
        "$Q$",
        "T × d",
    ]


def test_a_stack_is_joined_from_below():
    d = Drawing()
    nodes = d.stack("g", 1, 0, [("tokens", "T"), "norm", ("output", "T × V")], gap=0.4)
    assert [node.y for node in nodes] == pytest.approx([0, HEIGHT + 0.4, 2 * (HEIGHT + 0.4)])
    assert len({node.width for node in nodes}) == 1
    assert [d.nodes[f"g{k}"] for k in range(3)] == nodes
    assert len(arrows(d)) == 2
    assert sorted(words(d)) == sorted(["tokens", "T", "norm", "output", "T × V"])


def test_frames_and_braces_hold_their_nodes():
    d = Drawing()
    d.boxes({"a": (0, 0), "b": (3, 1)}, width=1)
    d.frame("a b", "one block", pad=0.3)
    left, low, right, high = extent(d, d.ax.patches[-1])
    assert (left, right) == pytest.approx((-0.8, 3.8), abs=0.05)
    assert (low, high) == pytest.approx((-HEIGHT / 2 - 0.3, 1 + HEIGHT / 2 + 0.3), abs=0.05)
    d.brace("a b", "both")
    d.brace("b", "one", above=True)
    below, above = d.ax.lines
    assert max(below.get_ydata()) < -HEIGHT / 2
    assert min(above.get_ydata()) > 1 + HEIGHT / 2
    assert words(d) == ["a", "b", "one block", "both", "one"]


@pytest.mark.parametrize(
    ("side", "dx", "dy"),
    [
        ("middle", 0, 0),
        ("left", -1, 0),
        ("above", 0, 1),
    ],
)
def test_notes_stand_beside_their_point(side, dx, dy):
    d = Drawing()
    d.box("a", 5, 5)
    d.note(1, 2, "words", side=side)
    left, low, right, high = extent(d, d.ax.texts[-1])
    assert np.sign([round(left + right - 2, 1), round(low + high - 4, 1)]).tolist() == [dx, dy]


def test_the_width_of_words():
    assert words_width("") == words_width(" ") == 0.1
    assert words_width("iii") < words_width("WWW") < words_width("WWW", size=28)
    assert words_width("short\na longer line") == words_width("a longer line")
    assert words_width("$x_{t-1}$") < words_width("x_{t-1} as it is written")


# --- arrows ---


def three():
    d = Drawing()
    d.boxes({"a": (0, 0), "b": (3, 0), "c": (3, 3)}, width=1)
    return d


def test_arrows_in_words():
    d = three()
    d.arrows("a -> b: 4 × 8, a => b ~> c: $W_Q$ : d × d, c -- a, a->c")
    looks = [(arrow.get_linewidth(), arrow.get_linestyle()) for arrow in arrows(d)]
    assert [width for width, _ in looks] == [1.6, 3.2, 1.6, 1.6, 1.6]
    assert [style == "-" for _, style in looks] == [True, True, False, True, True]
    assert words(d)[3:] == ["4 × 8", "$W_Q$ : d × d"]
    strong = Drawing()
    strong.box("v", 0, 0, colour=VERMILION)
    assert arrows(d)[1].get_edgecolor() == strong.ax.patches[0].get_edgecolor()


def test_an_arrow_ends_at_the_edges_of_its_nodes():
    d = three()
    d.arrow("a", "b")
    d.arrow("a.top", "c.left", bend=0.3)
    d.arrow((0, 2), "c", "label", at=0.25)
    plain, bent, free = arrows(d)
    left, _, right, _ = extent(d, plain)
    assert (left, right) == pytest.approx((0.5, 2.5), abs=0.05)
    points = bent.get_path().vertices
    assert points[0] == pytest.approx((0, HEIGHT / 2), abs=0.05)
    assert extent(d, free)[0] == pytest.approx(0, abs=0.05)


def test_a_path_has_corners_and_one_head():
    d = three()
    d.path(["a.right", (1.5, 0), (1.5, 3), "c.left"], "T × D", kind="=>")
    (line,), (arrow,) = d.ax.lines, arrows(d)
    assert list(zip(*line.get_data())) == [(0.5, 0), (1.5, 0), (1.5, 3)]
    assert line.get_linewidth() == arrow.get_linewidth() == 3.2
    assert line.get_color() is not None
    assert words(d)[-1] == "T × D"
    d.path(["a.bottom", (0, -2)])
    assert d.get_figure()
    assert d.ax.get_ylim()[0] == pytest.approx(-2 - MARGIN)


REFUSED = [
    (lambda d: d.box("a", 1, 1), "There is a 'a' already: every part needs a name of its own."),
    (lambda d: d.matrix("m", 0, 0, [1, 2]), r"The matrix 'm' needs rows and columns, not \(2,\)"),
    (lambda d: d.arrow("a", "z"), "There is no 'z' in this drawing; there are: a, b, c."),
    (lambda d: d.arrow("a", "b", kind="=="), "An arrow is one of ->, =>, ~>, --, not '=='."),
    (lambda d: d.arrows("a b"), "'a b' is no arrow: write such as 'a -> b: 3 × 4'."),
    (lambda d: d.path(["a"]), "A path needs two points or more, not 1."),
    (
        lambda d: d.note(0, 0, "words", side="top"),
        "Words stand at one of middle, left, .* not 'top'",
    ),
]


@pytest.mark.parametrize(("add", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(add, message):
    with pytest.raises(ValueError, match=message):
        add(three())


# --- animations ---


def test_an_animation_steps_through_drawings(monkeypatch):
    explored, shown = [], []
    monkeypatch.setattr(drawing, "explore", lambda f, **given: explored.append((f, given)))
    monkeypatch.setattr(drawing, "show", lambda d, caption: shown.append((d.title, caption)))
    animate(growing_cache, 4, "The cache grows.", label="token", description="Move it.")
    ((function, given),) = explored
    assert given["description"] == "Move it."
    step = given["step"]
    assert (step.value, step.min, step.max, step.description) == (0, 0, 3, "token")
    for k in range(4):
        function(step=k)
    assert shown == [(f"step {k + 1}", "The cache grows.") for k in range(4)]


@pytest.mark.parametrize("colour", [*palette.COLOURS, palette.GREY])
def test_words_in_every_colour_can_be_read_on_white(colour):
    d = Drawing()
    d.box("a", 0, 0, "value", colour=colour)
    d.note(0, 1, "a note", colour=colour)
    for words in d.ax.texts:
        assert 1.05 / (luminance(to_rgb(words.get_color())) + 0.05) >= 4.5
