"""Known sources against enumeration, analytic values and their own long samples."""

from __future__ import annotations

import copy
import itertools
import math

import pytest
import torch
from torch import Tensor

from helpers.contracts import next_log_probs
from helpers.data.sources import (
    HiddenMarkovSource,
    MarkovSource,
    lagged_source,
    pair_source,
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(*shape: int, seed: int = 0) -> Tensor:
    """Random distributions along the last dimension, some of their probabilities 0."""
    weights = torch.rand(*shape, generator=generator(seed), dtype=torch.float64)
    weights = torch.where(weights < 0.2, 0.0, weights)
    weights[..., 0] += 0.1  # so that no row is empty and every state meets state 0
    return weights / weights.sum(-1, keepdim=True)


def two_state_hidden() -> HiddenMarkovSource:
    return HiddenMarkovSource([[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]])


SOURCES = {
    "independent": lambda: MarkovSource([[0.5, 0.25, 0.0, 0.25]] * 4),
    "order 1": lambda: MarkovSource(rows(4, 4)),
    "order 3": lambda: MarkovSource(rows(3, 3, 3, 3, seed=1)),
    "hidden": two_state_hidden,
}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]()


def losses(source, tokens: Tensor) -> Tensor:
    """-log p of each token of a text in nats, (n,)."""
    state, previous, values = source.start(1), torch.tensor([source.bos]), []
    for token in tokens.view(-1, 1):
        log_probs, state = source.step(previous, state)
        values.append(-log_probs[0, token])
        previous = token
    return torch.cat(values)


def log_prob(source, text) -> float:
    """log P(text) in nats, by the chain rule; -inf for a text that cannot come."""
    return -float(losses(source, torch.tensor(text)).sum())


def entropy(probabilities) -> float:
    return -sum(p * math.log(p) for p in probabilities if p > 0)


# The predictor contract


def test_rows_are_distributions_after_any_context(source):
    for length in range(4):
        for context in itertools.product(range(source.vocab_size), repeat=length):
            log_probs = next_log_probs(source, context)
            assert log_probs.shape == (source.vocab_size,)
            assert float(log_probs.exp().sum()) == pytest.approx(1, abs=1e-12)
    assert source.bos == source.vocab_size


def test_a_batch_is_its_texts_one_at_a_time(source):
    texts = torch.stack([source.sample(12, generator(seed)) for seed in range(5)])
    texts = torch.cat([torch.full((5, 1), source.bos), texts], dim=1)
    states, singles = source.start(5), [source.start(1) for _ in range(5)]
    for column in texts.T:
        log_probs, states = source.step(column, states)
        assert log_probs.shape == (5, source.vocab_size)
        for i, token in enumerate(column):
            alone, singles[i] = source.step(token.view(1), singles[i])
            torch.testing.assert_close(log_probs[i], alone[0])


def test_step_leaves_its_state_alone(source):
    state = source.start(2)
    _, state = source.step(torch.tensor([source.bos] * 2), state)
    for tokens in source.sample(20, generator()).view(10, 2):
        kept = copy.deepcopy(state)
        first, following = source.step(tokens, state)
        second, _ = source.step(tokens, state)
        assert torch.equal(first, second)
        assert state is None or torch.equal(state, kept)
        state = following


def test_bos_begins_a_text_again(source):
    _, state = source.step(torch.tensor([source.bos]), source.start(1))
    first, _ = source.step(torch.tensor([source.bos]), state)
    for token in source.sample(6, generator()):
        _, state = source.step(token.view(1), state)
    again, _ = source.step(torch.tensor([source.bos]), state)
    assert torch.equal(first, again)


# Samples against what the source says of itself


