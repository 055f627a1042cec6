"""The key-value cache: what attention has made of the tokens so far, so that none is read twice.

A causal model's keys and values of a position do not change when further tokens follow. With them
kept, a new token costs one query per layer against all keys, instead of a pass over the whole text.
Shape letters: B batch, T new tokens, S all tokens so far, G heads of keys and values, K d_head,
L layers, C capacity.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import torch
from torch import Tensor

_LEAST_CAPACITY = 64


class KVCache:
    """The keys and values of all layers for ``length`` tokens: a state that stays valid.

    ``extend`` gives a new state and leaves this one as it is, so a search may go on from any state
    as often as it likes. States that grew from one another share their memory: a longer one is
    written behind the shorter one, in place. Only where another living state already stands on
    those places are the first ``length`` entries copied before. So a loop that samples token by
    token copies nothing, except when the memory is full and doubles.

    What is kept carries no gradients: the cache is for generating, not for training.

    Args:
        n_layers: L.
        batch_size: B, how many texts.

    Attributes:
        length: how many tokens of each text have been read.
    """

    def __init__(self, n_layers: int, batch_size: int) -> None:
        if n_layers < 1 or batch_size < 1:
            raise ValueError(
                f"A cache was asked for n_layers = {n_layers} and batch_size = {batch_size}; "
                "expected 1 or more of each."
            )
        self.n_layers, self.batch_size, self.length = n_layers, batch_size, 0
        self._memory = _Memory(n_layers, 0)

    def extend(self, T: int) -> tuple[KVCache, list[LayerCache]]:
        """The state with room for T more tokens, and what writes them: one for each layer.

        The new state is whole once every layer has appended its keys and values.
        """
        end, memory = self.length + T, self._memory
        if end > memory.capacity or memory.used() > self.length:
            memory = memory.copied(self.length, end)
        layers = [LayerCache(memory, layer, self.length) for layer in range(self.n_layers)]
        return self._state(memory, end, self.batch_size), layers

    def rows(self, index: Sequence[int] | Tensor) -> KVCache:
        """The state of some texts of the batch, in the order of ``index``, repeated if it says so.

        Their entries are copied. An index out of range raises IndexError.
        """
        index = torch.arange(self.batch_size)[torch.as_tensor(index, device="cpu")]
        memory = self._memory.copied(self.length, self.length + 1, index)
        return self._state(memory, self.length, len(index))

    def cut(self, length: int) -> KVCache:
        """The state after the first ``length`` tokens, as it was then; nothing is copied.

        Raises:
            ValueError: a length below 0 or above that of this state.
        """
        if not 0 <= length <= self.length:
            raise ValueError(
                f"The cache was to be cut to {length} tokens; expected 0 to {self.length}, which "
                "it holds."
            )
        return self._state(self._memory, length, self.batch_size)

    def _state(self, memory: _Memory, length: int, batch_size: int) -> KVCache:
        state = KVCache(self.n_layers, batch_size)
        state._memory, state.length = memory, length
        memory.states.add(state)
        return state


class LayerCache:
    """One layer's part of a cache that is being extended; handed to that layer's attention.

    Attributes:
        length: how many tokens were there before; the new ones stand at length, length + 1, ...
    """

    __slots__ = ("_layer", "_memory", "length")

    def __init__(self, memory: _Memory, layer: int, length: int) -> None:
        self._memory, self._layer, self.length = memory, layer, length

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep keys and values (B, G, T, K) of new tokens: those of all, (B, G, S, K) each."""
        start, end = self.length, self.length + keys.shape[2]
        if not self._memory.layers:
            self._memory.open(keys)
        all_keys, all_values = self._memory.layers[self._layer]
        all_keys[:, :, start:end] = keys.detach()
        all_values[:, :, start:end] = values.detach()
        return all_keys[:, :, :end], all_values[:, :, :end]


class _Memory:
    """A tensor with room for C tokens, and the living states that look at it.

    The states are known weakly: one that nobody holds any more gives its places free.
    """

    def __init__(self, n_layers: int, capacity: int) -> None:
        self.n_layers, self.capacity = n_layers, capacity
        self.layers: list[tuple[Tensor, Tensor]] = []  # keys and values, (B, G, C, K) each
        self.states: weakref.WeakSet[KVCache] = weakref.WeakSet()

    def used(self) -> int:
        """How many places are taken by the longest state that lives."""
        return max((state.length for state in self.states), default=0)

    def open(self, like: Tensor) -> None:
        """Allocate; B, G, K, the type and the device are those of the first keys (B, G, T, K)."""
        B, G, _, K = like.shape
        # A tensor made in inference mode could not be written outside of it.
        with torch.inference_mode(False):
            both = like.new_empty(self.n_layers, 2, B, G, self.capacity, K)
        self._both, self.layers = both, [tuple(pair.unbind()) for pair in both.unbind()]

    def copied(self, length: int, needed: int, index: Tensor | None = None) -> _Memory:
        """New memory for ``needed`` tokens or more, with the first ``length`` of this one.

        ``index`` says of which texts; None means all.
        """
        # Powers of two: a text that grows token by token is seldom copied.
        new = _Memory(self.n_layers, max(_LEAST_CAPACITY, 1 << (needed - 1).bit_length()))
        if length:
            old = self._both[..., :length, :]  # (L, 2, B, G, length, K)
            old = old if index is None else old[:, :, index]
            new.open(old[0, 0])
            with torch.no_grad():
                new._both[..., :length, :] = old
        return new
