from __future__ import annotations

from itertools import combinations

import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.patches import Circle, FancyBboxPatch
from torch import nn

from helpers.display import block_diagram, plotting
from helpers.models.shapes import record_shapes

ATTENTION = [("norm", (1, 5, 8)), ("attention", (1, 5, 8))]
FEED_FORWARD = [("norm", (1, 5, 8)), ("W1, GELU", (1, 5, 32)), ("W2", (1, 5, 8))]
PRE = [ATTENTION, FEED_FORWARD]
POST = [[*steps[1:], steps[0]] for steps in PRE]
DRAW = [(block_diagram.pre_norm_picture, PRE), (block_diagram.post_norm_picture, POST)]


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def places(ax) -> list[tuple[str, float, float]]:
    """The names and shapes from bottom to top, with where they stand."""
    found = [(text.get_text(), *text.get_position()) for text in ax.texts if text.get_text()]
    return sorted(found, key=lambda item: item[2])


def boxes(ax) -> list[tuple[str, bool]]:
    """The boxes' names from bottom to top, and whether they stand on the stream."""
    names = {"norm", "attention", "W1, GELU", "W2"}
    return [(name, x == 0) for name, x, _ in places(ax) if name in names]


def test_pre_norm_has_its_norms_on_the_branches():
    ax = block_diagram.pre_norm_picture((1, 5, 8), PRE, title="pre-norm")
    names = ["norm", "attention", "norm", "W1, GELU", "W2"]
    assert boxes(ax) == [(name, False) for name in names]
    assert ax.get_title() == "pre-norm"


def test_post_norm_has_its_norms_on_the_stream_after_the_additions():
    ax = block_diagram.post_norm_picture((1, 5, 8), POST)
    assert boxes(ax) == [
        ("attention", False),
        ("norm", True),
        ("W1, GELU", False),
        ("W2", False),
        ("norm", True),
    ]
    stream = [name for name, x, _ in places(ax) if x == 0 and name in ("+", "norm")]
    assert stream == ["+", "norm", "+", "norm"]


@pytest.mark.parametrize(("draw", "sub_layers"), DRAW)
def test_every_arrow_carries_the_shape_that_was_given(draw, sub_layers):
    ax = draw((1, 5, 8), sub_layers)
    shapes = [name for name, x, _ in places(ax) if "×" in name and x > 0]
    # Into each branch the stream's, then what each step on the branch hands on.
    assert sorted(set(shapes)) == ["1 × 5 × 32", "1 × 5 × 8"]
    assert shapes.count("1 × 5 × 32") == 1
    on_branches = sum(map(len, sub_layers)) - (2 if sub_layers is POST else 0)
    assert len(shapes) == 2 + on_branches
    assert sum(isinstance(patch, Circle) for patch in ax.patches) == 2  # the additions


@pytest.mark.parametrize(("draw", "sub_layers"), DRAW)
@pytest.mark.parametrize("name", ["attention", "masked self-attention, 16 heads"])
def test_words_fit_into_their_boxes_and_do_not_overlap(draw, sub_layers, name):
    sub_layers = [
        [(name if word == "attention" else word, shape) for word, shape in steps]
        for steps in sub_layers
    ]
    ax = draw((1, 5, 8), sub_layers)
    ax.figure.canvas.draw()
    texts = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert not any(one.overlaps(other) for one, other in combinations(texts, 2))
    frames = [p.get_window_extent() for p in ax.patches if isinstance(p, FancyBboxPatch)]
    assert len(frames) == sum(map(len, sub_layers))
    for frame in frames:
        inside = [text for text in texts if frame.overlaps(text)]
        assert len(inside) == 1
        assert frame.x0 < inside[0].x0
        assert inside[0].x1 < frame.x1
    area = ax.get_window_extent()
    assert all(area.x0 <= text.x0 and text.x1 <= area.x1 for text in texts)


def test_the_shapes_of_a_real_block():
    layer = nn.TransformerEncoderLayer(8, 2, 32, batch_first=True, norm_first=True)
    x = torch.zeros(3, 4, 8)
    shapes = record_shapes(layer, x)
    names = (("norm1", "self_attn"), ("norm2", "linear1", "linear2"))
    sub_layers = [[(name, shapes[name]) for name in part] for part in names]
    ax = block_diagram.pre_norm_picture(x.shape, sub_layers)
    words = [text.get_text() for text in ax.texts]
    assert "3 × 4 × 32" in words
    assert "3 × 4 × 8" in words


def test_shapes_may_be_words():
    ax = block_diagram.pre_norm_picture("B, T, D", [[("norm", "B, T, D"), ("f", "B, T, D")]])
    assert [text.get_text() for text in ax.texts].count("B, T, D") == 5


@pytest.mark.parametrize("draw", [draw for draw, _ in DRAW])
def test_what_cannot_be_added_or_is_no_sub_layer(draw):
    with pytest.raises(ValueError, match="'W1' hands on 1 × 5 × 32"):
        draw((1, 5, 8), [[("norm", (1, 5, 8)), ("W1", (1, 5, 32))]])
    with pytest.raises(ValueError, match=r"\[1\] steps"):
        draw((1, 5, 8), [[("norm", (1, 5, 8))]])
    with pytest.raises(ValueError, match=r"\[\] steps"):
        draw((1, 5, 8), [])


def test_before_a_post_norm_the_addition_must_fit():
    with pytest.raises(ValueError, match="'W1' hands on 1 × 5 × 32"):
        block_diagram.post_norm_picture((1, 5, 8), [[("W1", (1, 5, 32)), ("norm", (1, 5, 8))]])
