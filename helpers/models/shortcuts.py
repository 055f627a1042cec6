"""Rules that sort sequences of parentheses without knowing the language, and fitted ones.

What such a rule scores is what a network may reach without having learned anything more: show it
beside every network. A rule takes tokens (N, L) and the number of colours, and returns (N,) bool,
True where it says "balanced".
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.data.parentheses import COLOURS, depths
from helpers.data.parentheses_sets import LabelledSequences


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


def even_length(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """The length is even."""
    return (tokens < 2 * colours).sum(1) % 2 == 0


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
    "parity of the length": even_length,
}


def length_accuracy(train: LabelledSequences, test: LabelledSequences) -> float:
    """Accuracy on ``test`` of "balanced from length k on", or below k, as is best on ``train``."""
    lengths, labels = train.lengths, train.labels
    n = int(max(lengths.max(), test.lengths.max())) + 2
    positive = torch.bincount(lengths[labels == 1], minlength=n)
    negative = torch.bincount(lengths[labels == 0], minlength=n)
    # Right answers of "balanced from k on", for k = 0 .. n - 1
    right = negative.cumsum(0) - negative + positive.sum() - (positive.cumsum(0) - positive)
    wrong = len(train) - right
    upwards = bool(right.max() >= wrong.max())
    k = int(right.argmax() if upwards else wrong.argmax())
    return float((((test.lengths >= k) == upwards) == (test.labels == 1)).double().mean())


def bigram_accuracy(train: LabelledSequences, test: LabelledSequences) -> float:
    """Accuracy on ``test`` of a logistic regression on counts, fitted to ``train``.

    It sees how often each pair of neighbouring symbols occurs, the length and the depth. Fitted by
    Newton's method with a small quadratic penalty on the weights; nothing is drawn at random.
    """
    x, y, ridge = _counts(train), train.labels.double(), 1e-3
    mean, spread = x.mean(0), x.std(0).clamp(min=1e-9)
    constant = spread <= 1e-9

    def features(counts: Tensor) -> Tensor:
        scaled = ((counts - mean) / spread).masked_fill(constant, 0)
        return torch.cat([scaled, torch.ones(len(counts), 1, dtype=torch.float64)], 1)

    x, weights = features(x), torch.zeros(x.shape[1] + 1, dtype=torch.float64)
    penalty = ridge * torch.eye(len(weights), dtype=torch.float64)
    for _ in range(10):
        p = torch.sigmoid(x @ weights)
        gradient = x.T @ (p - y) / len(y) + ridge * weights
        curvature = (x * (p * (1 - p))[:, None]).T @ x / len(y) + penalty
        weights = weights - torch.linalg.solve(curvature, gradient)
    return float((((features(_counts(test)) @ weights) > 0) == (test.labels == 1)).double().mean())


def _counts(labelled: LabelledSequences) -> Tensor:
    """(N, (2c)^2 + 2): pairs of neighbours, length, depth."""
    tokens, size = labelled.tokens, 2 * labelled.colours
    counts = torch.zeros(len(tokens), (size + 1) ** 2, dtype=torch.float64)
    pairs = tokens[:, :-1] * (size + 1) + tokens[:, 1:]
    counts.scatter_add_(1, pairs, torch.ones_like(pairs, dtype=torch.float64))
    counts = counts.view(-1, size + 1, size + 1)[:, :size, :size].flatten(1)
    depth = depths(tokens, labelled.colours).amax(1)
    return torch.cat([counts, labelled.lengths[:, None], depth[:, None]], 1)
