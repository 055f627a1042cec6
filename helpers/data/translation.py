"""English and French sentences that are translations of each other, with the true word alignment.

A small grammar (``translation_lexicon`` has its words, ``translation_rules`` its rules) derives
both sentences at once, so the reference is known for every sentence, in both directions, and so is
which word comes from which:

    the cat does not see the white dogs .      le chat ne voit pas les chiens blancs .

Everything is in lower case, tokens are separated by blanks, and a word that lost its vowel is a
token of its own: ``l' oiseau``, ``n' est``, ``qu' un``.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.data.synchronous_grammar import SynchronousGrammar, Tree, phrase
from helpers.data.translation_lexicon import Lexicon, full_lexicon
from helpers.data.translation_rules import phrase_rules
from helpers.token_ids import check_range

IGNORED = -100  # fills up the targets; F.cross_entropy leaves it out of the mean by default
Links = frozenset[tuple[int, int]]


class Directed(NamedTuple):
    """A pair seen in one direction; ``alignment`` holds (target index, source index)."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Links


@dataclass(frozen=True)
class Pair:
    """An English sentence, its French translation, and (French, English) indices of aligned words.

    A word may be aligned with several: ``du`` with ``of`` and ``the``, ``not`` with ``ne`` and
    ``pas``. No word is left without a link.
    """

    english: tuple[str, ...]
    french: tuple[str, ...]
    alignment: Links

    def directed(self, to_french: bool = True) -> Directed:
        """The pair as source and target, with the links in the order (target, source)."""
        if to_french:
            return Directed(self.english, self.french, self.alignment)
        return Directed(self.french, self.english, frozenset((i, j) for j, i in self.alignment))

    def matrix(self, to_french: bool = True) -> Tensor:
        """The alignment as (T, S) bool: True where a target word and a source word are linked."""
        source, target, alignment = self.directed(to_french)
        table = torch.zeros(len(target), len(source), dtype=torch.bool)
        table[tuple(torch.tensor(sorted(alignment)).T)] = True
        return table

    def __str__(self) -> str:
        return f"{' '.join(self.english)} | {' '.join(self.french)}"


class PhraseGrammar:
    """Sentence pairs of the phrase grammar: draw them, count them, look up a translation.

    Args:
        lexicon: the words; None for all of the course. With ``small_lexicon()`` and sentences of
            at most 14 words an encoder-decoder with attention learns to translate in half a minute.
        depth: how many phrases or clauses may follow a noun one inside another, in what is drawn
            and counted: ``the cat that sees the dog of the king`` has depth 2.

    Attributes:
        english_words: the English vocabulary in alphabetical order, punctuation included.
        size: how many different pairs there are up to ``depth``; exact.
    """

    def __init__(self, lexicon: Lexicon | None = None, depth: int = 2) -> None:
        self.depth = depth
        self.grammar = SynchronousGrammar(phrase_rules(lexicon or full_lexicon()))
        self.english_words, self.french_words = self.grammar.words(0), self.grammar.words(1)
        self.size = self.grammar.count(depth)  # no pair has two trees, as the tests show

    def sample(
        self,
        n: int,
        generator: torch.Generator,
        max_length: int | None = None,
        min_length: int = 1,
    ) -> list[Pair]:
        """Draw n pairs, independent of each other, so that short ones come more than once.

        Args:
            max_length: the most English words, punctuation included; None for no limit.

        Raises:
            ValueError: lengths that (almost) no sentence has.
        """
        longest = float("inf") if max_length is None else max_length
        numbers, pairs, tries = _uniforms(generator), [], 0
        while len(pairs) < n:
            pair = _pair(self.grammar.draw(self.depth, numbers))
            if min_length <= len(pair.english) <= longest:
                pairs.append(pair)
            tries += 1
            if tries >= 4000 and len(pairs) < tries // 2000:
                raise ValueError(
                    f"Of {tries} sentences {len(pairs)} have {min_length} to {max_length} English "
                    "words: ask for lengths between 4 and 25, or a wider range."
                )
        return pairs

    def translate(self, words: Sequence[str] | str) -> Pair:
        """The pair of an English or a French sentence, of any depth.

        Args:
            words: tokens in lower case with a final ``.`` or ``?``; a string is split at blanks.

        Raises:
            ValueError: a word is unknown, or the grammar has no such order of words.
        """
        words = tuple(words.split() if isinstance(words, str) else words)
        vocabularies = (self.english_words, self.french_words)
        unknown = [[word for word in words if word not in known] for known in vocabularies]
        side = int(len(unknown[1]) < len(unknown[0]))
        if unknown[side]:
            raise ValueError(_unknown_word(unknown[side][0], vocabularies[side]))
        sides = (0, 1) if not unknown[0] and not unknown[1] else (side,)
        furthest = 0
        for side in sides:
            trees, reached = self.grammar.parse(words, side)
            if trees:
                return _pair(trees[0])
            furthest = max(furthest, reached)
        begin = " ".join(words[:furthest])
        where = f"after {begin!r}" if begin else "at the beginning"
        what = repr(words[furthest]) if furthest < len(words) else "the end of the sentence"
        raise ValueError(
            f"The grammar knows all of these words, but not in this order: {where} it does not "
            f"expect {what}."
        )


