from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

from helpers.display import diagrams


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def arrows(ax) -> list:
    return [text for text in ax.texts if not text.get_text()]


def test_many_to_one():
    ax = diagrams.unrolled(["a", "b", "c"], [None, None, "yes"], title="many to one")
    assert words(ax) == ["$h_{1}$", "a", "$h_{2}$", "b", "$h_{3}$", "c", "yes"]
    assert len(arrows(ax)) == 3 + 2 + 1  # inputs, the state, one output
    assert ax.get_title() == "many to one"


def test_one_entry_a_step():
    with pytest.raises(ValueError, match="2 inputs and 1 outputs"):
        diagrams.unrolled(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="0 inputs"):
        diagrams.unrolled([], [])


def test_the_path_between_two_words_is_counted_and_drawn_thick():
    figure = diagrams.information_flow(list("abcde"), source=1, target=4)
    recurrence, attention = figure.axes
    assert "4 steps" in recurrence.get_title()
    assert "1 step," in attention.get_title()
    thick = [a for a in arrows(recurrence) if a.arrow_patch.get_linewidth() > 3]
    assert len(thick) == 4  # into h_2, and on to h_5
    assert len([a for a in arrows(attention) if a.arrow_patch.get_linewidth() > 3]) == 1
    assert len(arrows(attention)) == 5 * 6 / 2  # every place sees itself and all before it


@pytest.mark.parametrize(("source", "target"), [(2, 2), (3, 1), (-1, 2), (0, 5)])
def test_words_that_are_not_there(source, target):
    with pytest.raises(ValueError, match="source"):
        diagrams.information_flow(list("abcde"), source, target)
