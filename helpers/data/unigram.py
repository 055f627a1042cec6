"""Unigram: a tokenizer that gives every piece a probability and cuts a word the likeliest way.

It goes from many pieces to few: all frequent substrings of the text come first, expectation
maximisation says how often each of them is needed, and those that are missed least are dropped.
The numbers are the defaults of SentencePiece's trainer, and so are the rules, but for one: words
are GPT-2's pre-tokens, so that the tokens of all tokenizers of the course begin and end alike.

Sources: Kudo (2018), "Subword Regularization", section 3.2; Kudo and Richardson (2018),
"SentencePiece", and its ``unigram_model_trainer.cc``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from helpers.data.bpe import BPETokenizer
from helpers.data.tokenizers import TokenizerError, checked_ids

SEED_PIECES = 1_000_000  # at most, at the beginning
LONGEST_PIECE = 16  # characters
SHRINKING_FACTOR = 0.75  # the share of pieces that a round of pruning keeps
EM_STEPS = 2  # between two rounds of pruning
SPARE = 1.1  # pruning by loss ends at this multiple of the vocabulary
LEAST_EXPECTED = 0.5  # a piece that is expected less often than this is dropped

_UNKNOWN = -10.0  # below the least probable piece, in nats: the score of an unknown character


class UnigramTokenizer:
    """Pieces with log-probabilities; a word is cut so that the sum of its pieces' is largest.

    Args:
        log_p: piece -> log-probability in nats. Id 0 is ``<unk>``, a character that no piece has;
            then the pieces in the order given.
    """

    unk = 0

    def __init__(self, log_p: Mapping[str, float]) -> None:
        self.log_p = dict(log_p)
        self.pieces = ["<unk>", *self.log_p]
        self._ids = {piece: i for i, piece in enumerate(self.pieces) if i}
        self._split = BPETokenizer([]).split
        self._known: dict[str, list[str]] = {}

    @classmethod
    def train(cls, text: str, vocab_size: int) -> UnigramTokenizer:
        """Prune the frequent substrings of a text until ``vocab_size`` tokens are left.

        All characters of the text are kept, as with a character coverage of 1.

        Args:
            vocab_size: V with ``<unk>``; it stays smaller where the text has fewer pieces.

        Raises:
            TokenizerError: the text is empty, or has more characters than the vocabulary room.
        """
        words = Counter(BPETokenizer([]).split(text))
        characters = sorted({character for word in words for character in word})
        if not words or vocab_size <= len(characters):
            raise TokenizerError(
                f"The text holds {len(characters)} different characters for a vocabulary of "
                f"{vocab_size} with <unk>: give "
                + ("a larger vocab_size." if words else "a text that is not empty.")
            )
        lattice = _Lattice(words, _seed_pieces(words, characters))
        wanted = vocab_size - 1
        while True:
            for _ in range(EM_STEPS):
                lattice.maximise(lattice.expected())
            if lattice.size <= SPARE * wanted:
                break
            lattice.prune(max(int(SPARE * wanted), int(SHRINKING_FACTOR * lattice.size)))
        return cls(lattice.most_probable(wanted))

    @property
    def vocab_size(self) -> int:
        """V, with ``<unk>``."""
        return len(self.pieces)

    def cut(self, word: str) -> list[str]:
        """The pieces of one pre-token, joined the word itself; an unknown character is one."""
        if word not in self._known:
            self._known[word] = best_cut(word, self.log_p)
        return self._known[word]

    def encode(self, text: str) -> Tensor:
        """Ids (T,) of a text."""
        ids = [self._ids.get(p, self.unk) for word in self._split(text) for p in self.cut(word)]
        return torch.tensor(ids, dtype=torch.long)

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The text of ids (T,); unknown characters become U+FFFD."""
        found = checked_ids(ids, self.vocab_size)
        return "".join(self.pieces[i] if i else "\N{REPLACEMENT CHARACTER}" for i in found)


def best_cut(word: str, log_p: Mapping[str, float], without: str = "") -> list[str]:
    """Viterbi: the pieces with the largest sum of log-probabilities that make up the word.

    Args:
        log_p: piece -> log-probability. A character that is no piece is far less likely than all.
        without: a piece that must not be used.
    """
    score, last = [0.0] + [-math.inf] * len(word), [0] * (len(word) + 1)
    unknown = None
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - LONGEST_PIECE), end):
            piece = word[start:end]
            p = log_p.get(piece) if piece != without else None
            if p is None and end - start == 1:
                unknown = min(log_p.values()) + _UNKNOWN if unknown is None else unknown
                p = unknown
            if p is not None and score[start] + p > score[end]:
                score[end], last[end] = score[start] + p, start
    pieces, end = [], len(word)
    while end:
        pieces.append(word[last[end] : end])
        end = last[end]
    return pieces[::-1]


def _seed_pieces(words: Mapping[str, int], characters: Sequence[str]) -> dict[str, float]:
    """Characters, and the substrings with the largest count times length: piece -> score."""
    single: Counter[str] = Counter(dict.fromkeys(characters, 0))
    longer: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(len(word)):
            single[word[start]] += count
            for end in range(start + 2, min(start + LONGEST_PIECE, len(word)) + 1):
                longer[word[start:end]] += count
    scores = {piece: count * len(piece) for piece, count in longer.items() if count > 1}
    best = sorted(scores, key=lambda piece: (-scores[piece], piece))
    return {**single, **{piece: scores[piece] for piece in best[: SEED_PIECES - len(single)]}}


