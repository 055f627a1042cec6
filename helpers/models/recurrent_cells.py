"""Recurrent cells: Elman's, gated, GRU and LSTM.

In the lecture's notation (s is the logistic function, * goes entry by entry):

    Elman        h_t = f(W_xh x_t + W_hh h_{t-1} + b_h)                     f = tanh or ReLU
    gated        h_t = z_t * h_{t-1} + (1 - z_t) * hbar_t                   hbar_t as Elman's, ReLU
    GRU          the same, with hbar_t = tanh(W_xh x_t + W_hh (r_t * h_{t-1}) + b_h)
    LSTM         C_t = f_t * C_{t-1} + i_t * Cbar_t,  h_t = o_t * tanh(C_t)
    every gate   g_t = s(W_xg x_t + W_hg h_{t-1} + b_g)                     g = z, r, f, i or o

A cell is split in two so that it runs fast: ``project`` does W_x x_t + b of all time steps in one
matrix product, ``step`` does what has to wait for h_{t-1}. Weights start as ``nn.Linear`` makes
them, as in the lecture's code: uniform within +-1/sqrt(D) for what reads x (D numbers), within
+-1/sqrt(H) for what reads h. ``torch.nn.LSTM`` and its kin take +-1/sqrt(H) for both and have a
second bias, which is added to the first.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.sequence_layout import State


class RecurrentCell(nn.Module):
    """What the cells share; a cell of one's own needs ``gates``, its own weights and ``step``.

    Args:
        input_size: D, the length of x_t.
        hidden_size: H, the length of h_t.

    Attributes:
        gates: names of the G blocks of H rows in ``x2h``, from the top; "h" and "C" stand for the
            candidates hbar and Cbar.
        x2h: W_x (G H, D) and b (G H,).
    """

    gates: tuple[str, ...] = ("h",)

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self.x2h = nn.Linear(input_size, len(self.gates) * hidden_size)

    def project(self, x: Tensor) -> Tensor:
        """W_x x + b for x (..., D): (..., G H). Token ids (...) stand for one-hot vectors."""
        if x.is_floating_point():
            return self.x2h(x)
        # W_x times a one-hot vector is a column of W_x; looking up rows is much faster.
        return F.embedding(x, self.x2h.weight.t().contiguous() + self.x2h.bias)

    def start(self, batch_size: int, like: Tensor) -> State:
        """The state before anything is read: zeros, with the type and device of ``like``."""
        return like.new_zeros(batch_size, self.hidden_size)

    def step(self, projected: Tensor, state: State) -> tuple[Tensor, State]:
        """One time step: what ``project`` gave (B, G H), and the state -> h_t (B, H), new state."""
        raise NotImplementedError

    def hidden(self, state: State) -> Tensor:
        """The h (B, H) in a state."""
        return state

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """One time step from x_t (B, D) or token ids (B,) -> h_t (B, H), new state."""
        projected = self.project(x)
        if state is None:
            state = self.start(len(projected), projected)
        return self.step(projected, state)


class ElmanCell(RecurrentCell):
    """h_t = tanh(W_xh x_t + W_hh h_{t-1} + b_h). Elman (1990), "Finding structure in time".

    Attributes:
        h2h: W_h (G H, H) of all gates, without a bias.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, len(self.gates) * hidden_size, bias=False)

    def step(self, projected: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(self._sums(projected, state))
        return h, h

    def _sums(self, projected: Tensor, h: Tensor) -> Tensor:
        """W_x x_t + b + W_h h_{t-1}, (B, G H)."""
        return torch.addmm(projected, h, self.h2h.weight.t())


class ReLUElmanCell(ElmanCell):
    """h_t = ReLU(W_xh x_t + W_hh h_{t-1} + b_h): the lecture's first network, ``RecNet``."""

    def step(self, projected: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.relu(self._sums(projected, state))
        return h, h


class GatedCell(ElmanCell):
    """A forget gate mixes the old state with the new: the lecture's ``RecNetGating``.

    hbar_t = ReLU(W_xh x_t + W_hh h_{t-1} + b_h),  h_t = z_t * h_{t-1} + (1 - z_t) * hbar_t
    """

    gates = ("z", "h")

    def step(self, projected: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        z, candidate = self._sums(projected, state).chunk(2, 1)
        h = torch.lerp(torch.relu(candidate), state, torch.sigmoid(z))
        return h, h


class LectureGRUCell(RecurrentCell):
    """The gated recurrent unit as the lecture writes it: reset first, then multiply by W_hh.

    hbar_t = tanh(W_xh x_t + W_hh (r_t * h_{t-1}) + b_h),  h_t = z_t * h_{t-1} + (1 - z_t) * hbar_t

    Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder". Beside the
    drawing the lecture has z_t and 1 - z_t the other way round.

    Attributes:
        h2zr: W_hz above W_hr, (2 H, H).
        h2h: W_hh (H, H).
    """

    gates = ("z", "r", "h")

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.h2zr = nn.Linear(hidden_size, 2 * hidden_size, bias=False)
        self.h2h = nn.Linear(hidden_size, hidden_size, bias=False)

    def step(self, projected: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        x2zr, x2h = projected.split((2 * self.hidden_size, self.hidden_size), 1)
        z, r = torch.sigmoid(torch.addmm(x2zr, state, self.h2zr.weight.t())).chunk(2, 1)
        h = torch.lerp(self._candidate(x2h, r, state), state, z)
        return h, h

    def _candidate(self, x2h: Tensor, r: Tensor, h: Tensor) -> Tensor:
        return torch.tanh(torch.addmm(x2h, r * h, self.h2h.weight.t()))


class GRUCell(LectureGRUCell):
    """The gated recurrent unit as PyTorch and cuDNN compute it: multiply by W_hh, then reset.

    hbar_t = tanh(W_xh x_t + b_h + r_t * (W_hh h_{t-1} + b_hh))

    b_hh, the bias of ``h2h``, is one of its own because r_t scales it. z_t plays the part that it
    plays in the lecture's equation. Equals ``torch.nn.GRU``: see ``helpers.models.torch_weights``.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)

    def _candidate(self, x2h: Tensor, r: Tensor, h: Tensor) -> Tensor:
        return torch.tanh(torch.addcmul(x2h, r, self.h2h(h)))


class LSTMCell(ElmanCell):
    """Long short-term memory; its state is the pair (h, C).

    C_t = f_t * C_{t-1} + i_t * Cbar_t,  Cbar_t = tanh(W_xC x_t + W_hC h_{t-1} + b_C),
    h_t = o_t * tanh(C_t)

    Hochreiter and Schmidhuber (1997); the forget gate is from Gers et al. (2000). Equals
    ``torch.nn.LSTM``: see ``helpers.models.torch_weights``.
    """

    gates = ("f", "i", "o", "C")

    def start(self, batch_size: int, like: Tensor) -> tuple[Tensor, Tensor]:
        return super().start(batch_size, like), super().start(batch_size, like)

    def step(
        self, projected: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h, C = state
        f, i, o, candidate = self._sums(projected, h).chunk(4, 1)
        C = torch.addcmul(torch.sigmoid(f) * C, torch.sigmoid(i), torch.tanh(candidate))
        h = torch.sigmoid(o) * torch.tanh(C)
        return h, (h, C)

    def hidden(self, state: tuple[Tensor, Tensor]) -> Tensor:
        return state[0]
