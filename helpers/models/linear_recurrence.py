"""A recurrence without a non-linearity between its steps, h_t = a_t h_{t-1} + b_t, and its scan.

Two steps in a row are again such a step: (a, b) and then (c, d) give (c a, c b + d). This operation
is associative, so all T states can be had in about log2(T) rounds, each of which works on all
positions at once, instead of T steps one after another. A recurrent network
with a non-linearity in its step, such as Elman's, cannot be computed so.

Shape letters: B batch, T time steps, D d_model, N numbers of state for each channel.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def linear_recurrence_by_loop(a: Tensor, b: Tensor) -> Tensor:
    """h_t = a_t h_{t-1} + b_t with h_0 = 0, step by step: (B, T, ...) each."""
    h, states = torch.zeros_like(b[:, 0]), []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, 1)


def linear_recurrence(a: Tensor, b: Tensor) -> Tensor:
    """The same by a scan, in ceil(log2 T) rounds (Hillis and Steele 1986).

    After round i each position knows the 2^i steps that end there as one step. It does
    T log2 T multiplications instead of T, all of a round at once.

    Args:
        a, b: (B, T, ...) of one shape.
    """
    step, T = 1, a.shape[1]
    while step < T:
        before_a, before_b = a[:, :-step], b[:, :-step]
        b = torch.cat([b[:, :step], a[:, step:] * before_b + b[:, step:]], 1)
        a = torch.cat([a[:, :step], a[:, step:] * before_a], 1)
        step *= 2
    return b


class SelectiveRecurrence(nn.Module):
    """A layer (B, T, D) -> (B, T, D) that chooses at each step what it keeps: Mamba's idea.

    Each channel d has N numbers of state, and with u = x_t:

        delta = softplus(W_delta u + c)             (D), how long a step is
        a_t = exp(-delta exp(A)),  b_t = delta u B_t   (D, N), B_t = W_B u
        h_t = a_t h_{t-1} + b_t,   y_t = h_t C_t + s u        C_t = W_C u

    A long step (large delta) forgets what was there and writes u; a short one leaves all as it is.
    What makes it *selective* is that delta, B and C depend on the token; the recurrence is linear
    in h all the same, so ``linear_recurrence`` computes it.

    Args:
        d_model: D.
        state: N.

    Source: A. Gu and T. Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces
    (2023), section 3; without its convolution, its gate and its kernel.
    """

    def __init__(self, d_model: int, state: int = 8) -> None:
        super().__init__()
        self.delta = nn.Linear(d_model, d_model)
        self.write = nn.Linear(d_model, state, bias=False)
        self.read = nn.Linear(d_model, state, bias=False)
        self.decay = nn.Parameter(torch.arange(1.0, state + 1).log().repeat(d_model, 1))
        self.skip = nn.Parameter(torch.ones(d_model))
        nn.init.constant_(self.delta.bias, -2.0)  # softplus(-2) is 0.13: it begins by remembering

    def steps(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The a_t and b_t of the recurrence, (B, T, D, N) each."""
        delta = F.softplus(self.delta(x))[..., None]  # (B, T, D, 1)
        a = torch.exp(-delta * self.decay.exp())
        return a, delta * x[..., None] * self.write(x)[..., None, :]

    def forward(self, x: Tensor) -> Tensor:
        h = linear_recurrence(*self.steps(x))  # (B, T, D, N)
        return (h * self.read(x)[..., None, :]).sum(-1) + self.skip * x
