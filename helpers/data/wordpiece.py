"""WordPiece, BERT's tokenizer: pieces of words, those within a word marked with ``##``.

Sources: Schuster and Nakajima (2012), "Japanese and Korean Voice Search", for the idea of merging
what raises the likelihood most; Wu et al. (2016), "Google's Neural Machine Translation System",
section 4.1; Devlin et al. (2019), "BERT". The program that made BERT's vocabulary was not
published: the score used here is the common reading of these papers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import regex
import torch
from torch import Tensor

from helpers.data.tokenizers import (
    SIGN,
    WORD,
    TokenizerError,
    checked_ids,
    read_saved,
    write_saved,
)

_LONGEST_WORD = 100  # characters; BERT takes longer words for unknown ones, too


class WordPieceTokenizer:
    """Words and punctuation marks in pieces; ``[UNK]`` is a word that no pieces make up.

    Spaces are not tokens: ``decode`` puts one between words, so it need not give the same text.

    Args:
        pieces: the known pieces, ``##`` before each that continues a word; id 0 goes to ``[UNK]``.
    """

    unk = 0
    _pattern = regex.compile(f"{WORD}|{SIGN}")

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = ["[UNK]", *pieces]
        self._ids = {piece: i for i, piece in enumerate(self.pieces)}

    @classmethod
    def train(
        cls, text: str, vocab_size: int, min_count: int = 2, by_count: bool = False
    ) -> WordPieceTokenizer:
        """Begin with characters and join the pair with the highest count(ab) / (count(a) count(b)).

        That is the pair that is most frequent compared with its parts; pairs of rare characters
        come first unless ``min_count`` shuts them out. Of equal scores the more frequent pair wins,
        then the alphabet. Every merge compares all pairs: meant for a few thousand pieces.

        Args:
            vocab_size: V with ``[UNK]``; it stays smaller once no pair occurs ``min_count`` times.
            min_count: how often a pair must occur to be joined.
            by_count: join the pair with the highest count instead, as byte-pair encoding does; so
                does ``WordPieceTrainer`` of the ``tokenizers`` library.

        Raises:
            TokenizerError: the text holds no word, or more characters than ``vocab_size``.
        """
        counts = Counter(cls._pattern.findall(text))
        words = [([word[0], *("##" + c for c in word[1:])], n) for word, n in counts.items()]
        pieces = sorted({piece for word, _ in words for piece in word})
        if not pieces or vocab_size <= len(pieces):
            raise TokenizerError(
                f"The text holds {len(pieces)} characters (those that begin a word and those that "
                f"continue one) for a vocabulary of {vocab_size} with [UNK]: give "
                + ("a larger vocab_size." if pieces else "a text with words.")
            )
        single: Counter[str] = Counter()
        double: Counter[tuple[str, str]] = Counter()
        holding: dict[tuple[str, str], set[int]] = defaultdict(set)  # pair -> words that had it

        def count(number: int, n: int) -> None:
            for piece in words[number][0]:
                single[piece] += n
            for pair in pairwise(words[number][0]):
                double[pair] += n
                holding[pair].add(number)

        for number, (_, n) in enumerate(words):
            count(number, n)
        while len(pieces) < vocab_size - 1:
            if len(pieces) % 64 == 0:  # what is rare now will never be joined
                for rare in [pair for pair, n in double.items() if n < min_count]:
                    del double[rare]
            pairs = ((pair, n) for pair, n in double.items() if n >= min_count)
            if by_count:
                ranked = ((0.0, -n, pair) for pair, n in pairs)
            else:
                ranked = ((-n / (single[a] * single[b]), -n, (a, b)) for (a, b), n in pairs)
            _, _, pair = min(ranked, default=(0, 0, None))
            if pair is None:
                break
            pieces.append(pair[0] + pair[1][2:])
            for number in holding.pop(pair):
                word, n = words[number]
                if pair in pairwise(word):
                    count(number, -n)
                    for i in range(len(word) - 1):  # the end moves, and then the slice is shorter
                        if tuple(word[i : i + 2]) == pair:
                            word[i : i + 2] = [pieces[-1]]
                    count(number, n)
            del double[pair]
        return cls(pieces)

    @property
    def vocab_size(self) -> int:
        """V, with ``[UNK]``."""
        return len(self.pieces)

    def split(self, text: str) -> list[str]:
        """The words and punctuation marks of a text, as strings."""
        return self._pattern.findall(text)

    def encode(self, text: str) -> Tensor:
        """Ids (T,): from the left of each word, always the longest piece that fits."""
        known = {word: self.encode_word(word) for word in set(self.split(text))}
        return torch.tensor([i for word in self.split(text) for i in known[word]], dtype=torch.long)

    def encode_word(self, word: str) -> list[int]:
        """Ids of one word: always the longest piece that fits, or [UNK] by itself."""
        ids, start = [], 0
        while start < len(word) <= _LONGEST_WORD:
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self._ids), None)
            if end is None:
                return [self.unk]
            ids.append(self._ids[mark + word[start:end]])
            start = end
        return ids or [self.unk]

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The words of ids (T,), a space between any two."""
        pieces = [self.pieces[i] for i in checked_ids(ids, self.vocab_size)]
        return " ".join(pieces).replace(" ##", "")

    def save(self, path: str | Path) -> None:
        """Write the pieces as JSON."""
        write_saved(path, {"type": "word pieces", "pieces": self.pieces[1:]})

    @classmethod
    def load(cls, path: str | Path) -> WordPieceTokenizer:
        """Read what ``save`` wrote."""
        return cls(read_saved(path, "word pieces", "pieces", list))
