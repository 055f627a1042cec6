"""The measure of word vectors: AUC against its definition, and pairs that frequency cannot tell."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from scipy.stats import mannwhitneyu

from benchmarks.word_vectors import auc_of, same_kind_pairs
from helpers.data.corpora import lantern_bay
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import word_kinds


def test_auc_equals_mann_whitney():
    generator = torch.Generator().manual_seed(0)
    positive = torch.randint(8, (30,), generator=generator) + 1  # integers: many ties
    negative = torch.randint(8, (50,), generator=generator)
    expected = mannwhitneyu(positive.numpy(), negative.numpy()).statistic / (30 * 50)
    same, random = ([(f"{n}", "") for n in some.tolist()] for some in (positive, negative))
    assert auc_of(lambda a, b: float(a), same, random) == pytest.approx(expected)
    assert auc_of(lambda a, b: float(a), same, same) == 0.5


def test_random_pairs_match_in_frequency_and_not_in_kind():
    kinds, counts = word_kinds(), Counter(WordTokenizer([]).split(lantern_bay().train.lower()))
    everything = {word: n for word, n in counts.items() if n >= 5 and word[0].isalpha()}
    tests = same_kind_pairs(everything, torch.Generator().manual_seed(0))
    assert tests == same_kind_pairs(everything, torch.Generator().manual_seed(0))
    for name, (same, random) in tests.items():
        size = len(kinds[name])
        assert len(same) == len(set(same)) == len(random) == size * (size - 1) // 2
        off = []
        for pair, other in zip(same, random):
            kept = set(pair) & set(other)
            assert len(kept) == 1
            (new,) = set(other) - kept
            (old,) = set(pair) - kept
            assert new not in kinds[name]
            off.append(math.log(counts[new] / counts[old]))
        assert abs(sum(off) / len(off)) < 0.2, name
        assert max(map(abs, off)) < math.log(2), name
