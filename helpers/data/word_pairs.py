"""Pairs of words to test word vectors with: words of one kind, and words in one relation.

Both lists were chosen by reading the vocabulary of the tales (``corpora.lantern_bay``), from words
that occur ten times or more in the lower-cased train part; words of two kinds were left out.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping

import torch

from helpers.data.corpora import DATA_FOLDER

Pair = tuple[str, str]


def word_kinds() -> dict[str, dict[str, int]]:
    """Kind (animals, food, ...) -> its words with their counts in the lower-cased train part."""
    return _content()["kinds"]


def word_relations() -> dict[str, list[Pair]]:
    """Relation (plural, past, ...) -> pairs of words that stand in it, such as boat and boats."""
    return {name: [(a, b) for a, b in pairs] for name, pairs in _content()["analogies"].items()}


def same_kind_pairs(
    kinds: Mapping[str, Mapping[str, int]],
    counts: Mapping[str, int],
    generator: torch.Generator,
    nearest: int = 20,
) -> dict[str, tuple[list[Pair], list[Pair]]]:
    """For each kind all pairs of its words, and as many pairs with a random word of another kind.

    The random word replaces one word of the pair, either with equal chance, and is drawn from the
    ``nearest`` words in frequency, so that how often words occur gives nothing away.

    Args:
        kinds: kind -> its words with their counts.
        counts: the words to draw from, with their counts: the whole vocabulary, or the words of
            all kinds, which is harder (then every word is a noun, a number or a colour).
        generator: where the randomness comes from.
        nearest: how many words of similar frequency to draw from.
    """
    tests = {}
    for name, words in kinds.items():
        others = [word for word in counts if word not in words]
        log_counts = torch.tensor([math.log(counts[word]) for word in others])
        near = {
            word: (log_counts - math.log(count)).abs().argsort(stable=True)[:nearest].tolist()
            for word, count in words.items()
        }
        same = list(itertools.combinations(words, 2))
        draws = torch.rand(len(same), 2, generator=generator).tolist()
        random = []
        for (a, b), (side, which) in zip(same, draws, strict=True):
            kept, replaced = (a, b) if side < 0.5 else (b, a)
            random.append((kept, others[near[replaced][int(which * len(near[replaced]))]]))
        tests[name] = (same, random)
    return tests


def _content() -> dict:
    return json.loads((DATA_FOLDER / "word_kinds.json").read_text(encoding="utf-8"))
