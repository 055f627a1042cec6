"""Drawing text from any predictor."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.contracts import Predictor


def sample(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Sequence[int] | Tensor = (),
    temperature: float = 1.0,
    batch_size: int = 1,
) -> Tensor:
    """Draw texts token by token, each from the distribution given all before it.

    Args:
        predictor: an n-gram, a known source, a neural model's predictor.
        length: tokens to draw after the prompt.
        generator: where the randomness comes from; the same seed gives the same text.
        prompt: (P,) tokens that every text begins with.
        temperature: p is made proportional to p ** (1 / temperature); 0 takes the likeliest token
            (ties go to the lower id).
        batch_size: B, the number of texts.

    Returns:
        (B, P + length) tokens.

    Raises:
        ValueError: a negative length or temperature, or a prompt outside the vocabulary.
    """
    if length < 0 or temperature < 0:
        raise ValueError(f"length ({length}) and temperature ({temperature}) cannot be negative.")
    prompt = torch.as_tensor(prompt, dtype=torch.long).flatten()
    if len(prompt) and not 0 <= int(prompt.min()) <= int(prompt.max()) < predictor.vocab_size:
        raise ValueError(f"The prompt holds ids outside 0 .. {predictor.vocab_size - 1}.")
    out = torch.empty(batch_size, len(prompt) + length, dtype=torch.long)
    out[:, : len(prompt)] = prompt
    state, read = predictor.start(batch_size), torch.full((batch_size,), predictor.bos)
    for t in range(len(prompt) + length):
        log_p, state = predictor.step(read, state)  # (B, V)
        if t >= len(prompt):
            if temperature == 0:
                out[:, t] = log_p.argmax(-1)
            else:
                p = torch.softmax(log_p / temperature, -1)
                out[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
        read = out[:, t]
    return out
