"""The loss around a trained model, on a plane through its parameters.

Li, Xu, Taylor, Studer and Goldstein (2018), "Visualizing the loss landscape of neural nets". A
random direction has to fit the scale of the weights: a network of ReLU layers computes the same
function when one layer is multiplied by 10 and the next divided by 10, but a step of fixed length
then changes it ten times less in the first layer. Filter normalization (their section 4) gives
each row of the direction the length of the model's own row, so that pictures of two models can be
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def filter_normalised_direction(model: nn.Module, generator: torch.Generator) -> list[Tensor]:
    """A random direction whose rows are as long as the model's own rows.

    A row, in the paper a filter, is what belongs to one index of a parameter's first dimension: the
    weights into one unit of a linear layer or a convolution, one token's embedding.

    Args:
        model: where the surface has its centre.
        generator: draws the normally distributed numbers; same seed, same direction.

    Returns:
        One tensor for each of ``model.parameters()``, in that order and of that shape. It is zero
        for vectors (biases, norms), as in the paper, and for rows of zeros.
    """
    return [_normalised(parameter, generator) for parameter in model.parameters()]


def loss_surface(
    model: nn.Module,
    loss: Callable[[nn.Module], Any],
    directions: Sequence[Sequence[Tensor]],
    alphas: Sequence[float] | Tensor,
    betas: Sequence[float] | Tensor,
) -> Tensor:
    """The loss at theta + alpha d1 + beta d2, for every alpha and beta; theta is the model now.

    Parameters and buffers are moved in place, and are bit for bit as before afterwards, also if
    ``loss`` raises. The model stays in its mode: call ``model.eval()`` first if it has dropout.

    Args:
        loss: model -> a number; called without gradients, A B times, and best always on the same
            data.
        directions: d1 and d2, each one tensor for each of ``model.parameters()``.
        alphas, betas: A and B numbers of steps along d1 and d2.

    Returns:
        (A, B), float64 on the CPU, in the unit of ``loss``.
    """
    parameters = list(model.parameters())
    alphas, betas = _numbers(alphas), _numbers(betas)
    surface = torch.empty(len(alphas), len(betas), dtype=torch.float64)
    state = [*parameters, *model.buffers()]
    before = [tensor.detach().clone() for tensor in state]
    try:
        with torch.no_grad():
            for row, alpha in enumerate(alphas):
                for column, beta in enumerate(betas):
                    for tensor, old, d1, d2 in zip(
                        parameters, before[: len(parameters)], *directions, strict=True
                    ):
                        tensor.copy_(old + alpha * d1.to(old) + beta * d2.to(old))
                    value = loss(model)
                    surface[row, column] = value.detach() if isinstance(value, Tensor) else value
    finally:
        with torch.no_grad():
            for tensor, old in zip(state, before, strict=True):
                tensor.copy_(old)
    return surface


def _normalised(parameter: Tensor, generator: torch.Generator) -> Tensor:
    if parameter.ndim < 2:
        return torch.zeros_like(parameter, requires_grad=False)
    # Drawn in float64 where the generator lives: the same direction on every device.
    direction = torch.randn(
        parameter.shape, generator=generator, dtype=torch.float64, device=generator.device
    ).flatten(1)
    rows = parameter.detach().to(direction).flatten(1)
    scale = rows.norm(dim=1, keepdim=True) / direction.norm(dim=1, keepdim=True)
    return (direction * scale).view(parameter.shape).to(parameter)


def _numbers(values: Sequence[float] | Tensor) -> list[float]:
    return torch.as_tensor(values, dtype=torch.float64).flatten().tolist()
