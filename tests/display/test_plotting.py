from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from helpers.display import plotting


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def heatmap(matrix, rows=None, columns=None, **options):
    matrix = np.atleast_2d(np.asarray(matrix, dtype=float))
    rows = rows or [f"r{k}" for k in range(matrix.shape[0])]
    columns = columns or [f"c{k}" for k in range(matrix.shape[1])]
    words = {"xlabel": "next letter", "ylabel": "letter", "value_label": "probability"}
    return plotting.heatmap(matrix, rows, columns, **words, **options)


def test_importing_and_the_context_leave_the_settings_alone():
    code = (
        "import matplotlib as mpl; before = dict(mpl.rcParams); "
        "from helpers.display import plotting; assert dict(mpl.rcParams) == before; "
        "cm = plotting.course_style(); cm.__enter__(); "
        "assert mpl.rcParams['image.cmap'] == 'cividis'; "
        "cm.__exit__(None, None, None); assert dict(mpl.rcParams) == before; "
        "plotting.set_style(); assert mpl.rcParams['image.cmap'] == 'cividis'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"MPLBACKEND": "agg"})


def test_every_curve_has_its_own_line_style_and_marker():
    cycle = list(mpl.rcParams["axes.prop_cycle"])
    assert len({entry["marker"] for entry in cycle}) == len(cycle)
    assert len({str(entry["linestyle"]) for entry in cycle}) == len(cycle)
    x = np.arange(300)
    ax = plotting.curves({str(k): (x, x + k) for k in range(7)}, xlabel="step", ylabel="nats")
    lines = ax.get_lines()
    assert len({line.get_marker() for line in lines}) == 7
    assert len({line.get_color() for line in lines}) == 7
    assert len(ax.get_legend().get_texts()) == 7
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "nats")


def test_heatmap_shows_the_matrix_with_rows_from_the_top():
    matrix = torch.tensor([[0.1, 0.9], [0.5, 0.5]], requires_grad=True)
    words = {"xlabel": "x", "ylabel": "y", "value_label": "p"}
    ax = plotting.heatmap(matrix, ["a", " "], ["b", "\n"], **words)
    assert np.allclose(ax.images[0].get_array(), [[0.1, 0.9], [0.5, 0.5]])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "␣"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["b", "↵"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.images[0].colorbar.ax.get_ylabel() == "p"


def test_annotations_stay_readable_on_every_shade():
    ax = heatmap([np.linspace(0, 1, 12)], annotate=".1f")
    image = ax.images[0]
    assert [text.get_text() for text in ax.texts[:2]] == ["0.0", "0.1"]
    for value, text in zip(np.linspace(0, 1, 12), ax.texts):
        back = plotting.luminance(image.cmap(image.norm(value))) + 0.05
        ink = plotting.luminance(to_rgb(text.get_color())) + 0.05
        assert max(back, ink) / min(back, ink) >= 3.8  # WCAG asks 3 of large text


def test_cells_without_a_value_are_hatched_and_noted():
    ax = heatmap([[np.nan, 1, 2], [-np.inf, 3, np.inf]], missing="never seen", annotate=True)
    assert [patch.get_hatch() for patch in ax.patches] == ["////"] * 3
    assert "hatched: never seen" in ax.get_xlabel()
    assert len(ax.texts) == 3
    assert heatmap([[1.0, 2.0]]).get_xlabel() == "next letter"
    heatmap([[np.nan]], annotate=True).figure.canvas.draw()


@pytest.mark.parametrize(
    ("matrix", "rows", "columns", "message"),
    [
        (np.zeros((0, 3)), [], ["a", "b", "c"], "empty"),
        (np.zeros((2, 2)), ["a"], ["a", "b"], "row_labels has 1"),
    ],
)
def test_heatmap_refuses_what_does_not_fit(matrix, rows, columns, message):
    with pytest.raises(ValueError, match=message):
        plotting.heatmap(matrix, rows, columns, xlabel="", ylabel="", value_label="")


def test_curves_leave_gaps_and_say_so():
    series = {"model": ([1, 2, 3], [1.0, np.inf, 2.0], [0.1, 0.1, 0.1])}
    ax = plotting.curves(series, xlabel="n", ylabel="bits", logx=True, logy=True)
    assert np.isnan(ax.get_lines()[0].get_ydata()[1])
    assert "1 of 3 values" in ax.get_xlabel()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_legend() is None
    ax.figure.canvas.draw()


def test_floors_are_named_at_their_lines_without_overlap():
    floor = {"source": 1.5, "uniform": 1.51, "unigram": 1.505}
    ax = plotting.curves({"m": ([1, 2], [1, 5])}, xlabel="n", ylabel="bits", floor=floor)
    ax.figure.canvas.draw()
    assert [line.get_ydata()[0] for line in ax.get_lines()[1:]] == [1.5, 1.505, 1.51]
    boxes = [text.get_window_extent() for text in ax.texts]
    assert [text.get_text() for text in ax.texts] == ["source", "unigram", "uniform"]
    assert boxes[0].y1 <= boxes[1].y1 <= boxes[2].y1
    assert boxes[0].y1 - 2 <= boxes[1].y0
    assert boxes[1].y1 - 2 <= boxes[2].y0


def test_a_reference_line_outside_the_limits_makes_no_giant_figure():
    figure, ax = plt.subplots()
    ax.set_ylim(1.90001, 1.9)  # as after a training that has hardly begun
    plotting.reference_lines(ax, {"Kneser-Ney": 1.5, "here": 1.900005})
    assert [text.get_text() for text in ax.texts] == ["here"]
    assert figure.get_tightbbox().height < 2 * figure.get_figheight()


def test_bars_carry_their_values():
    ax = plotting.bars(["a", " ", "c"], [1.0, np.inf, np.nan], xlabel="perplexity")
    assert [text.get_text() for text in ax.texts] == ["1.00", "∞", "no value"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "␣", "c"]
    assert ax.yaxis_inverted()
    assert [patch.get_width() for patch in ax.patches] == [1.0, 0.0, 0.0]


def test_bars_in_groups():
    groups = {"train": [1, 2], "held out": [3, 4]}
    ax = plotting.bars(["a", "b"], groups, xlabel="bits", floor={"source": 1})
    assert [patch.get_width() for patch in ax.patches] == [1, 2, 3, 4]
    assert len({patch.get_hatch() for patch in ax.patches}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "held out"]
    assert ax.texts[-1].get_text() == "source"


def test_short_logarithmic_axes_carry_plain_numbers():
    ax = plotting.curves({"a": ([256, 4256], [3, 70])}, xlabel="V", ylabel="y", logx=True)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_xticklabels(which="both")]
    assert "1,000" in labels
    assert not any("10^" in label for label in labels)


