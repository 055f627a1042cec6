"""Alignment measures: a worked example, and F1 by sets."""

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


tables = st.lists(st.booleans(), min_size=12, max_size=12)


@given(tables, tables)
def test_error_rate_is_one_minus_f1(a, s):
    A, S = ({i for i, on in enumerate(table) if on} for table in (a, s))
    found, sure = (torch.tensor(table).view(3, 4) for table in (a, s))
    if not A | S:
        with pytest.raises(ValueError, match="neither a found nor a sure link"):
            alignment_error_rate(found, sure)
        return
    f1 = 2 * len(A & S) / (len(A) + len(S))
    assert alignment_error_rate(found, sure) == pytest.approx(1 - f1)
