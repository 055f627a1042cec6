"""What a text begins with and what ends it: prompts and stop tokens, checked before any step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from helpers.contracts import Predictor
from helpers.token_ids import check_range

Tokens: TypeAlias = Sequence[int] | Tensor


def prompt_rows(
    prompt: Tokens | Sequence[Tokens], batch_size: int, predictor: Predictor
) -> list[Tensor]:
    """The prompt of each text, (P,) each.

    Raises:
        ValueError: a prompt that is text or holds an id outside the vocabulary, or another number
            of prompts than texts.
    """
    if isinstance(prompt, str) or (is_list_of_prompts(prompt) and isinstance(prompt[0], str)):
        raise ValueError(
            "The prompt is text, and token ids were expected: encode it with the tokenizer that "
            "the predictor was made with."
        )
    if is_list_of_prompts(prompt) or (isinstance(prompt, Tensor) and prompt.dim() == 2):
        rows = [torch.as_tensor(row, dtype=torch.long).flatten() for row in prompt]
    else:
        rows = [torch.as_tensor(prompt, dtype=torch.long).flatten()]
    if batch_size < 1 or (len(rows) > 1 and batch_size not in (1, len(rows))):
        raise ValueError(
            f"batch_size is {batch_size}, and {len(rows)} prompt(s) were given; expected one text "
            "or more, and one prompt for all or one for each."
        )
    for row in rows:
        check_range(row, predictor.vocab_size, "The prompt holds ids outside 0 .. {last}.")
    return rows * batch_size if len(rows) == 1 else rows


def is_list_of_prompts(prompt: Tokens | Sequence[Tokens]) -> bool:
    """Whether each text has a prompt of its own; not so for a tensor, even of many rows."""
    if isinstance(prompt, Tensor) or not len(prompt):
        return False
    return isinstance(prompt[0], str) or torch.as_tensor(prompt[0]).dim() == 1


def stop_tokens(stop: int | Sequence[int] | None, predictor: Predictor) -> Tensor:
    """The tokens that end a text, (n,), checked as ``check_stop`` does."""
    tokens = torch.as_tensor([] if stop is None else stop, dtype=torch.long).flatten()
    for token in tokens.tolist():
        check_stop(predictor, token)
    return tokens


def check_stop(predictor: Predictor, stop: int) -> None:
    """Refuse a token that would never be drawn.

    Raises:
        ValueError: ``stop`` outside the vocabulary.
    """
    if not 0 <= stop < predictor.vocab_size:
        raise ValueError(
            f"stop is {stop}; expected a token that can be predicted, 0 to "
            f"{predictor.vocab_size - 1}."
        )
