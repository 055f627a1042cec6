from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from helpers.display import plotting, spread


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def test_a_band_from_the_least_to_the_largest_around_the_median():
    values = [[4.0, 1.0, 7.0], [2.0, 3.0, 5.0], [3.0, 2.0, 60.0]]
    ax = spread.spread_curves({"a": ((1, 2, 3), values)}, xlabel="step", ylabel="error")
    (line,) = ax.get_lines()
    assert line.get_ydata().tolist() == [3.0, 2.0, 7.0]
    corners = ax.collections[0].get_paths()[0].vertices
    for x, low, high in ((1, 2, 4), (2, 1, 3), (3, 5, 60)):
        at = corners[corners[:, 0] == x, 1]
        assert (at.min(), at.max()) == (low, high)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "error")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a"]


def test_logarithmic_axes_and_a_floor():
    runs = {"a": ((1, 10, 100), np.ones((2, 3)))}
    ax = spread.spread_curves(
        runs, xlabel="x", ylabel="y", floor={"coin": 0.5}, logx=True, logy=True
    )
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert any(0.5 in np.asarray(line.get_ydata()) for line in ax.get_lines())


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0, 2.0]], np.empty((0, 3))])
def test_values_that_are_not_one_row_a_run(values):
    with pytest.raises(ValueError, match="one row a run"):
        spread.spread_curves({"a": ((1, 2, 3), values)}, xlabel="x", ylabel="y")


def test_every_run_is_a_dot_and_the_first_label_is_on_top():
    runs = {"a": [3.0, 1.0, 2.0], "b": [5.0]}
    ax = spread.dots(runs, xlabel="% wrong", reference={"coin": 4.0})
    dots, bar, single, _, coin = ax.get_lines()
    assert dots.get_xdata().tolist() == [3.0, 1.0, 2.0]
    assert len(set(dots.get_ydata())) == 3  # none hides another
    assert list(bar.get_xdata()) == [2.0, 2.0]
    assert (single.get_xdata().tolist(), single.get_ydata().tolist()) == ([5.0], [1.0])
    assert list(coin.get_xdata()) == [4.0, 4.0]
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]


def test_runs_that_failed_are_said_and_hide_no_other():
    values = [[4.0, 1.0, np.inf], [2.0, np.nan, np.inf]]
    ax = spread.spread_curves({"a": ((1, 2, 3), values)}, xlabel="step", ylabel="error")
    assert ax.get_xlabel() == "step\n(3 of 6 values are infinite or missing and not drawn)"
    assert ax.get_lines()[0].get_ydata().tolist() == [3.0, 1.0, None]
    ax = spread.dots({"a": [3.0, np.inf]}, xlabel="error")
    assert ax.get_xlabel() == "error\n(1 of 2 values are infinite or missing and not drawn)"
