"""What the references of lab 02 are worth, and what its leaderboard takes."""

import json
import re
import time
import unicodedata
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
import regex
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.course.checks import lab02
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02 import speed
from helpers.course.checks.lab02.paper import (
    _BUILT,
    _FOUR_BYTES,
    _THREE_BYTES,
    _TWO_BYTES,
    hint_on_paper,
)
from helpers.course.checks.lab02.stretch import leaderboard
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.environment import find_root
from helpers.data import corpora
from helpers.data.bpe import BPETokenizer
from helpers.data.wordpiece import WordPieceTokenizer
from helpers.inference.evaluation import Score
from staff.authoring.labs import lab_sources
from tests.labs.handed_in import with_predictions
from tests.labs.mutation import run_cells

pytestmark = pytest.mark.marking

SOURCE = lab_sources(find_root())["lab02"]
OURS = {name: task.fallback for name, task in lab02.lab.tasks.items()}
corpus = corpora.lantern_bay()
TRAIN, NEW = corpus.train[:40_000], corpus.validation[:5_000]
course = BPETokenizer.train(TRAIN, 256 + 400)


def words_of(text):
    return Counter(tuple(ours.to_ids(word)) for word in ours.split_words(text))


@pytest.mark.parametrize("name", list(lab02.lab.tasks))
def test_the_course_s_own_answer_passes(name):
    task = lab02.lab.tasks[name]
    for seed in range(3):
        task.check(Trial(task.fallback, seed))  # raises a Complaint where it does not


def test_the_signs_on_paper_have_the_lengths_that_their_names_say():
    for n, signs in ((2, _TWO_BYTES), (3, _THREE_BYTES), (4, _FOUR_BYTES)):
        assert {len(sign.encode()) for sign in signs} == {n}
    assert all(len(sign) > 1 for sign in _BUILT)


def test_the_sixes_of_b_and_c_are_different_so_their_order_shows():
    for sign in _THREE_BYTES + _FOUR_BYTES:
        assert len(set(sign.encode()[1:])) == len(sign.encode()) - 1


def test_the_hints_on_paper_do_not_tell_the_number(monkeypatch):
    monkeypatch.setattr(lab02.lab, "variant", 0)  # and back to it at the end
    for variant in range(20):
        lab02.use_variant(variant)
        for name, value in lab02.by_hand.fallback().items():
            wrong = value + 1 if isinstance(value, int) else [*value[:-1], value[-1] ^ 1]
            assert hint_on_paper(name, value, value) == ""
            hint = hint_on_paper(name, wrong, value)
            numbers = [value] if isinstance(value, int) else value
            assert hint
            assert not {str(n) for n in numbers} & set(re.findall(r"\d+", hint)) - {"10"}


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("U+3042", 0x3042, "without quotes"),
        ([0x30, 0x42], 0x3042, "one whole number"),
        ([11000011, 10101001], [0xC3, 0xA9], "0b before them"),
        (["C3", "A9"], [0xC3, 0xA9], "whole numbers"),
        (None, [0xC3, 0xA9], "whole numbers"),
    ],
)
def test_numbers_that_are_written_otherwise_are_told_so(wrong, right, says):
    assert says in hint_on_paper("code point of C", wrong, right)


def test_the_notebook_does_not_show_the_signs_on_paper():
    source = (find_root() / "notebooks/labs/source/lab02/lab02_tokenizer.ipynb").read_text("utf-8")
    shown = {sign for cell in json.loads(source)["cells"] for sign in "".join(cell["source"])}
    assert not shown & {*_TWO_BYTES, *_THREE_BYTES, *_FOUR_BYTES}


small_words = st.dictionaries(
    st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=8
)


@given(small_words)
def test_pairs_are_overlapping_matches(words):
    expected = Counter()
    for word, n in words.items():
        for pair in regex.findall("..", word, overlapped=True):
            expected[tuple(map(ord, pair))] += n
    assert ours.count_pairs({tuple(map(ord, word)): n for word, n in words.items()}) == expected


