"""The hidden Markov model against sums over all hidden paths, analytic estimates, known sources."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.data.sources import HiddenMarkovSource
from helpers.inference.evaluation import log_probs, score
from helpers.models.hidden_markov import HiddenMarkovModel

S, V = 3, 4


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def make(seed=0, states=S):
    return HiddenMarkovModel(states, V, generator(seed))


def text(size, seed=0, vocab_size=V):
    return torch.randint(vocab_size, (size,), generator=generator(seed))


def with_parameters(source):
    """A model with a source's own probabilities, so stationary at its beginning."""
    model = HiddenMarkovModel(len(source.stationary), source.vocab_size, generator())
    model.pi, model.A, model.B = source.stationary, source.transitions, source.emissions
    return model


def paths(model, tokens):
    """Every hidden path of a text and the joint probability of both, factor by factor."""
    for path in itertools.product(range(model.n_states), repeat=len(tokens)):
        p = float(model.pi[path[0]])
        for here, there in itertools.pairwise(path):
            p *= float(model.A[here, there])
        for state, token in zip(path, tokens):
            p *= float(model.B[state, token])
        yield path, p


def counted(model, texts):
    """Expected starts, moves and emissions: each path counts as much as its posterior."""
    starts, moves = [0.0] * S, [[0.0] * S for _ in range(S)]
    emissions = [[0.0] * V for _ in range(S)]
    for tokens in texts:
        total = sum(p for _, p in paths(model, tokens))
        for path, p in paths(model, tokens):
            starts[path[0]] += p / total
            for here, there in itertools.pairwise(path):
                moves[here][there] += p / total
            for state, token in zip(path, tokens):
                emissions[state][token] += p / total
    return starts, moves, emissions


# The likelihood and the predictor


def test_the_likelihood_is_the_sum_over_all_hidden_paths():
    model, total = make(), 0.0
    for tokens in itertools.product(range(V), repeat=4):
        expected = sum(p for _, p in paths(model, tokens))
        found = math.exp(float(model.log_probs(torch.tensor(tokens)).sum()))
        assert found == pytest.approx(expected, rel=1e-12)
        total += found
    assert total == pytest.approx(1, abs=1e-12)


def test_it_predicts_what_a_source_with_the_same_probabilities_predicts():
    source = HiddenMarkovSource([[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.4, 0.1], [0.0, 0.2, 0.8]])
    model, tokens = with_parameters(source), source.sample(300, generator())
    for length in (0, 1, 2, 50):
        expected = next_log_probs(source, tokens[:length])
        torch.testing.assert_close(next_log_probs(model, tokens[:length]), expected)
    torch.testing.assert_close(model.log_probs(tokens), log_probs(source, tokens))


def test_steps_give_the_log_probs_and_sum_to_one():
    model = make()
    texts = torch.stack([text(15, seed) for seed in range(5)])  # (B, T)
    read = torch.cat([torch.full((5, 1), model.bos), texts], 1)
    state, found = model.start(5), []
    for column in read.T:
        log_p, state = model.step(column, state)
        assert log_p.shape == (5, V)
        torch.testing.assert_close(log_p.exp().sum(1), torch.ones(5, dtype=torch.float64))
        found.append(log_p)
    rows = torch.stack(found[:-1], 1).gather(2, texts[:, :, None])[:, :, 0]
    for row, tokens in zip(rows, texts):
        torch.testing.assert_close(row, model.log_probs(tokens), atol=1e-13, rtol=1e-13)
    assert model.bos == model.vocab_size == V


def test_a_long_text_does_not_underflow():
    model, tokens = make(), text(5000)
    assert bool(model.log_probs(tokens).isfinite().all())
    assert math.isfinite(next(model.fit(tokens, 1, length=5000)))


# Learning


