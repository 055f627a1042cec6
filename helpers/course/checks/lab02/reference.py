"""The course's own answers to tasks of lab 02, which later cells use where one is missing.

They are written to be read; ``helpers.data.bpe`` is what the course works with, and the tests
compare the two.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import regex

from helpers.data.bpe import GPT2_PATTERN, BPETokenizer

Pair = tuple[int, int]
Words = Mapping[tuple[int, ...], int]

BYTES = [BPETokenizer([]).token_bytes(i)[0] for i in range(256)]
_ID_OF = {byte: i for i, byte in enumerate(BYTES)}


def to_ids(text: str) -> list[int]:
    """The bytes of a text, numbered as in GPT-2."""
    return [_ID_OF[byte] for byte in text.encode()]


def count_pairs(words: Words) -> Counter[Pair]:
    """How often each pair of neighbours stands in the words; overlaps count."""
    counts: Counter[Pair] = Counter()
    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] += n
    return counts


def merge(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """The ids with a pair joined wherever it stands, from left to right."""
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def split_words(text: str) -> list[str]:
    """The pieces that no merge leaves; joined, they are the text."""
    return regex.findall(GPT2_PATTERN, text)


def train_merges(words: Words, n_merges: int) -> list[Pair]:
    """The most frequent pair, again and again; of equal ones the smallest by its ids."""
    words, counts, merges = dict(words), count_pairs(words), []
    for new in range(256, 256 + n_merges):
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        for word in [word for word in words if best in pairwise(word)]:
            n = words.pop(word)
            joined = tuple(merge(word, best, new))
            words[joined] = n
            counts.subtract(count_pairs({word: n}))
            counts.update(count_pairs({joined: n}))
    return merges


def train_quickly(words: Words, n_merges: int) -> list[Pair]:
    """The same merges; a round looks only at the words that hold its pair."""
    words, counts, merges = dict(words), count_pairs(words), []
    places: defaultdict[Pair, set[tuple[int, ...]]] = defaultdict(set)
    for word in words:
        for pair in pairwise(word):
            places[pair].add(word)
    for new in range(256, 256 + n_merges):
        most = max(counts.values(), default=0)
        if most < 2:
            break
        best = min(pair for pair, n in counts.items() if n == most)
        merges.append(best)
        for word in places.pop(best):
            if word in words:  # not yet another one, by a merge since
                n, joined = words.pop(word), tuple(merge(word, best, new))
                words[joined] = n
                for pair in pairwise(word):
                    counts[pair] -= n
                for pair in pairwise(joined):
                    counts[pair] += n
                    places[pair].add(joined)
    return merges


def measure(text: str, n_tokens: int, nats_per_token: float) -> dict[str, float]:
    """Fertility, compression, and what a model pays in bits per byte."""
    n_bytes = len(text.encode())
    return {
        "tokens per word": n_tokens / len(text.split()),
        "bytes per token": n_bytes / n_tokens,
        "bits per byte": nats_per_token * n_tokens / math.log(2) / n_bytes,
    }
