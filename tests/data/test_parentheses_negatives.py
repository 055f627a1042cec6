"""Parentheses that are not balanced: what each kind promises, by enumeration and exact values."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from helpers.data.parentheses import are_balanced, depths, is_balanced
from helpers.data.parentheses_negatives import (
    NEGATIVES,
    colours_exchanged,
    sample_exchangeable,
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def shape(sequence, colours: int) -> tuple[bool, ...]:
    return tuple(symbol < colours for symbol in sequence)


def inner(opens) -> list[int]:
    """Places of closings right after a closing and not right before an opening."""
    last = len(opens) - 1
    return [
        i
        for i in range(1, last + 1)
        if not opens[i] and not opens[i - 1] and (i == last or not opens[i + 1])
    ]


def exchangeable(length: int, colours: int) -> list[tuple[tuple[int, ...], list[tuple[int, int]]]]:
    """All balanced sequences with a pair to exchange, and their pairs, by looking at each string.

    Built shape by shape: the shapes from all strings of two signs, the colours from all products.
    """
    found = []
    for signs in itertools.product((0, 1), repeat=length):
        if not is_balanced(signs, 1):
            continue
        for chosen in itertools.product(range(colours), repeat=length // 2):
            left, stack, sequence = list(chosen), [], []
            for sign in signs:
                if sign == 0:
                    stack.append(left.pop(0))
                    sequence.append(stack[-1])
                else:
                    sequence.append(2 * colours - 1 - stack.pop())
            places = inner([sign == 0 for sign in signs])
            pairs = itertools.combinations(places, 2)
            pairs = [(i, j) for i, j in pairs if sequence[i] != sequence[j]]
            if pairs:
                found.append((tuple(sequence), pairs))
    return found


def both_classes(length: int, colours: int) -> tuple[dict, dict]:
    """The exact distributions of balanced and of exchanged sequences, as fractions."""
    sequences = exchangeable(length, colours)
    of_shape = Counter(shape(sequence, colours) for sequence, _ in sequences)
    balanced, exchanged = Counter(), Counter()
    for sequence, pairs in sequences:
        weight = Fraction(1, len(of_shape) * of_shape[shape(sequence, colours)])
        balanced[sequence] += weight
        for i, j in pairs:
            other = list(sequence)
            other[i], other[j] = other[j], other[i]
            exchanged[tuple(other)] += weight / len(pairs)
    return balanced, exchanged


def goodness(rows: torch.Tensor, distribution: dict) -> float:
    counts = Counter(tuple(row) for row in rows.tolist())
    assert set(counts) <= set(distribution)
    keys = list(distribution)
    expected = [float(distribution[key]) * len(rows) for key in keys]
    return chisquare([counts[key] for key in keys], expected).pvalue


# Each kind


bases = {
    "half": st.integers(3, 12),
    "colours": st.integers(2, 5),
    "seed": st.integers(0, 2**32),
}


def drawn(half: int, colours: int, seed: int, name: str):
    """Ten balanced sequences, what the kind makes of them, as lists; none of that is balanced."""
    draws = generator(seed)
    tokens = sample_exchangeable(10, 2 * half, draws, colours)
    before = tokens.clone()
    result = NEGATIVES[name](tokens, draws, colours)
    assert torch.equal(tokens, before)
    assert result.shape == tokens.shape
    assert not any(is_balanced(row, colours) for row in result)
    return list(zip(tokens.tolist(), result.tolist()))


@given(**bases)
@settings(max_examples=30)
def test_random_strings_and_truncated(half, colours, seed):
    drawn(half, colours, seed, "random_strings")
    for _, row in drawn(half, colours, seed, "truncated"):
        open_now = []
        for symbol in row:
            if symbol < colours:
                open_now.append(symbol)
            else:
                assert open_now.pop() + symbol == 2 * colours - 1
        assert len(open_now) in (2, 4)


@given(**bases)
@settings(max_examples=30)
def test_wrong_order(half, colours, seed):
    for base, row in drawn(half, colours, seed, "wrong_order"):
        assert sorted(row) == sorted(base)
        assert min(itertools.accumulate(1 if s < colours else -1 for s in row)) < 0


@given(**bases)
@settings(max_examples=30)
def test_one_colour_swapped(half, colours, seed):
    for base, row in drawn(half, colours, seed, "one_colour_swapped"):
        assert sum(a != b for a, b in zip(base, row)) == 1
        assert shape(row, colours) == shape(base, colours)
        assert 0 <= min(row) <= max(row) < 2 * colours


@given(**bases)
@settings(max_examples=30)
def test_one_token_moved(half, colours, seed):
    for base, row in drawn(half, colours, seed, "one_token_moved"):
        assert any(
            base[i] == row[j] and base[:i] + base[i + 1 :] == row[:j] + row[j + 1 :]
            for i in range(len(base))
            for j in range(len(base))
        )


@given(**bases)
@settings(max_examples=60)
def test_colours_exchanged(half, colours, seed):
    for base, row in drawn(half, colours, seed, "colours_exchanged"):
        i, j = [k for k, (a, b) in enumerate(zip(base, row)) if a != b]
        assert (row[i], row[j]) == (base[j], base[i])
        assert {i, j} <= set(inner(shape(base, colours)))
        assert shape(row, colours) == shape(base, colours)
        with_an_opening = [
            Counter((a, b) for a, b in itertools.pairwise(s) if min(a, b) < colours)
            for s in (base, row)
        ]
        assert with_an_opening[0] == with_an_opening[1]


# The exchange hides what a count could see


@pytest.mark.parametrize(("length", "colours"), [(6, 2), (8, 2), (10, 2), (8, 3)])
def test_counts_of_neighbours_have_the_same_mean_in_both_classes(length, colours):
    """Exactly, by enumeration; and so has everything that shape and closings tell together."""
    balanced, exchanged = both_classes(length, colours)
    assert sum(balanced.values()) == sum(exchanged.values()) == 1
    assert not set(balanced) & set(exchanged)
    means, closings = [], []
    for distribution in (balanced, exchanged):
        mean, seen = Counter(), Counter()
        for sequence, weight in distribution.items():
            for pair in itertools.pairwise(sequence):
                mean[pair] += weight
            seen[tuple(-1 if s < colours else s for s in sequence)] += weight
        means.append(mean)
        closings.append(seen)
    assert means[0] == means[1]
    assert closings[0] == closings[1]


@pytest.mark.parametrize(("length", "colours"), [(6, 3), (8, 2)])
def test_both_classes_are_drawn_as_described(length, colours):
    balanced, exchanged = both_classes(length, colours)
    tokens = sample_exchangeable(20_000, length, generator(5), colours)
    assert goodness(tokens, balanced) > 1e-3
    assert goodness(colours_exchanged(tokens, generator(6), colours), exchanged) > 1e-3


def test_nothing_to_exchange():
    with pytest.raises(ValueError, match="sample_exchangeable"):
        colours_exchanged(torch.tensor([[0, 9, 0, 0, 9, 9]]), generator())
    for arguments in ((4, 5, None), (7, 5, None), (8, 5, 2)):
        length, colours, depth = arguments
        with pytest.raises(ValueError, match="has two inner closings"):
            sample_exchangeable(3, length, generator(), colours, depth)


@pytest.mark.parametrize(("length", "depth"), [(6, 3), (12, 3), (12, 6), (40, 4)])
def test_exchangeable_of_a_given_depth(length, depth):
    tokens = sample_exchangeable(50, length, generator(1), depth=depth)
    assert are_balanced(tokens).all()
    assert set(depths(tokens).amax(1).tolist()) == {depth}
