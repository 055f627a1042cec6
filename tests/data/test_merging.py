"""Byte pairs on byte strings, as notebook 03 has them, against the tokenizer on numbers."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from helpers.data.bpe import BPETokenizer
from helpers.data.languages import SAME_TEXT
from helpers.data.merging import BYTE_IDS, best_pair, count_pairs, join, to_bytes


def test_ids_are_those_of_gpt2():
    bare = BPETokenizer([])
    assert {token: i for i, token in enumerate(map(bare.token_bytes, range(256)))} == BYTE_IDS


def test_the_count_decides_then_the_ids():
    ids = {b"e": 0, b"h": 1, b"t": 2}
    assert best_pair({(b"e", b"t"): 3, (b"t", b"h"): 4, (b"h", b"e"): 4}, ids) == (b"h", b"e")
    assert best_pair({(b"h", b"t"): 1, (b"h", b"e"): 1, (b"t", b"e"): 1}, ids) == (b"h", b"e")


def test_pairs_are_counted_with_their_words():
    words = {to_bytes("aaa"): 2, to_bytes("ab"): 3}
    assert count_pairs(words) == Counter({(b"a", b"a"): 4, (b"a", b"b"): 3})


def test_a_token_is_joined_once():
    assert join(to_bytes("aaaaa"), (b"a", b"a")) == (b"aa", b"aa", b"a")
    assert join((b"a", b"aa", b"a", b"a"), (b"a", b"aa")) == (b"aaa", b"a", b"a")
    assert join((b"a", b"ab", b"b"), (b"a", b"b")) == (b"a", b"ab", b"b")


@given(st.text("aab", max_size=12), st.sampled_from(["aa", "ab", "ba"]))
def test_joining_spells_the_same_word(text, pair):
    word = join(to_bytes(text), tuple(to_bytes(pair)))
    assert b"".join(word) == text.encode()
    assert word.count(pair.encode()) == text.count(pair)


def test_the_text_is_there_in_nine_languages():
    assert len(set(SAME_TEXT.values())) == 9
    assert all(text == text.strip() and "  " not in text for text in SAME_TEXT.values())
    assert all(text[-1] in ".。।" for text in SAME_TEXT.values())
