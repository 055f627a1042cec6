"""Scores of whole texts and of minimal pairs, against the plain way to compute them."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from helpers.data.minimal_pairs import MinimalPair
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.plausibility import bits_per_byte, right_choices, text_log_probs
from helpers.models.gpt import GPT, GPTConfig

V = 11


@pytest.fixture(scope="module")
def model() -> GPT:
    torch.manual_seed(0)
    made = GPT(GPTConfig.gpt2(V, max_length=32, n_layers=1, n_heads=2, d_model=8, dropout=0.3))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)
    return made


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_texts_of_any_length_are_scored_as_if_each_were_alone(model, batch_size):
    texts = [torch.randint(V, (n,)) for n in (5, 2, 9, 9, 31, 3)]
    found = text_log_probs(model, texts, batch_size)
    model.eval()
    for text, log_probs in zip(texts, found, strict=True):
        with torch.no_grad():
            every = model(text[None, :-1])[0].log_softmax(-1)
        alone = every[torch.arange(len(text) - 1), text[1:]]
        torch.testing.assert_close(log_probs, alone, atol=1e-5, rtol=1e-5)
    model.train()


def test_the_model_stays_in_its_mode_and_gets_no_gradients(model):
    model.train()
    (row,) = text_log_probs(model, [torch.tensor([1, 2, 3])])
    assert model.training
    assert not row.requires_grad


def test_bits_per_byte_count_two_blank_lines_for_an_end():
    half = torch.full((4,), math.log(0.5))
    assert bits_per_byte([half, half[:3]], ["ab", "ä"]) == pytest.approx(7 / (2 + 3 + 2 + 3))


class OneLetter:
    """A model of letters for which every e costs a bit more than any other letter."""

    def __init__(self, tokenizer: CharTokenizer) -> None:
        self.e = int(tokenizer.encode("e"))

    def __call__(self, texts):
        return [-1.0 - (text[1:] == self.e).double() for text in texts]


def test_a_pair_is_decided_by_its_continuations_alone():
    tokenizer = CharTokenizer.train("\nhe she was sat. ")
    pairs = [
        MinimalPair("pronoun", "1", "eeee", " was he.", " was she.", "eeee"),  # the shorter one
        MinimalPair("pronoun", "2", "e", " she sat.", " he sat.", "e"),
        MinimalPair("pronoun", "3", "e", " sat.", " set.", "e"),
    ]
    begin = int(tokenizer.encode("\n"))
    found = right_choices(pairs, tokenizer, begin, OneLetter(tokenizer))
    assert found.tolist() == [1, 0, 1]


class LikesWhatWasSaid:
    """A letter that has occurred before costs nothing, another one a nat."""

    def __call__(self, texts):
        return [
            -torch.tensor([float(x not in text[: i + 1]) for i, x in enumerate(text[1:])])
            for text in texts
        ]


def test_an_ending_is_decided_by_what_stands_before_it():
    tokenizer = CharTokenizer.train("\nhe she was sat. ")
    pairs = [
        MinimalPair("ending", "1", "she was. ", " was", " was", "he. "),
        MinimalPair("ending", "2", "he. ", " was", " was", "she was. "),
    ]
    begin = int(tokenizer.encode("\n"))
    assert right_choices(pairs, tokenizer, begin, LikesWhatWasSaid()).tolist() == [1, 0]


def test_equal_continuations_are_left_to_a_coin(model):
    tokenizer = CharTokenizer.train("\nhe sat. abcd"[:V])
    pair = MinimalPair("name", "1", "he", " sat", " sat", "he")
    begin = int(tokenizer.encode("\n"))
    assert right_choices([pair], tokenizer, begin, partial(text_log_probs, model)).tolist() == [0.5]
