"""Scores: the lecture's digits, units, and models against predictors."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from helpers.inference.evaluation import Score, log_probs, score, score_model


class Uniform:
    """Every token has the same probability."""

    def __init__(self, vocab_size):
        self.vocab_size = self.bos = vocab_size

    def start(self, batch_size):
        return batch_size

    def step(self, tokens, state):
        return torch.full((len(tokens), self.vocab_size), -math.log(self.vocab_size)), state


class Bigram(nn.Module):
    """Logits from the current token alone, in double precision."""

    def __init__(self, vocab_size):
        super().__init__()
        self.table = nn.Embedding(vocab_size, vocab_size, dtype=torch.float64)

    def forward(self, tokens):
        return self.table(tokens)


def test_uniform_digits_have_perplexity_ten():
    """Lecture [L], the page 'Perplexity'."""
    digits = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    result = score(Uniform(10), digits, text="31415926")
    assert result.perplexity == pytest.approx(10)
    assert result.bits_per_token == result.bits_per_character == result.bits_per_byte
    assert result.bits_per_byte == pytest.approx(math.log2(10))
    assert result.nats_per_token == pytest.approx(math.log(10))


def test_bytes_are_not_characters():
    result = score(Uniform(2), torch.tensor([0, 1, 1]), text="né…")
    assert (result.characters, result.bytes) == (3, 6)
    assert result.bits_per_character == pytest.approx(1)
    assert result.bits_per_byte == pytest.approx(0.5)


def test_an_impossible_token_makes_perplexity_infinite():
    assert Score(math.inf, 3).perplexity == math.inf


def test_without_text_there_are_no_bits_per_byte():
    with pytest.raises(ValueError, match="raw text"):
        _ = score(Uniform(2), torch.tensor([0])).bits_per_byte


def test_an_empty_text_is_refused():
    with pytest.raises(ValueError, match="empty"):
        log_probs(Uniform(2), torch.tensor([]))


@pytest.mark.parametrize("length", [1, 4, 7, 100])
def test_a_model_is_scored_on_every_token_once(length):
    torch.manual_seed(0)
    model, tokens = Bigram(5).train(), torch.randint(5, (23,))
    expected = -model(tokens[:-1]).log_softmax(-1)[torch.arange(22), tokens[1:]].sum()
    result = score_model(model, tokens, length, text="x" * 22, batch_size=2)
    assert result.nats == pytest.approx(expected.item(), rel=1e-5)
    assert (result.tokens, result.bytes) == (22, 22)
    assert model.training  # left as it was
