"""WordPiece: encoding against the ``tokenizers`` library, training against brute force."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, pre_tokenizers, trainers
from tokenizers.models import WordPiece

from helpers.data import corpora
from helpers.data.tokenizers import TokenizerError
from helpers.data.wordpiece import WordPieceTokenizer

words = st.lists(st.text("abc", min_size=1, max_size=7), min_size=1, max_size=12)


def library_ids(tokenizer, text):
    vocab = {piece: i for i, piece in enumerate(tokenizer.pieces)}
    model = WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100)
    return [token.id for word in tokenizer.split(text) for token in model.tokenize(word)]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.train(corpora.lantern_bay().validation, 400, min_count=5)


def brute_force(text, n_merges, min_count):
    split = [[word[0], *("##" + c for c in word[1:])] for word in text.split()]
    made = []
    for _ in range(n_merges):
        single = Counter(piece for word in split for piece in word)
        double = Counter(pair for word in split for pair in pairwise(word))
        double = {pair: n for pair, n in double.items() if n >= min_count}
        if not double:
            break
        score = {(a, b): Fraction(n, single[a] * single[b]) for (a, b), n in double.items()}
        best = min(double, key=lambda pair: (-score[pair], -double[pair], pair))
        made.append(best[0] + best[1].removeprefix("##"))
        for word in split:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [made[-1]]
                i += 1
    return made


@given(words, st.integers(0, 8), st.integers(1, 3))
def test_training_against_brute_force(words, n_merges, min_count):
    text = " ".join(words)
    alphabet = sorted({word[0] for word in words} | {"##" + c for word in words for c in word[1:]})
    n_first = 1 + len(alphabet)
    ours = WordPieceTokenizer.train(text, n_first + n_merges, min_count)
    assert ours.pieces[:n_first] == ["[UNK]", *alphabet]
    assert ours.pieces[n_first:] == brute_force(text, n_merges, min_count)


def test_encoding_against_the_library(tokenizer):
    text = corpora.lantern_bay().train[:100_000] + " 茶 éa " + "a" * 100 + " " + "a" * 101
    ids = tokenizer.encode(text)
    assert ids.dtype == torch.long
    assert ids.tolist() == library_ids(tokenizer, text)
    assert (ids == tokenizer.unk).sum() >= 3


@given(st.lists(st.text("abc", min_size=1, max_size=3)), st.text("abc", max_size=9))
def test_any_vocabulary_against_the_library(pieces, text):
    tokenizer = WordPieceTokenizer(sorted({*pieces, *("##" + piece for piece in pieces)}))
    assert tokenizer.encode(text).tolist() == library_ids(tokenizer, text)


def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    assert WordPieceTokenizer.load(tmp_path / "t.json").pieces == tokenizer.pieces
    assert "##" in (tmp_path / "t.json").read_text(encoding="utf-8")


def test_bad_input(tmp_path):
    with pytest.raises(TokenizerError, match="text with words"):
        WordPieceTokenizer.train(" \n", 100)
    with pytest.raises(TokenizerError, match=r"holds 3 .* a larger vocab_size"):
        WordPieceTokenizer.train("tea", 3)
    assert WordPieceTokenizer.train("tea", 4).vocab_size == 4
    with pytest.raises(TokenizerError, match="has 0 to 1"):
        WordPieceTokenizer(["a"]).decode([2])
    for content in ('{"type": "byte pairs", "pieces": []}', '{"type": "word pieces"}', "3"):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(TokenizerError, match="damaged"):
            WordPieceTokenizer.load(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text('{"type": "word pieces", "pieces": ["a", 3]}')


def test_by_count_the_most_frequent_pair_is_joined_as_by_the_library():
    text = corpora.lantern_bay().validation
    ours = WordPieceTokenizer.train(text, 600, by_count=True)
    theirs = Tokenizer(WordPiece(unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    trainer = trainers.WordPieceTrainer(
        vocab_size=600, special_tokens=["[UNK]"], show_progress=False
    )
    theirs.train_from_iterator([text], trainer)
    common = set(ours.pieces) & set(theirs.get_vocab())
    assert len(common) > 570  # ties are broken differently
    assert abs(len(ours.encode(text)) / len(theirs.encode(text).ids) - 1) < 0.005