# --- matrices with both signs, side by side, and cell by cell ---


def colours(ax):
    """The name of the colours of a heatmap, and the ends of their scale."""
    image = ax.images[0]
    return (image.get_cmap().name, *image.get_clim())


@pytest.mark.parametrize(
    ("matrix", "options", "wanted"),
    [
        ([[0.0, 1.0]], {}, (plotting.STEADY, 0, 1)),
        ([[-1.0, 3.0]], {}, (plotting.SIGNED, -3, 3)),
        ([[-4.0, np.inf, 1.0]], {}, (plotting.SIGNED, -4, 4)),
        ([[np.nan]], {}, (plotting.STEADY, 0, 1)),
    ],
)
def test_zero_is_in_the_middle_of_a_matrix_with_both_signs(matrix, options, wanted):
    assert colours(heatmap(matrix, **options)) == wanted


def heatmaps(panels, rows=("a", "b"), columns=("c", "d", "e"), **options):
    words = {"xlabel": "key", "ylabel": "query", "value_label": "weight"}
    return plotting.heatmaps(panels, rows, columns, **words, **options)


def test_panels_share_one_scale_and_one_bar():
    one, two = np.arange(6.0).reshape(2, 3), torch.full((2, 3), 0.5, requires_grad=True)
    figure = heatmaps({"first": one, "second": two}, annotate=".1f")
    figure.canvas.draw()
    left, right = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in (left, right)] == ["first", "second"]
    assert colours(left) == colours(right) == (plotting.STEADY, 0, 5)
    assert len(figure.axes) == 3  # with one bar
    assert right.images[0].colorbar.ax.get_ylabel() == "weight"
    assert (left.get_ylabel(), right.get_ylabel(), right.get_xlabel()) == ("query", "", "key")
    assert [text.get_text() for text in right.texts] == ["0.5"] * 6


@pytest.mark.parametrize(
    ("first", "second", "options", "wanted"),
    [
        ([[-1.0]], [[3.0]], {}, (plotting.SIGNED, -3, 3)),
        ([[1.0]], [[0.0]], {"high": 0.4}, (plotting.STEADY, 0, 0.4)),
    ],
)
def test_the_scale_of_panels(first, second, options, wanted):
    figure = heatmaps({"1": first, "2": second}, ["a"], ["b"], **options)
    for ax in figure.axes:
        if ax.images:
            assert colours(ax) == wanted
    figure.canvas.draw()


@pytest.mark.parametrize("number", [1, 2, 8])
def test_panels_fit_a_projector(number):
    names = [f"token{k}" for k in range(20)]
    figure = heatmaps({str(k): np.eye(20) for k in range(number)}, names, names)
    width, height = figure.get_size_inches()
    assert width <= 13
    assert height <= 6


