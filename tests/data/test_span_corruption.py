"""T5's span corruption: the paper's example, and nothing lost."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.data.span_corruption import cut_spans, restore_spans

WORDS = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."]
MARKS = [100, 101, 102]


def words_of(ids):
    return [f"<{i - 100}>" if i >= 100 else WORDS[i] for i in ids.tolist()]


def test_the_papers_example_comes_out():
    source, target = cut_spans(torch.arange(11), [(2, 4), (8, 9)], MARKS)
    assert words_of(source) == [
        "Thank",
        "you",
        "<0>",
        "me",
        "to",
        "your",
        "party",
        "<1>",
        "week",
        ".",
    ]
    assert words_of(target) == ["<0>", "for", "inviting", "<1>", "last", "<2>"]


@settings(max_examples=200, deadline=None)
@given(
    kept=st.lists(st.integers(1, 5), min_size=1, max_size=9),
    hidden=st.lists(st.integers(1, 5), min_size=9, max_size=9),
)
def test_nothing_is_lost(kept, hidden):
    spans, end = [], 0
    for before, length in zip(kept, hidden):
        spans.append((end + before, end + before + length))
        end += before + length
    marks, text = list(range(100, 110)), torch.arange(end + 1)
    source, target = cut_spans(text, spans, marks)
    assert torch.equal(restore_spans(source, target, marks), text)
    in_source = [t for t in source.tolist() if t >= 100]
    in_target = [t for t in target.tolist() if t >= 100]
    assert in_target == [*in_source, 100 + len(in_source)] == marks[: len(in_source) + 1]
    assert len(target) - len(in_target) == sum(hidden[: len(spans)])
    assert len(source) + len(target) == len(text) + 2 * len(in_source) + 1


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="holds the sentinels"):
        cut_spans(torch.tensor([1, 100, 2]), [(0, 1)], MARKS)
    with pytest.raises(ValueError, match="one more than spans"):
        cut_spans(torch.arange(9), [(1, 2), (3, 4), (5, 6)], MARKS)
    for spans in ([(1, 3), (3, 4)], [(5, 12)], [(4, 4)], [(5, 6), (1, 2)]):
        with pytest.raises(ValueError, match="touch or leave"):
            cut_spans(torch.arange(9), spans, MARKS)
