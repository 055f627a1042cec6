"""Tokens put together to words, and their attention weights with them."""

import torch

from helpers.inference.word_weights import into_words, words_of


def test_pieces_of_a_word_are_joined_and_marks_stand_by_themselves():
    words, word_of = words_of(["[begin]", "The", " g", "u", "ess", " win", "s", ",", " it", "."])
    assert words == ["[begin]", "The", "guess", "wins", ",", "it", "."]
    assert word_of.tolist() == [0, 1, 2, 2, 2, 3, 3, 4, 5, 6]


def test_quotation_marks_are_told_apart_and_line_breaks_are_one():
    pieces = ['"', "Go", '."', "\n", "\n", '"', "Yes", ',"', " he", " said", ".", ' "', "No", '!"']
    words, word_of = words_of(pieces)
    expected = ["“", "Go", ".”", "¶", "“", "Yes", ",”", "he", "said", ".", "“", "No", "!”"]
    assert words == expected
    assert word_of[3] == word_of[4]
    assert words_of(["\n\n", " "])[0] == ["¶", "␣"]
    assert words_of([" cafe", "\u0301", "s", " ह", "िन्दी"])[0] == ["cafe\u0301s", "हिन्दी"]


def test_columns_are_added_and_rows_averaged():
    weights = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]])
    found = into_words(weights, torch.tensor([0, 1, 1]))
    assert torch.allclose(found, torch.tensor([[1.0, 0], [0.35, 0.65]]))
    many = torch.rand(2, 3, 5, 5).softmax(-1)
    assert torch.allclose(
        into_words(many, torch.tensor([0, 0, 1, 2, 2])).sum(-1), torch.ones(2, 3, 3)
    )
    assert torch.allclose(into_words(many, torch.arange(5)), many)
