"""The trainer: it finds known optima, keeps to its schedule, and says what went wrong."""

from __future__ import annotations

import copy
from itertools import pairwise, repeat

import pytest
import torch
from torch import nn

from helpers.data.batching import windows
from helpers.inference.evaluation import score_model
from helpers.learning.training import rate, train
from helpers.models.ngram import MaximumLikelihood


def test_a_bigram_network_learns_the_counted_table():
    """The cross-entropy of a table of logits is least at the table of relative frequencies."""
    generator = torch.Generator().manual_seed(0)
    tokens = (torch.rand(4000, generator=generator) ** 2 * 4).long().cumsum(0) % 4
    torch.manual_seed(0)
    model = nn.Embedding(4, 4)
    batches = repeat((tokens[None, :-1], tokens[None, 1:]))
    records = list(train(model, batches, steps=400, learning_rate=0.1))
    counted = MaximumLikelihood(2).fit(tokens, 4)
    best = -float(counted.log_probs(tokens)[1:].mean())
    assert best - 1e-6 < records[-1].loss < best + 1e-3
    for token in range(4):
        p = counted.step(torch.tensor([token]), counted.start(1))[0].exp()[0]
        assert torch.allclose(model.weight[token].softmax(-1).double(), p, atol=0.01)


def test_records_and_validation():
    tokens = torch.arange(200) % 7
    model = nn.Embedding(7, 7)

    def validate(model):
        return score_model(model, tokens, 16, text="x" * 199).bits_per_byte

    batches = windows(tokens, 2, 8, torch.Generator().manual_seed(0))
    records = list(train(model, batches, 10, 0.5, validate=validate, validate_every=4))
    assert [r.step for r in records] == list(range(1, 11))
    assert [r.tokens for r in records] == [16 * s for s in range(1, 11)]
    assert [r.step for r in records if r.validation is not None] == [4, 8, 10]
    assert records[-1].validation < records[3].validation
    assert all(a.seconds < b.seconds for a, b in pairwise(records))


def test_the_rate_warms_up_and_decays():
    rates = [rate(step, 10, warmup=4, final=0.1) for step in range(1, 11)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert all(a > b for a, b in pairwise(rates[4:]))
    assert rates[-1] == pytest.approx(0.1 + 0.9 / 6)


def test_the_same_seeds_give_the_same_run():
    tokens = torch.arange(100) % 5
    torch.manual_seed(0)
    first = nn.Embedding(5, 5)
    second = copy.deepcopy(first)
    losses = [
        [r.loss for r in train(m, windows(tokens, 2, 8, torch.Generator().manual_seed(1)), 5)]
        for m in (first, second)
    ]
    assert losses[0] == losses[1]


def test_weight_decay_spares_vectors():
    model = nn.Linear(3, 3)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.fill_(1.0)
    nothing = repeat((torch.zeros(2, 3), torch.zeros(2, 3)))
    list(train(model, nothing, 5, 0.1, weight_decay=0.5, loss=lambda out, _: 0 * out.sum()))
    assert torch.all(model.weight < 1)
    assert torch.all(model.bias == 1)


def test_other_optimizers_take_the_place_of_adamw():
    """Plain gradient descent by hand, with the trainer's decay of each optimizer's own rate."""
    model = nn.Linear(2, 1).double()
    by_hand = copy.deepcopy(model)
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=torch.double)
    batches = repeat((x, torch.ones(2, 1, dtype=torch.double)))
    optimizers = [
        torch.optim.SGD([model.weight], lr=0.01),
        torch.optim.SGD([model.bias], lr=0.1),
    ]
    settings = {"loss": nn.functional.mse_loss, "clip": float("inf"), "optimizers": optimizers}
    records = list(train(model, batches, 3, **settings))
    for factor in (1, 2 / 3, 1 / 3):
        by_hand.zero_grad()
        nn.functional.mse_loss(by_hand(x), torch.ones(2, 1, dtype=torch.double)).backward()
        with torch.no_grad():
            by_hand.weight -= 0.01 * factor * by_hand.weight.grad
            by_hand.bias -= 0.1 * factor * by_hand.bias.grad
    torch.testing.assert_close(model.weight, by_hand.weight)
    torch.testing.assert_close(model.bias, by_hand.bias)
    assert [r.learning_rate for r in records] == pytest.approx([0.01, 0.02 / 3, 0.01 / 3])


def test_what_went_wrong_is_said():
    model = nn.Embedding(3, 3)
    batch = (torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="ran out after 1 of 3"):
        list(train(model, [batch], 3))
    with pytest.raises(ValueError, match="diverged"):
        list(train(model, repeat(batch), 3, loss=lambda out, _: out.sum() * float("nan")))
    with pytest.raises(ValueError, match="warmup"):
        list(train(model, repeat(batch), 3, warmup=3))


def test_a_model_of_two_inputs_gets_them_as_a_tuple():
    """A linear model of two inputs finds the weights that made the targets."""

    class TwoInputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)

        def forward(self, a, b):
            return self.left(a) + self.right(b)

    torch.manual_seed(0)
    model, generator = TwoInputs(), torch.Generator().manual_seed(0)
    a, b = (torch.randn(256, 1, generator=generator) for _ in range(2))
    batches = repeat(((a, b), 2 * a - 3 * b))
    list(train(model, batches, 300, learning_rate=0.1, loss=nn.functional.mse_loss))
    assert model.left.weight.item() == pytest.approx(2, abs=1e-3)
    assert model.right.weight.item() == pytest.approx(-3, abs=1e-3)
