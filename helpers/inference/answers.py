"""Answers that are pieces of a text: which span to choose, and how good it is.

Exact match is that of SQuAD: Rajpurkar et al. (2016), "SQuAD: 100,000+ questions for machine
comprehension of text", section 6.1.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

import regex
import torch
from torch import Tensor


def best_span(
    logits: Tensor, allowed: Tensor | None = None, max_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """First and last position, (B,) each, of the spans with the largest sums of two logits.

    Of all spans i <= j the one with the largest logits[0, i] + logits[1, j]; to take the two
    largest logits by themselves may give an end before its beginning. Of equals the first i.

    Args:
        logits: (B, 2, T), as ``SpanReader`` gives them.
        allowed: (B, T) bool, where an answer may stand, such as in the story and not in the
            question; None for everywhere.
        max_length: the most tokens of an answer; None for any number.
    """
    B, _, T = logits.shape
    ends = torch.ones(T, T, dtype=torch.bool, device=logits.device).triu()
    if max_length is not None:
        ends = ends.tril(max_length - 1)
    possible = ends.expand(B, T, T)
    if allowed is not None:
        possible = possible & allowed[:, :, None] & allowed[:, None, :]
    scores = (logits[:, 0, :, None] + logits[:, 1, None, :]).masked_fill(~possible, -torch.inf)
    best = scores.flatten(1).argmax(1)
    return best // T, best % T


def normalized(answer: str) -> str:
    """An answer as SQuAD compares it: lower case, no punctuation, no articles, single spaces."""
    kept = "".join(sign for sign in answer.lower() if sign not in string.punctuation)
    # To ``regex`` an "a" with a combining mark is one letter, and no article.
    return " ".join(regex.sub(r"\b(a|an|the)\b", " ", kept).split())


def exact_match(answer: str, truths: Sequence[str]) -> float:
    """1 where the answer is one of the truths after ``normalized``, else 0."""
    return float(any(normalized(answer) == normalized(truth) for truth in truths))
