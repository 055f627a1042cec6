"""The order in which a recurrent layer reads a batch: time by time, and no padding.

Every step reads the rows of the sequences that are still running, the longest first, so those that
end are the last rows of the state and leave it.

Torch's ``PackedSequence`` keeps the same order, but with its packing and unpacking a forward and
backward pass over padded batches took 17 to 24 % longer, and twice as long at worst (geometric
means over Elman, GRU and LSTM cells, 32 to 128 sequences of up to 10, 20 or 60 symbols and H = 32,
64 or 128; one thread of a CPU, runs alternating). It also leaves the order of equal lengths open,
and with it the last bits of gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

State = Any  # of one cell: h (B, H), or for an LSTM the pair (h, C)


class Equal:
    """The order in which the steps read a batch of equal lengths: time by time."""

    def __init__(self, batch_size: int, length: int) -> None:
        self.sizes, self.shape = [batch_size] * length, (length, batch_size)

    def pack(self, x: Tensor) -> Tensor:
        """(B, T, ...) -> rows (N, ...)."""
        return x.transpose(0, 1).flatten(0, 1)

    def unpack(self, rows: Tensor) -> Tensor:
        """Rows (N, H) -> (B, T, H)."""
        return rows.unflatten(0, self.shape).transpose(0, 1)

    def flip(self, rows: Tensor) -> Tensor:
        """Every sequence from its last token to its first."""
        return rows.unflatten(0, self.shape).flip(0).flatten(0, 1)

    def sort(self, state: State) -> State:
        """A state in the batch's order -> in the order of the rows; ``unsort`` undoes it."""
        return state

    unsort = sort


class Ragged:
    """The same for unequal lengths: time by time, at each the longest sequence first.

    Padding has no row: it costs nothing and leaks into nothing.
    """

    def __init__(self, lengths: Tensor, length: int, device: torch.device) -> None:
        lengths, order = lengths.cpu().sort(descending=True, stable=True)
        running = torch.arange(length)[:, None] < lengths  # (T, B)
        counts = running.sum(1)  # (T,)
        first = counts.cumsum(0) - counts  # (T,), the row in which each step begins
        time, rank = running.nonzero(as_tuple=True)  # (N,)
        self.sizes, self.shape = [n for n in counts.tolist() if n], (len(lengths), length)
        self.order, self.back = order.to(device), order.argsort().to(device)
        self.places = (order[rank] * length + time).to(device)
        self.flipped = (first[lengths[rank] - 1 - time] + rank).to(device)

    def pack(self, x: Tensor) -> Tensor:
        return x.flatten(0, 1).index_select(0, self.places)

    def unpack(self, rows: Tensor) -> Tensor:
        padded = rows.new_zeros(self.shape[0] * self.shape[1], rows.shape[1])
        return padded.index_copy(0, self.places, rows).unflatten(0, self.shape)

    def flip(self, rows: Tensor) -> Tensor:
        return rows.index_select(0, self.flipped)

    def sort(self, state: State) -> State:
        return each(lambda part: part.index_select(0, self.order), state)

    def unsort(self, state: State) -> State:
        return each(lambda part: part.index_select(0, self.back), state)


def make_layout(
    lengths: Tensor | None, batch_size: int, length: int, device: torch.device
) -> Equal | Ragged:
    """The layout of a batch (B, T) with these lengths (B,), or with none.

    Raises:
        ValueError: lengths that do not fit the batch.
    """
    if lengths is None:
        return Equal(batch_size, length)
    lengths = torch.as_tensor(lengths)
    if lengths.shape != (batch_size,) or lengths.is_floating_point():
        raise ValueError(
            f"lengths has the shape {tuple(lengths.shape)} and the type {lengths.dtype}; expected "
            f"one whole number for each of the {batch_size} sequences."
        )
    shortest, longest = int(lengths.min()), int(lengths.max())
    if not 1 <= shortest <= longest <= length:
        raise ValueError(
            f"The lengths go from {shortest} to {longest}; expected 1 to {length}, because every "
            f"sequence needs a token and x holds {length} positions."
        )
    return Equal(batch_size, length) if shortest == length else Ragged(lengths, length, device)


def row_lengths(tokens: Tensor, pad: int, name: str) -> Tensor:
    """How many tokens each row of ``tokens`` (B, T) holds before its padding: (B,).

    Raises:
        ValueError: padding before a token, or a row without a token; ``name`` is that of the rows.
    """
    there = tokens != pad
    lengths = there.sum(1)
    places = torch.arange(tokens.shape[1], device=tokens.device)
    wrong = (there != (places < lengths[:, None])).any(1) | (lengths == 0)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        raise ValueError(
            f"Row {row} of the {name} is {tokens[row].tolist()}; expected one token or more and "
            f"then the padding {pad} up to the end, if any."
        )
    return lengths


def each(function: Callable[..., Tensor], *states: State) -> State:
    """A function of tensors, applied to states: once, or to each part of a pair."""
    if isinstance(states[0], tuple):
        return tuple(function(*parts) for parts in zip(*states, strict=True))
    return function(*states)


def split_rows(state: State, *sizes: int) -> tuple[State, ...]:
    """A state's first rows, and the rest."""
    if isinstance(state, tuple):
        return tuple(zip(*(part.split(sizes) for part in state), strict=True))
    return state.split(sizes)
