"""Tokenizers behind one small interface: ``encode``, ``decode``, ``vocab_size``, ``save``/``load``.

``encode(text)`` gives a (T,) tensor of token ids, ``decode(ids)`` a string. A saved tokenizer is a
readable JSON file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import regex
import torch
from torch import Tensor

from helpers.files import write_whole

T = TypeVar("T")

# Letters, digits and "_", each with its combining marks and joiners, which ``\w`` does not know:
# without them it cuts a decomposed "é", and words of Hindi or Tamil, into pieces. And what else is
# no space, by itself.
WORD = r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u200c\u200d]*"
SIGN = r"[^\p{L}\p{N}_\s\x1c-\x1f]\p{M}*"


class TokenizerError(ValueError):
    """Text, ids or a file that a tokenizer cannot take."""


class CharTokenizer:
    """One token per character of a fixed alphabet; decode(encode(s)) == s.

    Args:
        alphabet: the characters, in the order of their ids; none twice.
    """

    def __init__(self, alphabet: Iterable[str]) -> None:
        self.alphabet = list(alphabet)
        if not self.alphabet:
            raise TokenizerError("The alphabet is empty: give the characters, or train on a text.")
        if any(len(c) != 1 for c in self.alphabet) or len(set(self.alphabet)) < len(self.alphabet):
            raise TokenizerError("An alphabet is made of single characters, none of them twice.")
        codes = np.array([ord(c) for c in self.alphabet])
        self._order = np.argsort(codes)
        self._codes = codes[self._order]

    @classmethod
    def train(cls, text: str) -> CharTokenizer:
        """The characters of a text, in the order of their code points."""
        return cls(sorted(set(text)))

    @property
    def vocab_size(self) -> int:
        """V, the number of characters."""
        return len(self.alphabet)

    def encode(self, text: str) -> Tensor:
        """Ids (T,) of a text of T characters.

        Raises:
            TokenizerError: a character is not in the alphabet.
        """
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        place = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        unknown = np.flatnonzero(self._codes[place] != codes)
        if len(unknown):
            at = int(unknown[0])
            raise TokenizerError(
                f"The character {text[at]!r} at position {at} is not in this tokenizer's alphabet "
                f"of {self.vocab_size} characters: leave it out, or train a tokenizer on your text."
            )
        return torch.from_numpy(self._order[place])

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The text of ids (T,)."""
        return "".join(self.alphabet[i] for i in checked_ids(ids, self.vocab_size))

    def save(self, path: str | Path) -> None:
        """Write the alphabet as JSON."""
        write_saved(path, {"type": "characters", "alphabet": "".join(self.alphabet)})

    @classmethod
    def load(cls, path: str | Path) -> CharTokenizer:
        """Read what ``save`` wrote."""
        return cls(read_saved(path, "characters", "alphabet", str))


class WordTokenizer:
    """One token per word or punctuation mark; ``</s>`` closes a line, ``<unk>`` is any other word.

    A line of text (in the course's corpus a paragraph) is what the n-gram literature calls a
    sentence. Spaces are not tokens: ``decode`` puts them back by the rules of English typesetting,
    so it need not give the same string again.

    Args:
        words: the known words, most frequent first; ids 0 and 1 go to ``<unk>`` and ``</s>``.
    """

    unk, end = 0, 1
    _pattern = regex.compile(rf"{WORD}(?:['\u2019-]{WORD})*|{SIGN}")

    def __init__(self, words: Iterable[str]) -> None:
        self.words = ["<unk>", "</s>", *words]
        self._ids = {word: i for i, word in enumerate(self.words)}

    @classmethod
    def train(cls, text: str, min_count: int = 1) -> WordTokenizer:
        """The words that a text holds at least ``min_count`` times, most frequent first."""
        counts = Counter(cls._pattern.findall(text))
        kept = [(-count, word) for word, count in counts.items() if count >= min_count]
        return cls(word for _, word in sorted(kept))

    @property
    def vocab_size(self) -> int:
        """V, with ``<unk>`` and ``</s>``."""
        return len(self.words)

    def split(self, text: str) -> list[str]:
        """The words and punctuation marks of a text, as strings."""
        return self._pattern.findall(text)

    def encode(self, text: str) -> Tensor:
        """Ids (T,) of the words of a text, ``</s>`` after each line that holds any."""
        ids: list[int] = []
        for line in text.splitlines():
            if words := self.split(line):
                ids += [self._ids.get(word, self.unk) for word in words]
                ids.append(self.end)
        return torch.tensor(ids, dtype=torch.long)

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """A readable text: spaces between words, none before a comma, a line break at ``</s>``."""
        out, after_open, quoted = [], True, False
        for i in checked_ids(ids, self.vocab_size):
            word = self.words[i]
            if i == self.end:
                out.append("\n")
                after_open, quoted = True, False
                continue
            closing = word in ".,;:!?)]'" or (word == '"' and quoted)
            out.append(word if after_open or closing else " " + word)
            after_open = word in "([" or (word == '"' and not quoted)
            quoted ^= word == '"'
        return "".join(out)

    def save(self, path: str | Path) -> None:
        """Write the words as JSON."""
        write_saved(path, {"type": "words", "words": self.words[2:]})

    @classmethod
    def load(cls, path: str | Path) -> WordTokenizer:
        """Read what ``save`` wrote."""
        return cls(read_saved(path, "words", "words", list))


def checked_ids(ids: Sequence[int] | Tensor, vocab_size: int) -> list[int]:
    """Token ids as a list; a TokenizerError names the first one outside 0 .. vocab_size-1."""
    ids = torch.as_tensor(ids, dtype=torch.long).flatten().tolist()
    for i in ids:
        if not 0 <= i < vocab_size:
            raise TokenizerError(
                f"There is no token {i}: this tokenizer has 0 to {vocab_size - 1}."
            )
    return ids


def write_saved(path: str | Path, content: dict) -> None:
    """Write a tokenizer's content as readable JSON: whole, or not at all."""
    write_whole(Path(path), json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def read_saved(path: str | Path, kind: str, field: str, form: type[T]) -> T:
    """One field of a saved tokenizer; a TokenizerError where it is not of this kind."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))  # an editor's mark
        if content["type"] == kind and isinstance(content[field], form):
            return content[field]
    except OSError as error:
        raise TokenizerError(f"Cannot read the tokenizer {path}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        pass
    raise TokenizerError(f"{path} is damaged, or it is not a saved tokenizer of {kind}.")
