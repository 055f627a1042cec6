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
        words: (..., T) bool, the rows that are words to be linked; None means all.

    Returns:
        (..., T, S) bool. Ties go to the earlier source word.
    """
    links = torch.zeros_like(weights, dtype=torch.bool)
    links.scatter_(-1, weights.argmax(-1, keepdim=True), True)
    if words is None:
        return links
    return links & words[..., None]


def alignment_error_rate(found: Tensor, sure: Tensor) -> float:
    """AER = 1 - 2 |A & S| / (|A| + |S|) of found links A and sure ones S: one minus the F1 score.

    The source has possible links beside the sure ones; here there are none. All sentences of a
    batch are counted together. Och and Ney (2003), "A systematic comparison of various statistical
    alignment models", section 5.

    Raises:
        ValueError: neither a found nor a sure link.
    """
    links = int(found.sum() + sure.sum())
    if not links:
        raise ValueError("There is neither a found nor a sure link: there is nothing to measure.")
    return 1 - 2 * int((found & sure).sum()) / links
