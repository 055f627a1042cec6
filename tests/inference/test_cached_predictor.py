"""A GPT with a cache predicts what a fresh pass over the tokens in its state does."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from helpers.contracts import next_log_probs, read_tokens
from helpers.inference.cached_predictor import LOGITS_AT_ONCE, CachedPredictor
from helpers.inference.evaluation import log_probs
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.inference.sampling import sample
from helpers.models.gpt import GPT, GPTConfig

V, BOS, LONGEST = 7, 2, 12
SHAPES = {
    "gpt2": GPTConfig.gpt2(V, max_length=LONGEST, n_layers=2, n_heads=2, d_model=8, dropout=0.5),
    "modern": GPTConfig.modern(
        V, max_length=LONGEST, n_layers=2, n_heads=4, n_kv_heads=2, d_model=16
    ),
}
KINDS = pytest.mark.parametrize("kind", SHAPES)


def make(kind="gpt2", seed=0, **sizes):
    """A GPT far from uniform: every parameter is random, those that begin at zero too."""
    model = GPT(replace(SHAPES[kind], **sizes)).double()
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.7, generator=generator)
    return model


def text(size, seed=0, rows=None):
    shape = (size,) if rows is None else (rows, size)
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(seed))


def fresh(model, tokens):
    """The distribution after tokens (B, n), by one pass without a cache."""
    return by_one_pass(model, tokens)[:, -1]


def by_one_pass(model, tokens):
    """The distributions (B, T, V) after every position of tokens (B, T), without a cache."""
    mode = model.training
    with torch.no_grad():
        log_p = model.eval()(tokens).log_softmax(-1)
    model.train(mode)
    return log_p


@KINDS
@pytest.mark.parametrize("window", [1, 2, 5, 8, 12])
def test_every_step_is_a_fresh_pass_over_the_tokens_of_the_state(kind, window):
    """Before the window is full, when it fills, and long after; three texts at once."""
    model = make(kind).train()
    predictor, read = CachedPredictor(model, BOS, window), text(30, rows=3)
    read[:, 0], state, seen = BOS, predictor.start(3), []
    for t in range(30):
        log_p, state = predictor.step(read[:, t], state)
        n = state.tokens.shape[1]
        seen.append(n)
        assert torch.equal(state.tokens, read[:, t + 1 - n : t + 1]), "the newest tokens"
        torch.testing.assert_close(log_p, fresh(model, state.tokens), atol=1e-11, rtol=1e-11)
    assert seen[:window] == list(range(1, window + 1)), "at first, all of the text"
    assert min(seen[window:]) == window // 2 + 1
    assert max(seen) == window
    assert model.training, "the model is left in its mode"


@KINDS
@pytest.mark.parametrize("window", [1, 2, 5, 12])
@pytest.mark.parametrize("T", [1, 3, 7, 30])
def test_many_tokens_at_once_are_as_many_steps(kind, window, T):
    predictor, tokens = CachedPredictor(make(kind), BOS, window), text(30, seed=1, rows=2)
    by_steps, stepped, state = [], predictor.start(2), predictor.start(2)
    for t in range(0, 30, T):
        part = tokens[:, t : t + T]
        at_once, state = read_tokens(predictor, part, state)
        for column in part.unbind(1):
            log_p, stepped = predictor.step(column, stepped)
            by_steps.append(log_p)
        torch.testing.assert_close(at_once, torch.stack(by_steps[t:], 1), atol=1e-11, rtol=1e-11)
        assert torch.equal(state.tokens, stepped.tokens)
        assert state.least == stepped.least


@KINDS
@pytest.mark.parametrize("window", [1, 2, 5, 12])
def test_a_whole_text_is_scored_as_step_by_step(kind, window, monkeypatch):
    predictor = CachedPredictor(make(kind), BOS, window)
    for size in (1, window, window + 1, 3 * window, 61):
        tokens = text(size, seed=size)
        read = torch.cat([torch.tensor([BOS]), tokens[:-1]])
        state, wanted = predictor.start(1), []
        for before, token in zip(read, tokens):
            log_p, state = predictor.step(before.view(1), state)
            wanted.append(log_p[0, token])
        torch.testing.assert_close(log_probs(predictor, tokens), torch.stack(wanted))
        monkeypatch.setattr(
            "helpers.inference.cached_predictor.LOGITS_AT_ONCE", 2 * window * V
        )  # two windows at once
        torch.testing.assert_close(predictor.log_probs(tokens), torch.stack(wanted))
        monkeypatch.setattr("helpers.inference.cached_predictor.LOGITS_AT_ONCE", LOGITS_AT_ONCE)


@KINDS
def test_a_state_stays_valid_when_it_branches(kind):
    """Every state of a text, before and beyond the window, is continued in two ways, twice."""
    model = make(kind)
    predictor, read, states = CachedPredictor(model, BOS, 6), text(20, seed=2, rows=2), []
    state = predictor.start(2)
    for column in read.unbind(1):
        states.append(state)
        _, state = predictor.step(column, state)
    for state in [*states, *reversed(states)]:
        for token in (1, 5):
            one = torch.tensor([token, (token + 1) % V])
            log_p, after = predictor.step(one, state)
            wanted = fresh(model, after.tokens)
            torch.testing.assert_close(log_p, wanted, atol=1e-11, rtol=1e-11)
            assert torch.equal(after.tokens[:, -1], one)


@KINDS
@pytest.mark.parametrize("window", [1, 2, 5, 12])
def test_going_back_is_the_earlier_state(kind, window):
    predictor, tokens = CachedPredictor(make(kind), BOS, window), text(30, seed=3, rows=2)
    states, found = [predictor.start(2)], 0
    for column in tokens.unbind(1):
        states.append(predictor.step(column, states[-1])[1])
    for t, state in enumerate(states):
        for n in range(t + 1):
            earlier, wanted = state.back(n), states[t - n]
            if earlier is not None:
                found += 1
                assert torch.equal(earlier.tokens, wanted.tokens)
                a = predictor.step(torch.tensor([1, 2]), earlier)[0]
                b = predictor.step(torch.tensor([1, 2]), wanted)[0]
                torch.testing.assert_close(a, b)
            else:
                assert t > window, "as long as nothing is forgotten, every way back is open"
    assert found > 30
    assert states[-1].back(-1) is None
    assert states[3].back(4) is None


def count_tokens(model):
    """A list that grows by (batch, tokens) at every pass through the model."""
    passes = []
    model.embedding.register_forward_hook(lambda _, args, out: passes.append(tuple(args[0].shape)))
    return passes


def test_no_token_is_read_more_than_twice():
    model = make()
    passes, predictor = count_tokens(model), CachedPredictor(model, BOS, 8)
    drawn = sample(predictor, 200, torch.Generator().manual_seed(0), prompt=text(5))
    assert drawn.shape == (1, 205)
    assert len(passes) == 200, "one pass per token drawn; the prompt is part of the first"
    assert passes[0] == (1, 6)
    assert sum(T for _, T in passes) < 2 * 205
    passes.clear()
    next_log_probs(predictor, text(7))
    assert passes == [(1, 8)], "a context is read in one pass"
    passes.clear()
    predictor.log_probs(text(8 + 4 * 10))
    assert passes == [(1, 8), (10, 8)]


@KINDS
def test_the_same_text_with_and_without_the_cache(kind):
    """300 tokens by the same seed: the cache changes the time, not the text."""
    model = make(kind, seed=1, max_length=400)
    texts = [
        sample(predictor, 300, torch.Generator().manual_seed(9), text(4))
        for predictor in (CachedPredictor(model, BOS), NeuralPredictor(model, BOS, 400))
    ]
    assert torch.equal(*texts)
    assert texts[0].shape == (1, 304)


def test_errors_name_what_is_wrong_and_leave_the_mode():
    model = make().train()
    with pytest.raises(ValueError, match="learned positions for 12 tokens"):
        CachedPredictor(model, BOS, 13)
    assert CachedPredictor(make("modern"), BOS, 13).window == 13, "rotary positions know no end"
    predictor = CachedPredictor(model, BOS)
    with pytest.raises(ValueError, match="the text is empty"):
        predictor.log_probs(torch.tensor([], dtype=torch.long))
    with pytest.raises(ValueError, match="9"):
        predictor.step(torch.tensor([9]), predictor.start(1))
    assert model.training


@KINDS
def test_greedy_is_the_argmax_of_the_uncached_model(kind):
    seen = set()
    for seed in range(8):
        model, written = make(kind, seed, max_length=20), []
        predictor = CachedPredictor(model, BOS)
        log_p, state = predictor.step(torch.tensor([BOS]), predictor.start(1))
        while len(written) < 19 and (token := int(log_p[0].argmax())) != 0:
            assert token == int(fresh(model, torch.tensor([[BOS, *written]])).argmax())
            written.append(token)
            log_p, state = predictor.step(torch.tensor([token]), state)
        seen |= set(pairwise(written))
    assert len(seen) > 5, "the texts are not all one token repeated"
