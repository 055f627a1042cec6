"""Speculative decoding: the text is the target's, whatever drafts.

Distributions are held against all texts with their exact probabilities, by chi-square; and a
wrong rule must be caught by the same test.
"""

from __future__ import annotations

import random
from itertools import product

import pytest
import torch
from scipy import stats

from helpers.contracts import next_log_probs
from helpers.data.sources import MarkovSource
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.filters import token_probabilities
from helpers.inference.rules import AS_PREDICTED, Rules
from helpers.inference.sampling import sample
from helpers.inference.speculative import (
    expected_tokens,
    speculative_sample,
    speed_up,
)
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.ngram import AddK

LIKELIEST = Rules(temperature=0)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def proposed(text):
    """Tokens drafted."""
    return sum(k for k, _ in text.rounds)


def accepted(text):
    """Drafted tokens that were kept."""
    return sum(kept for _, kept in text.rounds)


def judged(text):
    """Drafted tokens that were kept or refused; those after a refusal are never looked at."""
    return sum(min(kept + 1, k) for k, kept in text.rounds)


def independent(p):
    """Tokens drawn from one distribution (V,): a Markov source whose rows are all alike."""
    return MarkovSource(torch.as_tensor(p, dtype=torch.float64).repeat(len(p), 1))


class Remembering:
    """A predictor whose every distribution depends on all tokens read: a wrong state shows."""

    def __init__(self, salt, vocab_size=3, sharpness=1.5):
        self.salt, self.vocab_size, self.bos, self.sharpness = salt, vocab_size, 0, sharpness

    def start(self, batch_size):
        return Past(())

    def step(self, tokens, state):
        state = Past((*state, *tokens.tolist()))
        draws = random.Random(f"{self.salt} {tuple(state)}")
        logits = [draws.gauss(0, self.sharpness) for _ in range(self.vocab_size)]
        return torch.tensor([logits], dtype=torch.float64).log_softmax(-1), state


class Past(tuple):
    """Tokens read, as a state."""


class ReadsMany(Remembering):
    """The same, reading many tokens at once; its states know no way back."""

    passes = 0

    def read(self, tokens, state):
        self.passes += 1
        rows = []
        for column in tokens.unbind(1):
            row, state = super().step(column, state)
            rows.append(row)
        return torch.stack(rows, 1), self.wrapped(state)

    def wrapped(self, state):
        return state


class GoesBack(ReadsMany):
    def wrapped(self, state):
        past = KnowsItsWayBack(state)
        past.limit = 99
        return past


class SometimesGoesBack(ReadsMany):
    def wrapped(self, state):
        past = KnowsItsWayBack(state)
        past.limit = 1
        return past


class KnowsItsWayBack(Past):
    def back(self, n):
        return Past(self[: len(self) - n]) if n <= self.limit else None


def exact(predictor, length, prompt=(), rules=AS_PREDICTED):
    """Every text of ``length`` tokens with its probability, by the chain rule."""
    texts = {}
    for text in product(range(predictor.vocab_size), repeat=length):
        p = 1.0
        for t, token in enumerate(text):
            so_far = torch.tensor([[*prompt, *text[:t]]], dtype=torch.long)
            log_p = next_log_probs(predictor, so_far[0])
            p *= float(token_probabilities(log_p[None], so_far, rules)[0, token])
        texts[text] = p
    return texts


def p_value(expected, draw, n):
    """Chi-square of n draws against the expected probabilities of texts; rare ones are pooled."""
    g, counts = generator(n), dict.fromkeys(expected, 0)
    for _ in range(n):
        counts[tuple(draw(g))] += 1
    assert all(expected[text] > 0 for text, count in counts.items() if count)
    rare = [text for text, p in expected.items() if n * p < 5]
    cells = [[text] for text in expected if text not in rare] + [rare] * bool(rare)
    observed = [sum(counts[text] for text in cell) for cell in cells]
    frequencies = [n * sum(expected[text] for text in cell) for cell in cells]
    observed, frequencies = zip(*[(o, f) for o, f in zip(observed, frequencies) if f > 0])
    return stats.chisquare(observed, frequencies).pvalue


def ngrams():
    """A target and a worse draft model of the same text: a trigram and a unigram model."""
    tokens = torch.randint(3, (300,), generator=generator(1))
    tokens = tokens * tokens % 3
    return AddK(3, 0.1).fit(tokens, 3), AddK(1).fit(tokens, 3)


# --- The exact form


@pytest.mark.parametrize(
    ("salts", "drafts", "rules"),
    [
        ((0, 1), 4, AS_PREDICTED),
        ((2, 3), 4, Rules(1.5)),
        ((0, 1), 2, Rules(top_k=2)),
        ((2, 3), 4, Rules(0.8, top_p=0.7)),
        ((4, 5), 4, Rules(1.5, top_k=2, repetition=3.0)),
    ],
)
def test_texts_are_distributed_as_the_target_says(salts, drafts, rules):
    target, draft = (Remembering(salt) for salt in salts)
    expected = exact(target, 3, [2], rules)

    def draw(g):
        text = speculative_sample(target, draft, 3, g, [2], drafts, rules)
        return text.tokens.tolist()[1:]

    assert p_value(expected, draw, 600) > 1e-3


