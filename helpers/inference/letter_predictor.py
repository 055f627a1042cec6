"""A language model on tokens as a predictor of single letters.

A token such as `` harbour`` is several letters, so a model on tokens has no probability for "the
next letter" at hand. But it has one for every token that may come next, and the tokens begin with
letters: after "the ha" the next letter is r wherever the model goes on with a token that completes
``ha`` to ``har...``. Adding up these probabilities gives that of the letter, exactly, if all ways
are counted in which tokens can spell the text so far. Inside a word this is done here; words that
are over are read as the tokenizer cuts them. A way that holds less than a ten-thousandth of the
probability is left out.

So a model on tokens can play a game of letters, and be compared with a model on letters.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from helpers.evaluating import evaluating

BLANKS = " \n"  # where a word ends
LEAST_SHARE = 1e-4  # of the probability, for a way that is followed further


class ByteTokenizer(Protocol):
    """What is asked of a tokenizer; ``BPETokenizer`` has it."""

    @property
    def vocab_size(self) -> int: ...

    def encode(self, text: str) -> Tensor: ...

    def token_bytes(self, token: int) -> bytes: ...


class Way(NamedTuple):
    """Tokens that spell the beginning of a text.

    Attributes:
        tokens: with the one that stands before every text.
        log_mass: the logarithm of its probability, up to a constant that all ways share.
        reach: how many characters of the text they spell.
        log_p: (V,) log-probabilities of the token that follows.
    """

    tokens: tuple[int, ...]
    log_mass: float
    reach: int
    log_p: Tensor | None = None


class LetterState(NamedTuple):
    """What has been read of B texts: the characters, and the ways to spell them."""

    texts: tuple[str, ...]
    ways: tuple[tuple[Way, ...], ...]


class LetterPredictor:
    """Hands out a token model's distribution over the next letter.

    Args:
        model: tokens (B, T) -> logits (B, T, V), such as a ``GPT``.
        alphabet: the letters that may be predicted, of ASCII; their probabilities are made to sum
            to one.
        only_read: letters that may stand in the text, but are never predicted (probability 0).

    Raises:
        ValueError: a letter that is not ASCII, or comes twice, or no letter at all.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: ByteTokenizer,
        bos: int,
        alphabet: str,
        only_read: str = "",
    ) -> None:
        self.symbols = alphabet + only_read
        if not alphabet or not self.symbols.isascii() or len(set(self.symbols)) < len(self.symbols):
            raise ValueError(
                f"The letters {self.symbols!r} must be of ASCII, at least one, and none twice."
            )
        self._model, self._tokenizer, self._first = model, tokenizer, bos
        self._n_predicted = len(alphabet)
        self.vocab_size = self.bos = len(self.symbols)
        self._spelling = [tokenizer.token_bytes(t) for t in range(tokenizer.vocab_size)]
        self._ids = {spelling: token for token, spelling in enumerate(self._spelling)}
        self._place = {ord(letter): k for k, letter in enumerate(alphabet)}
        self._longer: dict[bytes, tuple[Tensor, Tensor]] = {}

    def encode(self, text: str) -> list[int]:
        """The ids of a text's letters.

        Raises:
            ValueError: a character is none of the letters.
        """
        if strange := sorted(set(text) - set(self.symbols)):
            raise ValueError(f"The letter {strange[0]!r} is none of {self.symbols!r}.")
        return [self.symbols.index(letter) for letter in text]

    def start(self, batch_size: int) -> LetterState:
        """The state before anything is read."""
        return LetterState(("",) * batch_size, ((),) * batch_size)

    def step(self, tokens: Tensor, state: LetterState) -> tuple[Tensor, LetterState]:
        """Read letters (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        texts, ways = [], []
        for letter, text, before in zip(tokens.tolist(), state.texts, state.ways, strict=True):
            if letter == self.bos:
                texts.append("")
                ways.append([Way((self._first,), 0.0, 0)])
            else:
                texts.append(text + self.symbols[letter])
                ways.append(self._read(text, self.symbols[letter], before))
        known = self._with_distributions(ways)
        rows, kept = [], []
        for text, row in zip(texts, known, strict=True):
            parts = torch.stack([self._next_letters(text, way) for way in row])  # (ways, letters)
            total = parts.logsumexp(0)  # (letters,)
            rows.append((total - total.logsumexp(0)).float())
            shares = (parts.logsumexp(1) - total.logsumexp(0)).exp()
            # The likeliest of those that spell the whole text is kept: any letter may follow it.
            whole = [w.log_mass if w.reach == len(text) else -torch.inf for w in row]
            shares[torch.tensor(whole).argmax()] = 1.0
            kept.append(tuple(way for way, s in zip(row, shares, strict=True) if s > LEAST_SHARE))
        found = torch.full((len(rows), self.vocab_size), -torch.inf)
        found[:, : self._n_predicted] = torch.stack(rows)
        return found, LetterState(tuple(texts), tuple(kept))

    def _read(self, text: str, letter: str, ways: tuple[Way, ...]) -> list[Way]:
        """The ways after one more letter; the old ones stay, for tokens that are not over yet."""
        if letter in BLANKS and text:
            words = tuple(self._tokenizer.encode(text).tolist())
            ways = (Way((self._first, *words), 0.0, len(text)),)
            (ways,) = map(tuple, self._with_distributions([list(ways)]))
        found = list(ways)
        for way in ways:
            token = self._ids.get((text + letter)[way.reach :].encode())
            if token is not None and way.log_p is not None:
                mass = way.log_mass + float(way.log_p[token])
                found.append(Way((*way.tokens, token), mass, len(text) + 1))
        return found

    @torch.no_grad()
    def _with_distributions(self, ways: list[list[Way]]) -> list[list[Way]]:
        """The same ways, each with the distribution of its next token; one pass for all."""
        new = [way for row in ways for way in row if way.log_p is None]
        if not new:
            return ways
        longest = max(len(way.tokens) for way in new)
        batch = torch.zeros(len(new), longest, dtype=torch.long)  # what is behind a text is unseen
        for k, way in enumerate(new):
            batch[k, : len(way.tokens)] = torch.tensor(way.tokens)
        device = next(self._model.parameters()).device
        ends = torch.tensor([len(way.tokens) - 1 for way in new])
        with evaluating(self._model):
            logits = self._model(batch.to(device))[torch.arange(len(new)), ends]  # (ways, V)
        rows = iter(logits.float().log_softmax(-1).cpu())
        return [
            [way if way.log_p is not None else way._replace(log_p=next(rows)) for way in row]
            for row in ways
        ]

    def _next_letters(self, text: str, way: Way) -> Tensor:
        """The log-mass of each next letter by the tokens that may follow this way: (letters,)."""
        spelt = text[way.reach :].encode()
        if spelt not in self._longer:
            longer = [
                (token, self._place[spelling[len(spelt)]])
                for token, spelling in enumerate(self._spelling)
                if len(spelling) > len(spelt)
                and spelling.startswith(spelt)
                and spelling[len(spelt)] in self._place
            ]
            ids, places = zip(*longer, strict=True) if longer else ((), ())
            self._longer[spelt] = torch.tensor(ids).long(), torch.tensor(places).long()
        tokens, places = self._longer[spelt]
        assert way.log_p is not None
        following = way.log_p[tokens].double()
        highest = following.max() if len(following) else torch.tensor(0.0)
        masses = torch.zeros(self._n_predicted, dtype=torch.double)
        masses = masses.index_add(0, places, (following - highest).exp())
        return masses.log() + highest + way.log_mass