def test_a_long_sample_meets_the_entropy_rate(source):
    """Within five standard errors; blocks of 100 tokens, because neighbours are not independent."""
    values = losses(source, source.sample(10_000, generator(3)))
    blocks = values.view(100, 100).mean(dim=1)
    error = float(blocks.std() / 10)
    rate = source.entropy_rate_bounds(10) if hasattr(source, "entropy_rate_bounds") else None
    lower, upper = rate or (source.entropy_rate(), source.entropy_rate())
    assert lower - 5 * error < float(values.mean()) < upper + 5 * error
    assert error < 0.02


def test_samples_follow_the_predictor(source):
    """Counts of the first three tokens of many texts, by a chi-square test."""
    from scipy.stats import chisquare

    number, g = 4000, generator(4)
    cells = list(itertools.product(range(source.vocab_size), repeat=3))
    expected = torch.tensor([number * math.exp(log_prob(source, cell)) for cell in cells])
    places = {cell: i for i, cell in enumerate(cells)}
    counts = torch.zeros(len(cells))
    for _ in range(number):
        counts[places[tuple(source.sample(3, g).tolist())]] += 1
    assert counts[expected == 0].sum() == 0
    common = expected >= 5
    observed = [*counts[common].tolist(), float(counts[~common].sum())]
    awaited = [*expected[common].tolist(), float(expected[~common].sum())]
    if awaited[-1] == 0:
        observed, awaited = observed[:-1], awaited[:-1]
    scale = sum(observed) / sum(awaited)
    assert chisquare(observed, [scale * value for value in awaited]).pvalue > 1e-4


def test_samples_are_repeatable_and_of_the_asked_length(source):
    for n in (1, 2, 3, 50):
        sample = source.sample(n, generator(5))
        assert sample.shape == (n,)
        assert sample.dtype == torch.long
        assert torch.equal(sample, source.sample(n, generator(5)))


# Exact values


def test_entropy_rate_of_the_two_state_chain():
    """Cover and Thomas, equation 4.31: stay or leave with probabilities alpha and beta."""
    alpha, beta = 0.3, 0.05
    source = MarkovSource([[1 - alpha, alpha], [beta, 1 - beta]])
    expected = beta * entropy([alpha, 1 - alpha]) + alpha * entropy([beta, 1 - beta])
    assert source.entropy_rate() == pytest.approx(expected / (alpha + beta), abs=1e-12)
    assert source.stationary.tolist() == pytest.approx(
        [beta / (alpha + beta), alpha / (alpha + beta)]
    )


@pytest.mark.parametrize("name", ["order 1", "order 3"])
def test_entropy_rate_is_the_growth_of_block_entropy(name):
    """H(X_1 ... X_n) - H(X_1 ... X_{n-1}), by enumerating texts under the predictor, n > k."""
    source = SOURCES[name]()
    blocks = [
        entropy(
            math.exp(log_prob(source, text))
            for text in itertools.product(range(source.vocab_size), repeat=n)
        )
        for n in (source.order, source.order + 1)
    ]
    assert blocks[1] - blocks[0] == pytest.approx(source.entropy_rate(), abs=1e-10)


@pytest.mark.parametrize("name", ["order 1", "order 3", "hidden"])
def test_texts_are_stationary(name):
    """The second token is distributed as the first, the second pair as the first pair."""
    source = SOURCES[name]()
    size = source.vocab_size
    joint = torch.tensor(
        [math.exp(log_prob(source, text)) for text in itertools.product(range(size), repeat=3)]
    ).view(size, size, size)
    assert float(joint.sum()) == pytest.approx(1)
    torch.testing.assert_close(joint.sum((1, 2)), joint.sum((0, 2)))
    torch.testing.assert_close(joint.sum(2), joint.sum(0))


def test_a_periodic_chain_and_a_chain_with_a_passing_state():
    source = MarkovSource([[0.0, 1.0], [1.0, 0.0]])
    assert source.entropy_rate() == 0
    assert source.stationary.tolist() == [0.5, 0.5]
    assert source.sample(6, generator()).diff().abs().tolist() == [1] * 5
    passing = MarkovSource([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]])
    assert passing.stationary.tolist() == pytest.approx([0, 0.5, 0.5])
    assert passing.stationary[0] == 0
    assert passing.entropy_rate() == pytest.approx(math.log(2))


