from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.learning.loss_surface import filter_normalised_direction, loss_surface


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def network() -> nn.Module:
    """With a convolution, an embedding, a norm with buffers, and a tied matrix."""
    model = nn.ModuleDict(
        {
            "embedding": nn.Embedding(7, 4),
            "convolution": nn.Conv1d(4, 6, 3),
            "norm": nn.BatchNorm1d(6),
            "up": nn.Linear(6, 4),
            "output": nn.Linear(4, 7, bias=False),
        }
    )
    model["output"].weight = model["embedding"].weight
    with torch.no_grad():
        for k, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=seeded(k)))
        model["embedding"].weight[3] = 0
    return model


def snapshot(model: nn.Module) -> list[bytes]:
    tensors = [*model.parameters(), *model.buffers()]
    return [tensor.detach().contiguous().numpy().tobytes() for tensor in tensors]


def test_every_row_has_the_length_of_the_models_own():
    model = network()
    direction = filter_normalised_direction(model, seeded(0))
    for parameter, part in zip(model.parameters(), direction, strict=True):
        assert (part.shape, part.dtype) == (parameter.shape, parameter.dtype)
        assert not part.requires_grad
        if parameter.ndim == 1:
            assert not part.any()
        for row, own in zip(part, parameter.detach()):
            assert float(row.norm()) == pytest.approx(float(own.norm() * (parameter.ndim > 1)))
    embedding = direction[0]
    assert not embedding[3].any()
    assert embedding[2].any()


def test_a_quadratic_loss_has_the_surface_of_the_formula():
    model = nn.Linear(3, 2).double()
    x = torch.randn(20, 3, generator=seeded(1), dtype=torch.float64)
    y = torch.randn(20, 2, generator=seeded(2), dtype=torch.float64)
    directions = [filter_normalised_direction(model, seeded(k)) for k in (3, 4)]
    directions[1][1] += torch.tensor([0.5, -1.0])  # a bias that moves too
    alphas, betas = torch.linspace(-1, 1, 5), [-2.0, 0.0, 0.5]
    found = loss_surface(model, lambda m: (m(x) - y).square().sum(), directions, alphas, betas)
    # |r + a u + b v|^2 with the residual r and its changes u and v along the directions
    r = model(x).detach() - y
    u, v = (x @ d[0].T + d[1] for d in directions)
    a, b = alphas.double()[:, None], torch.tensor(betas, dtype=torch.float64)[None]
    expected = (
        (r * r).sum()
        + 2 * a * (r * u).sum()
        + 2 * b * (r * v).sum()
        + a**2 * (u * u).sum()
        + 2 * a * b * (u * v).sum()
        + b**2 * (v * v).sum()
    )
    assert found.shape == (5, 3)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected)


def test_the_model_is_bit_for_bit_as_before():
    model = network()
    before = snapshot(model)
    directions = [filter_normalised_direction(model, seeded(k)) for k in (0, 1)]
    x = torch.randint(7, (5, 8), generator=seeded(2))
    seen = []

    def loss(model: nn.Module) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        seen.append(snapshot(model)[0])
        h = model["norm"](model["convolution"](model["embedding"](x).mT))  # moves the buffers
        return model["output"](model["up"](h.mT)).square().mean()

    surface = loss_surface(model, loss, directions, [-0.5, 0.0, 0.5], [0.0, 1.0])
    assert len(set(seen)) == 6  # the weights were other ones each time
    assert torch.isfinite(surface).all()
    assert snapshot(model) == before
    assert model.training
    assert all(p.requires_grad and p.grad is None for p in model.parameters())


def test_scaling_two_layers_against_each_other_changes_nothing():
    """What filter normalization is for: a ReLU network has the same surface at any such scale."""
    model = nn.Sequential(nn.Linear(3, 5, bias=False), nn.ReLU(), nn.Linear(5, 2, bias=False))
    x = torch.randn(20, 3, generator=seeded(0))
    surfaces = []
    for factor in (1.0, 16.0):
        with torch.no_grad():
            model[0].weight *= factor
            model[2].weight /= factor
        directions = [filter_normalised_direction(model, seeded(k)) for k in (1, 2)]
        steps = [-1.0, 0.0, 1.0]
        surfaces.append(
            loss_surface(model, lambda m: m(x).square().mean(), directions, steps, steps)
        )
    torch.testing.assert_close(*surfaces)
