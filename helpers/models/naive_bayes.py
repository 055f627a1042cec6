"""Naive Bayes for short texts: which class do the words of a text speak for?

It counts in how many texts of each class a feature (a word, a pair of words) occurs, and takes the
features of a text for independent. Fitted by counting, without anything random, it is the baseline
to ask first whether labels can be told from part of what a model sees.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

Features = Callable[[str], Iterable[str]]


def words_and_pairs(text: str) -> set[str]:
    """Lower-cased words, and pairs of neighbours; the beginning and the end count as words."""
    words = ["<s>", *re.findall(r"[a-z']+", text.lower()), "</s>"]
    return {*words[1:-1], *(f"{a} {b}" for a, b in itertools.pairwise(words))}


def pieces(text: str, shortest: int = 2, longest: int = 5) -> set[str]:
    """All runs of 2 to 5 characters, lower-cased; "^" and "$" mark the beginning and the end."""
    marked = f"^{text.lower()}$"
    return {
        marked[i : i + n] for n in range(shortest, longest + 1) for i in range(len(marked) - n + 1)
    }


class NaiveBayes:
    """Multinomial naive Bayes on the features that a text has; how often it has them is ignored.

    Args:
        texts: N texts.
        labels: their N classes, 0 to K - 1.
        features: a text -> its features.
        smoothing: added to every count, so that a feature that a class never had excludes nothing.

    Source: S. Wang and C. D. Manning, Baselines and Bigrams (2012), section 2.2.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[int],
        features: Features = words_and_pairs,
        smoothing: float = 0.5,
    ) -> None:
        self.features = features
        self.rows: dict[str, int] = {}
        # In alphabetical order, so that sums come out the same to the last bit every time.
        found = [
            [self.rows.setdefault(f, len(self.rows)) for f in sorted(set(features(text)))]
            for text in texts
        ]
        classes = np.asarray(labels)
        counts = np.full((len(self.rows), int(classes.max()) + 1), smoothing)
        lengths = [len(row) for row in found]
        cells = np.concatenate([np.asarray(row, dtype=np.int64) for row in found])
        np.add.at(counts, (cells, np.repeat(classes, lengths)), 1)
        self.log_likelihoods = np.log(counts / counts.sum(0))  # (features, K)
        self.log_priors = np.log(np.bincount(classes) / len(classes))  # (K,)

    def log_posteriors(self, texts: Sequence[str]) -> np.ndarray:
        """(N, K) natural logarithms of P(class | text); features never seen are left out."""
        scores = np.stack([self.log_priors + self._evidence(text).sum(0) for text in texts])
        scores -= scores.max(1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(1, keepdims=True))

    def classify(self, texts: Sequence[str]) -> np.ndarray:
        """(N,) the most probable class of each text."""
        return self.log_posteriors(texts).argmax(1)

    def _evidence(self, text: str) -> np.ndarray:
        known = sorted({self.rows[f] for f in self.features(text) if f in self.rows})
        return self.log_likelihoods[known]