class _Lattice:
    """All ways to cut all words at once, for the pieces that are left.

    An edge leads from one position in a word to a later one, by a piece. Edges are sorted by where
    they end, and there is one array for each of their parts.
    """

    def __init__(self, words: Mapping[str, int], pieces: Mapping[str, float]) -> None:
        self.words = list(words)
        self.counts = np.array(list(words.values()), dtype=float)
        self.lengths = np.array([len(word) for word in self.words])
        self.pieces = list(pieces)
        place = {piece: i for i, piece in enumerate(self.pieces)}
        edges = [
            (end, start, n, place[word[start:end]])
            for n, word in enumerate(self.words)
            for end in range(1, len(word) + 1)
            for start in range(max(0, end - LONGEST_PIECE), end)
            if word[start:end] in place
        ]
        self.edges = np.array(sorted(edges))
        score = np.array(list(pieces.values()), dtype=float)
        self.log_p = np.log(np.maximum(score, 1.0)) - math.log(score.sum())

    @property
    def size(self) -> int:
        """The number of pieces that are left."""
        return len(self.pieces)

    def expected(self) -> np.ndarray:
        """How often each piece is used, averaged over all cuts by their probability (E step)."""
        end, start, word, piece = self.edges.T
        p, n, longest = np.exp(self.log_p), len(self.words), int(self.lengths.max())
        forward, backward = np.zeros((longest + 1, n)), np.zeros((longest + 1, n))
        forward[0] = 1.0
        backward[self.lengths, np.arange(n)] = 1.0
        ends = np.searchsorted(end, np.arange(longest + 2))
        for e in range(1, longest + 1):
            some = slice(ends[e], ends[e + 1])
            weight = forward[start[some], word[some]] * p[piece[some]]
            forward[e] = np.bincount(word[some], weights=weight, minlength=n)
        for e in range(longest, 0, -1):
            some = slice(ends[e], ends[e + 1])
            weight = backward[e, word[some]] * p[piece[some]]
            np.add.at(backward, (start[some], word[some]), weight)
        total = forward[self.lengths, np.arange(n)]
        share = forward[start, word] * p[piece] * backward[end, word] / total[word]
        return np.bincount(piece, weights=share * self.counts[word], minlength=self.size)

    def maximise(self, expected: np.ndarray) -> None:
        """New probabilities from expected counts (M step); what is hardly needed is dropped.

        Like SentencePiece, with the digamma function in place of the logarithm, which lowers small
        counts more: a Dirichlet process as the prior.
        """
        long = np.array([len(piece) > 1 for piece in self.pieces])
        self._keep(np.flatnonzero(~long | (expected >= LEAST_EXPECTED)))
        kept = torch.from_numpy(np.maximum(expected[self.kept], LEAST_EXPECTED))
        self.log_p = (torch.digamma(kept) - torch.digamma(kept.sum())).numpy()

    def prune(self, size: int) -> None:
        """Keep the characters, and of the other pieces those whose loss would cost most."""
        log_p = dict(zip(self.pieces, self.log_p.tolist(), strict=True))
        used: Counter[str] = Counter()
        for word, count in zip(self.words, self.counts.tolist(), strict=True):
            for piece in best_cut(word, log_p):
                used[piece] += count
        total, losses = sum(used.values()), {}
        for i, piece in enumerate(self.pieces):
            if len(piece) == 1 or not used[piece]:
                continue
            parts = best_cut(piece, log_p, without=piece)
            if sum(map(log_p.__getitem__, parts)) > log_p[piece]:
                continue  # its parts are the likelier cut of it
            n = used[piece]
            instead = sum(math.log(used[part] + n) for part in parts)
            instead -= len(parts) * math.log(total + n * (len(parts) - 1))
            losses[i] = n / total * (math.log(n / total) - instead)
        single = [i for i, piece in enumerate(self.pieces) if len(piece) == 1]
        best = sorted(losses, key=lambda i: (-losses[i], self.pieces[i]))
        self._keep(np.array(sorted([*single, *best[: size - len(single)]])))

    def most_probable(self, size: int) -> dict[str, float]:
        """The characters and the most probable other pieces, most probable first."""
        order = sorted(range(self.size), key=lambda i: (-self.log_p[i], self.pieces[i]))
        order = sorted(order, key=lambda i: len(self.pieces[i]) > 1)[:size]
        return {
            self.pieces[i]: float(self.log_p[i])
            for i in sorted(order, key=lambda i: -self.log_p[i])
        }

    def _keep(self, kept: np.ndarray) -> None:
        self.kept = kept
        number = np.full(self.size, -1)
        number[kept] = np.arange(len(kept))
        self.edges = self.edges[number[self.edges[:, 3]] >= 0]
        self.edges[:, 3] = number[self.edges[:, 3]]
        self.pieces = [self.pieces[i] for i in kept]
        self.log_p = self.log_p[kept]
