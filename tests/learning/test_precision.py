"""Matrix products in another precision, for a loop that knows nothing of it."""

from __future__ import annotations

import torch
from torch import nn

from helpers.learning.precision import products_in


def test_inside_the_block_products_are_made_in_16_bits_and_after_it_as_before():
    torch.manual_seed(0)
    model, x = nn.Linear(64, 64, bias=False), torch.randn(8, 64)
    plain = model(x)
    with products_in("bfloat16", model):
        inside = model(x)
        inside.float().sum().backward()
    assert inside.dtype == torch.bfloat16
    assert not torch.equal(inside.float(), plain)
    assert (inside.float() - plain).abs().max() < 0.1
    assert model.weight.dtype == model.weight.grad.dtype == torch.float32
    assert torch.equal(model(x), plain)


def test_float32_changes_nothing():
    model, x = nn.Linear(4, 4), torch.ones(1, 4)
    with products_in("float32", model):
        assert model(x).dtype == torch.float32
