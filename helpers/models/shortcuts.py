"""Rules that sort sequences of parentheses without knowing the language.

What such a rule scores is what a network may reach without having learned anything more: show it
beside every network. A rule takes tokens (N, L) and the number of colours, and returns (N,) bool,
True where it says "balanced".
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.data.parentheses import COLOURS, depths


def colour_counts_match(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """Each colour opens as often as it closes."""
    good = torch.ones(len(tokens), dtype=torch.bool)
    for colour in range(colours):
        closing = 2 * colours - 1 - colour
        good &= (tokens == colour).sum(1) == (tokens == closing).sum(1)
    return good


def colours_ignored(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """The shape is balanced."""
    height = depths(tokens, colours)
    return (height.amin(1) >= 0) & (height[:, -1] == 0)


def adjacent_pairs(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """First and last fit, and a closing right after an opening has its colour."""
    left, right = tokens[:, :-1], tokens[:, 1:]
    opens = left < colours
    closes = (right >= colours) & (right < 2 * colours)
    foreign = opens & closes & (left + right != 2 * colours - 1)
    return first_and_last(tokens, colours) & ~foreign.any(1)


def first_and_last(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """The first symbol opens and the last one closes."""
    last = (tokens < 2 * colours).sum(1, keepdim=True) - 1
    return (tokens[:, 0] < colours) & (tokens.gather(1, last)[:, 0] >= colours)


def pairs_within(tokens: Tensor, width: int, colours: int = COLOURS) -> Tensor:
    """No pair within ``width`` symbols, its two ends included, opens and closes in two colours.

    All that a window of this width can find wrong with a sequence whose shape is balanced; with
    the longest sequence as width it is the whole language. Unlike ``SHORTCUTS`` it scores on an
    honest set too, the higher the wider it is, from a width of 4 on.
    """
    n, length = tokens.shape
    rows, height = torch.arange(n), torch.zeros(n, dtype=torch.long)
    places = torch.zeros(length + 1, n, dtype=torch.long)  # where each open one stands
    good = torch.ones(n, dtype=torch.bool)
    for t, token in enumerate(tokens.T.contiguous()):
        opens, closes = token < colours, (token >= colours) & (token < 2 * colours)
        place = places[(height - 1).clamp(min=0), rows]
        foreign = closes & (height > 0) & (tokens[rows, place] + token != 2 * colours - 1)
        good &= ~(foreign & (t - place < width))
        places[height, rows] = t
        height = (height + opens.long() - closes.long()).clamp(min=0)
    return good


SHORTCUTS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "colour counts match": colour_counts_match,
    "colours ignored": colours_ignored,
    "adjacent pairs": adjacent_pairs,
    "first and last": first_and_last,
}
