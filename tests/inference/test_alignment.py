"""Alignment measures: worked examples, Och and Ney's formula with sets, and F1."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.inference.alignment import alignment_error_rate, hard_alignment

WEIGHTS = torch.tensor(
    [  # two sentences of three target and four source words
        [[0.1, 0.7, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1], [0.0, 0.0, 0.1, 0.9]],
        [[0.6, 0.4, 0.0, 0.0], [0.2, 0.8, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    ]
)


def links(*pairs, shape=(3, 4)):
    table = torch.zeros(shape, dtype=torch.bool)
    for t, i in pairs:
        table[t, i] = True
    return table


def test_each_word_is_linked_to_its_largest_weight():
    expected = torch.stack([links((0, 1), (1, 0), (2, 3)), links((0, 0), (1, 1), (2, 0))])
    assert torch.equal(hard_alignment(WEIGHTS), expected)
    assert torch.equal(hard_alignment(WEIGHTS[0]), expected[0])
    words = torch.tensor([[True, False, True], [True, True, False]])
    expected[0, 1] = expected[1, 2] = False
    assert torch.equal(hard_alignment(WEIGHTS, words), expected)


def test_error_rate_of_a_worked_example():
    """A = 4 links, S = 3, P = S and 2 more: A meets S twice and P three times."""
    sure = links((0, 0), (1, 1), (2, 2))
    possible = links((0, 1), (1, 2))
    found = links((0, 0), (1, 1), (0, 1), (2, 3))
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert alignment_error_rate(sure, sure, possible) == 0
    assert alignment_error_rate(sure | links((0, 1)), sure, possible) == 0
    assert alignment_error_rate(links((0, 3)), sure, possible) == 1
    assert alignment_error_rate(links(), sure) == 1


tables = st.lists(st.booleans(), min_size=12, max_size=12)


@given(tables, tables, tables)
def test_error_rate_equals_the_formula_with_sets(a, s, p):
    given_tables = a, s, p
    A, S, P = ({i for i, on in enumerate(table) if on} for table in given_tables)
    found, sure, possible = (torch.tensor(table).view(3, 4) for table in given_tables)
    P |= S
    if not A | S:
        with pytest.raises(ValueError, match="neither a found nor a sure link"):
            alignment_error_rate(found, sure, possible)
        return
    expected = 1 - (len(A & S) + len(A & P)) / (len(A) + len(S))
    assert alignment_error_rate(found, sure, possible) == pytest.approx(expected)
    f1 = 2 * len(A & S) / (len(A) + len(S))
    assert alignment_error_rate(found, sure) == pytest.approx(1 - f1)


def test_what_does_not_fit_is_refused():
    truth = links((0, 0))
    for call in (
        lambda: alignment_error_rate(truth, truth[:2]),
        lambda: alignment_error_rate(truth.long(), truth),
        lambda: alignment_error_rate(truth, truth, truth[0]),
        lambda: hard_alignment(WEIGHTS, torch.ones(3, dtype=torch.bool)),
    ):
        with pytest.raises(ValueError, match="expected bool"):
            call()
