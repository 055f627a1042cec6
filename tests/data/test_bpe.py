"""Byte-level BPE against the ``tokenizers`` library, brute force and GPT-2's own files."""

from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    ByteLevelBPETokenizer,
    Regex,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)

from helpers.data import bpe, corpora
from helpers.data.bpe import END_OF_TEXT, GPT2_PATTERN, BPETokenizer
from helpers.data.tokenizers import TokenizerError
from helpers.pretrained.gpt2_files import gpt2_tokenizer

# A code point may be a letter in one version of Unicode and unassigned in another.
assigned = st.characters(exclude_categories=["Cs", "Cn"])
any_text = st.text(st.characters(exclude_categories=["Cs"]))
few_letters = st.text(st.sampled_from("aab b'sé1\n"))
SAMPLE = "The tea's ready, they'll say: 'Tea at 5, 2024!' — thé, 茶，чай 🍵\n\n\tdef tea(x):\n" * 8


def library(text, vocab_size, min_count=2, parts=None):
    theirs = ByteLevelBPETokenizer(add_prefix_space=False)
    theirs.train_from_iterator(
        parts or [text], vocab_size=vocab_size, min_frequency=min_count, show_progress=False
    )
    return theirs


def library_files(theirs, folder):
    vocab, merges = theirs.save_model(str(folder))
    return Path(merges), Path(vocab)


def saved_merges(ours, folder):
    ours.save(folder / "ours.json")
    return json.loads((folder / "ours.json").read_text(encoding="utf-8"))["merges"]


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(SAMPLE, 300, [END_OF_TEXT, "<|user|>"])


@given(st.text(assigned) | few_letters, st.integers(0, 30), st.integers(1, 3))
def test_training_against_the_library(text, n_merges, min_count):
    theirs = library(text, 256 + n_merges, min_count)
    ours = BPETokenizer.train(text or " ", 256 + n_merges, min_count=min_count)
    assert ours.vocab_size == theirs.get_vocab_size()
    assert ours.encode(text).tolist() == theirs.encode(text).ids


def unicode_soup():
    generator = random.Random(3)
    signs = [c for c in map(chr, range(0x20000)) if unicodedata.category(c) not in ("Cn", "Cs")]
    signs = generator.sample(signs, 60) + list("  \n'stre09")
    return "".join(generator.choices(signs, k=20_000))


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("name", ["lantern_bay", "python_docs", "unicode_soup"])
def test_the_same_merges_and_ids_as_the_library(name, min_count, tmp_path):
    if name == "unicode_soup":
        train = held_out = unicode_soup()
    else:
        corpus = getattr(corpora, name)()
        train, held_out = corpus.train, corpus.validation
    ours = BPETokenizer.train(train, 1256, min_count=min_count)
    theirs = library(train, 1256, min_count)
    merges_file, vocab_file = library_files(theirs, tmp_path)
    lines = merges_file.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == 1000
    assert saved_merges(ours, tmp_path) == lines
    assert gpt2_tokenizer(merges_file, vocab_file).merges == ours.merges
    for text in (train, held_out):
        assert ours.encode(text).tolist() == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


# Single digits; groups of up to three, as GPT-4's tokenizer cuts them; the whole text as one word.
PATTERNS = [
    GPT2_PATTERN.replace(r" ?\p{N}+", r"\p{N}"),
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+",
    r"[\s\S]+",
]


def library_with(pattern, text, vocab_size):
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, min_frequency=2, initial_alphabet=alphabet, show_progress=False
    )
    theirs.train_from_iterator([text], trainer)
    return theirs


@pytest.mark.parametrize("pattern", PATTERNS)
def test_another_pattern_against_the_library(pattern):
    ours = BPETokenizer.train(SAMPLE, 330, pattern=pattern)
    theirs = library_with(pattern, SAMPLE, 330)
    assert ours.split(SAMPLE) == [
        SAMPLE[i:j] for _, (i, j) in theirs.pre_tokenizer.pre_tokenize_str(SAMPLE)
    ]
    signs = [bpe.signs(ours.token_bytes(i)) for i in ours.encode(SAMPLE).tolist()]
    assert [theirs.token_to_id(sign) for sign in signs] == theirs.encode(SAMPLE).ids
    assert ours.decode(ours.encode(SAMPLE)) == SAMPLE
    assert ours.merges != BPETokenizer.train(SAMPLE, 330).merges