@given(st.text("abc", max_size=30), st.text("abc", min_size=2, max_size=2))
def test_merge_is_what_replace_does_to_letters(text, pair):
    a, b = map(ord, pair)
    assert ours.merge([ord(c) for c in text], (a, b), ord("X")) == [
        ord(c) for c in text.replace(pair, "X")
    ]


ENDINGS = ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re")


def kind_of(character):
    known = {"L": "letter", "N": "digit"}
    return "blank" if character.isspace() else known.get(unicodedata.category(character)[0], "sign")


@given(st.text("ab1stdlve .,_'\n\té海²ßЖ½🙂S", max_size=40))
@settings(max_examples=300)
def test_pieces_are_those_of_the_six_rules(text):
    pieces, start = ours.split_words(text), 0
    assert "".join(pieces) == text
    for piece in pieces:
        rest = text[start:]
        ending = next((e for e in ENDINGS if rest.startswith(e)), None)
        kinds = {kind_of(c) for c in piece[piece[0] == " " and len(piece) > 1 :]}
        end = start + len(piece)
        if ending:
            assert piece == ending
        elif piece.isspace():
            blanks = len(rest) - len(rest.lstrip())
            assert len(piece) in (blanks, blanks - 1)
            assert len(piece) == blanks or end < len(text)
            # A blank that is left over begins the next piece, or was no space.
            assert blanks == 1 or len(piece) == blanks - (blanks < len(rest))
        else:
            assert len(kinds) == 1
            assert end == len(text) or kind_of(text[end]) not in kinds
        start = end


@pytest.mark.parametrize("text", [TRAIN[:20_000], "aaaa aaaaaaa aa baaab baaab abababab " * 3])
def test_merges_are_those_of_the_course_s_tokenizer(text):
    expected = BPETokenizer.train(text, 256 + 400).merges
    assert ours.train_merges(words_of(text), 400) == expected
    assert ours.train_quickly(words_of(text), 400) == expected


@given(st.text("ab ", min_size=1, max_size=60), st.integers(0, 20))
def test_merges_agree_where_there_are_many_ties(text, n):
    expected = BPETokenizer.train(text, 256 + n).merges
    assert ours.train_merges(words_of(text), n) == expected
    assert ours.train_quickly(words_of(text), n) == expected


MARKS = ["<|endoftext|>", "<|end|>", "<|", "a.b"]


@given(st.lists(st.sampled_from([*MARKS, "a", " the", "b", "\n", "<|end"]), max_size=12))
def test_special_tokens_are_those_of_the_course_s_tokenizer(parts):
    tokenizer, text = BPETokenizer(course.merges[:50], MARKS), "".join(parts)
    for special in (True, False):
        found = OURS["encode_text"](
            text, lambda part: tokenizer.encode(part).tolist(), tokenizer.special_ids, special
        )
        assert found == tokenizer.encode(text, special).tolist()


def test_a_slow_loop_is_told_whether_it_looks_at_all_words_or_at_all_pairs():
    def complaint(answer):
        with pytest.raises(Complaint) as raised:
            lab02.train_quickly.check(Trial(answer))
        return raised.value

    slow = complaint(ours.train_merges)
    assert "the set of the words" in slow.hint
    assert "in every round" in slow.hint

    def tired(words, n):
        began = time.process_time()
        while len(words) > 200 and time.process_time() - began < 0.8:
            pass
        return ours.train_quickly(words, n)

    assert "sort nothing" in complaint(tired).hint


