"""BM25: a calculation by hand, a slow reference, and what its parameters do."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from helpers.models.retrieval import BM25, overlap, words_of


def test_words_are_lower_cased_and_counted_as_often_as_they_occur():
    assert words_of("The dog's 2 caps, the END!") == ["the", "dog's", "2", "caps", "the", "end"]


def test_a_score_is_that_of_a_calculation_by_hand():
    # Lengths 2, 4, 3 (mean 3); "b" stands in two of three texts, "c" in one, there twice.
    scores = BM25(["a b", "b c c d", "e f g"], k1=2, b=0.5).scores("b c unknown")
    idf_b, idf_c = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    short, long = 2 * (0.5 + 0.5 * 2 / 3), 2 * (0.5 + 0.5 * 4 / 3)
    assert scores.tolist() == pytest.approx(
        [idf_b * 3 / (1 + short), idf_b * 3 / (1 + long) + idf_c * 6 / (2 + long), 0]
    )


def slow(query, texts, k1, b):
    """BM25 word by word and text by text, as the formula stands."""
    split = [words_of(text) for text in texts]
    mean = sum(map(len, split)) / len(split)
    found = []
    for text in split:
        total = 0.0
        for word in words_of(query):
            n, f = sum(word in other for other in split), text.count(word)
            idf = math.log(1 + (len(split) - n + 0.5) / (n + 0.5))
            if f:
                total += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(text) / mean))
        found.append(total)
    return found


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2, 1), (1.5, 0)])
def test_scores_are_those_of_the_formula_written_out(k1, b):
    draw = random.Random(0)
    texts = [" ".join(draw.choices("abcdefgh", k=draw.randint(0, 12))) for _ in range(40)]
    texts[0] = "a a"
    model = BM25(texts, k1, b)
    for _ in range(20):
        query = " ".join(draw.choices("abcdefghij", k=4))
        assert model.scores(query) == pytest.approx(slow(query, texts, k1, b))


def test_rare_words_count_more_and_repetitions_less_each_time():
    model = BM25(["the ferry", "the ferry ferry", "the ferry ferry ferry", "the mill"], b=0)
    assert model.idf["mill"] > model.idf["ferry"] > model.idf["the"] > 0
    once, twice, thrice, never = model.scores("ferry")
    assert once < twice < thrice
    assert twice - once > thrice - twice
    assert never == 0
    assert len(set(BM25(["a", "a a", "b"], k1=0).scores("a")[:2])) == 1


def test_a_query_of_unknown_words_gets_nothing_and_settings_are_checked():
    assert not BM25(["a", "b"]).scores("c").any()
    with pytest.raises(ValueError, match="no texts"):
        BM25([])


def test_other_words_can_be_compared():
    letters = BM25(["kissed", "held"], words=lambda text: [word[:4] for word in words_of(text)])
    assert np.flatnonzero(letters.scores("kiss")).tolist() == [0]


def test_overlap_counts_each_word_of_the_query_once():
    assert overlap("a A b x", ["a a", "b c a", ""]).tolist() == [1, 2, 0]
