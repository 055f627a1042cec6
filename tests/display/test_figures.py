from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from matplotlib import pyplot as plt
from PIL import Image

from helpers.display import figures, plotting


def test_without_ipython_the_words_are_printed(capsys):
    figure = plt.figure()
    figures.show(figure, "A  line\nthat rises.")
    figures.say("The answer is **42**.")
    assert capsys.readouterr().out == "Figure. A line that rises.\nThe answer is **42**.\n"
    assert not plt.fignum_exists(figure.number)


def test_a_legend_that_covers_the_data_is_moved(capsys):
    ax = plt.subplots()[1]
    ax.plot([0, 1], [0, 1], label="a line")
    ax.legend(loc="center")
    figures.show(ax, "A line.")
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_axes_stand_for_their_figure(capsys):
    ax = plt.subplots()[1]
    figures.show(ax, "Empty axes.")
    assert "Empty axes." in capsys.readouterr().out
    assert not plt.get_fignums()


@pytest.mark.parametrize("caption", ["", " \n "])
def test_a_figure_needs_a_caption(caption):
    figure = plt.figure()
    with pytest.raises(ValueError, match="caption"):
        figures.show(figure, caption)
    plt.close(figure)


def test_only_figures_are_shown():
    with pytest.raises(TypeError, match="list"):
        figures.show([1, 2], "A list.")


def test_the_output_is_a_png():
    figure = plt.figure(figsize=(2, 1))
    png = base64.b64decode(figures.figure_output(figure)["image/png"])
    plt.close(figure)
    assert png.startswith(b"\x89PNG\r\n")
    assert figures.caption_output("Seen.")["text/markdown"] == "**Figure.** Seen."


def test_the_stored_colours_are_those_of_the_plot():
    """256 colours: every pixel of a map of colours stays close to what was drawn."""
    with plotting.course_style():
        ax = plotting.heatmap(
            np.linspace(0, 1, 400).reshape(20, 20),
            [""] * 20,
            [""] * 20,
            xlabel="x",
            ylabel="y",
            value_label="v",
        )
        drawn = io.BytesIO()
        ax.figure.savefig(drawn, format="png")
        plt.close(ax.figure)
    stored = figures.with_few_colours(drawn.getvalue())
    both = [np.asarray(Image.open(f).convert("RGB"), int) for f in (drawn, io.BytesIO(stored))]
    difference = np.abs(both[0] - both[1]).max(-1)
    assert difference.mean() < 3
    assert np.quantile(difference, 0.999) < 20
    assert len(stored) < 0.8 * len(drawn.getvalue())
