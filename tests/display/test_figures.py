from __future__ import annotations

import base64

import pytest
from matplotlib import pyplot as plt

from helpers.display import figures


def test_without_ipython_the_words_are_printed(capsys):
    figure = plt.figure()
    figures.show(figure, "A  line\nthat rises.")
    figures.say("The answer is **42**.")
    assert capsys.readouterr().out == "Figure. A line that rises.\nThe answer is **42**.\n"
    assert not plt.fignum_exists(figure.number)


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
    with pytest.raises(ValueError, match="nothing to say"):
        figures.say(caption)
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
