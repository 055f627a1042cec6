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
        back = plotting._luminance(image.cmap(image.norm(value))) + 0.05
        ink = plotting._luminance(to_rgb(text.get_color())) + 0.05
        assert max(back, ink) / min(back, ink) >= 3.8  # WCAG asks 3 of large text


def test_cells_without_a_value_are_hatched_and_noted():
    ax = heatmap([[np.nan, 1, 2], [-np.inf, 3, np.inf]], missing="never seen", annotate=True)
    assert [patch.get_hatch() for patch in ax.patches] == ["////"] * 3
    assert "hatched: never seen" in ax.get_xlabel()
    assert len(ax.texts) == 3
    assert heatmap([[1.0, 2.0]]).get_xlabel() == "next letter"
    heatmap([[np.nan]], annotate=True).figure.canvas.draw()


def test_thirty_tokens_stay_readable():
    names = [f"token{k}" for k in range(30)]
    ax = heatmap(np.eye(30), names, names)
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert ax.get_yticklabels()[0].get_fontsize() >= 10


@pytest.mark.parametrize(
    ("matrix", "rows", "columns", "message"),
    [
        (np.zeros((0, 3)), [], ["a", "b", "c"], "empty"),
        (np.zeros(3), ["a"], ["a", "b", "c"], "rows and columns"),
        (np.zeros((2, 2)), ["a"], ["a", "b"], "row_labels has 1"),
        (np.zeros((1, 2)), ["a"], ["a"], "column_labels has 1"),
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


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ({}, "at least one curve"),
        ({"a": ([], [])}, "empty"),
        ({"a": ([1, 2], [1])}, "differ in length"),
        ({"a": ([1],)}, "needs"),
    ],
)
def test_curves_refuse_what_does_not_fit(series, message):
    with pytest.raises(ValueError, match=message):
        plotting.curves(series, xlabel="x", ylabel="y")


def test_reference_lines_must_be_finite():
    with pytest.raises(ValueError, match="'floor' needs a finite"):
        plotting.curves({"a": ([1], [1])}, xlabel="x", ylabel="y", floor={"floor": np.inf})


def test_bars_carry_their_values():
    ax = plotting.bars(["a", " ", "c"], [1.0, np.inf, np.nan], xlabel="perplexity")
    assert [text.get_text() for text in ax.texts] == ["1.00", "∞", "no value"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "␣", "c"]
    assert ax.yaxis_inverted()
    assert [patch.get_width() for patch in ax.patches] == [1.0, 0.0, 0.0]


def test_standing_bars_in_groups():
    groups = {"train": [1, 2], "held out": [3, 4]}
    ax = plotting.bars(
        ["a", "b"], groups, xlabel="model", ylabel="bits", horizontal=False, floor={"source": 1}
    )
    assert [patch.get_height() for patch in ax.patches] == [1, 2, 3, 4]
    assert len({patch.get_hatch() for patch in ax.patches}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "held out"]
    assert ax.texts[-1].get_text() == "source"


@pytest.mark.parametrize(("labels", "values"), [([], []), (["a"], []), (["a"], [1, 2])])
def test_bars_refuse_what_does_not_fit(labels, values):
    with pytest.raises(ValueError, match=r"nothing to draw|as many values"):
        plotting.bars(labels, values, xlabel="x")


def test_places_are_moved_apart_as_little_as_possible():
    assert plotting._apart([0, 100], 15) == [0, 100]
    assert plotting._apart([0, 0], 10) == [-5, 5]
    moved = plotting._apart([0, 1, 2, 50], 10)
    assert np.allclose(np.diff(moved)[:2], 10)
    assert np.isclose(np.mean(moved[:3]), 1)
    assert moved[3] == 50


def test_short_logarithmic_axes_carry_plain_numbers():
    ax = plotting.curves({"a": ([256, 4256], [3, 70])}, xlabel="V", ylabel="y", logx=True)
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_xticklabels(which="both")]
    assert "1,000" in labels
    assert not any("10^" in label for label in labels)
