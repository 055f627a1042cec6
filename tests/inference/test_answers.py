"""Spans against enumeration; exact match on cases that SQuAD's rules decide."""

from __future__ import annotations

import itertools

import pytest
import torch

from helpers.inference.answers import best_span, exact_match, normalized


@pytest.mark.parametrize("max_length", [None, 1, 3])
@pytest.mark.parametrize("bounded", [False, True])
def test_the_best_span_is_that_of_all_spans(max_length, bounded):
    random = torch.Generator().manual_seed(0)
    logits = torch.randn(40, 2, 8, generator=random)
    allowed = torch.rand(40, 8, generator=random) < 0.6
    allowed[:, 3] = True
    if not bounded:
        allowed[:] = True
    first, last = best_span(logits, allowed if bounded else None, max_length)
    for row in range(40):
        spans = [
            (i, j)
            for i, j in itertools.combinations_with_replacement(range(8), 2)
            if allowed[row, i] and allowed[row, j] and j - i < (max_length or 8)
        ]
        wanted = max(
            spans, key=lambda span: float(logits[row, 0, span[0]] + logits[row, 1, span[1]])
        )
        assert (int(first[row]), int(last[row])) == wanted


def test_the_two_largest_logits_may_be_no_span():
    logits = torch.tensor([[[0.0, 1.0, 5.0], [4.0, 3.0, 0.0]]])
    starts, ends = logits[0]
    assert int(starts.argmax()) > int(ends.argmax())
    first, last = best_span(logits)
    assert (int(first), int(last)) == (2, 2)


# answer, truths, exact match: by hand, after SQuAD's rules
ANSWERS = [
    ("The red boat.", ["a red boat"], 1),
    ("red", ["the red boat", "a red sail"], 0),
    ("boat boat", ["boat"], 0),
    ("the", ["a"], 1),  # nothing is left of either
    ("the", ["boat"], 0),
    ("in the harbour", ["harbour", "by the harbour wall"], 0),
    ("Pell's dog", ["Pells dog"], 1),
    ("", [""], 1),
    # of the official script's own kind: a part of the truth, and more than the truth
    ("Denver Broncos", ["The Denver Broncos beat Carolina"], 0),
    ("gold and silver", ["gold"], 0),
]


@pytest.mark.parametrize(("answer", "truths", "exact"), ANSWERS)
def test_the_figures_are_those_of_the_rules(answer, truths, exact):
    assert exact_match(answer, truths) == exact


def test_articles_and_signs_do_not_count():
    assert normalized(" The Answer,  an  apple! ") == "answer apple"
    assert normalized("a\u0300 la carte") == "a\u0300 la carte"  # decomposed: no article
