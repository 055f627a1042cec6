"""The scan against its loop, and a selective layer against its steps."""

import pytest
import torch

from helpers.models.linear_recurrence import (
    SelectiveRecurrence,
    linear_recurrence,
    linear_recurrence_by_loop,
)


def pair(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    g = torch.Generator().manual_seed(0)
    a = torch.rand(*shape, generator=g, dtype=torch.float64)
    return a, torch.randn(*shape, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("T", [1, 2, 3, 8, 13, 64, 100])
def test_scan_equals_loop(T: int) -> None:
    a, b = pair(2, T, 3)
    assert torch.allclose(linear_recurrence(a, b), linear_recurrence_by_loop(a, b), atol=1e-13)


def test_known_answers() -> None:
    ones = torch.ones(1, 5, 1)
    assert linear_recurrence(ones, ones).flatten().tolist() == [1, 2, 3, 4, 5]
    assert torch.equal(linear_recurrence(0 * ones, 7 * ones), 7 * ones)
    halves = linear_recurrence(ones / 2, ones).flatten().tolist()
    assert halves == [1, 1.5, 1.75, 1.875, 1.9375]


def test_gradients_are_the_loops() -> None:
    found = []
    for run in (linear_recurrence, linear_recurrence_by_loop):
        a, b = (x.clone().requires_grad_() for x in pair(2, 9, 3))
        run(a, b).square().sum().backward()
        found.append((a.grad, b.grad))
    for mine, other in zip(*found, strict=True):
        assert torch.allclose(mine, other)


def test_layer_step_by_step_and_causal() -> None:
    torch.manual_seed(0)
    layer = SelectiveRecurrence(4, 3).double()
    x = pair(2, 7, 4)[1]
    y = layer(x)
    assert y.shape == x.shape
    h = torch.zeros(2, 4, 3, dtype=torch.float64)
    for t in range(7):
        u = x[:, t]
        delta = torch.nn.functional.softplus(layer.delta(u))[:, :, None]
        h = torch.exp(-delta * layer.decay.exp()) * h
        h = h + delta * u[:, :, None] * layer.write(u)[:, None, :]
        wanted = (h * layer.read(u)[:, None, :]).sum(-1) + layer.skip * u
        assert torch.allclose(y[:, t], wanted)
    changed = x.clone()
    changed[:, 4:] += 1
    assert torch.equal(layer(changed)[:, :4], y[:, :4])


def test_a_short_step_keeps_and_a_long_one_forgets() -> None:
    layer = SelectiveRecurrence(1, 1).double()
    torch.nn.init.zeros_(layer.delta.weight)
    torch.nn.init.constant_(layer.delta.bias, -30.0)
    x = torch.ones(1, 3, 1, dtype=torch.float64)
    assert layer.steps(x)[0].min() > 1 - 1e-9
    torch.nn.init.constant_(layer.delta.bias, 30.0)
    assert layer.steps(x)[0].max() < 1e-9
