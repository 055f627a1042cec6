"""Training batches from one long text of token ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor


def windows(
    tokens: Tensor, batch_size: int, length: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches of (inputs, targets), both (B, T): the targets are the inputs one token on.

    Windows are drawn without replacement: each pass cuts the text at a new random offset into
    windows of T tokens and deals them out in random order, so every token is seen about equally
    often.

    Raises:
        ValueError: the text is too short to give one batch.
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
    count = _windows_of_a_pass(len(tokens), batch_size, length)
    while True:
        offset = int(torch.randint(length, (1,), generator=generator))
        order = torch.randperm(count, generator=generator)
        for i in range(0, count - batch_size + 1, batch_size):
            yield _cut(tokens, offset + order[i : i + batch_size] * length, length)


class TextWindows:
    """Windows as ``windows`` deals them out, but any batch may be asked for, in any order.

    A batch depends on the seed and its number alone, so training that was interrupted goes on with
    the batches that it would have seen, and several processes can share every batch.

    Args:
        batch_size: B, windows of a batch.
        length: T, tokens of a window.
        seed: any whole number; another seed, another order.

    Raises:
        ValueError: a text too short to give one batch.
    """

    def __init__(self, tokens: Tensor, batch_size: int, length: int, seed: int = 0) -> None:
        self.tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
        self.batch_size, self.length, self.seed = batch_size, length, seed
        self._count = _windows_of_a_pass(len(self.tokens), batch_size, length)
        self._dealt: tuple[int, Tensor] = (-1, torch.empty(0))  # a pass and its windows' places

    @property
    def batches_per_pass(self) -> int:
        """Batches until a window comes again; less than a batch is left out of each pass."""
        return self._count // self.batch_size

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """The batch with the number 0, 1, 2, ...: (inputs, targets), (B, T) each."""
        number, place = divmod(step, self.batches_per_pass)
        if self._dealt[0] != number:
            self._dealt = (number, self._deal(number))
        first = place * self.batch_size
        return _cut(self.tokens, self._dealt[1][first : first + self.batch_size], self.length)

    def _deal(self, number: int) -> Tensor:
        """Where the windows of one pass begin, in the order in which they are dealt out."""
        generator = seeded(self.seed, number)
        offset = int(torch.randint(self.length, (1,), generator=generator))
        return offset + torch.randperm(self._count, generator=generator) * self.length


def _windows_of_a_pass(tokens: int, batch_size: int, length: int) -> int:
    """How many windows of T tokens a text holds, whatever the offset of the first."""
    count = (tokens - length) // length
    if count < batch_size:
        raise ValueError(
            f"A batch needs {batch_size} windows of {length} tokens; this text of {tokens} "
            f"tokens gives {max(count, 0)}. Use a longer text, a smaller batch or shorter windows."
        )
    return count


def _cut(tokens: Tensor, starts: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Inputs and targets (B, T) of the windows that begin at ``starts`` (B,)."""
    block = tokens[starts[:, None] + torch.arange(length + 1)]  # (B, T+1)
    return block[:, :-1], block[:, 1:]


def seeded(*numbers: int) -> torch.Generator:
    """A generator for a seed, a step and what else counts.

    By a hash, since generators with neighbouring seeds need not be independent.
    """
    digest = hashlib.sha256("/".join(map(str, numbers)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
