from __future__ import annotations

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from helpers.display import plotting
from helpers.display.surfaces import surface

STEPS = torch.linspace(-1, 1, 21)


@pytest.fixture(autouse=True)
def _no_figures_left():
    with plotting.course_style():
        yield
    plt.close("all")


def bowl(scale: float = 1.0) -> torch.Tensor:
    """A valley that is narrow along the first direction."""
    return scale * (0.1 + 4 * STEPS[:, None] ** 2 + STEPS[None] ** 2)


def edges(ax) -> np.ndarray:
    return ax.collections[0].levels


def shades(ax) -> list[tuple[float, ...]]:
    return [tuple(shade) for shade in ax.collections[0].get_facecolor()]


def test_the_first_direction_lies_along_x_and_contours_where_the_formula_says():
    ax = surface(STEPS, STEPS, bowl(), value_label="nats", title="valley")
    lines = ax.collections[1]
    path = lines.get_paths()[list(lines.levels).index(2.0)].vertices
    assert np.allclose(0.1 + 4 * path[:, 0] ** 2 + path[:, 1] ** 2, 2.0, atol=0.03)
    assert "α" in ax.get_xlabel()
    assert "first direction" in ax.get_xlabel()
    assert ax.get_title() == "valley"
    assert ax.figure.axes[-1].get_ylabel() == "nats"


def test_the_ends_cover_the_losses_and_shades_darken_steadily():
    ax = surface(STEPS, STEPS, bowl())
    assert edges(ax)[0] <= 0.1
    assert edges(ax)[-1] >= 5.1
    assert ax.collections[0].extend == "neither"
    brightness = [plotting.luminance(shade) for shade in shades(ax)]
    assert len(brightness) == len(edges(ax)) - 1
    assert (np.diff(brightness) < 0).all()


def test_labels_are_the_contours_numbers_and_none_covers_another():
    ax = surface(STEPS, STEPS, bowl())
    texts = [text for text in ax.texts if text.get_text() != "model"]
    assert len(texts) >= 3
    for text in texts:
        x, y = text.get_position()
        assert float(text.get_text()) == pytest.approx(0.1 + 4 * x**2 + y**2, abs=0.05)
    places = np.array([text.get_position() for text in texts])
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    assert apart[~np.eye(len(texts), dtype=bool)].min() > 0.15
    assert np.abs(places).max() < 1


def test_the_centre_is_marked_if_it_is_there():
    ax = surface(STEPS, STEPS, bowl(), centre="trained")
    (mark,) = ax.get_lines()
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([0], [0])
    assert mark.get_markevery() == 1  # the course's style would leave a single mark out
    assert "trained" in [text.get_text() for text in ax.texts]
    assert not surface(STEPS + 5, STEPS, bowl()).get_lines()


def test_two_surfaces_with_the_same_ends_share_contours_and_shades():
    flat, steep = bowl(0.3), bowl()
    low, high = float(flat.min()), float(steep.max())
    axes = plt.subplots(1, 2)[1]
    for ax, losses in zip(axes, (flat, steep)):
        assert surface(STEPS, STEPS, losses, low=low, high=high, ax=ax) is ax
    assert np.array_equal(edges(axes[0]), edges(axes[1]))
    assert shades(axes[0]) == shades(axes[1])


def test_losses_that_are_not_finite_are_hatched_and_noted():
    losses = bowl()
    losses[:3, :3], losses[-1, -1] = torch.inf, torch.nan
    ax = surface(STEPS, STEPS, losses)
    assert [patch.get_hatch() for patch in ax.patches] == ["////"]
    assert "hatched: the loss is not finite" in ax.get_xlabel()
    assert edges(ax)[-1] < 10
    ax.figure.canvas.draw()
    assert not surface(STEPS, STEPS, bowl()).patches


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((STEPS, STEPS[:5], bowl()), {}, r"\(21, 21\) for 21 alphas and 5 betas"),
    ],
)
def test_what_cannot_be_drawn(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        surface(*arguments, **options)
