"""The weights of ``torch.nn``'s recurrent layers, copied into ours."""

from __future__ import annotations

import torch
from torch import nn

from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import ElmanCell, GRUCell, LSTMCell, ReLUElmanCell

_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def load_torch_weights(recurrent: Recurrent, source: nn.RNNBase) -> None:
    """Copy the weights of a ``torch.nn`` RNN, GRU or LSTM: then both compute the same.

    ``ElmanCell`` takes ``nn.RNN``, ``ReLUElmanCell`` that with ``nonlinearity="relu"``, ``GRUCell``
    takes ``nn.GRU`` and ``LSTMCell`` ``nn.LSTM``. PyTorch's two biases are added, except b_hh of a
    GRU's candidate.
    """
    # The order of the blocks in PyTorch's matrices.
    orders = {ElmanCell: "h", ReLUElmanCell: "h", GRUCell: "rzh", LSTMCell: "ifCo"}
    order = orders[type(recurrent.cells[0])]
    parameters = dict(source.named_parameters())
    none = torch.zeros(len(order) * recurrent.hidden_size)  # for biases that are switched off
    for number, cell in enumerate(recurrent.cells):
        layer, backward = divmod(number, recurrent.directions)
        names = [f"{name}_l{layer}" + "_reverse" * backward for name in _NAMES]
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