@pytest.mark.parametrize("drafts", [0, 1, 3, 7])
@pytest.mark.parametrize("kind", [Remembering, ReadsMany, GoesBack, SometimesGoesBack])
def test_without_chance_the_text_is_the_target_s_own(kind, drafts):
    """At temperature 0 there is one right text, for every kind of state and every draft model."""
    right = sample(Remembering(0), 40, generator(), [1, 2], rules=LIKELIEST)[0]
    for salt in range(3):  # 0: the draft model is the target
        text = speculative_sample(kind(0), kind(salt), 40, generator(), [1, 2], drafts, LIKELIEST)
        assert torch.equal(text.tokens, right)


@pytest.mark.parametrize("kind", [ReadsMany, GoesBack, SometimesGoesBack])
def test_how_a_state_goes_back_does_not_matter(kind):
    texts = [
        speculative_sample(k(0), k(1), 50, generator(5), drafts=4) for k in (Remembering, kind)
    ]
    assert torch.equal(texts[0].tokens, texts[1].tokens)
    assert texts[0].rounds == texts[1].rounds
    assert 0 < accepted(texts[0]) < proposed(texts[0])


@pytest.mark.parametrize("config", [GPTConfig.gpt2, GPTConfig.modern])
def test_a_gpt_with_its_cache_beyond_its_window(config):
    """The cache goes back after a refusal, and windows move while drafts are being checked."""
    torch.manual_seed(0)
    shape = {"max_length": 16, "n_layers": 2, "n_heads": 2, "d_model": 16}
    models = [GPT(config(5, **shape)).double() for _ in range(2)]
    for parameter in (p for model in models for p in model.parameters()):
        parameter.data += 0.5 * torch.randn_like(parameter)
    target, draft = (CachedPredictor(model, bos=0) for model in models)
    right = sample(target, 40, generator(), [1, 2], rules=LIKELIEST)[0]
    for drafts in (3, 20):
        text = speculative_sample(target, draft, 40, generator(), [1, 2], drafts, rules=LIKELIEST)
        assert torch.equal(text.tokens, right)
    text = speculative_sample(target, target, 60, generator(), [1, 2], drafts=5)
    assert accepted(text) == proposed(text) == 50


# --- How many drafts are kept


def test_the_target_s_own_drafts_are_all_kept():
    target, _ = ngrams()
    text = speculative_sample(target, target, 50, generator(), drafts=4)
    assert proposed(text) == accepted(text) == 40
    assert text.rounds == ((4, 4),) * 10


@pytest.mark.parametrize("seed", range(3))
def test_the_rate_is_the_overlap_of_the_two_distributions(seed):
    p, q = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.1, 0.4, 0.2, 0.3]], dtype=torch.float64)
    alpha = 0.1 + 0.3 + 0.2  # the sum of min(p, q): Leviathan et al. (2023), theorem 3.5
    target, draft, k = independent(p), independent(q), 3
    text = speculative_sample(target, draft, 2500, generator(seed), drafts=k)
    deviation = (alpha * (1 - alpha) / judged(text)) ** 0.5
    assert abs(accepted(text) / judged(text) - alpha) < 4 * deviation
    assert accepted(text) / proposed(text) < alpha - 4 * deviation
    per_pass = 2500 / len(text.rounds)
    assert per_pass == pytest.approx(expected_tokens(alpha, k), rel=0.06)


@pytest.mark.parametrize("length", [0, 1, 2, 5, 6, 11])
def test_lengths_and_counts_add_up(length):
    text = speculative_sample(Remembering(0), Remembering(1), length, generator(1), [2, 1], 3)
    assert text.tokens.tolist()[:2] == [2, 1]
    assert len(text.tokens) == 2 + length
    assert accepted(text) + len(text.rounds) == length
    assert all(0 <= kept <= k <= 3 for k, kept in text.rounds)


# --- Theory


@pytest.mark.parametrize(
    ("alpha", "drafts", "tokens"),
    [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 5, 3.69), (0.9, 10, 6.86)],
)
def test_formulas_give_the_paper_s_table(alpha, drafts, tokens):
    """Leviathan et al. (2023), table 1."""
    assert expected_tokens(alpha, drafts) == pytest.approx(tokens, abs=0.005)
    assert speed_up(alpha, drafts, cost=0) == expected_tokens(alpha, drafts)
    closed = (1 - alpha ** (drafts + 1)) / (1 - alpha)
    assert speed_up(alpha, drafts, cost=0.1) == pytest.approx(closed / (0.1 * drafts + 1))


def test_two_vocabularies_are_refused():
    target, _ = ngrams()
    with pytest.raises(ValueError, match="same tokenizer"):
        speculative_sample(target, independent([0.5, 0.5]), 3, generator())
