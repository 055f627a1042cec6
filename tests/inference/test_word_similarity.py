"""AUC against its definition and ranks against a list by hand."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import mannwhitneyu

from helpers.inference.word_similarity import analogy_ranks, auc, kind_aucs


def test_auc_equals_mann_whitney():
    generator = torch.Generator().manual_seed(0)
    positive = torch.randint(8, (30,), generator=generator) + 1  # integers: many ties
    negative = torch.randint(8, (50,), generator=generator)
    expected = mannwhitneyu(positive.numpy(), negative.numpy()).statistic / (30 * 50)
    assert auc(positive, negative) == pytest.approx(expected)
    assert auc(positive, positive) == 0.5
    assert auc(torch.tensor([2.0, 3.0]), torch.tensor([1.0])) == 1.0


def test_nothing_is_not_compared():
    with pytest.raises(ValueError, match="2 positive and 0 negative scores to compare"):
        auc(torch.ones(2), torch.ones(0))


def test_each_kind_is_measured_by_itself():
    tests = {"near": ([("a", "b")], [("a", "xxxx")]), "far": ([("a", "xxxx")], [("a", "b")])}
    found = kind_aucs(lambda a, b: -abs(len(a) - len(b)), tests)
    assert found == {"near": 1.0, "far": 0.0}


def test_ranks_of_right_answers():
    asked = []

    def ranked(a, b, c):
        asked.append((a, b, c))
        return [w for w in ("cats", "dogs", "cat", "dog") if w not in (a, b, c)]

    assert analogy_ranks(ranked, [("cat", "cats"), ("dog", "dogs")]) == [1, 1]
    assert asked == [("cat", "cats", "dog"), ("dog", "dogs", "cat")]
