"""Do word vectors know which words belong together? Pairs of one kind, and analogies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from helpers.data.word_pairs import Pair


def auc(positive: Tensor, negative: Tensor) -> float:
    """Chance that a random positive score is above a random negative one; a tie counts one half.

    0.5 is guessing, 1 is perfect. The Mann-Whitney statistic divided by the number of pairs.

    Raises:
        ValueError: there is no pair.
    """
    if not (len(positive) and len(negative)):
        raise ValueError(
            f"There are {len(positive)} positive and {len(negative)} negative scores to compare: "
            "give at least one of each."
        )
    above = (positive[:, None] > negative[None, :]).double().mean()
    ties = (positive[:, None] == negative[None, :]).double().mean()
    return float(above + ties / 2)


def kind_aucs(
    similarity: Callable[[str, str], float],
    tests: Mapping[str, tuple[Sequence[Pair], Sequence[Pair]]],
) -> dict[str, float]:
    """For each kind the chance that a same-kind pair is more similar than a random pair.

    Args:
        similarity: two words -> a number, for example ``WordVectors.similarity``.
        tests: what ``helpers.data.word_pairs.same_kind_pairs`` gives.
    """
    scores = {
        name: tuple(torch.tensor([similarity(a, b) for a, b in pairs]) for pairs in both)
        for name, both in tests.items()
    }
    return {name: auc(same, random) for name, (same, random) in scores.items()}


def analogy_ranks(
    ranked: Callable[[str, str, str], Sequence[str]], pairs: Sequence[Pair]
) -> list[int]:
    """Rank (1 is best) of the right answer to every question "a is to b as c is to ?" in a list.

    Args:
        ranked: (a, b, c) -> all candidates, best first, without a, b and c.
        pairs: words in one relation; each pair is asked with each other one: n (n-1) questions.
    """
    ranks = []
    for a, b in pairs:
        for c, answer in pairs:
            if len({a, b, c, answer}) == 4:
                ranks.append(list(ranked(a, b, c)).index(answer) + 1)
    return ranks
