"""Boxes of tokens: every token is there, whatever it holds."""

from __future__ import annotations

import re

from helpers.display.tokens import token_boxes, token_strings


def texts(html):
    return [re.sub("<.*?>", "", box) for box in re.findall("<span.*?</span>", html.data)]


def test_every_token_has_a_box_and_blanks_can_be_seen():
    assert texts(token_boxes(["a", " b", "\n", "<i>"])) == ["a", "␣b", "↵", "&lt;i&gt;"]


def test_neighbours_differ_in_shade():
    shades = re.findall("background: ([^;]+)", token_boxes(["a", "b", "c"]).data)
    assert shades[0] == shades[2] != shades[1]


def test_bytes_that_are_no_characters_are_shown_as_numbers():
    assert token_strings([b"ab", "é".encode(), b"\xe6"]) == ["ab", "é", "\\xe6"]