def test_the_speed_of_many_words_is_that_of_the_frequent_ones():
    words = speed.many_words(Trial(None, 3), speed.N_RARE)
    frequent = speed.many_words(Trial(None, 3), 0)
    assert list(words)[: len(frequent)] == list(frequent)
    assert len(words) > 0.95 * speed.N_RARE
    merges = ours.train_quickly(words, speed.N_MERGES)
    assert merges == ours.train_quickly(frequent, speed.N_MERGES)
    few = speed.many_words(Trial(None, 3), speed.N_FEW)
    assert set(ours.count_pairs(words)) == set(ours.count_pairs(few))  # only words grow in number
    assert merges == ours.train_quickly(few, speed.N_MERGES)
    assert len(merges) == speed.N_MERGES


def test_words_are_encoded_as_by_the_course_s_tokenizer(notebook):
    for word in set(ours.split_words(NEW)):
        assert (
            notebook["encode_word"](ours.to_ids(word), course.merges)
            == course.encode(word).tolist()
        )


def test_tokens_are_those_of_the_course_s_tokenizer():
    expected = [course.token_bytes(i) for i in range(course.vocab_size)]
    assert OURS["token_bytes"](course.merges) == expected


def test_any_ids_are_decoded_as_by_the_course_s_tokenizer(notebook):
    tokens, drawn = OURS["token_bytes"](course.merges), Random(0)
    for _ in range(100):
        ids = drawn.choices(range(course.vocab_size), k=drawn.randrange(20))
        assert notebook["decode"](ids, tokens) == course.decode(ids)


def test_measures_are_those_of_notebook_3():
    n, nats = len(course.encode(NEW)), 2.5
    of_text = ours.measure(NEW, n, nats)
    priced = Score(nats=n * nats, tokens=n, characters=len(NEW), bytes=len(NEW.encode()))
    assert of_text["bits per byte"] == pytest.approx(priced.bits_per_byte)
    assert of_text["bytes per token"] == pytest.approx(len(NEW.encode()) / n)
    assert of_text["tokens per word"] == pytest.approx(n / len(re.findall(r"\S+", NEW)))


def test_pieces_are_those_of_the_course_s_wordpiece():
    wordpiece = WordPieceTokenizer.train(TRAIN, 300, min_count=5)
    for word in {*re.findall(r"\w+", NEW), "naïve", "海港"}:
        expected = [wordpiece.pieces[i] for i in wordpiece.encode(word)]
        assert OURS["wordpiece"](word, set(wordpiece.pieces)) == expected


BYTES = [bytes([i]) for i in range(256)]


def by_bytes(text):
    return list(text.encode())


def test_a_token_per_byte_is_on_the_leaderboard(capsys):
    leaderboard(lambda train: (BYTES, by_bytes), "abc", "cab")
    assert "1.0000 tokens per character" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda train: BYTES, "a list of bytes and a function"),
        (lambda train: (["a"], by_bytes), "a list of bytes and a function"),
        (lambda train: ([*BYTES, b"ab", b"bc", b"ca"], by_bytes), "at most 2 tokens"),
        (lambda train: ([*BYTES, b""], by_bytes), "none of them empty"),
        (lambda train: ([*BYTES, b"cab"], by_bytes), "stands in the training text"),
        (lambda train: (BYTES, lambda text: []), "joined, are the text"),
        (lambda train: (BYTES, lambda text: [-1, 256]), "joined, are the text"),
        (lambda train: (BYTES, lambda text: list(text)), "joined, are the text"),
        (lambda train: 1 / 0, "it runs without an error"),
    ],
)
def test_what_the_leaderboard_does_not_take(make, why, capsys):
    leaderboard(make, "abca", "cab", n_tokens=2)
    said = capsys.readouterr().out
    assert why in said
    assert "tokens per character" not in said


def test_too_slow_for_the_leaderboard(capsys):
    def slow(text):
        sum(range(10**7))
        return by_bytes(text)

    leaderboard(lambda train: (BYTES, slow), "abc", "cab", seconds=0.05)
    said = capsys.readouterr().out
    assert re.search(r"0\.05 s of processor time|to an end within 0\.5 s", said)