def test_first_merges_are_kept_and_learning_goes_on_behind_them():
    whole = BPETokenizer.train(SAMPLE, 330)
    assert BPETokenizer.train(SAMPLE, 330, first=whole.merges[:30]).merges == whole.merges
    pattern = r"[^\n]+|\n+"
    across = BPETokenizer.train(SAMPLE, 330, pattern=pattern, first=whole.merges[:30])
    assert across.merges[:30] == whole.merges[:30]
    assert len(across.merges) == 74
    wide = [i for i in range(256, 330) if b" " in across.token_bytes(i).strip()]
    assert min(wide) >= 286
    assert across.decode(across.encode(SAMPLE)) == SAMPLE


def test_special_tokens_as_the_library_adds_them():
    special = [END_OF_TEXT, "<|user|>", "<|user|>s"]
    documents = ["The tea is ready. ", "\n Tea and bread at the", "the the the"]
    text = special[0].join(documents)
    ours = BPETokenizer.train(text, 256 + 6 + 3, special)
    theirs = library(text, 256 + 6, parts=documents)
    theirs.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    for s in (text, "<|user|>s the<|user|> <|endoftext|><|endoftext|>", "<|user|", ""):
        assert ours.encode(s, special=True).tolist() == theirs.encode(s).ids
        assert ours.decode(ours.encode(s, special=True)) == s
    assert ours.special_ids == {s: 262 + i for i, s in enumerate(special)}
    assert [ours.token_bytes(262 + i).decode() for i in range(3)] == special


def test_special_tokens_are_text_unless_allowed(tokenizer):
    text = f"tea{END_OF_TEXT}tea"
    plain, special = tokenizer.encode(text), tokenizer.encode(text, special=True)
    assert plain.max() < 298
    assert special.tolist().count(298) == 1
    assert len(special) < len(plain)
    assert tokenizer.decode(plain) == tokenizer.decode(special) == text
    # The same merges with and without them: they stand behind and are cut out of the text.
    cut = BPETokenizer.train(text * 9, 264, [END_OF_TEXT])
    assert all(b"<" not in cut.token_bytes(256 + i) for i in range(len(cut.merges)))
    assert cut.merges == BPETokenizer.train("tea" * 2, 263, min_count=1).merges


@given(any_text)
def test_round_trip(tokenizer, text):
    for special in (False, True):
        ids = tokenizer.encode(text, special)
        assert ids.dtype == torch.long
        assert ids.ndim == 1
        assert tokenizer.decode(ids) == text
    assert "".join(tokenizer.split(text)) == text
    assert b"".join(map(tokenizer.token_bytes, tokenizer.encode(text).tolist())) == text.encode()


@settings(max_examples=30)
@given(st.text(st.sampled_from("aab"), min_size=100, max_size=400) | st.integers(100, 400))
def test_long_pre_tokens_against_the_library(text):
    text = "a" * text if isinstance(text, int) else text
    seed = "aabab" * 40 + "a" * 50
    theirs, ours = library(seed, 290, 1), BPETokenizer.train(seed, 290, min_count=1)
    assert ours.encode(text).tolist() == theirs.encode(text).ids


def test_pre_tokens_of_every_character():
    signs = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")]
    signs = [c for c in signs if unicodedata.category(c) != "Co"] + ["\ue000", "\U0010fffd"]
    split = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    text = "".join(f"a{c}1{c}! {c}{c}\n" for c in signs)
    theirs = [text[i:j] for _, (i, j) in split(text)]
    assert BPETokenizer([]).split(text) == theirs


def test_bytes_that_are_not_utf8_are_replaced():
    ours = BPETokenizer([])
    ids = ours.encode("é!")
    assert ours.decode(ids[:1]) == "\ufffd"
    assert ours.decode(ids[1:]) == "\ufffd!"


def test_saved_and_loaded(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    again = BPETokenizer.load(tmp_path / "t.json")
    assert again.merges == tokenizer.merges
    assert again.special_ids == tokenizer.special_ids
    assert "Ġ t" in (tmp_path / "t.json").read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]
    assert again.pattern == GPT2_PATTERN
    digits = BPETokenizer.train("1948 1948", 300, pattern=PATTERNS[0])
    digits.save(tmp_path / "t.json")
    again = BPETokenizer.load(tmp_path / "t.json")
    assert again.pattern == PATTERNS[0]
    assert again.split("in 1948") == ["in", " ", "1", "9", "4", "8"]


