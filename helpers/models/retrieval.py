"""Which text of a collection is a query about? Scores by the words that both have, with BM25.

Nothing here is learned: the words are counted once, so this is the baseline for every search by
vectors, as naive Bayes is for every classifier.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

Words = Callable[[str], list[str]]


def words_of(text: str) -> list[str]:
    """The lower-cased words and numbers of a text, in order, as often as they occur."""
    return re.findall(r"[a-z0-9']+", text.lower())


class BM25:
    r"""Scores of a collection's texts for a query, by BM25.

    A word w of the query that a text d of |d| words has f times counts

        idf(w) f (k1 + 1) / (f + k1 (1 - b + b |d| / mean length)),

    with idf(w) = ln(1 + (N - n + 1/2) / (n + 1/2)), where n of the N texts have the word. So a rare
    word counts more, the second occurrence less than the first, and an occurrence in a long text
    less than one in a short text. A word that stands in the query twice counts twice.

    Args:
        texts: N texts.
        k1: how far further occurrences count; with 0 only whether a word occurs.
        b: how far the lengths of the texts matter, 0 to 1.
        words: a text -> its words; the same is applied to queries.

    Raises:
        ValueError: no texts.

    Source: S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond
    (2009), section 3.4; the 1 in the idf, which keeps it positive, is Lucene's.
    """

    def __init__(
        self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75, words: Words = words_of
    ) -> None:
        if not texts:
            raise ValueError("BM25 got no texts: give it the collection that is searched.")
        self.words, self.size = words, len(texts)
        counts = [Counter(words(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=float)
        long = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-12))
        where: dict[str, list[int]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word in count:
                where[word].append(place)
        self.idf: dict[str, float] = {}
        # Of each word the texts that have it and what it adds to their scores.
        self._postings: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for word, places in where.items():
            n = len(places)
            self.idf[word] = math.log(1 + (self.size - n + 0.5) / (n + 0.5))
            f = np.array([counts[place][word] for place in places], dtype=float)
            gains = self.idf[word] * f * (k1 + 1) / (f + long[places])
            self._postings[word] = np.array(places), gains

    def scores(self, query: str) -> np.ndarray:
        """(N,) a score for each text, 0 where it has no word of the query."""
        found = np.zeros(self.size)
        for word in self.words(query):
            if word in self._postings:
                places, gains = self._postings[word]
                found[places] += gains
        return found


def overlap(query: str, texts: Sequence[str], words: Words = words_of) -> np.ndarray:
    """(N,) how many different words of the query each text has, all words counting alike."""
    asked = _distinct(query, words)
    return np.array([len(asked & _distinct(text, words)) for text in texts])


@lru_cache(maxsize=10_000)  # a collection is asked many times
def _distinct(text: str, words: Words) -> frozenset[str]:
    return frozenset(words(text))
