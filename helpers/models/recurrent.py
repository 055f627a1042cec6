"""Recurrent networks: Elman's, gated, GRU and LSTM cells, and the layer that runs any of them.

The cells, in the lecture's notation (s is the logistic function, * goes entry by entry):

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

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.sequence_layout import State, each, make_layout, parts, split_rows


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
        if input_size < 1 or hidden_size < 1:
            raise ValueError(
                f"A cell needs an input size and a hidden size of 1 or more, not {input_size} and "
                f"{hidden_size}."
            )
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
    plays in the lecture's equation. Equals ``torch.nn.GRU``: see ``load_torch_weights``.
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
    ``torch.nn.LSTM``: see ``load_torch_weights``.
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


class Recurrent(nn.Module):
    """A stack of recurrent layers that read in one direction or in both.

    Args:
        cell: the kind of cell, such as ``LSTMCell``.
        input_size: D, the length of x_t; where token ids are read, how many there are.
        hidden_size: H, the length of h_t.
        n_layers: layers; each reads the h_t of the one below.
        bidirectional: read each sequence from its end too. A layer then hands on both h_t side by
            side, forward first.
        dropout: share of what one layer hands to the next that is set to zero in training.

    Attributes:
        cells: layer by layer, in each forward before backward.
        output_size: H, or 2H for both directions.
    """

    def __init__(
        self,
        cell: Callable[[int, int], RecurrentCell],
        input_size: int,
        hidden_size: int,
        n_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"There must be one layer or more, not {n_layers}.")
        self.input_size, self.hidden_size, self.n_layers = input_size, hidden_size, n_layers
        self.directions = 2 if bidirectional else 1
        self.output_size = self.directions * hidden_size
        sizes = [input_size] + [self.output_size] * (n_layers - 1)
        self.cells = nn.ModuleList(
            cell(size, hidden_size) for size in sizes for _ in range(self.directions)
        )
        self.dropout = nn.Dropout(dropout)

    def start(self, batch_size: int) -> tuple[State, ...]:
        """The state before anything is read: zeros, for each of ``cells``."""
        like = next(self.parameters())
        return tuple(cell.start(batch_size, like) for cell in self.cells)

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: tuple[State, ...] | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """Read sequences: the top layer's outputs, and the state at the end.

        Args:
            x: (B, T, D), or token ids (B, T) that stand for one-hot vectors.
            lengths: (B,), how many positions of each sequence count. The rest is padding, which is
                never looked at. Without lengths all T count.
            state: where to go on from: what a call with the text before gave. Not for both
                directions.

        Returns:
            Outputs (B, T, H or 2H), zero where there is padding; and for each of ``cells`` its
            state after the last token it read. Both are what each sequence gives by itself.

        Raises:
            ValueError: shapes, lengths or a state that do not fit.
        """
        self._check(x, state)
        layout = make_layout(lengths, x.shape[0], x.shape[1], x.device)
        rows, ends = layout.pack(x), []  # (N, D) or (N,), N tokens in all
        for number in range(0, len(self.cells), self.directions):
            if number:
                rows = self.dropout(rows)
            begin = None if state is None else layout.sort(state[number])
            outputs, end = _run(self.cells[number], rows, layout.sizes, begin)  # (N, H)
            ends.append(layout.unsort(end))
            if self.directions == 2:
                backward, end = _run(self.cells[number + 1], layout.flip(rows), layout.sizes)
                ends.append(layout.unsort(end))
                outputs = torch.cat([outputs, layout.flip(backward)], 1)  # (N, 2H)
            rows = outputs
        return layout.unpack(rows), tuple(ends)

    def _check(self, x: Tensor, state: tuple[State, ...] | None) -> None:
        sizes = (self.input_size,) if x.is_floating_point() else ()
        if x.dim() != 2 + len(sizes) or x.shape[2:] != sizes or x.numel() == 0:
            raise ValueError(
                f"x has the shape {tuple(x.shape)} and the type {x.dtype}; expected vectors (B, T, "
                f"{self.input_size}) or whole-number token ids (B, T), and none of these sizes 0."
            )
        if state is None:
            return
        if self.directions == 2:
            raise ValueError(
                "A network that reads in both directions cannot go on from a state, because its "
                "backward half begins at the end of the text: give it the whole text at once."
            )
        given = [[tuple(part.shape) for part in parts(one)] for one in state]
        wanted = [[(len(x), part.shape[1]) for part in parts(one)] for one in self.start(1)]
        if given != wanted:
            raise ValueError(f"The state holds, by layer, the shapes {given}; expected {wanted}.")


def load_torch_weights(recurrent: Recurrent, source: nn.RNNBase) -> None:
    """Copy the weights of a ``torch.nn`` RNN, GRU or LSTM: then both compute the same.

    ``ElmanCell`` takes ``nn.RNN``, ``ReLUElmanCell`` that with ``nonlinearity="relu"``, ``GRUCell``
    takes ``nn.GRU`` and ``LSTMCell`` ``nn.LSTM``. PyTorch's two biases are added, except b_hh of a
    GRU's candidate.

    Raises:
        ValueError: another kind of cell, or other sizes.
    """
    modes = {  # with the order of the blocks in PyTorch's matrices
        ElmanCell: ("RNN_TANH", "h"),
        ReLUElmanCell: ("RNN_RELU", "h"),
        GRUCell: ("GRU", "rzh"),
        LSTMCell: ("LSTM", "ifCo"),
    }
    first = recurrent.cells[0]
    mode, order = modes.get(type(first), ("", ""))
    ours = (mode, recurrent.input_size, recurrent.hidden_size, recurrent.n_layers)
    theirs = (source.mode, source.input_size, source.hidden_size, source.num_layers)
    if ours != theirs or 1 + source.bidirectional != recurrent.directions or source.proj_size:
        raise ValueError(
            f"{source} does not fit {type(first).__name__}({recurrent.input_size}, "
            f"{recurrent.hidden_size}) with n_layers={recurrent.n_layers} and "
            f"bidirectional={recurrent.directions == 2}: make both of one kind and size."
        )
    parameters = dict(source.named_parameters())
    none = torch.zeros(len(order) * recurrent.hidden_size)  # for biases that are switched off
    for number, cell in enumerate(recurrent.cells):
        layer, backward = divmod(number, recurrent.directions)
        names = [f"{name}_l{layer}" + "_reverse" * backward for name in _TORCH_NAMES]
        blocks = [parameters.get(name, none).unflatten(0, (len(order), -1)) for name in names]
        with torch.no_grad():
            W_x, W_h, b_x, b_h = (
                part[[order.index(gate) for gate in cell.gates]] for part in blocks
            )
            if isinstance(cell, GRUCell):
                cell.h2zr.weight.copy_(W_h[:2].flatten(0, 1))
                cell.h2h.bias.copy_(b_h[2])
                W_h, b_h = W_h[2:], b_h * torch.tensor([[1.0], [1.0], [0.0]]).to(b_h)
            cell.x2h.weight.copy_(W_x.flatten(0, 1))
            cell.x2h.bias.copy_((b_x + b_h).flatten())
            cell.h2h.weight.copy_(W_h.flatten(0, 1))


_TORCH_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _run(
    cell: RecurrentCell, rows: Tensor, sizes: list[int], state: State | None = None
) -> tuple[Tensor, State]:
    """All steps of one cell: rows (N, D) or (N,), as a layout packs them -> h (N, H), final state.

    ``sizes`` says how many sequences are still running at each step. The longest come first, so
    those that end are the last rows of the state; they leave it.
    """
    projected = cell.project(rows)  # (N, G H)
    state = cell.start(sizes[0], projected) if state is None else state
    outputs, ended, running = [], [], sizes[0]
    for now, size in zip(projected.split(sizes), sizes, strict=True):  # (B_t, G H)
        if size < running:
            state, gone = split_rows(state, size, running - size)
            ended.append(gone)
            running = size
        h, state = cell.step(now, state)
        outputs.append(h)
    if ended:
        state = each(lambda *parts: torch.cat(parts), state, *reversed(ended))
    return torch.cat(outputs), state
