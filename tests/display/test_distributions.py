from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from helpers.display import plotting
from helpers.display.distributions import STATUSES, next_token_bars, speculative_rounds

P = torch.tensor([0.1, 0.4, 0.05, 0.25, 0.2])
LABELS = ["a", " ", "\n", "the", "z"]


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def heights(ax):
    """The three kinds of bars: kept before, removed, after."""
    return [[bar.get_height() for bar in kind] for kind in ax.containers]


def test_bars_stand_in_the_order_of_before_with_all_others_last():
    after = torch.tensor([0.0, 0.8, 0.0, 0.2, 0.0])
    ax = next_token_bars(P, after, LABELS, top=3)
    ax.figure.canvas.draw()
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == ["␣", "the", "z", "2\nothers"]
    stays, gone, new = heights(ax)
    assert np.allclose(stays, [0.4, 0.25, 0, 0])
    assert np.allclose(gone, [0.2, 0.15])
    assert np.allclose(new, [0.8, 0.2, 0, 0])
    assert all(bar.get_hatch() for bar in ax.containers[1])
    assert ax.get_title(loc="left") == "kept: 2 of 5 tokens, with 65.0% of the probability"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["before", "after", "removed"]


def test_nothing_is_removed_and_no_others_are_left():
    ax = next_token_bars(P, P, LABELS, high=0.9)
    assert len(ax.get_xticks()) == 5
    assert heights(ax)[1] == []
    assert ax.get_title(loc="left") == "all 5 tokens kept"
    assert ax.get_ylim() == (0, 0.9)
    assert next_token_bars(P, P, LABELS, high=0.1).get_ylim()[1] > 0.4


def test_a_high_last_bar_is_cut_off_and_says_its_value():
    flat = np.full(50, 0.02)
    ax = next_token_bars(flat, flat, [str(i) for i in range(50)], top=10)
    assert ax.get_ylim()[1] < 0.03
    assert "0.80\n(cut off)" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((P.log(), P, LABELS), "before of shape"),
        ((P, torch.tensor([0.5, 0.5]), LABELS), "after 2"),
    ],
)
def test_what_is_no_distribution_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        next_token_bars(*given)


ROUNDS = [
    [(" the", "accepted"), (" sea", "accepted"), ("\n", "target")],
    [(" extraordinary", "rejected"), (" a", "discarded"), ("z", "target")],
]


def test_rounds_show_every_token_and_count_what_is_new():
    ax = speculative_rounds(ROUNDS)
    shown = [text.get_text() for text in ax.texts]
    for words in (
        "␣the",
        "␣sea",
        "↵",
        "␣extraordinary",
        "z",
        "+3 tokens",
        "+1 token",
    ):
        assert words in shown
    for words, *_ in STATUSES.values():
        assert words in shown
    looks = {(p.get_linestyle(), p.get_facecolor()) for p in ax.patches}
    assert len(looks) == len(STATUSES)
    assert len({sign for _, sign, *_ in STATUSES.values()}) == len(STATUSES)


@pytest.mark.parametrize("token", [" a", " extraordinarily"])
def test_boxes_hold_their_tokens_and_stand_apart(token):
    ax = speculative_rounds([[(token, "accepted")] * 8])
    ax.figure.canvas.draw()
    words = [text.get_window_extent() for text in ax.texts if text.get_text() == "␣" + token[1:]]
    boxes = [patch.get_window_extent() for patch in ax.patches[:8]]
    assert all(b.x0 < w.x0 and w.x1 < b.x1 for b, w in zip(boxes, words))
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert boxes[-1].x1 < ax.figure.bbox.x1
