"""Tokenizers: round trips, saved files, bad input."""

from __future__ import annotations

import re
import unicodedata

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.data.tokenizers import CharTokenizer, TokenizerError, WordTokenizer
from helpers.data.wordpiece import WordPieceTokenizer

text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(text)
def test_characters_round_trip(s):
    tokenizer = CharTokenizer.train(s)
    ids = tokenizer.encode(s)
    assert ids.dtype == torch.long
    assert len(ids) == len(s)
    assert tokenizer.decode(ids) == s
    assert tokenizer.vocab_size == len(set(s))


@given(st.lists(st.characters(exclude_categories=["Cs"]), min_size=1, unique=True))
def test_ids_follow_the_order_of_the_alphabet(alphabet):
    tokenizer = CharTokenizer(alphabet)
    assert tokenizer.encode("".join(alphabet)).tolist() == list(range(len(alphabet)))


def test_an_unknown_character_is_named():
    with pytest.raises(TokenizerError, match=r"'z' at position 2"):
        CharTokenizer("abc").encode("abz")


def test_words_by_hand():
    tokenizer = WordTokenizer.train('Tea, tea\n\nand "tea".', min_count=1)
    assert tokenizer.split("It's a twenty-two.") == ["It's", "a", "twenty-two", "."]
    assert tokenizer.words[:2] == ["<unk>", "</s>"]
    ids = tokenizer.encode('tea "and" milk\n\n')
    assert [tokenizer.words[i] for i in ids] == ["tea", '"', "and", '"', "<unk>", "</s>"]


def test_combining_marks_belong_to_their_letters():
    text = "हिन्दी cafe\u0301's x\u0301-1\u0301. ❤\ufe0f नम\u200dस् ½_²"
    words = ["हिन्दी", "cafe\u0301's", "x\u0301-1\u0301", ".", "❤\ufe0f", "नम\u200dस्", "½_²"]
    assert WordTokenizer.train("x").split(text) == words
    pieces = WordPieceTokenizer.train(text, 100, min_count=1).split("cafe\u0301 हिन्दी!")
    assert pieces == ["cafe\u0301", "हिन्दी", "!"]


@given(text)
def test_where_there_are_no_marks_words_are_those_of_re(s):
    s = "".join(c for c in s if unicodedata.category(c)[0] not in "MC" and c.isprintable())
    expected = re.findall(r"\w+(?:['\u2019-]\w+)*|[^\w\s]", s)
    assert WordTokenizer.train("x").split(s) == expected


def test_a_byte_order_mark_is_no_damage(tmp_path):
    CharTokenizer("ab").save(tmp_path / "t.json")
    marked = b"\xef\xbb\xbf" + (tmp_path / "t.json").read_bytes()
    (tmp_path / "t.json").write_bytes(marked)
    assert CharTokenizer.load(tmp_path / "t.json").alphabet == ["a", "b"]


def test_decoded_words_are_set_like_english():
    line = '"Come in," said Wren, "and shut the door (it\'s cold)."\n'
    tokenizer = WordTokenizer.train(line)
    assert tokenizer.decode(tokenizer.encode(line)) == line


def test_words_are_sorted_by_frequency_and_rare_ones_left_out():
    tokenizer = WordTokenizer.train("b a b c b a", min_count=2)
    assert tokenizer.words[2:] == ["b", "a"]
    assert tokenizer.encode("c").tolist() == [tokenizer.unk, tokenizer.end]


@given(st.lists(st.sampled_from(["tea", "(", ")", ",", ".", "it's", "two-fold"]), min_size=1))
def test_encoding_decoded_words_gives_the_same_ids(words):
    tokenizer = WordTokenizer.train("Tea and (more) tea, it's two-fold.")
    ids = tokenizer.encode(" ".join(words))
    assert torch.equal(tokenizer.encode(tokenizer.decode(ids)), ids)


@pytest.mark.parametrize("tokenizer", [CharTokenizer('aé"\n'), WordTokenizer(["aé", '"'])])
def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    again = type(tokenizer).load(tmp_path / "t.json")
    assert vars(again).keys() == vars(tokenizer).keys()
    assert again.vocab_size == tokenizer.vocab_size
    assert torch.equal(again.encode('aé"\n'), tokenizer.encode('aé"\n'))
    assert "é" in (tmp_path / "t.json").read_text(encoding="utf-8")  # readable
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_bad_input(tmp_path):
    for ids in ([3], [-1]):
        with pytest.raises(TokenizerError, match="has 0 to 2"):
            CharTokenizer("abc").decode(ids)
    for alphabet in ("", "aa", ["ab"]):
        with pytest.raises(TokenizerError):
            CharTokenizer(alphabet)
    with pytest.raises(TokenizerError, match="Cannot read"):
        CharTokenizer.load(tmp_path / "missing.json")
    for content in ("{", "[]", '{"type": "words", "words": []}', '{"type": "characters"}'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(TokenizerError, match="damaged"):
            CharTokenizer.load(tmp_path / "bad.json")
