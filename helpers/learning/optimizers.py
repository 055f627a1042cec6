"""Muon, which orthogonalises the updates of matrices, and who optimizes what in a GPT.

The others are PyTorch's AdamW and SparseAdam.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from helpers.device import mixed_precision

# Chosen by Jordan et al. (2024) so that the slope at zero is steep: small singular values grow
# fast, and the large ones end anywhere between about 0.7 and 1.2.
_A, _B, _C = 3.4445, -4.7750, 2.0315


def newton_schulz(matrices: Tensor, steps: int = 5) -> Tensor:
    """Matrices (..., R, C) with their singular values moved towards 1; the vectors stay.

    X <- a X + b (X X^T) X + c (X X^T)^2 X, which takes every singular value s to
    a s + b s^3 + c s^5, after a division by the Frobenius norm. Five steps take all of them that
    are not tiny to about 0.7 .. 1.2: near U V^T of the decomposition U S V^T, for a few products of
    matrices. It is computed in the dtype of ``matrices``.

    Source: K. Jordan et al., Muon: An optimizer for hidden layers in neural networks (2024).
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices  # the product X X^T is then the smaller one
    shape = x.shape
    x = x.reshape(-1, *shape[-2:])
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        inner = torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C)  # b G + c G^2
        x = torch.baddbmm(x, inner, x, beta=_A)
    x = x.view(shape)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum whose update is orthogonalised: every direction of a matrix learns at one speed.

        m <- mu m + (1 - mu) g,   u = mu m + (1 - mu) g  (Nesterov)
        W <- (1 - rate lambda) W - rate sqrt(max(1, R / C)) newton_schulz(u)    for W of (R, C)

    The same as ``torch.optim.Muon`` (PyTorch 2.9 and later) with its defaults, but matrices of one
    shape, or of its transpose, are orthogonalised together. For the matrices of
    hidden layers; embeddings, outputs and vectors are AdamW's (``gpt_optimizers``).

    Args:
        weight_decay: lambda, decoupled from the gradient (Loshchilov and Hutter 2019).
        precision: of Newton-Schulz, "bfloat16" or "float32"; None for what the device gains by.

    Raises:
        ValueError: a parameter that is no matrix.

    Source: K. Jordan et al., Muon: An optimizer for hidden layers in neural networks (2024).
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        precision: str | None = None,
    ) -> None:
        self.precision = precision
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})
        shapes = [tuple(p.shape) for group in self.param_groups for p in group["params"]]
        wrong = [shape for shape in shapes if len(shape) != 2]
        if wrong:
            raise ValueError(
                f"Muon optimizes matrices, but a parameter has the shape {wrong[0]}: leave it to "
                "another optimizer, as gpt_optimizers does."
            )

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make one step from the gradients; parameters without one stay. Returns closure()."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            alike = defaultdict(list)
            for p in group["params"]:
                if p.grad is not None:
                    alike[min(p.shape), max(p.shape), p.dtype, p.device].append(p)
            for matrices in alike.values():
                self._step(matrices, group)
        return loss

    def _step(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """One step of matrices (R, C) and (C, R)."""
        gradients, mu = [p.grad for p in matrices], group["momentum"]
        for p in matrices:
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = torch.zeros_like(p)
        momenta = [self.state[p]["momentum_buffer"] for p in matrices]
        torch._foreach_lerp_(momenta, gradients, 1 - mu)
        updates = torch._foreach_lerp(gradients, momenta, mu)
        precision = self.precision or mixed_precision(matrices[0].device, "products")
        dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        tall = [p.shape[0] > p.shape[1] for p in matrices]
        wide = torch.stack([u.mT if t else u for u, t in zip(updates, tall, strict=True)])
        wide = newton_schulz(wide.to(dtype))  # (N, R, C), R <= C
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        for p, update, t in zip(matrices, wide, tall, strict=True):
            factor = group["lr"] * math.sqrt(max(1, p.shape[0] / p.shape[1]))
            p.add_(update.mT if t else update, alpha=-factor)


class Together:
    """Several optimizers that are used as one."""

    def __init__(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self.optimizers = list(optimizers)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The groups of all of them."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        """Empty all gradients."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def step(self) -> None:
        """One step of each."""
        for optimizer in self.optimizers:
            optimizer.step()


def gpt_optimizers(
    model: nn.Module,
    learning_rate: float,
    muon_rate: float,
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.95),
) -> list[torch.optim.Optimizer]:
    """[Muon, AdamW] for a transformer: Muon for the matrices of its blocks, AdamW for the rest.

    Embeddings with sparse gradients, as in ``HashedNGrams``, get a third, ``SparseAdam``.

    Muon's orthogonal updates suit maps between hidden layers. The rows of embeddings and outputs
    belong to single tokens, most of which a batch does not hold, so they stay with AdamW, as do
    norms and biases. Move the model to its device first.

    Args:
        model: with its blocks in ``blocks``, such as ``GPT`` or ``Transformer``, or made of models
            that have such, as a head on an encoder is; it may stand in DistributedDataParallel.
        learning_rate: AdamW's highest rate, and SparseAdam's.
        muon_rate: Muon's highest rate.
        weight_decay: of the first two, on matrices only; each multiplies it by its own rate.
        betas: AdamW's decay rates of its two means, and SparseAdam's.

    Raises:
        ValueError: the model has no blocks that hold matrices.
    """
    stacks = [part.blocks for part in model.modules() if hasattr(part, "blocks")]
    matrices = [p for blocks in stacks for p in blocks.parameters() if p.ndim == 2]
    if not matrices:
        raise ValueError(
            f"{type(model).__name__} has no `blocks` that hold matrices: give the trainer "
            "optimizers made by hand instead."
        )
    inside = [p for p in matrices if p.requires_grad]
    others = [p for p in model.parameters() if p.requires_grad]
    tables = [m.weight for m in model.modules() if getattr(m, "sparse", False)]
    apart = {id(p) for p in inside + tables}
    others = [p for p in others if id(p) not in apart]
    groups = [
        {"params": [p for p in others if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in others if p.ndim < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    sparse = [torch.optim.SparseAdam(tables, learning_rate, betas)] if tables else []
    return [Muon(inside, muon_rate, weight_decay), _adamw(groups, learning_rate, betas), *sparse]


def _adamw(
    groups: list[dict[str, Any]], learning_rate: float, betas: tuple[float, float]
) -> torch.optim.AdamW:
    try:
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, fused=True)
    except RuntimeError:  # not every device has the fused kernel
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas)
