"""Beam search is held against the list of all texts, each with its probability."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.inference.search import beam_search
from helpers.models.ngram import AddK, MaximumLikelihood
from tests.inference.small_predictors import STOP, network

LENGTH = 4


def log_probability(predictor, tokens, max_length=LENGTH):
    """By the chain rule, with the stop token unless the text was cut."""
    tokens = [*tokens, STOP] if len(tokens) < max_length else tokens
    return float(sum(next_log_probs(predictor, tokens[:t])[y] for t, y in enumerate(tokens)))


def every_text(predictor, max_length=LENGTH):
    """All texts that stop before ``max_length`` or are cut there, the likeliest first."""
    words = [token for token in range(predictor.vocab_size) if token != STOP]
    texts = [text for n in range(max_length + 1) for text in product(words, repeat=n)]
    pairs = [(list(text), log_probability(predictor, text, max_length)) for text in texts]
    return sorted(pairs, key=lambda pair: -pair[1])


def as_lists(found):
    return [(tokens.tolist(), log_p) for tokens, log_p in found]


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_is_exhaustive_search(seed):
    predictor = network(seed)
    found, wanted = as_lists(beam_search(predictor, 100, STOP, LENGTH)), every_text(predictor)
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in wanted]
    assert [log_p for _, log_p in found] == pytest.approx([log_p for _, log_p in wanted])
    total = sum(torch.tensor(log_p).exp() for _, log_p in found)
    assert float(total) == pytest.approx(1), "the texts are all that can happen"


@pytest.mark.parametrize("width", [2, 3])
def test_a_narrow_beam_is_the_search_by_definition(width):
    """Every step: all continuations of the beam, the best ``width`` of which are kept."""
    for seed in range(6):
        predictor = network(seed, 5)
        beam, finished = [[]], []
        for n in range(1, 7):
            texts = [[*tokens, token] for tokens in beam for token in range(5)]
            scores = [
                sum(float(next_log_probs(predictor, text[:t])[text[t]]) for t in range(len(text)))
                for text in texts
            ]
            kept = sorted(zip(scores, texts), reverse=True)[:width]
            beam = [text for _, text in kept if text[-1] != STOP and n < 6]
            finished += [(log_p, text) for log_p, text in kept if text not in beam]
        wanted = sorted(finished, reverse=True)[:width]
        found = as_lists(beam_search(predictor, width, STOP, 6))
        assert [tokens for tokens, _ in found] == [
            text[:-1] if text[-1] == STOP else text for _, text in wanted
        ]
        assert [log_p for _, log_p in found] == pytest.approx([log_p for log_p, _ in wanted])


def test_width_one_is_greedy_and_follows_the_likeliest_token():
    for seed in range(10):
        predictor, text = network(seed, 5), []
        while len(text) < 6:
            token = int(next_log_probs(predictor, text).argmax())
            if token == STOP:
                break
            text.append(token)
        ((tokens, log_p),) = beam_search(predictor, 1, STOP, 6)
        assert tokens.tolist() == text
        assert log_p == pytest.approx(log_probability(predictor, text, 6))


def test_a_beam_finds_what_greedy_misses():
    """A garden path: the likelier first token leads to two unlikely ones."""
    tokens = torch.tensor([0, 0, STOP] * 2 + [0, 1, STOP] * 2 + [0, 3, STOP] * 2 + [1, STOP] * 4)
    model = MaximumLikelihood(3, end=STOP).fit(tokens, 4)
    assert float(next_log_probs(model, []).exp()[0]) == pytest.approx(0.6)
    assert beam_search(model, 1, STOP, 5)[0][0].tolist()[0] == 0
    best, log_p = beam_search(model, 2, STOP, 5)[0]
    assert best.tolist() == [1]
    assert log_p == pytest.approx(float(torch.tensor(0.4).log()))


def test_impossible_texts_are_left_out():
    model = MaximumLikelihood(2, end=STOP).fit(torch.tensor([0, 1, STOP] * 2 + [1, STOP]), 3)
    found = as_lists(beam_search(model, 50, STOP, 6))
    assert [tokens for tokens, _ in found] == [[0, 1], [1]]
    assert [log_p for _, log_p in found] == pytest.approx(
        torch.tensor([2 / 3, 1 / 3]).log().tolist()
    )


def test_a_search_that_makes_no_sense_is_refused():
    tokens = torch.randint(4, (400,), generator=torch.Generator().manual_seed(1))
    model = AddK(2).fit(tokens * tokens // 3, 4)
    for stop in (-1, 4):
        with pytest.raises(ValueError, match=f"stop is {stop}; expected a token"):
            beam_search(model, 2, stop, 3)
    with pytest.raises(ValueError, match="max_length is 0"):
        beam_search(model, 2, 1, 0)
    with pytest.raises(ValueError, match="width is 0"):
        beam_search(model, 0, 1, 3)


@pytest.mark.parametrize("width", [1, 2, 100])
def test_a_search_goes_on_from_its_prompt(width):
    """As if the predictor had been started with the prompt read."""
    predictor, prompt = network(2), torch.tensor([1, 0, 2])

    class Continued:
        vocab_size, bos = predictor.vocab_size, predictor.bos

        def start(self, batch_size):
            return None

        def step(self, tokens, state):
            if state is None:
                read = torch.cat([torch.tensor([predictor.bos]), prompt])
                state = predictor.start(len(tokens))
                for token in read:
                    log_p, state = predictor.step(token.repeat(len(tokens)), state)
                return log_p, state
            return predictor.step(tokens, state)

    found = beam_search(predictor, width, STOP, LENGTH, prompt=prompt)
    wanted = beam_search(Continued(), width, STOP, LENGTH)
    assert as_lists(found) == as_lists(wanted)


def test_a_search_without_a_stop_token_goes_to_the_end():
    predictor = network(3)
    assert [len(tokens) for tokens, _ in beam_search(predictor, 3, None, 9)] == [9] * 3
