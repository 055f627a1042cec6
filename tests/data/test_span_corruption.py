"""T5's span corruption: the paper's example, nothing lost, lengths and shares as stated."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.data.span_corruption import corrupt_spans, cut_spans, restore_spans

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
    tokens=st.lists(st.integers(0, 99), min_size=2, max_size=60),
    share=st.floats(0.01, 0.9),
    mean=st.floats(1, 6),
    seed=st.integers(0, 1000),
)
def test_nothing_is_lost(tokens, share, mean, seed):
    marks = list(range(100, 170))
    random = torch.Generator().manual_seed(seed)
    text = torch.tensor(tokens)
    source, target = corrupt_spans(text, marks, random, share, mean)
    assert torch.equal(restore_spans(source, target, marks), text)
    in_source = [t for t in source.tolist() if t >= 100]
    in_target = [t for t in target.tolist() if t >= 100]
    assert in_target == [*in_source, 100 + len(in_source)] == marks[: len(in_source) + 1]
    hidden = len(target) - len(in_target)
    assert hidden == min(max(1, round(len(tokens) * share)), len(tokens) - 1)
    assert len(source) + len(target) == len(tokens) + 2 * len(in_source) + 1
    places = [i for i, t in enumerate(source.tolist()) if t >= 100]
    assert places[0] > 0
    assert all(b - a > 1 for a, b in pairwise(places))  # no two spans touch


def test_a_long_text_has_the_share_and_the_mean_length_asked_for():
    text = torch.zeros(1000, dtype=torch.long)
    source, target = corrupt_spans(text, list(range(100, 300)), torch.Generator().manual_seed(0))
    spans = int((source >= 100).sum())
    assert spans == 50
    assert len(target) - spans - 1 == 150


def test_all_divisions_are_equally_likely():
    random, seen = torch.Generator().manual_seed(0), Counter()
    for _ in range(6000):
        source, _ = corrupt_spans(torch.arange(8), MARKS, random, 0.5, 2.0)
        seen[tuple(source.tolist())] += 1
    # Two spans of four tokens together: 3 divisions of the hidden times 3 of the kept ones.
    assert len(seen) == 9
    assert all(abs(count - 6000 / 9) < 5 * (6000 * 8 / 81) ** 0.5 for count in seen.values())


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="holds the sentinels"):
        cut_spans(torch.tensor([1, 100, 2]), [(0, 1)], MARKS)
    with pytest.raises(ValueError, match="one more than spans"):
        cut_spans(torch.arange(9), [(1, 2), (3, 4), (5, 6)], MARKS)
    for spans in ([(1, 3), (3, 4)], [(5, 12)], [(4, 4)], [(5, 6), (1, 2)]):
        with pytest.raises(ValueError, match="touch or leave"):
            cut_spans(torch.arange(9), spans, MARKS)
    with pytest.raises(ValueError, match="two or more"):
        corrupt_spans(torch.arange(1), MARKS, torch.Generator())
