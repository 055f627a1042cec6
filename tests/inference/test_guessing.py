from __future__ import annotations

import math

import pytest
import torch

from helpers.inference.guessing import GuessingGame, guess_ranks


class FixedPredictor:
    """Predicts the same distribution everywhere; its state counts the tokens that were read."""

    def __init__(self, probs):
        self.log_probs = torch.tensor(probs, dtype=torch.double).log()
        self.vocab_size = self.bos = len(probs)

    def start(self, batch_size):
        return 0

    def step(self, tokens, state):
        if state == 0:
            assert (tokens == self.bos).all()
        return self.log_probs.expand(len(tokens), -1), state + 1


class RepeatPredictor(FixedPredictor):
    """Expects the token after the one just read, cyclically."""

    def step(self, tokens, state):
        log_probs = torch.full((len(tokens), self.vocab_size), -math.inf)
        log_probs[torch.arange(len(tokens)), (tokens + 1) % self.vocab_size] = 0.0
        return log_probs, state + 1


def test_ranks_count_the_symbols_named_before():
    predictor = FixedPredictor([0.1, 0.5, 0.15, 0.25])
    assert guess_ranks(predictor, torch.tensor([0, 1, 2, 3])).tolist() == [4, 1, 3, 2]


def test_ties_are_broken_by_the_order_of_symbols():
    predictor = FixedPredictor([0.25, 0.25, 0.25, 0.25])
    assert guess_ranks(predictor, torch.tensor([0, 1, 2, 3])).tolist() == [1, 2, 3, 4]
    impossible = FixedPredictor([0.0, 1.0, 0.0])
    assert guess_ranks(impossible, torch.tensor([0, 1, 2])).tolist() == [2, 1, 3]


def test_ranks_use_the_past_and_keep_the_shape():
    predictor = RepeatPredictor([1 / 5] * 5)
    tokens = torch.tensor([[1, 2, 3, 4, 0], [1, 2, 4, 0, 0]])
    ranks = guess_ranks(predictor, tokens)
    assert ranks.tolist()[0] == [1, 1, 1, 1, 1]  # bos is 5, and 6 % 5 is 1
    assert ranks.shape == tokens.shape
    assert ranks[1, 2] == 5  # 3 was sure; then 0, 1, 2 are named before 4
    assert ranks[1, 4] == 2
    for row, expected in zip(tokens, ranks, strict=True):
        assert torch.equal(guess_ranks(predictor, row), expected)


@pytest.mark.parametrize("tokens", [[0, 4], [-1, 0]])
def test_ranks_refuse_unknown_tokens(tokens):
    with pytest.raises(ValueError, match="knows 0 to 3"):
        guess_ranks(FixedPredictor([0.25] * 4), torch.tensor(tokens))


def test_ranks_refuse_nan():
    with pytest.raises(ValueError, match="NaN"):
        guess_ranks(FixedPredictor([math.nan, 0.5]), torch.tensor([0]))


def test_a_round_counts_the_guesses():
    game = GuessingGame("abca", 1, "abc")
    assert not game.guess("c")
    assert game.wrong == ["c"]
    assert game.guess("b")
    assert (game.shown, game.wrong, game.counts) == ("ab", [], [2])
    assert game.reveal() == "c"
    assert game.guess("a")
    assert game.finished
    assert game.counts == [2, None, 1]
    assert game.guessed_positions() == [1, 3]


def test_a_round_refuses_what_makes_no_sense():
    game = GuessingGame("ab", 0, "abc")
    with pytest.raises(ValueError, match="alphabet"):
        game.guess("x")
    with pytest.raises(ValueError, match="alphabet"):
        game.guess("")
    game.guess("b")
    with pytest.raises(ValueError, match="before"):
        game.guess("b")
    game.reveal()
    game.reveal()
    with pytest.raises(ValueError, match="finished"):
        game.guess("a")


@pytest.mark.parametrize(
    ("text", "start", "alphabet", "message"),
    [
        ("aBc", 0, "abc", "'B'"),
    ],
)
def test_a_round_refuses_a_bad_passage(text, start, alphabet, message):
    with pytest.raises(ValueError, match=message):
        GuessingGame(text, start, alphabet)