def test_a_small_vocabulary_in_the_form_of_gpt2(tmp_path):
    theirs = library(SAMPLE, 300)
    merges_file, vocab_file = library_files(theirs, tmp_path)
    theirs = ByteLevelBPETokenizer.from_file(str(vocab_file), str(merges_file))
    ours = gpt2_tokenizer(merges_file, vocab_file)
    assert ours.encode(SAMPLE).tolist() == theirs.encode(SAMPLE).ids
    assert ours.special_tokens == []
    vocab = json.loads(vocab_file.read_text(encoding="utf-8"))
    vocab_file.write_text(json.dumps(vocab | {END_OF_TEXT: 300, "<|pad|>": 301}))
    ours = gpt2_tokenizer(merges_file, vocab_file)
    assert ours.special_ids == {END_OF_TEXT: 300, "<|pad|>": 301}
    # Published ids of single bytes: "!", line feed, space.
    assert [ours.encode(c).item() for c in "!\n "] == [0, 198, 220]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", 300), "no text"),
        (("tea", 255), "at least 256"),
        (("tea", 256, (), 2, GPT2_PATTERN, [(0, 1)]), "1 merges to begin with.*at least 257"),
        (("tea", 300, [""]), "none of them empty"),
        (("tea", 258, "<a>"), "expected a list"),
        (("tea \ud800", 300), r"'\\ud800' at position 4"),
    ],
)
def test_bad_training(arguments, message):
    with pytest.raises(TokenizerError, match=message):
        BPETokenizer.train(*arguments)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "no regular expression"),
        (r"(\w)+|\W", r"has a group: write \(\?:"),
        (r"\w+", r"leaves out ' '"),
    ],
)
def test_bad_patterns(pattern, message):
    with pytest.raises(TokenizerError, match=message):
        BPETokenizer.train("the tea", 300, pattern=pattern)
    with pytest.raises(TokenizerError, match=message):
        BPETokenizer([], pattern=pattern).encode("the tea")


def test_bad_text_and_ids(tokenizer):
    with pytest.raises(TokenizerError, match="surrogate"):
        tokenizer.encode("tea \udcff")
    for call in (lambda i: tokenizer.decode([5, i]), tokenizer.token_bytes):
        for i in (-1, 300):
            with pytest.raises(TokenizerError, match="has 0 to 299"):
                call(i)


def test_bad_merges():
    with pytest.raises(TokenizerError, match=r"Merge 1 joins tokens 0 and 257, but only 0 to 256"):
        BPETokenizer([(0, 0), (0, 257)])


def replace_pair(ids, pair, new):
    out = []
    for i in ids:
        if out and (out[-1], i) == pair:
            out[-1] = new
        else:
            out.append(i)
    return out


def brute_force(words, n_merges, min_count):
    """Count all pairs, merge the most frequent, count again."""
    words = [list(word) for word in words]  # ids of bytes
    merges = []
    while len(merges) < n_merges:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts or max(counts.values()) < min_count:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        words = [replace_pair(word, best, 256 + len(merges)) for word in words]
        merges.append(best)
    return merges, words


@given(few_letters.filter(bool), st.integers(0, 12), st.integers(1, 3))
def test_training_against_brute_force(text, n_merges, min_count):
    ours = BPETokenizer.train(text, 256 + n_merges, min_count=min_count)
    ids = {ours.token_bytes(i): i for i in range(256)}
    words = [[ids[bytes([byte])] for byte in word.encode()] for word in ours.split(text)]
    merges, merged = brute_force(words, n_merges, min_count)
    assert ours.merges == merges
    assert ours.vocab_size == 256 + len(merges)
    assert ours.encode(text).tolist() == [i for word in merged for i in word]


def test_bad_files(tmp_path):
    path = tmp_path / "bad.json"
    with pytest.raises(TokenizerError, match="Cannot read"):
        BPETokenizer.load(path)
    start = '{"type": "byte pairs", '
    for content in ("{", "[]", start + '"merges": []}', '{"type": "words", "words": []}'):
        path.write_text(content)
        with pytest.raises(TokenizerError, match="damaged"):
            BPETokenizer.load(path)
    for merge in ('"a"', '"a b c"', '"ab c"', "3", '"é~ a"'):
        path.write_text(start + f'"merges": ["a c", {merge}], "special_tokens": []}}')
        with pytest.raises(TokenizerError, match=r"Merge 1 of .* does not join"):
            BPETokenizer.load(path)
    path.write_text(start + '"merges": [], "special_tokens": [3]}')
    with pytest.raises(TokenizerError, match="damaged"):
        BPETokenizer.load(path)
    path.write_text(start + '"merges": [], "special_tokens": [3], "pattern": "."}')
    with pytest.raises(TokenizerError, match="list of strings"):
        BPETokenizer.load(path)
