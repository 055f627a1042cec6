"""The sets of the usual practical on coloured parentheses: its training set and two test sets.

In all three something easier than the language tells the classes apart: see
``helpers.models.shortcuts``.

Source: M. Lelarge, Deep Learning Do It Yourself (dataflowr), module 11, RNN practicals, whose
networks are those of the lecture.
"""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.data.parentheses import COLOURS, are_balanced, sample_balanced
from helpers.data.parentheses_negatives import KINDS, below_zero
from helpers.data.parentheses_sets import LabelledSequences, put_together


def lecture_set(
    n: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    min_length: int = 4,
    max_length: int = 20,
) -> LabelledSequences:
    """The training set of the usual practical: by the toss of a coin balanced, or a random string.

    All even lengths from ``min_length`` to ``max_length`` are equally likely, all shapes of a
    length, all colours, and all strings. A random string that happens to be balanced counts as
    balanced. (The practical's own labelling lets an opening close a closing, and so calls a few
    more of them balanced.)
    """
    coins, halves = _draws(n, generator, min_length, max_length)
    parts = []
    for half in halves.unique().tolist():
        coin = coins[halves == half]
        strings = torch.randint(2 * colours, (len(coin), 2 * half), generator=generator)
        balanced = sample_balanced(len(coin), 2 * half, generator, colours)
        tokens = torch.where(coin[:, None], balanced, strings)
        kinds = torch.where(are_balanced(tokens, colours), 0, KINDS.index("random_strings"))
        parts.append((tokens, kinds))
    return put_together(parts, generator, colours)


def lecture_test_set(
    n: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    min_length: int = 4,
    max_length: int = 20,
) -> LabelledSequences:
    """The first test set of the usual practical, whose classes differ in their lengths.

    Balanced sequences all have ``max_length``, the others any even length. Those begin with an
    opening, open as often as they close, and fall below height 0, but never below -2.
    """
    coins, halves = _draws(n, generator, min_length, max_length)
    parts = []
    for half in halves[~coins].unique().tolist():
        tokens = below_zero(int(((halves == half) & ~coins).sum()), 2 * half, generator, colours)
        parts.append((tokens, torch.full((len(tokens),), KINDS.index("below_zero"))))
    balanced = sample_balanced(int(coins.sum()), max_length, generator, colours)
    parts.append((balanced, torch.zeros(len(balanced), dtype=torch.long)))
    return put_together(parts, generator, colours)


def lecture_hard_set(
    n: int, generator: torch.Generator, colours: int = COLOURS, length: int = 20
) -> LabelledSequences:
    """The second test set of the usual practical, of sequences twice as long as in training.

    Two balanced sequences in a row, of ``length`` each; or one that falls below height 0, a closing
    too many, and a balanced one: an odd length.
    """
    coins, _ = _draws(n, generator, length, length)
    good, bad = int(coins.sum()), int((~coins).sum())
    second = sample_balanced(n, length, generator, colours)
    first = sample_balanced(good, length, generator, colours)
    wrong = below_zero(bad, length, generator, colours)
    closing = 2 * colours - 1 - second[good:, :1]
    parts = [
        (torch.cat([first, second[:good]], 1), torch.zeros(good, dtype=torch.long)),
        (
            torch.cat([wrong, closing, second[good:]], 1),
            torch.full((bad,), KINDS.index("below_zero")),
        ),
    ]
    return put_together(parts, generator, colours)


def _draws(
    n: int, generator: torch.Generator, min_length: int, max_length: int
) -> tuple[Tensor, Tensor]:
    """For each of n sequences a coin, True for balanced, and half a length."""
    if n < 1 or not 4 <= min_length <= max_length or min_length % 2 or max_length % 2:
        raise ValueError(
            f"n is {n} and the lengths go from {min_length} to {max_length}; expected one sequence "
            "or more and even lengths, 4 or more."
        )
    coins = torch.rand(n, generator=generator) < 0.5
    return coins, torch.randint(min_length // 2, max_length // 2 + 1, (n,), generator=generator)
