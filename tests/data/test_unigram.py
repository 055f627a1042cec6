"""Unigram against the ``tokenizers`` library, all cuts of a word, and its own rules."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from helpers.data import corpora
from helpers.data.bpe import GPT2_PATTERN
from helpers.data.tokenizers import TokenizerError
from helpers.data.unigram import EM_STEPS, UnigramTokenizer, _Lattice, _seed_pieces, best_cut

TEXT = corpora.lantern_bay().train[:60_000]


@pytest.fixture(scope="module")
def tokenizer():
    return UnigramTokenizer.train(TEXT, 500)


def all_cuts(word):
    inner = range(1, len(word))
    for k in range(len(word)):
        for ends in combinations(inner, k):
            places = [0, *ends, len(word)]
            yield [word[a:b] for a, b in pairwise(places)]


PIECES = st.dictionaries(
    st.text("abc", min_size=2, max_size=4), st.floats(-9, -1), min_size=1, max_size=9
)


@given(st.text("abc", min_size=1, max_size=8), PIECES)
def test_the_best_of_all_cuts(word, longer):
    log_p = {**dict.fromkeys("abc", -8.0), **longer}
    known = [cut for cut in all_cuts(word) if all(piece in log_p for piece in cut)]
    best = max(sum(log_p[piece] for piece in cut) for cut in known)
    found = best_cut(word, log_p)
    assert "".join(found) == word
    assert sum(log_p[piece] for piece in found) == pytest.approx(best)


def test_the_same_ids_as_the_library(tokenizer):
    pieces = [("<unk>", 0.0), *tokenizer.log_p.items()]
    theirs = Tokenizer(models.Unigram(pieces, unk_id=0))
    theirs.pre_tokenizer = pre_tokenizers.Split(Regex(GPT2_PATTERN), "isolated")
    new = corpora.lantern_bay().validation
    assert theirs.encode(new).ids == tokenizer.encode(new).tolist()


def test_expected_counts_by_enumeration():
    words = Counter({"abab": 2, "ba": 1})
    lattice = _Lattice(words, _seed_pieces(words, ["a", "b"]))
    p = dict(zip(lattice.pieces, torch.tensor(lattice.log_p).exp().tolist(), strict=True))
    expected: Counter[str] = Counter()
    for word, count in words.items():
        cuts = [cut for cut in all_cuts(word) if all(piece in p for piece in cut)]
        weights = [math.prod(p[piece] for piece in cut) for cut in cuts]
        for cut, weight in zip(cuts, weights, strict=True):
            for piece in cut:
                expected[piece] += count * weight / sum(weights)
    found = dict(zip(lattice.pieces, lattice.expected().tolist(), strict=True))
    assert found == pytest.approx(dict(expected))


def test_what_training_leaves(tokenizer):
    assert tokenizer.vocab_size == 500
    assert set(TEXT) <= set(tokenizer.log_p)
    assert 0.5 < sum(map(math.exp, tokenizer.log_p.values())) <= 1.1
    assert all(len(piece) <= 16 for piece in tokenizer.log_p)
    assert len(tokenizer.encode(TEXT)) < 0.6 * len(TEXT)
    assert EM_STEPS == 2


def test_round_trip_and_unknown_characters(tokenizer):
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    ids = tokenizer.encode("naïve").tolist()
    assert ids.count(tokenizer.unk) == 1
    assert tokenizer.decode(ids) == "na\N{REPLACEMENT CHARACTER}ve"
    assert tokenizer.encode("").tolist() == []


def test_bad_input():
    with pytest.raises(TokenizerError, match="give a text that is not empty"):
        UnigramTokenizer.train("", 100)
    with pytest.raises(TokenizerError, match="give a larger vocab_size"):
        UnigramTokenizer.train("abc abd", 4)
    with pytest.raises(TokenizerError, match="There is no token 9"):
        UnigramTokenizer({"a": -1.0}).decode([9])
