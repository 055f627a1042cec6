"""What rules that know less than the language see of each set, against exact values."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from helpers.data.parentheses import is_balanced
from helpers.data.parentheses_lecture import lecture_set
from helpers.data.parentheses_sets import LabelledSequences, honest_set
from helpers.models.shortcuts import (
    SHORTCUTS,
    adjacent_pairs,
    colour_counts_match,
    colours_ignored,
    first_and_last,
    pairs_within,
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def accuracies(labelled: LabelledSequences) -> dict[str, float]:
    balanced = labelled.labels == 1
    return {
        name: float((rule(labelled.tokens, labelled.colours) == balanced).double().mean())
        for name, rule in SHORTCUTS.items()
    }


# The rules


def test_rules_on_examples():
    rows = {
        "()": (True, True, True, True),
        "([)]": (True, True, False, True),
        "([)": (False, False, False, True),
        "(]": (False, True, False, True),
        ")(": (True, False, False, False),
        "([{}])(": (False, False, False, False),
        "(([][))": (False, False, False, True),
        "([<>)]": (True, True, True, True),
    }
    signs, longest = "([{<«»>}])", max(map(len, rows))
    tokens = torch.tensor(
        [[signs.index(s) for s in row] + [10] * (longest - len(row)) for row in rows]
    )
    rules = (colour_counts_match, colours_ignored, adjacent_pairs, first_and_last)
    assert list(zip(*(rule(tokens).tolist() for rule in rules))) == list(rows.values())
    assert list(SHORTCUTS.values()) == list(rules)


@given(half=st.integers(3, 10), seed=st.integers(0, 2**32), width=st.integers(1, 20))
@settings(max_examples=40)
def test_pairs_within_a_window_are_those_that_every_window_sees(half, seed, width):
    """A pair shows in a window where, between its ends, all that opens closes."""
    labelled = honest_set(8, [2 * half], generator(seed), colours=3)
    for row, good in zip(labelled.tokens.tolist(), pairs_within(labelled.tokens, width, 3)):
        signs = [int(symbol >= 3) for symbol in row]
        betrayed = any(
            signs[i] == 0
            and signs[j] == 1
            and is_balanced(signs[i + 1 : j], 1)
            and row[i] + row[j] != 5
            for i, j in itertools.combinations(range(len(row)), 2)
            if j - i < width
        )
        assert bool(good) != betrayed


def test_a_window_sees_the_more_of_the_exchange_the_wider_it_is():
    labelled = honest_set(10_000, range(6, 41, 2), generator(1))
    right = [
        float(((pairs_within(labelled.tokens, width)) == (labelled.labels == 1)).double().mean())
        for width in (2, 4, 8, 20, 40)
    ]
    assert right[0] == 0.5
    assert right == sorted(set(right))
    assert right[-1] == 1


def exact_lecture_accuracies(colours: int) -> dict[str, float]:
    """Of the rules on the practical's training set: 1 - P(an unbalanced string passes).

    Counts by an exponential generating function, shapes by Catalan numbers, neighbours by a
    transfer matrix over symbols.
    """
    size, passes = 2 * colours, {name: [] for name in SHORTCUTS}
    for half in range(2, 11):
        length, strings = 2 * half, size ** (2 * half)
        balanced = math.comb(length, half) // (half + 1) * colours**half
        series = [Fraction(1)] + [Fraction(0)] * half
        for _ in range(colours):
            one = [Fraction(1, math.factorial(k) ** 2) for k in range(half + 1)]
            series = [sum(series[i] * one[k - i] for i in range(k + 1)) for k in range(half + 1)]
        counts = int(series[half] * math.factorial(length))
        shapes = math.comb(length, half) // (half + 1) * colours**length
        steps = [
            [int(not (a < colours <= b) or a + b == size - 1) for b in range(size)]
            for a in range(size)
        ]
        ways = [int(a < colours) for a in range(size)]
        for _ in range(length - 1):
            ways = [sum(w * steps[a][b] for a, w in enumerate(ways)) for b in range(size)]
        numbers = (counts, shapes, sum(ways[colours:]), strings // 4)
        for name, number in zip(passes, numbers):
            passes[name].append(Fraction(number - balanced, strings))
    return {name: float(1 - sum(values) / 2 / len(values)) for name, values in passes.items()}


def test_the_practical_s_training_set_can_be_solved_by_counting():
    n, exact = 40_000, exact_lecture_accuracies(5)
    labelled = lecture_set(n, generator(1))
    measured = accuracies(labelled)
    for name, accuracy in exact.items():
        error = (accuracy * (1 - accuracy) / n) ** 0.5
        assert measured[name] == pytest.approx(accuracy, abs=3.5 * error), name
    assert exact["colour counts match"] > 0.996
    assert exact["adjacent pairs"] > 0.994
    assert exact["colours ignored"] > 0.975
    lengths = Counter(labelled.lengths.tolist())
    assert set(lengths) == set(range(4, 21, 2))
    assert chisquare(list(lengths.values())).pvalue > 1e-3


# The honest set leaves the shortcuts nothing


def test_shortcuts_stay_at_chance_on_the_honest_set():
    """They answer "balanced" to everything."""
    labelled = honest_set(40_000, range(6, 41, 2), generator(1))
    for name, rule in SHORTCUTS.items():
        assert rule(labelled.tokens).all(), name
