"""The checks of token ids, so that whatever reads a text complains alike."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def check_range(tokens: Tensor | Sequence[int], vocab_size: int, complaint: str) -> None:
    """Refuse ids outside 0 .. V-1; where there are none, all is well.

    While PyTorch compiles, and on its device "meta", the ids stay unchecked: to look at the numbers
    would cut the compiled program in two, and there they do not exist.

    Args:
        tokens: whole numbers in any shape.
        vocab_size: V.
        complaint: the sentence for ids out of range; in it {low} and {high} stand for the smallest
            and the largest id, and {last} for V-1.

    Raises:
        ValueError: an id out of range.
    """
    if torch.compiler.is_compiling():
        return
    tokens = torch.as_tensor(tokens)
    if tokens.is_meta or not tokens.numel():
        return
    low, high = (int(end) for end in tokens.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(complaint.format(low=low, high=high, last=vocab_size - 1))


def check_ids(tokens: Tensor, vocab_size: int, meaning: str | None = None) -> None:
    """Refuse what a model of ids 0 .. V, or 0 .. V-1, cannot read.

    Args:
        tokens: what the model was given; expected are whole numbers (B, T), at least one.
        vocab_size: V; the ids 0 .. V-1 are tokens.
        meaning: what the id V stands for, such as "the beginning of a text"; None where it stands
            for nothing and cannot be read.

    Raises:
        ValueError: another shape or type, or an id out of range; see ``check_range``.
    """
    if tokens.dim() != 2 or tokens.is_floating_point() or tokens.numel() == 0:
        raise ValueError(
            f"tokens has the shape {tuple(tokens.shape)} and the type {tokens.dtype}; expected "
            "whole numbers (B, T), at least one."
        )
    also = "" if meaning is None else f", and {vocab_size} for {meaning}"
    check_range(
        tokens,
        vocab_size + (meaning is not None),
        f"The tokens go from {{low}} to {{high}}; expected 0 to {vocab_size - 1}{also}: encode the "
        "text with the model's own tokenizer.",
    )
