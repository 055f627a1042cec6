"""Learning from preferences, against sums over everything that can happen."""

import itertools
import math

import pytest
import torch

from helpers.learning.preferences import best_policy, dpo_loss, preference_loss

GENERATOR = torch.Generator().manual_seed(0)
REFERENCE = torch.randn(5, generator=GENERATOR, dtype=torch.float64).log_softmax(0)
REWARD = torch.randn(5, generator=GENERATOR, dtype=torch.float64)
BETA = 0.7


def value(log_p: torch.Tensor) -> torch.Tensor:
    return (log_p.exp() * (REWARD - BETA * (log_p - REFERENCE))).sum()


def test_no_policy_has_a_greater_value_than_the_best() -> None:
    log_p, best = best_policy(REFERENCE, REWARD, BETA)
    assert float(log_p.exp().sum()) == pytest.approx(1)
    assert float(value(log_p)) == pytest.approx(float(best))
    for _ in range(100):
        other = (log_p + torch.randn(5, generator=GENERATOR)).log_softmax(0)
        gap = BETA * (other.exp() * (other - log_p)).sum()  # beta KL(other || best)
        assert float(best - value(other)) == pytest.approx(float(gap))


def test_dpo_in_the_limit_of_all_pairs_ends_at_the_best_policy() -> None:
    best, _ = best_policy(REFERENCE, REWARD, BETA)
    better, worse = map(torch.tensor, zip(*itertools.product(range(5), repeat=2), strict=True))
    chance = torch.sigmoid(REWARD[better] - REWARD[worse])

    def loss(log_p: torch.Tensor) -> torch.Tensor:
        each = [
            dpo_loss(*(part[None] for part in parts), BETA)
            for parts in zip(
                log_p[better], log_p[worse], REFERENCE[better], REFERENCE[worse], strict=True
            )
        ]
        return (chance * torch.stack(each)).sum()

    logits = best.clone().requires_grad_()
    (slope,) = torch.autograd.grad(loss(logits), logits)
    assert slope.abs().max() < 1e-12
    assert loss(REFERENCE) > loss(best)


def test_losses_by_hand() -> None:
    two, zero = torch.tensor([2.0]), torch.tensor([0.0])
    assert float(preference_loss(two, zero)) == pytest.approx(math.log(1 + math.exp(-2)))
    assert float(dpo_loss(two, two, two, two, 0.1)) == pytest.approx(math.log(2))
    assert float(dpo_loss(two, zero, zero, zero, 0.5)) == pytest.approx(math.log(1 + math.exp(-1)))
