"""Fits of a scaling law: L(N, D) = E + A / N^alpha + B / D^beta, with E known or asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

_EXPONENTS = torch.linspace(0.03, 1.5, 50, dtype=torch.float64)


@dataclass(frozen=True)
class ScalingLaw:
    """L(N, D) = floor + a / N^alpha + b / D^beta."""

    floor: float
    a: float
    alpha: float
    b: float
    beta: float

    def __call__(self, N: Any, D: Any) -> Any:
        """The loss of a model of N parameters that has read D tokens; arrays as well."""
        return self.floor + self.a * N**-self.alpha + self.b * D**-self.beta


def fit_scaling(N: Any, D: Any, loss: Any, floor: float | None = None) -> ScalingLaw:
    """The law with the least sum of squared errors, relative to the loss.

    An unknown floor (None) is fitted, too. For each pair of exponents, on a grid from 0.03 to 1.5
    that is refined three times, the rest is a linear problem. Negative a, b or floor are not
    allowed.

    Args:
        N, D, loss: as many numbers each, five or more.
        floor: the limit of the loss, where it is known.

    Raises:
        ValueError: too few runs, a loss that is not above the known floor, or fewer than three
            different N or D, which do not determine an unknown floor.
    """
    N, D, loss = (torch.as_tensor(x, dtype=torch.float64).flatten() for x in (N, D, loss))
    above = loss if floor is None else loss - floor
    if len(loss) < 5 or len(N) != len(loss) or len(D) != len(loss) or not (above > 0).all():
        raise ValueError(
            f"There are {len(N)}, {len(D)} and {len(loss)} numbers; expected as many of each, five "
            "or more, and losses above the floor."
        )
    sizes, lengths = len(N.unique()), len(D.unique())
    if floor is None and min(sizes, lengths) < 3:
        raise ValueError(
            f"There are {sizes} different N and {lengths} different D; an unknown floor needs "
            "three of each, since two points can be joined by a curve with any floor below."
        )
    alphas = betas = _EXPONENTS
    for _ in range(4):
        found, alpha, beta = _best(N, D, loss, alphas, betas, floor)
        alphas, betas = _around(alphas, alpha), _around(betas, beta)
    limit = float(found[0]) if floor is None else floor
    return ScalingLaw(limit, float(found[-2]), float(alpha), float(found[-1]), float(beta))


def _best(
    N: Tensor, D: Tensor, loss: Tensor, alphas: Tensor, betas: Tensor, floor: float | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The coefficients and exponents with the least error on a grid of exponents."""
    alpha, beta = (x.flatten() for x in torch.meshgrid(alphas, betas, indexing="ij"))
    # Scaled to one at their means, so that the linear problem is well conditioned.
    n = (N / N.log().mean().exp()) ** -alpha[:, None]
    d = (D / D.log().mean().exp()) ** -beta[:, None]
    parts = [torch.ones_like(n)] * (floor is None) + [n, d]
    X = torch.stack(parts, -1) / loss[:, None]  # (grid, runs, unknowns), relative
    y = 1 - (floor or 0.0) / loss
    best = None
    for keep in _subsets(len(parts)):  # what would be negative is left out
        some = X[..., keep]
        gram = some.mT @ some + 1e-12 * torch.eye(len(keep), dtype=X.dtype)
        c = torch.linalg.solve(gram, (some.mT @ y)[..., None])[..., 0]
        error = (y - (some @ c[..., None])[..., 0]).square().sum(-1)
        error = error.masked_fill((c < 0).any(-1), float("inf"))
        i = int(error.argmin())
        if best is None or error[i] < best[0]:
            whole = torch.zeros(len(parts), dtype=X.dtype)
            whole[list(keep)] = c[i]
            best = error[i], whole, alpha[i], beta[i]
    _, found, a, b = best
    found[-2] *= N.log().mean().exp() ** a
    found[-1] *= D.log().mean().exp() ** b
    return found, a, b


def _subsets(n: int) -> list[list[int]]:
    """Of n unknowns: all of them, and each but one."""
    return [list(range(n)), *([k for k in range(n) if k != left] for left in range(n))]


def _around(grid: Tensor, value: Tensor) -> Tensor:
    """A finer grid between the neighbours of a value."""
    step = float(grid[1] - grid[0])
    return torch.linspace(
        max(float(value) - step, 1e-3), float(value) + step, 21, dtype=torch.float64
    )
