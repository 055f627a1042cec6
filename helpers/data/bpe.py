"""Byte-level byte-pair encoding: the tokenizer of GPT-2, trained on any text.

A text is cut into pre-tokens by a pattern, GPT-2's if no other is given. A pre-token is the
sequence of its UTF-8 bytes; merges, learned from the most frequent pair of neighbours on, join
these bytes into longer tokens that never reach beyond the pre-token. So every text can be encoded,
and no token stands for unknown text. What is a letter or a number is as in the version of Unicode
that ``regex`` knows.

The merge itself, to be read, is ``helpers.data.merging``; here the same is done fast.

Sources: Sennrich, Haddow and Birch (2016), "Neural Machine Translation of Rare Words with Subword
Units", section 3.2; Radford et al. (2019), "Language Models are Unsupervised Multitask Learners",
section 2.2, for the bytes and the pre-tokens.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import regex
import torch
from torch import Tensor

from helpers.data.tokenizers import TokenizerError, checked_ids, read_saved, write_saved

END_OF_TEXT = "<|endoftext|>"
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# GPT-2 numbers the bytes that print first; its files write the n-th of the others as U+0100 + n.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_BYTES = [*_PRINTABLE, *sorted({*range(256)} - {*_PRINTABLE})]
_SIGNS = [chr(byte) for byte in _PRINTABLE] + [chr(256 + n) for n in range(256 - len(_PRINTABLE))]
_SIGN_OF = dict(zip(_BYTES, _SIGNS, strict=True))
_IDS = bytes(_BYTES.index(byte) for byte in range(256))  # for bytes.translate

_NO_MERGE = 1 << 62  # larger than any id
_EDGE = -1  # stands between words in a linked list, and in the place of a token that is gone
_CACHED = 1 << 16  # pre-tokens


class BPETokenizer:
    """Byte-level byte-pair encoding; decode(encode(s)) == s.

    Ids 0 to 255 are the bytes in GPT-2's order, ``256 + i`` is the token that merge ``i`` makes,
    and the special tokens come last.

    Args:
        merges: pairs of ids, in the order in which they were learned.
        special_tokens: strings such as ``"<|endoftext|>"``, each of them one token.
        pattern: a regular expression (of ``regex``, without capturing groups) whose matches, from
            left to right, are the pre-tokens; it must match all of a text. GPT-2's by default.

    Raises:
        TokenizerError: a merge joins a token that is not there yet; a special
            token is empty or stands twice; the pattern is no regular expression, or has groups.
    """

    def __init__(
        self,
        merges: Iterable[tuple[int, int]],
        special_tokens: Sequence[str] = (),
        pattern: str = GPT2_PATTERN,
    ) -> None:
        self._pre_token = _compiled(pattern)
        self.merges = [(int(a), int(b)) for a, b in merges]
        self._tokens = [bytes([byte]) for byte in _BYTES]
        for i, (a, b) in enumerate(self.merges):
            if not (0 <= a < 256 + i and 0 <= b < 256 + i):
                raise TokenizerError(
                    f"Merge {i} joins tokens {a} and {b}, but only 0 to {255 + i} are there."
                )
            self._tokens.append(self._tokens[a] + self._tokens[b])
        self._joined = {pair: 256 + i for i, pair in enumerate(self.merges)}
        self._special = _pattern_of(special_tokens)
        self.special_tokens = list(special_tokens)
        first = len(self._tokens)
        self.special_ids = {token: first + i for i, token in enumerate(self.special_tokens)}
        self._tokens += [token.encode() for token in self.special_tokens]
        self._cache = _Cache(self)

    @classmethod
    def train(
        cls,
        text: str,
        vocab_size: int,
        special_tokens: Sequence[str] = (),
        min_count: int = 2,
        pattern: str = GPT2_PATTERN,
        first: Sequence[tuple[int, int]] = (),
    ) -> BPETokenizer:
        """Learn merges from a text, each of the pair of neighbours that is then most frequent.

        Of equally frequent pairs the smallest is merged, by the first id and then by the second, as
        in the ``tokenizers`` library. The text is cut at special tokens, so none is in a merge.

        Args:
            vocab_size: V, with the 256 bytes and the special tokens. The vocabulary stays smaller
                once no pair occurs ``min_count`` times.
            min_count: how often a pair must occur to be merged.
            first: merges to begin with, such as those that another pattern has led to.

        Raises:
            TokenizerError: the text is empty, holds a lone surrogate or is not all matched by the
                pattern; ``vocab_size`` has no room for the bytes, the first merges and the special
                tokens.
        """
        special, pre_token = _pattern_of(special_tokens), _compiled(pattern)
        smallest = 256 + len(first) + len(special_tokens)
        if vocab_size < smallest:
            begun = f", {len(first)} merges to begin with" if first else ""
            raise TokenizerError(
                f"vocab_size is {vocab_size}: 256 bytes{begun} and {len(special_tokens)} special "
                f"tokens need at least {smallest}."
            )
        _check_encodable(text)
        parts = special.split(text)[::2] if special else [text]
        words = Counter(chain.from_iterable(_pre_tokens(pre_token, part) for part in parts))
        if not words:
            raise TokenizerError("There is no text to train on: give one that is not empty.")
        merges = _learn(words, vocab_size - smallest, min_count, first)
        return cls(merges, special_tokens, pattern)

    @property
    def vocab_size(self) -> int:
        """V: the 256 bytes, the merges and the special tokens."""
        return len(self._tokens)

    @property
    def pattern(self) -> str:
        """The regular expression that cuts a text into pre-tokens."""
        return self._pre_token.pattern

    def split(self, text: str) -> list[str]:
        """The pre-tokens of a text; together they are the text.

        Raises:
            TokenizerError: the pattern does not match all of the text.
        """
        return _pre_tokens(self._pre_token, text)

    def encode(self, text: str, special: bool = False) -> Tensor:
        """Ids (T,) of a text.

        With ``special``, a special token in the text becomes its id. Without, its characters are
        encoded like any others: the safe way with text from outside.

        Raises:
            TokenizerError: the text holds a lone surrogate, which UTF-8 cannot write, or what the
                pattern does not match.
        """
        _check_encodable(text)
        parts = self._special.split(text) if special and self._special else [text]
        words = (
            [[self.special_ids[part]]] if i % 2 else map(self._cache.__getitem__, self.split(part))
            for i, part in enumerate(parts)
        )
        ids = chain.from_iterable(chain.from_iterable(words))
        return torch.from_numpy(np.fromiter(ids, dtype=np.int64))

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The text of ids (T,); bytes that are no UTF-8 become U+FFFD.

        That happens where ids are cut within a character or come from a model; all the ids of a
        text give exactly the text.

        Raises:
            TokenizerError: an id is not in the vocabulary.
        """
        tokens = self._tokens
        joined = b"".join([tokens[i] for i in checked_ids(ids, self.vocab_size)])
        return joined.decode("utf-8", errors="replace")

    def token_bytes(self, token: int) -> bytes:
        """The bytes of one token; of a special token, those of its name."""
        return self._tokens[checked_ids([token], self.vocab_size)[0]]

    def save(self, path: str | Path) -> None:
        """Write the pattern, the special tokens and, in GPT-2's notation, the merges as JSON."""
        written = [signs(token) for token in self._tokens]
        merges = [f"{written[a]} {written[b]}" for a, b in self.merges]
        content = {"pattern": self.pattern, "special_tokens": self.special_tokens, "merges": merges}
        write_saved(path, {"type": "byte pairs", **content})

    @classmethod
    def load(cls, path: str | Path) -> BPETokenizer:
        """Read what ``save`` wrote."""
        merges = parsed_merges(read_saved(path, "byte pairs", "merges", list), path)
        special_tokens = read_saved(path, "byte pairs", "special_tokens", list)
        return cls(merges, special_tokens, read_saved(path, "byte pairs", "pattern", str))

    def _merge(self, word: str) -> list[int]:
        """The ids of a pre-token: of all pairs in it, the one that was learned first is merged.

        It takes time with the square of the pre-token's length, and those of a text are short.
        """
        ids = list(word.encode().translate(_IDS))
        joined = self._joined.get
        # What each two neighbours would make. The smallest id is that of the first merge learned.
        made = [joined(pair, _NO_MERGE) for pair in pairwise(ids)]
        while made and (new := min(made)) < _NO_MERGE:
            i = made.index(new)
            ids[i : i + 2] = [new]
            del made[i]
            if i > 0:
                made[i - 1] = joined((ids[i - 1], new), _NO_MERGE)
            if i < len(made):
                made[i] = joined((new, ids[i + 1]), _NO_MERGE)
        return ids


