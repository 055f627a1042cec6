"""How well attention weights agree with a known alignment of words.

An alignment is a bool tensor (..., T, S), True where target word t is a translation of source word
i; a sentence may stand alone or in a batch. Padding, and marks such as the end of a sentence, are
left out by rows and columns that are False throughout.
"""

from __future__ import annotations

import torch
from torch import Tensor


def hard_alignment(weights: Tensor, words: Tensor | None = None) -> Tensor:
    """Link every target word to the source word of its largest weight.

    So each target word gets one link, though in truth it may have none or several.

    Args:
        weights: attention weights (..., T, S).
        words: (..., T) bool, the rows that are words to be linked; None means all.

    Returns:
        (..., T, S) bool. Ties go to the earlier source word.

    Raises:
        ValueError: shapes that do not fit.
    """
    links = torch.zeros_like(weights, dtype=torch.bool)
    links.scatter_(-1, weights.argmax(-1, keepdim=True), True)
    if words is None:
        return links
    if words.shape != weights.shape[:-1] or words.dtype != torch.bool:
        raise ValueError(
            f"words has the shape {tuple(words.shape)} and the type {words.dtype}; expected bool "
            f"{tuple(weights.shape[:-1])}, one for each row of the weights."
        )
    return links & words[..., None]


def alignment_error_rate(found: Tensor, sure: Tensor, possible: Tensor | None = None) -> float:
    """AER = 1 - (|A & S| + |A & P|) / (|A| + |S|) of found links A, sure S and possible P.

    0 is best: all sure links found, and none that is not possible. With S = P it is one minus the
    F1 score. All sentences of a batch are counted together. Och and Ney (2003), "A systematic
    comparison of various statistical alignment models", section 5.

    Args:
        found: the links to be judged (..., T, S) bool.
        sure: links that must be there (..., T, S) bool.
        possible: links that may be there (..., T, S) bool; the sure ones count as possible, and
            None means that there are no others.

    Raises:
        ValueError: shapes that do not fit, or neither a found nor a sure link.
    """
    _check(found, sure.shape, "found")
    _check(sure, found.shape, "sure")
    possible = sure if possible is None else possible
    _check(possible, found.shape, "possible")
    links = int(found.sum() + sure.sum())
    if not links:
        raise ValueError("There is neither a found nor a sure link: there is nothing to measure.")
    right = int((found & sure).sum() + (found & (sure | possible)).sum())
    return 1 - right / links


def _check(links: Tensor, shape: torch.Size, name: str) -> None:
    if links.dtype != torch.bool or links.shape != shape:
        raise ValueError(
            f"{name} has the shape {tuple(links.shape)} and the type {links.dtype}; expected bool "
            f"{tuple(shape)}, True where a target word and a source word are aligned."
        )