# The hidden source


def hidden_text_probability(source: HiddenMarkovSource, text: tuple[int, ...]) -> float:
    """The sum over all hidden paths, term by term."""
    total, states = 0.0, range(len(source.stationary))
    for path in itertools.product(states, repeat=len(text)):
        p = float(source.stationary[path[0]])
        for here, there in itertools.pairwise(path):
            p *= float(source.transitions[here, there])
        for state, token in zip(path, text):
            p *= float(source.emissions[state, token])
        total += p
    return total


def test_filtering_is_the_sum_over_hidden_paths():
    source = HiddenMarkovSource(rows(3, 3, seed=6), rows(3, 4, seed=7))
    for text in itertools.product(range(4), repeat=4):
        expected = hidden_text_probability(source, text)
        assert math.exp(log_prob(source, text)) == pytest.approx(expected, abs=1e-14)


def test_bounds_are_the_conditional_entropies_by_enumeration():
    source = two_state_hidden()

    def block_entropy(n: int, stationary: Tensor) -> float:
        given = copy.copy(source)
        given.stationary = stationary
        texts = itertools.product(range(3), repeat=n)
        return entropy([hidden_text_probability(given, text) for text in texts]) if n else 0.0

    for n in (1, 2, 3, 4):
        lower, upper = source.entropy_rate_bounds(n)
        known_upper = block_entropy(n, source.stationary)
        known_upper -= block_entropy(n - 1, source.stationary)
        known_lower = sum(
            float(p) * (block_entropy(n, one_hot) - block_entropy(n - 1, one_hot))
            for p, one_hot in zip(source.stationary, torch.eye(2, dtype=torch.float64))
        )
        assert (lower, upper) == pytest.approx((known_lower, known_upper), abs=1e-12)


def test_bounds_close_in_on_the_rate():
    source = HiddenMarkovSource(rows(3, 3, seed=6), rows(3, 4, seed=7))
    bounds = [source.entropy_rate_bounds(n) for n in range(1, 9)]
    for (lower, upper), (next_lower, next_upper) in itertools.pairwise(bounds):
        assert lower <= next_lower + 1e-12
        assert next_upper <= upper + 1e-12
        assert next_lower <= next_upper + 1e-12
    assert bounds[-1][1] - bounds[-1][0] < 0.02 < bounds[0][1] - bounds[0][0]
    with pytest.raises(ValueError, match="choose a smaller n"):
        source.entropy_rate_bounds(20)


def test_a_long_text_does_not_underflow():
    source = two_state_hidden()
    assert bool(losses(source, source.sample(3000, generator())).isfinite().all())


