"""Training batches from one long text of token ids."""

from __future__ import annotations

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
    count = (len(tokens) - length) // length  # windows a pass, whatever the offset
    if count < batch_size:
        raise ValueError(
            f"A batch needs {batch_size} windows of {length} tokens; this text of {len(tokens)} "
            f"tokens gives {max(count, 0)}. Use a longer text, a smaller batch or shorter windows."
        )
    while True:
        offset = int(torch.randint(length, (1,), generator=generator))
        order = torch.randperm(count, generator=generator)
        for i in range(0, count - batch_size + 1, batch_size):
            starts = offset + order[i : i + batch_size, None] * length  # (B, 1)
            place = starts + torch.arange(length + 1)  # (B, T+1)
            block = tokens[place]
            yield block[:, :-1], block[:, 1:]