def test_the_colours_of_cells_grow_with_the_value():
    paint = plotting.colours_of([[0.0, 1.0], [np.nan, np.inf]])
    shades = [plotting.luminance(paint(value)[0]) for value in np.linspace(0, 1, 11)]
    assert all(before > after for before, after in pairwise(shades))
    assert paint(0)[1] == "black"
    assert paint(1)[1] == "white"
    assert paint(np.nan) == paint(np.inf) == (plotting.LIGHTEST, plotting.GREY)


# --- legends, and points at discrete positions ---


def covered(ax):
    """Whether the legend of axes lies over them."""
    ax.figure.draw_without_rendering()
    return ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def axes(draw, **legend):
    ax = plt.subplots()[1]
    draw(ax)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="center", **legend)
    return ax


COVERED = {
    "a line": lambda ax: ax.plot([0, 1], [0, 1], marker="", label="x"),
    "points": lambda ax: ax.plot([0.1, 0.5], [0.9, 0.5], "o", linestyle="", label="x"),
    "a reference line": lambda ax: (ax.plot([0], [0], label="x"), ax.axhline(0.5)),
    "a band": lambda ax: (ax.fill_between([0, 1], 0.1, 0.9), ax.plot([0], [0], label="x")),
    "a band in pieces": lambda ax: (
        ax.fill_between([0, 0.2, 0.3, 1], 0.1, 0.9, where=[True, True, False, True]),
        ax.fill_between([0, 0.1, 0.2, 0.4, 1], 0.1, 0.9, where=[True, True, False, True, True]),
        ax.plot([0], [0], label="x"),
    ),
    "a bar": lambda ax: ax.bar([0.5], [0.9], 0.3, label="x"),
    "a cloud": lambda ax: ax.scatter([0.1, 0.5], [0.1, 0.5], label="x"),
    "one point": lambda ax: ax.scatter([0.5], [0.5], label="x"),
    "error bars": lambda ax: (ax.vlines([0.5], 0, 1), ax.plot([0], [0], label="x")),
}
FREE = {
    "a line": lambda ax: ax.plot([0, 1], [0, 0.1], marker="", label="x"),
    "a hidden line": lambda ax: ax.plot([0, 1], [0, 1], visible=False, label="x"),
    "points": lambda ax: ax.plot([0, 1], [0, 1], "o", linestyle="", label="x"),
    "a band": lambda ax: (ax.fill_between([0, 1], 0, 0.1), ax.plot([0], [0], label="x")),
    "a bar": lambda ax: ax.bar([0.5], [0.2], 0.3, label="x"),
    "a cloud": lambda ax: ax.scatter([0, 1], [0, 1], label="x"),
    "one point": lambda ax: ax.scatter([0.1], [0.1], label="x"),
    "error bars": lambda ax: (ax.vlines([0.1], 0, 1), ax.plot([0], [0], label="x")),
}


@pytest.mark.parametrize("kind", COVERED)
def test_a_legend_that_covers_something_is_moved(kind):
    ax = axes(COVERED[kind])
    assert covered(ax)
    plotting.uncover(ax.figure)
    assert not covered(ax)


@pytest.mark.parametrize("kind", FREE)
def test_a_legend_that_covers_nothing_stays(kind):
    ax = axes(FREE[kind])
    legend = ax.get_legend()
    plotting.uncover(ax.figure)
    assert ax.get_legend() is legend


def test_a_moved_legend_keeps_its_words_and_stands_above_all_others():
    ax = axes(
        lambda ax: [ax.plot([0, 1], [0, 1], label=name) for name in ("first", "second")],
        title="model",
    )
    ax.set_title("A title")
    note = ax.annotate("floor", (0.5, 1), xytext=(0, 30), textcoords="offset points")
    plotting.uncover(ax.figure)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["first", "second"]
    assert legend.get_title().get_text() == "model"
    box = legend.get_window_extent()
    for other in (ax.title, note):
        assert not box.overlaps(other.get_window_extent()), other
    before = legend
    plotting.uncover(ax.figure)  # nothing is left to do
    assert ax.get_legend() is before


@pytest.mark.parametrize(
    ("x", "all_marked"),
    [
        (range(64), True),
        (range(65), False),
        (np.linspace(0, 1, 15), True),
        (np.linspace(0, 1, 16), False),
    ],
)
def test_every_point_is_marked_at_discrete_positions(x, all_marked):
    ax = plotting.curves({"a": (x, np.zeros(len(x)))}, xlabel="position", ylabel="bits")
    assert ax.get_lines()[0].get_markevery() == (1 if all_marked else 0.1)
