"""A row of attention drawn as arcs: lines that fit, weights that are written, words to come."""

import pytest
import torch

from helpers.display.arcs import HEIGHT, WIDTH, attention_arcs
from helpers.display.palette import FRAME, INK

WORDS = ["[begin]", "The", "cat", "saw", "a", "gull", ".", "¶", "“", "It", "is", "late"]


def written(figure):
    return {words.get_text(): words for words in figure.axes[0].texts}


def arcs(figure):
    return [patch for patch in figure.axes[0].patches if patch.get_facecolor()[3] == 0]


def row(**weights):
    found = torch.zeros(len(WORDS))
    for word, weight in weights.items():
        found[WORDS.index(word)] = weight
    return found


def test_an_arc_leads_to_each_word_that_has_enough_weight():
    figure = attention_arcs(WORDS, row(cat=0.7, saw=0.2, a=0.07, The=0.03), 5)
    assert len(arcs(figure)) == 3
    assert sorted(patch.get_linewidth() for patch in arcs(figure))[-1] > 5
    assert {"70", "20", "7"} <= set(written(figure))
    assert "3" not in written(figure)


def test_its_own_weight_is_a_number_without_an_arc():
    figure = attention_arcs(WORDS, row(gull=1.0), 5)
    assert arcs(figure) == []
    assert "100" in written(figure)


def test_words_that_the_mask_hides_are_pale_and_a_line_ends_at_its_sign():
    words = written(attention_arcs(WORDS, row(cat=1.0), 5, title="a title"))
    assert words["late"].get_color() == FRAME
    assert words["cat"].get_color() == INK
    assert words["“"].get_position()[1] < words["¶"].get_position()[1] - HEIGHT
    assert "a title" in words


def test_long_texts_are_broken_into_lines_that_fit():
    figure = attention_arcs(WORDS[1:6] * 12, torch.full((60,), 1 / 60), 59)
    assert all(text.get_position()[0] < WIDTH for text in figure.axes[0].texts)
    assert 2.5 < figure.get_size_inches()[1] < 6.5


def test_an_opening_mark_goes_with_the_word_after_it():
    for length in range(12, 24):
        words = ["word"] * length + ["“", "Guess"]
        shown = written(attention_arcs(words, torch.full((length + 2,), 0.01), 0))
        assert shown["“"].get_position()[1] == shown["Guess"].get_position()[1]


@pytest.mark.parametrize(
    ("weights", "chosen", "error"),
    [
        (torch.zeros(3), 0, "need as many weights"),
        (torch.zeros(12), 12, "no word 12"),
        (torch.full((12,), 2.0), 0, "between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_said(weights, chosen, error):
    with pytest.raises(ValueError, match=error):
        attention_arcs(WORDS, weights, chosen)
