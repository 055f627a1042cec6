"""The key-value cache: what attention has made of the tokens so far, so that none is read twice.

A causal model's keys and values of a position do not change when further tokens follow. With them
kept, a new token costs one query per layer against all keys, instead of a pass over the whole text.
Shape letters: B batch, T new tokens, S all tokens so far, G heads of keys and values, K d_head,
L layers, C capacity.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

LEAST_CAPACITY = 64


class KVCache:
    """The keys and values of all layers for ``length`` tokens: a state that stays valid.

    ``extend`` gives a new state and leaves this one as it is, so a search may go on from any state
    as often as it likes. The new state stands in the same memory, behind this one, if those places
    are free; the second state that goes on from here gets a copy. So a loop that samples token by
    token copies nothing, except when the memory is full and doubles.

    What is kept carries no gradients: the cache is for generating, not for training.

    Args:
        batch_size: B, how many texts.

    Attributes:
        length: how many tokens of each text have been read.
    """

    def __init__(self, n_layers: int, batch_size: int) -> None:
        self.n_layers, self.batch_size, self.length = n_layers, batch_size, 0
        self._memory = _Memory(0)

    def extend(self, T: int) -> tuple[KVCache, list[LayerCache]]:
        """The state with room for T more tokens, and what writes them: one for each layer.

        The new state is whole once every layer has appended its keys and values.
        """
        end, memory = self.length + T, self._memory
        if end > memory.capacity or self.length < memory.used:
            memory = self._copy(end)
        memory.used = end
        layers = [LayerCache(memory, layer, self.length) for layer in range(self.n_layers)]
        return self._state(memory, end, self.batch_size), layers

    def rows(self, index: Sequence[int] | Tensor) -> KVCache:
        """The state of some texts of the batch, in the order of ``index``, repeated if it says so.

        Their entries are copied. An index out of range raises IndexError.
        """
        index = torch.arange(self.batch_size)[torch.as_tensor(index, device="cpu")]
        return self._state(self._copy(self.length, index), self.length, len(index))

    def cut(self, length: int) -> KVCache:
        """The state after the first ``length`` tokens, as it was then.

        Nothing is copied before it goes on. A length below 0 or above that of this state raises
        ValueError.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"length is {length}; the cache holds {self.length} tokens.")
        return self._state(self._memory, length, self.batch_size)

    def _copy(self, needed: int, index: Tensor | slice = slice(None)) -> _Memory:
        """The texts of ``index`` in new memory, with room for ``needed`` tokens or more."""
        # Powers of two: a text that grows token by token is seldom copied.
        memory = _Memory(max(LEAST_CAPACITY, 1 << (needed - 1).bit_length()), self.length)
        for layer, pair in enumerate(self._memory.layers if self.length else ()):
            kept = [old[index, :, : self.length] for old in pair]  # (B, G, length, K) each
            for new, old in zip(memory.of_layer(layer, kept[0]), kept, strict=True):
                new[:, :, : self.length] = old
        return memory

    def _state(self, memory: _Memory, length: int, batch_size: int) -> KVCache:
        state = KVCache(self.n_layers, batch_size)
        state._memory, state.length = memory, length
        return state


class LayerCache:
    """One layer's part of a cache that is being extended; handed to that layer's attention.

    Attributes:
        length: how many tokens were there before; the new ones stand at length, length + 1, ...
    """

    def __init__(self, memory: _Memory, layer: int, length: int) -> None:
        self._memory, self._layer, self.length = memory, layer, length

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, G, T, K) of new tokens: those of all, (B, G, S, K) each."""
        start, end = self.length, self.length + keys.shape[2]
        all_keys, all_values = self._memory.of_layer(self._layer, keys)
        all_keys[:, :, start:end] = keys.detach()
        all_values[:, :, start:end] = values.detach()
        return all_keys[:, :, :end], all_values[:, :, :end]


class _Memory:
    """Room for C tokens, of which the first ``used`` are taken."""

    def __init__(self, capacity: int, used: int = 0) -> None:
        self.capacity, self.used = capacity, used
        self.layers: list[tuple[Tensor, Tensor]] = []  # keys and values, (B, G, C, K) each

    def of_layer(self, layer: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values of a layer; at first, made for B texts like these (B, G, any, K)."""
        if layer == len(self.layers):
            shape = (*like.shape[:2], self.capacity, like.shape[3])
            # A tensor made in inference mode could not be written outside of it.
            with torch.inference_mode(False):
                self.layers.append((like.new_empty(shape), like.new_empty(shape)))
        return self.layers[layer]
