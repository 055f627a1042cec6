from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
import torch

from helpers.display.surprise import LEVELS, level, surprise_boxes

BIT = math.log(2)


def boxes(html):
    """(shown, background, what stands below) of every box of a text."""
    found = re.findall(
        r'<span title="[^"]*" style="[^"]*background: (#\w+)[^"]*">'
        r"(.*?)<br><span[^>]*>(.*?)</span>",
        html.data,
    )
    return [(shown, ground, below) for ground, shown, below in found]


def test_surprises_are_given_in_bits_under_every_token():
    html = surprise_boxes(["a", " b<", "\n"], torch.tensor([0.5, 3.0, 12.0]) * BIT)
    assert boxes(html) == [
        ("a", LEVELS[0][1], "0.5"),
        ("␣b&lt;", LEVELS[2][1], "3.0"),
        ("↵", LEVELS[4][1], "12"),
    ]
    assert 'title="3.00 bits"' in html.data
    assert html.data.count("<br>", 0, html.data.index("Under each")) == 3 + 1  # one ends the line


def test_impossible_and_unpredicted_tokens():
    shown = boxes(surprise_boxes(["a", "b", "c"], [math.nan, math.inf, -1e-9]))
    assert [below for *_, below in shown] == ["–", "∞", "0.0"]
    assert shown[1][1] == LEVELS[-1][1]
    assert shown[0][1] not in {ground for _, ground, *_ in LEVELS}


def test_without_numbers_a_mark_repeats_the_colour():
    html = surprise_boxes(list("abcde"), torch.tensor([0.0, 1, 2, 4, 8]) * BIT, numbers=False)
    marks = [below for *_, below in boxes(html)]
    assert marks == [mark for *_, mark in LEVELS]
    assert len(set(marks)) == len(LEVELS)
    legend = html.data[html.data.index("Surprise in bits") :]
    assert all(mark in legend and ground in legend for _, ground, _, mark in LEVELS)


def test_levels_are_fixed_and_grow_darker():
    assert [level(bits) for bits in (0, 0.99, 1, 3.9, 4, 7.9, 8, math.inf)] == [
        0,
        0,
        1,
        2,
        3,
        3,
        4,
        4,
    ]

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light = [luminance(ground) + 0.05 for _, ground, _, _ in LEVELS]
    assert all(a > 1.25 * b for a, b in pairwise(light))
    for ground, (_, _, ink, _) in zip(light, LEVELS):
        inked = luminance(ink) + 0.05
        assert max(ground, inked) / min(ground, inked) >= 4  # WCAG asks 3 of large text


def test_lines_break_between_words_only():
    html = surprise_boxes(list("ab cd"), [0.0] * 5, numbers=False).data
    words = html.split('<span style="white-space: nowrap">')[1:]
    assert [word.count("title=") for word in words] == [2, 1, 2]
    long = surprise_boxes(["x"] * 100, [0.0] * 100).data
    assert max(w.count("title=") for w in long.split("white-space: nowrap")) <= 30


def test_a_line_that_ends_inside_a_token():
    html = surprise_boxes(["a", "\nb"], [0.0, 0.0]).data
    assert "<br><span title" in html


def test_the_caption_is_escaped():
    assert "2 &lt; 3" in surprise_boxes(["a"], [1.0], caption="2 < 3").data
    assert boxes(surprise_boxes([], [])) == []


@pytest.mark.parametrize(
    ("nats", "message"), [([1.0], "2 tokens and 1"), ([0.5, -2.0], "-2 nats: give -log p")]
)
def test_faulty_surprises_are_refused(nats, message):
    with pytest.raises(ValueError, match=message):
        surprise_boxes(["a", "b"], nats)