# Bad input


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MarkovSource([[0.5, 0.4]] * 2), "a row that sums to 0.9; expected 1"),
        (lambda: MarkovSource([[1.5, -0.5]] * 2), "holds -0.5; probabilities must be >= 0"),
        (lambda: MarkovSource([0.5, 0.5]), r"needs k \+ 1 dimensions of the same size V"),
        (lambda: MarkovSource([[0.5, 0.5], [0.5, 0.6]]), "a row that sums to 1.1"),
        (lambda: MarkovSource(torch.eye(2)), "more than one stationary distribution"),
        (lambda: MarkovSource(torch.ones(70, 70, 70) / 70), "has 4900 contexts, more than"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_float32_rows_that_sum_to_one_in_float32_are_taken():
    source = MarkovSource(torch.rand(500, 500, generator=generator()).softmax(-1))
    torch.testing.assert_close(source.transitions.sum(-1), torch.ones(500, dtype=torch.float64))


@pytest.mark.parametrize("lag", [1, 2, 3])
def test_a_lagged_source_has_the_entropy_of_its_noise_whatever_the_lag(lag):
    V, noise = 5, 0.2
    source = lagged_source(V, lag, noise)
    p = [1 - noise + noise / V, *[noise / V] * (V - 1)]
    assert source.entropy_rate() == pytest.approx(-sum(q * math.log(q) for q in p), abs=1e-12)
    text = source.sample(60_000, generator())
    agree = [(text[k:] == (text[:-k] + 1) % V).double().mean().item() for k in (1, 2, 3)]
    assert agree[lag - 1] == pytest.approx(p[0], abs=0.01)
    for k, share in enumerate(agree, 1):
        if k % lag:  # such a place tells nothing: there the successor stands as often as any token
            assert share == pytest.approx(1 / V, abs=0.01)


def test_filled_gaps_equal_the_enumeration_of_all_texts():
    source = HiddenMarkovSource([[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    texts = torch.cartesian_prod(*[torch.arange(3)] * 5)
    probability = torch.tensor(
        [log_prob(source, text) for text in texts.tolist()], dtype=torch.float64
    ).exp()
    assert float(probability.sum()) == pytest.approx(1)
    text, seen = torch.tensor([0, 2, 1, 1, 2]), torch.tensor([True, False, True, False, True])
    found = source.fill(text[None], seen[None])[0].exp()
    for place in range(5):
        others = seen.clone()
        others[place] = False
        fits = (texts[:, others] == text[others]).all(1)
        weights = torch.zeros(3, dtype=torch.float64)
        weights.index_add_(0, texts[fits, place], probability[fits])
        assert torch.allclose(found[place], weights / weights.sum(), atol=1e-12)


def test_the_posterior_of_the_states_equals_the_enumeration_of_all_paths():
    source = HiddenMarkovSource([[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    text, seen = torch.tensor([0, 2, 1, 1]), torch.tensor([True, False, True, True])
    wanted = torch.zeros(4, 2, dtype=torch.float64)
    for path in torch.cartesian_prod(*[torch.arange(2)] * 4):
        joint = source.stationary[path[0]]
        for t in range(4):
            joint = joint * (source.transitions[path[t - 1], path[t]] if t else 1)
            joint = joint * (source.emissions[path[t], text[t]] if seen[t] else 1)
        wanted[torch.arange(4), path] += joint
    wanted = wanted / wanted.sum(1, keepdim=True)
    found = source.posterior(text[None], seen[None])[0]
    assert torch.allclose(found, wanted, atol=1e-12)


def test_texts_drawn_side_by_side_follow_the_source():
    source = HiddenMarkovSource([[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    states, tokens = source.sample_texts(20_000, 4, torch.Generator().manual_seed(0))
    assert states.shape == tokens.shape == (20_000, 4)
    assert tokens.dtype == torch.long
    share = (states == 0).double().mean(0)
    assert torch.allclose(share, source.stationary[:1].expand(4), atol=0.02)
    stays = (states[:, 1:] == 0)[states[:, :-1] == 0].double().mean()
    assert float(stays) == pytest.approx(0.9, abs=0.02)
    emitted = torch.bincount(tokens[states == 1], minlength=3) / (states == 1).sum()
    assert torch.allclose(emitted.double(), source.emissions[1], atol=0.02)
    again = source.sample_texts(20_000, 4, torch.Generator().manual_seed(0))
    assert torch.equal(again[0], states)
    assert torch.equal(again[1], tokens)


def test_after_each_pair_four_tokens_are_likely():
    source = pair_source()
    rows = source.transitions.view(-1, 64)
    often = 0.2 / torch.arange(1, 65) / (1 / torch.arange(1, 65)).sum()
    assert torch.allclose(
        (rows - often).sort(descending=True).values[:, :5],
        torch.tensor([0.4, 0.2, 0.12, 0.08, 0.0], dtype=torch.float64),
        atol=1e-6,
    )
    assert source.entropy_rate() / math.log(2) == pytest.approx(2.8654, abs=1e-4)
    assert not torch.equal(source.transitions, pair_source(1).transitions)
