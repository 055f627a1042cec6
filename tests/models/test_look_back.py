"""A layer that looks by positions alone."""

import torch
from torch import nn

from helpers.models.look_back import LookBack


def test_each_head_looks_back_by_position_alone_and_hands_over_its_own_columns():
    model = LookBack(nn.Identity(), nn.Identity(), n_heads=2, d_model=6, length=5)
    weights = model.weights()
    assert weights.shape == (2, 5, 5)
    assert weights.triu(1).eq(0).all()
    x = torch.randn(3, 5, 6)
    values = model.attention.value(x)
    averages = [A @ values[..., 3 * h : 3 * h + 3] for h, A in enumerate(weights)]
    assert torch.allclose(model(x), model.attention.output(torch.cat(averages, -1)), atol=1e-6)
