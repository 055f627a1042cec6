"""What the tests of attention share: numbers to attend to, and equality with gradients."""

from __future__ import annotations

import torch


def numbers(*shape, seed=0, grad=True):
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(*shape, dtype=torch.float64, generator=generator)
    return drawn.requires_grad_(grad)


def coins(*shape, seed=0, share=0.6):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < share


def close(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=1e-12)


def gradients(output, inputs):
    """Of a random weighting of the output."""
    weights = numbers(*output.shape, seed=99, grad=False)
    return torch.autograd.grad((output * weights).sum(), inputs, retain_graph=True)


def same(found, wanted, inputs, others=None):
    """Equal values and equal gradients."""
    close(found, wanted)
    for a, b in zip(gradients(found, inputs), gradients(wanted, others or inputs)):
        close(a, b)
