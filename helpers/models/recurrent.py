"""The layers that run recurrent cells over whole sequences, in one direction or in both."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.models.recurrent_cells import RecurrentCell
from helpers.models.sequence_layout import State, each, make_layout, split_rows


class Recurrent(nn.Module):
    """A stack of recurrent layers that read in one direction or in both.

    Args:
        cell: the kind of cell, such as ``LSTMCell``.
        input_size: D, the length of x_t; where token ids are read, how many there are.
        hidden_size: H, the length of h_t.
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
            ValueError: lengths that do not fit, or a state for both directions.
        """
        if state is not None and self.directions == 2:
            raise ValueError(
                "A network that reads in both directions cannot go on from a state, because its "
                "backward half begins at the end of the text: give it the whole text at once."
            )
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
