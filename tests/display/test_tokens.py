"""Boxes of tokens: every token is there, whatever it holds."""

from __future__ import annotations

import math
import re

import pytest

from helpers.display import palette
from helpers.display.tokens import token_boxes, token_strings


def texts(html):
    return [re.sub("<.*?>", "", box) for box in re.findall("<span.*?</span>", html.data)]


def test_every_token_has_a_box_and_blanks_can_be_seen():
    assert texts(token_boxes(["a", " b", "\n", "<i>"])) == ["a", "␣b", "↵", "&lt;i&gt;"]


def test_neighbours_differ_in_shade():
    shades = re.findall("background: ([^;]+)", token_boxes(["a", "b", "c"]).data)
    assert shades[0] == shades[2] != shades[1]


def test_values_are_written_and_coloured():
    html = token_boxes(["a", "b"], [0.25, 7.5], unit="surprise in bits").data
    assert ">0.2<" in html
    assert ">7.5<" in html
    assert "surprise in bits" in html
    assert len(set(re.findall("background: ([^;]+)", html))) == 2


def test_bytes_that_are_no_characters_are_shown_as_numbers():
    assert token_strings([b"ab", "é".encode(), b"\xe6"]) == ["ab", "é", "\\xe6"]


def test_nothing_and_all_zero_are_no_exception():
    assert texts(token_boxes([])) == []
    assert ">0.0<" in token_boxes(["a"], [0.0]).data


def test_values_that_are_not_finite_can_be_read():
    html = token_boxes(list("abcd"), [math.inf, 2.0, -math.inf, math.nan]).data
    grounds = re.findall("background: ([^;]+); color: ([^;]+)", html)
    assert grounds[0] == grounds[1] == (grounds[0][0], palette.WHITE)
    assert grounds[2] == grounds[3] == (grounds[2][0], palette.BLACK)
    assert re.findall(">([^<]+)</span></span>", html) == ["∞", "2.0", "−∞", "no value"]
    assert token_boxes(["a"], [math.inf]).data.count(f"color: {palette.WHITE}") == 1


def test_one_value_per_token():
    with pytest.raises(ValueError, match="2 tokens and 1 values"):
        token_boxes(["a", "b"], [1.0])
