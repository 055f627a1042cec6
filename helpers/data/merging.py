"""Byte-pair encoding on tokens that can be read: a token is its bytes, a word a tuple of tokens.

``helpers.data.bpe`` does the same on numbers, as fast as it can. Here a merge is written as it is
spoken of: ``(b"t", b"h")`` becomes ``b"th"``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType

from helpers.data.bpe import BPETokenizer

Token = bytes
Word = tuple[Token, ...]
Pair = tuple[Token, Token]

_BARE = BPETokenizer([])
# In GPT-2's order; nobody can change it.
BYTE_IDS: Mapping[Token, int] = MappingProxyType({_BARE.token_bytes(i): i for i in range(256)})


def to_bytes(text: str) -> Word:
    """The bytes of a text in UTF-8, each a token of its own."""
    return tuple(bytes([byte]) for byte in text.encode())


def count_pairs(words: Mapping[Word, int]) -> Counter[Pair]:
    """How often each pair of neighbours stands in the words; words maps a word to its count."""
    pairs: Counter[Pair] = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] += count
    return pairs


def best_pair(pairs: Mapping[Pair, int], ids: Mapping[Token, int]) -> Pair:
    """The most frequent pair; of equally frequent ones, that with the smaller ids."""
    return min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))


def join(word: Word, pair: Pair) -> Word:
    """The word with every such pair of neighbours joined, from left to right."""
    if pair[0] not in word or pair[1] not in word:
        return word
    out: list[Token] = []
    ready = False  # whether the last token may still be joined
    for token in word:
        if ready and (out[-1], token) == pair:
            out[-1], ready = out[-1] + token, False
        else:
            out.append(token)
            ready = True
    return tuple(out)
