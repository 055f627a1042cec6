"""Sampling: seeded, distributed as the model says, and shaped by temperature."""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from helpers.contracts import next_log_probs
from helpers.inference.decoding import sample
from helpers.models.ngram import AddK, MaximumLikelihood


@pytest.fixture(scope="module")
def model():
    tokens = torch.randint(4, (400,), generator=torch.Generator().manual_seed(1))
    return AddK(2).fit(tokens * tokens // 3, 4)


def test_the_same_seed_gives_the_same_text(model):
    draws = [sample(model, 30, torch.Generator().manual_seed(s)) for s in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert draws[0].shape == (1, 30)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_follow_the_distribution(model, temperature):
    draws = sample(
        model, 1, torch.Generator().manual_seed(3), [2], temperature=temperature, batch_size=4000
    )
    p = next_log_probs(model, [2]).exp() ** (1 / temperature)
    observed = torch.bincount(draws[:, 1], minlength=4).numpy()
    expected = (p / p.sum() * len(draws)).numpy()
    assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_temperature_zero_takes_the_likeliest(model):
    text = sample(model, 8, torch.Generator(), temperature=0, prompt=[1])[0]
    for t in range(1, 9):
        assert text[t] == next_log_probs(model, text[:t]).argmax()


def test_a_certain_model_repeats_its_text():
    model = MaximumLikelihood(2).fit(torch.tensor([0, 1, 2, 0, 1, 2, 0]), 3)
    assert sample(model, 6, torch.Generator())[0].tolist() == [0, 1, 2, 0, 1, 2]


def test_bad_input(model):
    with pytest.raises(ValueError, match="negative"):
        sample(model, -1, torch.Generator())
    with pytest.raises(ValueError, match="outside"):
        sample(model, 1, torch.Generator(), prompt=[9])