class WordVocabulary:
    """Word ids of one language: 0 fills up (``pad``), 1 begins (``bos``), 2 ends (``eos``)."""

    pad, bos, eos = 0, 1, 2

    def __init__(self, words: Iterable[str]) -> None:
        self.words = ("<pad>", "<s>", "</s>", *words)
        self._ids = {word: i for i, word in enumerate(self.words)}

    @property
    def vocab_size(self) -> int:
        """V, with the three marks."""
        return len(self.words)

    def encode(self, words: Sequence[str]) -> Tensor:
        """Ids (T,) of T words, without marks.

        Raises:
            ValueError: a word is unknown; the message names one that is spelled like it.
        """
        for word in words:
            if word not in self._ids:
                raise ValueError(_unknown_word(word, self.words[3:]))
        return torch.tensor([self._ids[word] for word in words], dtype=torch.long)

    def decode(self, ids: Sequence[int] | Tensor) -> tuple[str, ...]:
        """The words of ids (T,) up to the first ``eos``; ``pad`` and ``bos`` are left out."""
        ids = torch.as_tensor(ids).flatten().tolist()
        if self.eos in ids:
            ids = ids[: ids.index(self.eos)]
        check_range(
            ids,
            self.vocab_size,
            "The ids go from {low} to {high}, expected 0 to {last}: decode with the vocabulary "
            "that encoded.",
        )
        return tuple(self.words[i] for i in ids if i not in (self.pad, self.bos))

    def encode_batch(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Ids (B, S) of B sentences, short ones filled up at the end with ``pad``."""
        return _filled([self.encode(words) for words in sentences], self.pad)


def is_held_out(pair: Pair, share: float = 0.1) -> bool:
    """Whether a pair belongs to the held-out part: decided by the SHA-256 of its English sentence.

    So the parts never share a sentence, however they were drawn; about ``share`` of all different
    sentences are held out.
    """
    digest = hashlib.sha256(" ".join(pair.english).encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def batches(
    pairs: Sequence[Pair],
    english: WordVocabulary,
    french: WordVocabulary,
    batch_size: int,
    generator: torch.Generator,
    to_french: bool = True,
) -> Iterator[tuple[tuple[Tensor, Tensor], Tensor]]:
    """Endless batches ((source (B, S), target_in (B, T)), target_out (B, T)) of an encoder-decoder.

    ``target_in`` is ``bos`` and the words, ``target_out`` the words and ``eos``. Inputs are filled
    up with ``pad``; ``target_out`` with -100, which ``F.cross_entropy`` leaves out. Each pass
    takes all pairs in a new random order, in which neighbours have similar lengths; what is left
    over at its end makes no batch.

    Raises:
        ValueError: fewer pairs than a batch needs.
    """
    if not 1 <= batch_size <= len(pairs):
        raise ValueError(
            f"batch_size is {batch_size} with {len(pairs)} pairs, expected 1 to {len(pairs)}."
        )
    from_words, to_words = (english, french) if to_french else (french, english)
    views = [pair.directed(to_french) for pair in pairs]
    source = from_words.encode_batch([view.source for view in views])  # (N, S)
    words = [to_words.encode(view.target) for view in views]
    bos, eos = torch.tensor([to_words.bos]), torch.tensor([to_words.eos])
    target_in = _filled([torch.cat([bos, ids]) for ids in words], to_words.pad)  # (N, T)
    target_out = _filled([torch.cat([ids, eos]) for ids in words], IGNORED)  # (N, T)
    S = (source != from_words.pad).sum(1)
    T = (target_out != IGNORED).sum(1)
    pool = 50 * batch_size  # sorted by length inside: sorting all pairs would make batches alike
    while True:
        order = torch.randperm(len(pairs), generator=generator)
        key = (T * 1000 + S)[order]
        by_length = torch.cat([i + key[i : i + pool].argsort() for i in range(0, len(order), pool)])
        groups = order[by_length][: len(order) // batch_size * batch_size].view(-1, batch_size)
        for rows in groups[torch.randperm(len(groups), generator=generator)]:
            s, t = int(S[rows].max()), int(T[rows].max())
            yield (source[rows, :s], target_in[rows, :t]), target_out[rows, :t]


def _pair(tree: Tree) -> Pair:
    english, french, links = phrase(tree)
    return Pair(tuple(english), tuple(french), frozenset(links))


def _filled(rows: list[Tensor], value: int) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def _unknown_word(word: str, words: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {words[2]!r}, {words[3]!r}, ..."
    return f"The word {word!r} is not among the {len(words)} known words: {hint}"


def _uniforms(generator: torch.Generator) -> Iterator[float]:
    """Endless uniform numbers in [0, 1), taken from the generator in blocks of 4096."""
    while True:
        yield from torch.rand(4096, generator=generator, dtype=torch.float64).tolist()