def test_a_blank_is_not_on_the_leaderboard(capsys):
    def blank(train):
        raise NotImplementedError

    leaderboard(blank, "abc", "cab")
    assert "not attempted" in capsys.readouterr().out


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The names of the source with predictions made, but for the one that waits for a slow loop."""
    folder = tmp_path_factory.mktemp("lab02")
    return run_cells(with_predictions(SOURCE, folder, but="my_ratio"))


def test_a_thousand_merges_of_all_tales_take_less_than_a_hundred_by_counting_anew(notebook):
    found, seconds = notebook["timed"](notebook["train_quickly"])
    assert found == BPETokenizer.train(corpus.train, 1256).merges
    began = time.process_time()
    assert notebook["train_merges"](notebook["words"], 100) == found[:100]
    assert seconds < time.process_time() - began  # about 0.3 s against more than a second


def test_the_tokenizer_is_that_of_lab_05(notebook):
    mine, theirs, some = (notebook[name] for name in ("of_lab05", "theirs", "some"))
    assert mine.vocab_size == theirs.vocab_size == 2048
    assert mine.special_ids == theirs.special_ids
    for special in (True, False):
        ids = mine.encode(some, special)
        assert torch.equal(ids, theirs.encode(some, special))
        assert mine.decode(ids) == theirs.decode(ids) == some
    assert mine.tokens == [theirs.token_bytes(i) for i in range(2048)]


def test_what_the_notebook_asks_to_be_seen_is_there(notebook):
    counted, new = (notebook["lines"][name][1] for name in ("tales of the training", "new tales"))
    assert new == sorted(new)
    assert all(abs(a / b - 1) < 0.05 for a, b in zip(counted, new, strict=True))
    assert new[-1] < notebook["ceiling"]
    assert new[2] - new[0] > new[-1] - new[-2] > 0
    per_token, per_byte = zip(*notebook["results"].values(), strict=True)
    assert list(per_token) == sorted(per_token)
    assert per_token[-1] > 10 * per_token[0]
    assert max(per_byte) < 1.02 * min(per_byte)
    assert len(notebook["unknown"]) == 3
    tale, familiar, rare, numbers, english, french, greek, chinese = notebook["cost"]
    assert max(tale, familiar) < 0.35
    assert rare > 2 * tale
    assert numbers == 1
    assert max(tale, english) < 0.36 < french < 1
    assert 1.7 < greek < 2
    assert chinese == 3
    english, french, greek, chinese = notebook["whole"]
    assert english < french < chinese < greek  # not the order by characters
    counts = Counter(pairwise(notebook["train"]))
    assert "".join(max(counts, key=counts.get)) == "e "


def test_wordpiece_and_byte_pairs_are_compared_with_as_many_joined_pieces(notebook):
    pieces = notebook["vocabulary"]
    joined = [piece for piece in pieces - {"[UNK]"} if len(piece.removeprefix("##")) > 1]
    assert len(joined) == 1000 == len(notebook["mine"].merges)
    words = notebook["different"]
    longest = sum(len(notebook["wordpiece"](word, pieces)) for word in words)
    assert 0.9 < longest / sum(len(notebook["mine"].pieces(" " + word)) for word in words) < 1
    wordpiece, byte_pairs, longest_first, with_more = notebook["needed"].values()
    assert abs(longest_first - byte_pairs) < 0.1 * (byte_pairs - wordpiece)
    assert byte_pairs - with_more > 0.5 * (byte_pairs - wordpiece)


def test_more_than_a_quarter_of_the_pairs_have_come_to_zero(notebook):
    words, merges = notebook["words"], notebook["merges"][:1000]
    seen, now = set(ours.count_pairs(words)), words
    for i, pair in enumerate(merges):
        now = {
            tuple(ours.merge(word, pair, 256 + i)) if pair in pairwise(word) else word: n
            for word, n in now.items()
        }
        seen |= set(ours.count_pairs(now)) if i % 10 == 9 else set()
    assert len(ours.count_pairs(now)) < 0.75 * len(seen)