class _Cache(dict):
    """The ids of pre-tokens, found when first asked for; emptied when full."""

    def __init__(self, tokenizer: BPETokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= _CACHED:
            self.clear()
        ids = self[word] = self._tokenizer._merge(word)
        return ids


def _learn(
    words: Counter[str], n_merges: int, min_count: int, first: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """The first merges, and as many more from pre-tokens with their counts; fewer if pairs become
    too rare.

    All words stand in one linked list. A merge visits only the places where its pair stands, given
    by the left token. The pairs that it makes all hold its new token: so the places of a pair are
    complete once it has come up, and later its count only falls. The heap may hold counts that are
    too high; one is put right when it is popped.
    """
    ids, weights, begun = [_EDGE], [0], BPETokenizer(first)
    for word, count in words.items():
        word_ids = begun._merge(word)
        ids += [*word_ids, _EDGE]
        weights += [count] * (len(word_ids) + 1)
    before, after = [*range(-1, len(ids) - 1)], [*range(1, len(ids) + 1)]
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    places: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for i, pair in enumerate(pairwise(ids)):
        if _EDGE not in pair:
            counts[pair] += weights[i]
            places[pair].append(i)
    changed, heap, merges = set(counts), [], begun.merges
    while len(merges) < len(first) + n_merges:
        for pair in changed:
            if counts[pair] >= min_count:
                heapq.heappush(heap, (-counts[pair], pair))
        if not heap:
            break
        minus_count, pair = heapq.heappop(heap)
        if counts[pair] != -minus_count:
            changed = {pair}  # pushed again with its present count
            continue
        (a, b), new, changed = pair, 256 + len(merges), set()
        merges.append(pair)
        for i in places.pop(pair):
            j = after[i]
            if ids[i] != a or ids[j] != b:
                continue  # another merge took one of the two
            left, right = before[i], after[j]
            ids[i], ids[j] = new, _EDGE
            after[i], before[right] = right, i
            for place, old, made in (
                (left, (ids[left], a), (ids[left], new)),
                (i, (b, ids[right]), (new, ids[right])),
            ):
                if _EDGE not in made:
                    counts[old] -= weights[i]
                    counts[made] += weights[i]
                    places[made].append(place)
                    changed.add(made)
    return merges


def _compiled(pattern: str) -> regex.Pattern[str]:
    try:
        compiled = regex.compile(pattern)
    except (regex.error, TypeError) as error:
        raise TokenizerError(
            f"The pattern {pattern!r} is no regular expression ({error}): see the default, "
            "GPT2_PATTERN."
        ) from None
    if compiled.groups:
        raise TokenizerError(f"The pattern {pattern!r} has a group: write (?:...) for (...).")
    return compiled


def _pre_tokens(pattern: regex.Pattern[str], text: str) -> list[str]:
    """All matches of a pattern; a TokenizerError if they are not all of the text."""
    words = pattern.findall(text)
    if sum(map(len, words)) < len(text):
        raise TokenizerError(
            f"The pattern {pattern.pattern!r} leaves out {pattern.sub('', text)[:9]!r}: end it "
            r"with an alternative for all other text, such as |\S+|\s+."
        )
    return words


def _pattern_of(special_tokens: Sequence[str]) -> re.Pattern[str] | None:
    """Splits a text at special tokens, of two that begin at one place at the longer."""
    strings = all(isinstance(token, str) and token for token in special_tokens)
    alike = strings and len(set(special_tokens)) < len(special_tokens)
    if isinstance(special_tokens, str) or alike or not strings:
        raise TokenizerError(
            f"special_tokens is {special_tokens!r}; expected a list of strings, none of them empty "
            "and none twice."
        )
    for token in special_tokens:
        _check_encodable(token)
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})") if longest_first else None


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TokenizerError(
            f"The lone surrogate {text[error.start]!r} at position {error.start} is no character "
            "and has no UTF-8 bytes: leave it out."
        ) from None


def signs(token: bytes) -> str:
    """The bytes of a token in the notation of GPT-2's files."""
    return "".join([_SIGN_OF[byte] for byte in token])


def parsed_merges(lines: Iterable[str], path: str | Path) -> list[tuple[int, int]]:
    """Merges as pairs of ids, from lines in GPT-2's notation."""
    ids = {sign: i for i, sign in enumerate(_SIGNS)}
    merges = []
    for i, line in enumerate(lines):
        try:
            a, b = line.split(" ")
            merges.append((ids[a], ids[b]))
        except (AttributeError, KeyError, ValueError):
            raise TokenizerError(
                f"Merge {i} of {path}, {line!r}, does not join two tokens that are there."
            ) from None
        ids[a + b] = 256 + i
    return merges
