"""The words of the evaluation against the corpus that they claim to come from."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers.data.corpora import lantern_bay
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import word_kinds, word_relations


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
