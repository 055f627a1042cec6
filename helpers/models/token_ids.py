"""One check of the token ids that a model is given, so that every model complains alike."""

from __future__ import annotations

import torch
from torch import Tensor


def check_ids(tokens: Tensor, vocab_size: int, meaning: str | None = None) -> None:
    """Refuse what a model of ids 0 .. V, or 0 .. V-1, cannot read.

    While PyTorch compiles, the range stays unchecked: to look at the numbers would cut the
    compiled program in two. So it does on the device "meta", which has no numbers.

    Args:
        tokens: what the model was given; expected are whole numbers (B, T), at least one.
        vocab_size: V; the ids 0 .. V-1 are tokens.
        meaning: what the id V stands for, such as "the beginning of a text"; None where it stands
            for nothing and cannot be read.

    Raises:
        ValueError: another shape or type, or an id out of range.
    """
    if tokens.dim() != 2 or tokens.is_floating_point() or tokens.numel() == 0:
        raise ValueError(
            f"tokens has the shape {tuple(tokens.shape)} and the type {tokens.dtype}; expected "
            "whole numbers (B, T), at least one."
        )
    if torch.compiler.is_compiling() or tokens.is_meta:
        return
    low, high = (int(end) for end in tokens.aminmax())
    if low < 0 or high > vocab_size - (meaning is None):
        also = "" if meaning is None else f", and {vocab_size} for {meaning}"
        raise ValueError(
            f"The tokens go from {low} to {high}; expected 0 to {vocab_size - 1}{also}: encode the "
            "text with the model's own tokenizer."
        )