@pytest.mark.parametrize("length", [5, 4, 1, 100])
def test_one_iteration_is_one_step_by_hand(length):
    """A text of 9 tokens in stretches: the last one may be shorter, the only one too long."""
    model, tokens = make(), text(9)
    if length == 100:
        model, tokens = make(), tokens[:6]
    starts, moves, emissions = counted(model, tokens.split(length))
    before = model.A
    value = next(model.fit(tokens, 1, length))
    torch.testing.assert_close(model.pi, torch.tensor([c / sum(starts) for c in starts]).double())
    for i in range(S):
        row = torch.tensor([c / sum(emissions[i]) for c in emissions[i]]).double()
        torch.testing.assert_close(model.B[i], row)
        seen = sum(moves[i]) > 0  # not in stretches of one token: then A stays
        row = torch.tensor([c / sum(moves[i]) for c in moves[i]]).double() if seen else before[i]
        torch.testing.assert_close(model.A[i], row)
    total = sum(float(model.log_probs(stretch).sum()) for stretch in tokens.split(length))
    assert value == pytest.approx(total / len(tokens), rel=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("length", [1, 7, 400])
def test_the_likelihood_never_falls(seed, length):
    tokens = HiddenMarkovSource([[0.9, 0.1], [0.3, 0.7]], [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    tokens = tokens.sample(400, generator(seed))
    model = HiddenMarkovModel(4, 3, generator(seed))
    start = sum(float(model.log_probs(part).sum()) for part in tokens.split(length)) / 400
    values = torch.tensor([start, *model.fit(tokens, 40, length)], dtype=torch.float64)
    assert float(values.diff().min()) > -1e-12  # rounding of a sum of 400 numbers near 1
    assert float(values[1]) > float(values[0])
    for rows in (model.pi, model.A, model.B):
        torch.testing.assert_close(rows.sum(-1), torch.ones_like(rows.sum(-1)))
        assert float(rows.min()) >= 0


TWO_STATES = HiddenMarkovSource(
    [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.4, 0.05, 0.05], [0.1, 0.1, 0.7, 0.1]]
)
# Ones come in runs of even length, but for one pair in twenty, which is broken.
EVEN_RUNS = HiddenMarkovSource(
    [[0.5, 0.5, 0.0], [0.05, 0.0, 0.95], [0.5, 0.5, 0.0]], [[1, 0], [0, 1], [0, 1]]
)


@pytest.mark.parametrize("source", [TWO_STATES, EVEN_RUNS], ids=["two states", "even runs"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_it_recovers_a_hidden_source(source, seed):
    n, states, length = 10_000, len(source.stationary), 50
    tokens, fresh = source.sample(n, generator(seed)), source.sample(n, generator(seed + 100))
    truth = with_parameters(source)
    likely = sum(float(truth.log_probs(part).sum()) for part in tokens.split(length)) / n
    best, model = -math.inf, None
    for start in range(5):
        candidate = HiddenMarkovModel(states, source.vocab_size, generator(start))
        *_, value = candidate.fit(tokens, 60, length)
        if value > best:
            best, model = value, candidate
    assert best > likely, "a maximum is no less likely than the truth"
    # At most 11 free parameters cost a chi-square of 11 degrees over 2n: 0.0006 nats per token on
    # average, 0.0016 in one of a thousand cases. A local maximum costs more than 0.01.
    excess = score(model, fresh).nats_per_token - score(source, fresh).nats_per_token
    assert excess < 0.002
    # The entropy rate that it claims errs as the mean of n values of -log p, which deviate by less
    # than 1 nat each: by 0.01.
    lower, upper = HiddenMarkovSource(model.A, model.B).entropy_rate_bounds(9)
    true_lower, true_upper = source.entropy_rate_bounds(9)
    assert true_lower - 0.03 < upper
    assert lower < true_upper + 0.03


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tokens": torch.tensor([0, V])}, "from 0 to 4, but this model knows 0 to 3"),
    ],
)
def test_bad_input_is_refused_in_words(settings, words):
    def learn(n_states=S, vocab_size=V, tokens=None, iterations=1, length=3):
        model = HiddenMarkovModel(n_states, vocab_size, generator())
        next(model.fit(text(9) if tokens is None else tokens, iterations, length))

    with pytest.raises(ValueError, match=words):
        learn(**settings)
