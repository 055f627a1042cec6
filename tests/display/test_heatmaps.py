from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from matplotlib import colormaps
from matplotlib import pyplot as plt

from helpers.display import heatmaps, plotting


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def weights(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return (3 * torch.randn(*shape, generator=generator)).softmax(-1)


def causal(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(shape[-2:]).tril().bool()
    return weights(*shape).masked_fill(~mask, 0), mask


def words(n: int) -> list[str]:
    return [f"word{k}" for k in range(n)]


def overlap(labels) -> bool:
    boxes = [label.get_window_extent() for label in labels]
    return any(one.overlaps(other) for one, other in pairwise(boxes))


def test_the_scale_falls_in_lightness_from_nearly_white_to_dark():
    shades = colormaps[heatmaps.CMAP](np.linspace(0, 1, 256))
    # CIE 1976 lightness, 0 black to 100 white, of the relative luminance
    luminance = np.array([plotting._luminance(shade) for shade in shades])
    lightness = 116 * np.cbrt(luminance) - 16
    assert (np.diff(lightness) < 0).all()
    assert lightness[0] > 95
    assert lightness[-1] < 25
    assert np.diff(lightness).min() > -1.0  # no step that looks like an edge


def test_rows_are_queries_and_the_scale_is_the_same_in_every_picture():
    found = weights(2, 3) / 4  # far from 1, still drawn on 0 .. 1
    ax = heatmaps.attention_heatmap(found, ["a", " "], ["x", "y", "\n"], title="head")
    image = ax.images[0]
    assert np.allclose(image.get_array(), found)
    assert image.get_clim() == (0, 1)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "␣"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["x", "y", "↵"]
    assert "query" in ax.get_ylabel()
    assert ax.get_xlabel() == "key (looked at)"
    assert ax.get_title() == "head"
    assert image.colorbar.ax.get_ylabel() == "attention weight"


def test_a_darkest_weight_below_1_is_said_at_the_bar():
    ax = heatmaps.attention_heatmap([[0.9, 0.1]], ["a"], ["x", "y"], high=0.5)
    assert ax.images[0].get_clim() == (0, 0.5)
    bar = ax.images[0].colorbar.ax
    assert "0.5 or more" in bar.get_ylabel() + bar.get_xlabel()
    with pytest.raises(ValueError, match="high is 0"):
        heatmaps.attention_heatmap([[1.0]], ["a"], ["x"], high=0)


def test_forbidden_cells_are_hatched_and_not_numbered():
    found, mask = causal(3, 3)
    ax = heatmaps.attention_heatmap(found, words(3), words(3), mask=mask, annotate=".1f")
    hatched = {tuple(np.add(p.get_xy(), 0.5)) for p in ax.patches if p.get_hatch()}
    assert hatched == {(1, 0), (2, 0), (2, 1)}  # x, y: above the diagonal
    assert len(ax.texts) == 6
    assert "hatched: the mask forbids it" in ax.get_xlabel()


def test_true_cells_are_framed():
    ax = heatmaps.attention_heatmap(weights(2, 4), words(2), words(4), truth={(0, 3), (1, 0)})
    middles = [(p.get_x() + p.get_width() / 2, p.get_y() + p.get_height() / 2) for p in ax.patches]
    assert np.allclose(middles, [(3, 0), (0, 1)])
    assert not any(patch.get_fill() for patch in ax.patches)
    assert "orange frame" in ax.get_xlabel()


@pytest.mark.parametrize(("T", "S"), [(5, 5), (8, 14), (30, 30)])
def test_labels_stay_readable(T, S):
    ax = heatmaps.attention_heatmap(weights(T, S), words(T), words(S), truth={(0, 0)})
    ax.figure.canvas.draw()
    assert not overlap(ax.get_yticklabels())
    assert ax.get_yticklabels()[0].get_fontsize() >= 10
    if S > 10:  # upright, so their boxes are what is seen
        assert not overlap(ax.get_xticklabels())
    note = ax.xaxis.label.get_window_extent()
    assert not any(note.overlaps(label.get_window_extent()) for label in ax.get_xticklabels())


def test_every_head_of_every_layer_and_one_bar():
    found, mask = causal(2, 4, 20, 20)
    figure = heatmaps.head_grid(found, words(20), words(20), mask=mask)
    figure.canvas.draw()
    *heads, bar = figure.axes
    names = [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3, 4)]
    assert [ax.get_title() for ax in heads] == names
    for ax, drawn in zip(heads, found.flatten(0, 1)):
        image = ax.images[0]
        assert np.allclose(image.get_array()[mask.numpy()], drawn[mask])
        assert image.get_clim() == (0, 1)
        (hatched,) = (patch for patch in ax.patches if patch.get_hatch())
        assert hatched.contains_point(ax.transData.transform((3, 1)))
        assert not hatched.contains_point(ax.transData.transform((1, 3)))
    assert bar.get_ylabel() == "attention weight"
    assert not overlap(heads[0].get_yticklabels())
    assert not overlap(heads[4].get_xticklabels())
    assert not overlap([ax.title for ax in heads])
    assert len(heads[0].get_xticklabels()) == len(heads[1].get_yticklabels()) == 0
    assert "hatched" in figure.get_supxlabel()


def test_layers_with_different_numbers_of_heads():
    layers = [weights(3, 2, 5), weights(1, 2, 5)]
    figure = heatmaps.head_grid(layers, words(2), words(5))
    drawn = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in drawn] == [
        "layer 1, head 1",
        "layer 1, head 2",
        "layer 1, head 3",
        "layer 2, head 1",
    ]
    # The keys stand under the lowest picture of each column.
    assert [len(ax.get_xticklabels()) for ax in drawn] == [0, 5, 5, 5]


