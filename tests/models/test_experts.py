"""A mixture of experts against the dense sum and against loops."""

import pytest
import torch

from helpers.models.blocks import FeedForward
from helpers.models.experts import MixtureOfExperts, balance_loss, top_k_weights


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def layer(k: int, count: int = 4) -> MixtureOfExperts:
    torch.manual_seed(0)
    return MixtureOfExperts(8, lambda: FeedForward(8, 16), k, count=count).double()


def test_all_experts_are_the_dense_sum() -> None:
    mixture, x = layer(4), normal(2, 5, 8)
    p = mixture.router(x).softmax(-1)
    dense = sum(p[..., e, None] * expert(x) for e, expert in enumerate(mixture.experts))
    assert torch.allclose(mixture(x), dense)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_each_token_by_itself(k: int) -> None:
    mixture, x = layer(k), normal(6, 8)
    got = mixture(x)
    for n in range(6):
        p = mixture.router(x[n]).softmax(-1).detach()
        best = sorted(range(4), key=lambda e: -float(p[e]))[:k]
        wanted = sum(p[e] * mixture.experts[e](x[n]) for e in best) / sum(p[e] for e in best)
        assert torch.allclose(got[n], wanted)
    assert int(mixture.used.sum()) == 6 * k


def test_weights_sum_to_one_and_the_best_stands_first() -> None:
    weights, chosen = top_k_weights(normal(7, 5), 3)
    assert torch.allclose(weights.sum(-1), torch.ones(7).double())
    assert (weights[:, :-1] >= weights[:, 1:]).all()
    assert chosen.shape == (7, 3)


def test_balance_is_one_for_equal_use_and_E_for_a_single_expert() -> None:
    even = torch.eye(4).double().repeat(3, 1) * 50
    assert float(balance_loss(even, even.argmax(-1, keepdim=True))) == pytest.approx(1)
    alone = torch.tensor([[50.0, 0, 0, 0]]).double().repeat(5, 1)
    assert float(balance_loss(alone, alone.argmax(-1, keepdim=True))) == pytest.approx(4)


def test_its_gradient_makes_a_crowded_expert_less_probable() -> None:
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    balance_loss(logits, torch.zeros(3, 1, dtype=torch.long)).backward()
    assert (logits.grad[:, 0] > 0).all()
    assert (logits.grad[:, 1] < 0).all()


def test_parameters_active_and_total() -> None:
    mixture = layer(2)
    one = sum(p.numel() for p in mixture.experts[0].parameters())
    assert mixture.active_parameters() == 4 * 8 + 2 * one
    assert sum(p.numel() for p in mixture.parameters()) == 4 * 8 + 4 * one


def test_gradients_reach_the_router_and_used_experts_only() -> None:
    mixture = layer(1)
    mixture(normal(1, 8)).sum().backward()
    reached = [expert.up.weight.grad is not None for expert in mixture.experts]
    assert sum(reached) == 1
