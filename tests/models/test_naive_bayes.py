"""Naive Bayes: probabilities worked out by hand, and texts that it tells apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.models.naive_bayes import NaiveBayes, pieces, words_and_pairs


def test_features_of_a_text():
    assert words_and_pairs("The dog's cap. The end!") == {
        *("the", "dog's", "cap", "end"),
        *("<s> the", "the dog's", "dog's cap", "cap the", "the end", "end </s>"),
    }
    assert words_and_pairs("") == {"<s> </s>"}
    assert pieces("Ab", shortest=2, longest=3) == {"^a", "ab", "b$", "^ab", "ab$"}


def test_posteriors_are_those_of_a_calculation_by_hand():
    model = NaiveBayes(["a b", "a", "b c c"], [0, 0, 1], features=str.split, smoothing=1)
    # Counts of a, b, c with one added: 3, 2, 1 in class 0, and 1, 2, 2 in class 1, where one text
    # has c twice.
    zero, one = 2 / 3 * (3 / 6) * (2 / 6), 1 / 3 * (1 / 5) * (2 / 5)
    found = np.exp(model.log_posteriors(["a b unknown"]))
    expected = [[zero / (zero + one), one / (zero + one)]]
    counts = np.exp(model.log_likelihoods)
    assert np.allclose(counts[model.rows["a"]], [3 / 6, 1 / 5])
    assert np.allclose(counts[model.rows["c"]], [1 / 6, 2 / 5])
    assert np.allclose(found, expected)


def test_a_text_without_known_features_gets_the_frequencies_of_the_classes():
    model = NaiveBayes(["x", "x", "y", "x"], [0, 0, 1, 0], features=str.split)
    assert model.log_posteriors(["z"])[0].tolist() == pytest.approx(
        [math.log(3 / 4), math.log(1 / 4)]
    )


@pytest.mark.parametrize("features", [words_and_pairs, pieces])
def test_texts_are_told_apart_whatever_their_order(features):
    texts = ["the cat sat", "a cat slept", "the dog ran", "a dog barked"] * 5
    labels = [0, 0, 1, 1] * 5
    model = NaiveBayes(texts, labels, features)
    assert model.classify(["one cat", "one dog"]).tolist() == [0, 1]
    again = NaiveBayes(texts[::-1], labels[::-1], features)
    assert np.allclose(model.log_posteriors(["the cat ran"]), again.log_posteriors(["the cat ran"]))
