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
