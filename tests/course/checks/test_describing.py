"""Values in words."""

import pytest
import torch

from helpers.course.checks.describing import describe


@pytest.mark.parametrize(
    "value", ["x" * 5000, list(range(5000)), torch.zeros(100, 100), {str(i): i for i in range(999)}]
)
def test_descriptions_are_short(value):
    if not isinstance(value, str):  # text is written by the checks themselves
        assert len(describe(value)) < 300


@pytest.mark.parametrize(
    ("value", "words"),
    [("a b", "a b"), (" a", " a"), ("", ""), (" ", "' '"), ("\n", r"'\n'"), ("12", "12")],
)
def test_text_stays_as_it_is_but_blanks_are_seen(value, words):
    assert describe(value) == words
