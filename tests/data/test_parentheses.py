"""Coloured parentheses against enumeration, deletion of pairs, Catalan numbers and own samples."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from helpers.data.parentheses import (
    are_balanced,
    colour_shapes,
    count_shapes,
    depths,
    is_balanced,
    sample_balanced,
    sample_shapes,
    stacks,
    text,
    tokens,
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def balanced_by_deletion(sequence, colours: int) -> bool:
    """Delete neighbours that open and close one colour until nothing changes; is anything left?"""
    left = list(sequence)
    while True:
        for i, (a, b) in enumerate(itertools.pairwise(left)):
            if a < colours and a + b == 2 * colours - 1:
                del left[i : i + 2]
                break
        else:
            return not left


def strings(length: int, colours: int):
    return itertools.product(range(2 * colours), repeat=length)


def shapes(length: int, depth: int | None = None) -> list[tuple[int, ...]]:
    """All balanced shapes, 0 for opening and 1 for closing, by looking at every string."""
    found = [s for s in strings(length, 1) if balanced_by_deletion(s, 1)]
    return [s for s in found if depth in (None, largest_height(s))]


def largest_height(shape) -> int:
    return max(itertools.accumulate(1 - 2 * sign for sign in shape))


def frequencies(rows: torch.Tensor, outcomes: list) -> float:
    """The p-value of rows (n, L) against equally likely outcomes; fails on any other row."""
    counts = Counter(tuple(row) for row in rows.long().tolist())
    assert set(counts) <= set(outcomes)
    return chisquare([counts[outcome] for outcome in outcomes]).pvalue


# Which sequences are balanced


@pytest.mark.parametrize(
    ("sequence", "label"),
    [
        ([2, 0, 9, 7, 0, 9], True),
        ([1, 8, 3, 6], True),
        ([0, 9, 2, 4, 5, 2, 7, 7], True),
        ([0, 2, 7, 9, 7, 2, 7, 3], False),
        ([1, 8, 9, 0, 1, 9], False),
        ([1, 8, 7, 1], False),
    ],
)
def test_the_lecture_s_examples(sequence, label):
    assert is_balanced(sequence) == is_balanced(torch.tensor(sequence)) == label


@pytest.mark.parametrize(("colours", "longest"), [(1, 10), (2, 6), (3, 4)])
def test_stack_deletion_and_batch_agree_on_all_strings(colours, longest):
    for length in range(1, longest + 1):
        rows = list(strings(length, colours))
        by_deletion = [balanced_by_deletion(row, colours) for row in rows]
        assert [is_balanced(row, colours) for row in rows] == by_deletion
        assert are_balanced(torch.tensor(rows), colours).tolist() == by_deletion
        shapes = math.comb(length, length // 2) // (length // 2 + 1) if length % 2 == 0 else 0
        assert sum(by_deletion) == shapes * colours ** (length // 2)


def test_stacks_hold_what_is_open_and_end_at_the_first_misfit():
    assert stacks([2, 0, 9, 7]) == [(2,), (2, 0), (2,), ()]
    assert stacks(tokens("([)]")) == [(0,), (0, 1)]
    assert stacks([9, 0]) == []
    assert stacks([1, 10, 10]) == [(1,)]
    for sequence in itertools.product(range(4), repeat=4):
        found = stacks(sequence, 2)
        balanced = len(found) == 4 and found[-1] == ()
        assert balanced == is_balanced(sequence, 2)
        assert [len(stack) for stack in found] == depths(torch.tensor(sequence), 2)[
            : len(found)
        ].tolist()


def test_brackets_of_each_colour_fit():
    assert text(torch.arange(11)) == "([{<«»>}])"
    assert text([0, 1], colours=1) == "()"
    assert tokens("").shape == (0,)
    with pytest.raises(ValueError, match="none of the brackets"):
        tokens("(a)")


# Counting and sampling


@pytest.mark.parametrize("length", range(11))
def test_counts_are_those_of_enumeration(length):
    found = [s for s in strings(length, 1) if balanced_by_deletion(s, 1)]
    assert count_shapes(length) == len(found)
    by_depth = Counter(largest_height(s) if s else 0 for s in found)
    for depth in range(length + 2):
        assert count_shapes(length, depth) == by_depth[depth]


def test_counts_are_catalan_numbers_and_split_by_depth():
    for half in (50, 150):
        catalan = math.comb(2 * half, half) // (half + 1)
        assert count_shapes(2 * half) == catalan
        assert sum(count_shapes(2 * half, depth) for depth in range(half + 1)) == catalan


@pytest.mark.parametrize(("length", "depth"), [(8, None), (8, 2), (8, 3), (10, 3), (10, 4), (6, 3)])
def test_shapes_are_equally_likely(length, depth):
    outcomes = [tuple(1 - sign for sign in shape) for shape in shapes(length, depth)]
    drawn = sample_shapes(20_000, length, generator(1), depth)
    if len(outcomes) == 1:
        assert {tuple(row) for row in drawn.long().tolist()} == set(outcomes)
    else:
        assert frequencies(drawn, outcomes) > 1e-3


def test_shapes_and_colours_are_equally_likely():
    outcomes = [s for s in strings(6, 2) if balanced_by_deletion(s, 2)]
    assert len(outcomes) == 5 * 8
    assert frequencies(sample_balanced(20_000, 6, generator(2), colours=2), outcomes) > 1e-3


@given(
    half=st.integers(1, 30), data=st.data(), colours=st.integers(1, 6), seed=st.integers(0, 2**32)
)
@settings(max_examples=40)
def test_samples_are_balanced_and_of_the_asked_depth(half, data, colours, seed):
    depth = data.draw(st.none() | st.integers(1, half))
    drawn = sample_balanced(5, 2 * half, generator(seed), colours, depth)
    assert drawn.shape == (5, 2 * half)
    assert all(balanced_by_deletion(row, colours) for row in drawn.tolist())
    if depth is not None:
        assert depths(drawn, colours).amax(1).tolist() == [depth] * 5


def test_colours_go_to_the_openings_in_order():
    opens = torch.tensor([[1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 1]]).bool()
    drawn = colour_shapes(opens, torch.tensor([[0, 1, 2, 0], [2, 0, 1, 1]]), colours=3)
    assert drawn.tolist() == [[0, 1, 4, 2, 3, 5], [2, 0, 1, 4, 5, 1]]