def test_where_tokens_are_too_small_their_ends_are_named():
    figure = heatmaps.head_grid(weights(2, 12, 20, 20), words(20), words(20))
    figure.canvas.draw()
    assert all(not ax.get_xticklabels() for ax in figure.axes[:-1])
    assert "from “word0” (left) to “word19” (right)" in figure.get_supxlabel()
    assert "from “word0” (top) to “word19” (bottom)" in figure.get_supylabel()
    assert not overlap([ax.title for ax in figure.axes[:12]])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (torch.ones(3, 2) / 2, "2 queries and 3 keys"),
        (torch.full((2, 3), torch.nan), "between 0 and 1"),
        (torch.tensor([[-1.0, 2.0, 0.0]] * 2), "softmax"),
        (torch.ones(1, 2, 3) / 3, "one text and one head"),
    ],
)
def test_what_are_no_weights(found, message):
    with pytest.raises(ValueError, match=message):
        heatmaps.attention_heatmap(found, words(2), words(3))


def test_a_mask_of_the_opposite_meaning_is_noticed():
    found, mask = causal(3, 3)
    with pytest.raises(ValueError, match="True means may attend"):
        heatmaps.attention_heatmap(found, words(3), words(3), mask=~mask)
    with pytest.raises(ValueError, match="True means may attend"):
        heatmaps.head_grid(found.expand(1, 2, 3, 3), words(3), words(3), mask=~mask)
    for wrong in (mask[:2], mask.float()):
        with pytest.raises(ValueError, match="expected"):
            heatmaps.attention_heatmap(found, words(3), words(3), mask=wrong)


def test_frames_and_layers_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(0, 3\) of truth"):
        heatmaps.attention_heatmap(weights(2, 3), words(2), words(3), truth={(0, 3)})
    with pytest.raises(ValueError, match=r"expected \(H, T, S\)"):
        heatmaps.head_grid(weights(4, 2, 3), words(2), words(3))
    with pytest.raises(ValueError, match=r"expected \(H, T, S\)"):
        heatmaps.head_grid([], words(2), words(3))
