"""The words of the evaluation against the corpus that they claim to come from."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from helpers.data.corpora import lantern_bay
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import same_kind_pairs, word_kinds, word_relations


@pytest.fixture(scope="module")
def counts():
    return Counter(WordTokenizer([]).split(lantern_bay().train.lower()))


def test_every_word_occurs_as_often_as_claimed(counts):
    for words in word_kinds().values():
        assert len(words) >= 5
        for word, count in words.items():
            assert counts[word] == count, word
            assert count >= 10, word
    for pairs in word_relations().values():
        for pair in pairs:
            assert all(counts[word] >= 10 for word in pair), pair


def test_no_word_has_two_kinds():
    words = [word for kind in word_kinds().values() for word in kind]
    assert len(set(words)) == len(words)
    for pairs in word_relations().values():
        assert len(set(pairs)) == len(pairs)
        assert all(a != b for a, b in pairs)


def test_random_pairs_match_in_frequency_and_not_in_kind(counts):
    kinds = word_kinds()
    everything = {word: n for word, n in counts.items() if n >= 5 and word[0].isalpha()}
    tests = same_kind_pairs(kinds, everything, torch.Generator().manual_seed(0))
    again = same_kind_pairs(kinds, everything, torch.Generator().manual_seed(0))
    assert tests == again
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
