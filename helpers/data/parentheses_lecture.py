"""The training set of the usual practical on coloured parentheses.

Something easier than the language tells its classes apart: see ``helpers.models.shortcuts``.

Source: M. Lelarge, Deep Learning Do It Yourself (dataflowr), module 11, RNN practicals, whose
networks are those of the lecture.
"""

from __future__ import annotations

import torch

from helpers.data.parentheses import COLOURS, are_balanced, sample_balanced
from helpers.data.parentheses_negatives import KINDS
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
    if n < 1 or not 4 <= min_length <= max_length or min_length % 2 or max_length % 2:
        raise ValueError(
            f"n is {n} and the lengths go from {min_length} to {max_length}; expected one sequence "
            "or more and even lengths, 4 or more."
        )
    coins = torch.rand(n, generator=generator) < 0.5
    halves = torch.randint(min_length // 2, max_length // 2 + 1, (n,), generator=generator)
    parts = []
    for half in halves.unique().tolist():
        coin = coins[halves == half]
        strings = torch.randint(2 * colours, (len(coin), 2 * half), generator=generator)
        balanced = sample_balanced(len(coin), 2 * half, generator, colours)
        tokens = torch.where(coin[:, None], balanced, strings)
        kinds = torch.where(are_balanced(tokens, colours), 0, KINDS.index("random_strings"))
        parts.append((tokens, kinds))
    return put_together(parts, generator, colours)
