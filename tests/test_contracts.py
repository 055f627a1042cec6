"""Reading many tokens, and next_log_probs, follow from start and step."""

from __future__ import annotations

import pytest
import torch

from helpers.contracts import (
    back,
    next_log_probs,
    read_prompt,
    read_tokens,
    reads_at_once,
    scores_texts,
)
from helpers.models.ngram import AddK, MaximumLikelihood


def test_the_empty_context_asks_for_the_first_token():
    model = MaximumLikelihood(3, end=0).fit(torch.tensor([1, 0, 1, 0, 2, 0]), 3)
    assert next_log_probs(model, []).exp().tolist() == pytest.approx([0, 2 / 3, 1 / 3])


def test_a_context_outside_the_vocabulary_is_refused():
    model = MaximumLikelihood(2).fit(torch.tensor([0, 1]), 2)
    with pytest.raises(ValueError, match="from 1 to 5"):
        next_log_probs(model, [1, 5])


class Bigram:
    """Row x of a table after the token x; its state is the texts read, so that tests can look."""

    vocab_size, bos = 3, 3

    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.table = torch.randn(4, 3, generator=generator).log_softmax(-1)

    def start(self, batch_size):
        return [()] * batch_size

    def step(self, tokens, state):
        return self.table[tokens], [(*row, int(x)) for row, x in zip(state, tokens)]


class ReadingBigram(Bigram):
    """Reads many tokens at once, and only so."""

    def step(self, tokens, state):
        raise AssertionError("this predictor reads at once")

    def read(self, tokens, state):
        return self.table[tokens], [(*row, *new.tolist()) for row, new in zip(state, tokens)]


@pytest.mark.parametrize("kind", [Bigram, ReadingBigram])
def test_many_tokens_are_read_as_one_after_the_other(kind):
    predictor, tokens = kind(), torch.tensor([[3, 0, 2, 1], [3, 1, 1, 0]])
    log_p, state = read_tokens(predictor, tokens[:, :1], predictor.start(2))
    assert torch.equal(log_p, predictor.table[tokens[:, :1]])
    log_p, after = read_tokens(predictor, tokens[:, 1:], state)
    assert torch.equal(log_p, predictor.table[tokens[:, 1:]])
    assert after == [(3, 0, 2, 1), (3, 1, 1, 0)]
    last, same = read_prompt(predictor, tokens[:, 1:], state)
    assert torch.equal(last, log_p[:, -1])
    assert same == after
    assert torch.equal(next_log_probs(predictor, [0, 2]), predictor.table[2])


def test_an_ngram_reads_on_from_any_state():
    text = torch.randint(4, (300,), generator=torch.Generator().manual_seed(0))
    model = AddK(3).fit(text, 4)
    tokens = torch.cat([torch.tensor([model.bos]), text[:9]])[None]
    log_p, _ = read_tokens(model, tokens, model.start(1))
    assert log_p.shape == (1, 10, 4)
    _, state = read_tokens(model, tokens[:, :4], model.start(1))
    torch.testing.assert_close(read_tokens(model, tokens[:, 4:], state)[0], log_p[:, 4:])
    for t in range(10):
        torch.testing.assert_close(log_p[0, t], next_log_probs(model, text[:t]))


@pytest.mark.parametrize("kind", [Bigram, ReadingBigram])
@pytest.mark.parametrize("read", [read_tokens, read_prompt])
def test_tokens_of_another_shape_are_refused(kind, read):
    predictor = kind()
    for tokens in (torch.tensor([1, 2]), torch.zeros(2, 0, dtype=torch.long)):
        with pytest.raises(ValueError, match=r"The tokens have the shape \(2,"):
            read(predictor, tokens, predictor.start(2))


def test_what_a_predictor_may_offer_is_found():
    plain, ngram = Bigram(), AddK(2)
    assert [reads_at_once(one) for one in (plain, ReadingBigram(), ngram)] == [False, True, False]
    assert [scores_texts(one) for one in (plain, ReadingBigram(), ngram)] == [False, False, True]


def test_a_state_goes_back_as_far_as_it_knows():
    class State(int):
        def back(self, n):
            return State(self - n) if n <= self else None

    assert [back(State(2), n) for n in range(4)] == [2, 1, 0, None]
    assert back((1, 2), 0) == (1, 2)
    assert back((1, 2), 1) is None
