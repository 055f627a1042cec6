"""Counts of n-grams in sorted arrays of integers: what every smoothing method starts from.

A gram of length k is a row of table k. Rows are sorted by (row of the first k-1 tokens in table
k-1, last token), so the followers of one context lie side by side and a gram is found by a binary
search: no dictionary, no tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from helpers.token_ids import check_range

Ints = NDArray[np.int64]
REMEMBERED = 2**20  # bytes, in all, of the texts whose rows are kept


@dataclass(frozen=True)
class GramTable:
    """All grams of one length k, sorted by context, then by last token."""

    context: Ints  # (G,) row of the first k-1 tokens in table k-1
    word: Ints  # (G,) last token
    count: Ints  # (G,) occurrences
    keys: Ints  # (G,) context * vocab_size + word, increasing
    start: Ints  # (C+1,) the followers of context c are rows start[c] .. start[c+1]-1


class NGramCounts:
    """Counts of all grams of length 1 to n in a text.

    Args:
        tokens: (T,) token ids, 0 <= id < vocab_size.
        n: longest gram to count.
        vocab_size: V.
        end: a token that closes a sentence, if the text has one. The token after it starts afresh:
            no gram reaches across. One start mark (id V, never predicted) stands before each
            sentence, as in KenLM; without ``end`` the whole text is one sentence.

    Raises:
        ValueError: n < 1, no tokens, ids outside the vocabulary, or tables too large for 64 bits.
    """

    def __init__(self, tokens: Tensor, n: int, vocab_size: int, end: int | None = None) -> None:
        if not isinstance(n, int | Integral) or n < 1:
            raise ValueError(
                f"n is {n}; expected a whole number, 1 or more: the length of the longest gram."
            )
        self.n, self.vocab_size, self.bos, self.end = n, vocab_size, vocab_size, end
        stream = self._stream(tokens)
        if len(stream) < 2:
            raise ValueError("There are no tokens to count: the text is empty.")
        V, inside = vocab_size, stream != vocab_size

        # Table 1 has a row for every token of the vocabulary, seen or not, and one for the start
        # mark, which is a context only.
        count = np.bincount(stream, minlength=V + 1)
        count[V] = 0
        tokens_1 = np.arange(V + 1)
        self.tables = [GramTable(np.zeros(V + 1, np.int64), tokens_1, count, tokens_1, _ends([V]))]
        self._left: list[Ints] = []

        self._found: dict[bytes, tuple[list[Ints], list[Ints], Ints]] = {}

        rows = stream  # rows[i]: the gram that ends at position i, in the last table made; -1: none
        for _ in range(1, n):
            here = np.flatnonzero(inside[1:] & (rows[:-1] >= 0)) + 1
            size = len(self.tables[-1].word)
            if size * V >= 2**62:
                raise ValueError(f"Grams of this length need keys beyond 64 bits (V = {V}).")
            keys, first, inverse, count = _unique(rows[here - 1] * V + stream[here])
            context, word = np.divmod(keys, V)
            start = _ends(np.bincount(context, minlength=size))
            self.tables.append(GramTable(context, word, count, keys, start))
            self._left.append(np.bincount(rows[here[first]], minlength=size))
            rows = np.full(len(stream), -1)
            rows[here] = inverse

    def continuation(self, k: int) -> Ints:
        """For each k-gram the number of different tokens that stand before it (k < n).

        A gram that opens a sentence has nothing before it and keeps its count (as in KenLM).
        """
        left = self._left[k - 1]
        return np.where(left > 0, left, self.tables[k - 1].count)

    def find(self, k: int, context: Ints, word: Ints) -> Ints:
        """Rows of the k-grams (context row in table k-1, last token); -1 where never seen."""
        if k == 1:
            return word
        keys = self.tables[k - 1].keys
        wanted = context * self.vocab_size + word
        if not len(keys):
            return np.full(len(wanted), -1)
        row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = (keys[row] == wanted) & (context >= 0) & (word < self.vocab_size)
        return np.where(found, row, -1)

    def rows(self, tokens: Tensor, n: int | None = None) -> tuple[list[Ints], list[Ints]]:
        """For k = 1..n: the row of the k-gram that ends at each token, and the row of its context.

        Both are (T,) per k, -1 where never seen; a text shorter than the context has none.
        """
        stream, n = self._stream(tokens), n or self.n
        inside, text = np.flatnonzero(stream != self.bos), stream.tobytes()
        # Many models of one counting are often compared on the same short texts.
        grams, contexts, previous = self._found.get(text, ([], [], np.zeros_like(stream)))
        for k in range(len(grams) + 1, n + 1):
            before = np.concatenate([[-1 if k > 1 else 0], previous[:-1]])
            previous = self.find(k, before, stream)
            grams.append(previous[inside])
            contexts.append(before[inside])
        if sum(map(len, self._found)) + len(text) > REMEMBERED:
            self._found.clear()
        if len(text) <= REMEMBERED:
            self._found[text] = grams, contexts, previous
        return grams[:n], contexts[:n]

    @property
    def sizes(self) -> list[int]:
        """For k = 1..n the number of different k-grams seen."""
        return [int(np.count_nonzero(table.count)) for table in self.tables]

    def _stream(self, tokens: Tensor) -> Ints:
        """The text with the start mark before each sentence, as int64."""
        ids = torch.as_tensor(tokens).flatten().numpy().astype(np.int64)
        check_range(
            ids,
            self.vocab_size,
            "The text holds token ids from {low} to {high}, but the vocabulary has ids 0 to "
            "{last}: encode it with the tokenizer of this model.",
        )
        starts = [0] if self.end is None else [0, *(np.flatnonzero(ids[:-1] == self.end) + 1)]
        return np.insert(ids, starts, self.bos)


def looked_up(values: NDArray, rows: Ints, missing: float) -> NDArray:
    """One of ``values`` for each row, and ``missing`` where the row is -1: never seen.

    There may be no values at all, where every sentence is shorter than the gram.
    """
    if not len(values):
        return np.full(len(rows), missing)
    return np.where(rows < 0, missing, values[rows])


def _ends(counts: Sequence[int] | Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _unique(keys: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """np.unique with index, inverse and counts; faster where key and position fit 63 bits."""
    bits = max(1, int(len(keys) - 1).bit_length()) if len(keys) else 1
    if not len(keys) or int(keys.max()) >= 1 << (63 - bits):
        return np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    # One sort of (key, position) in a single integer replaces a much slower indirect sort.
    packed = np.sort((keys << bits) | np.arange(len(keys)))
    position, packed = packed & ((1 << bits) - 1), packed >> bits
    new = np.empty(len(packed), bool)
    new[0], new[1:] = True, packed[1:] != packed[:-1]
    begins = np.flatnonzero(new)
    inverse = np.empty(len(packed), np.int64)
    inverse[position] = np.cumsum(new) - 1
    return packed[begins], position[begins], inverse, np.diff(np.append(begins, len(packed)))
