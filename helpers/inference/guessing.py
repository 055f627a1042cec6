"""Shannon's guessing game: how many guesses until the next symbol is found.

Source: C. E. Shannon, "Prediction and Entropy of Printed English", Bell System Technical Journal
30 (1951), 50-64. A guesser names the symbols from the likeliest to the least likely until the
right one is named.
"""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.contracts import Predictor
from helpers.token_ids import check_range


@torch.no_grad()
def guess_ranks(predictor: Predictor, tokens: Tensor) -> Tensor:
    """How many guesses a predictor needs at each position if it names likely symbols first.

    Args:
        predictor: guesses position t knowing the tokens before t (a text from its beginning).
        tokens: (T,) or (B, T) long, ids in 0 .. V-1.

    Returns:
        Ranks 1 .. V in the shape of ``tokens``: 1 where the likeliest symbol was the right one.
        Equally likely symbols are named in the order of their ids.

    Raises:
        ValueError: if an id lies outside 0 .. V-1, or a log-probability is NaN.
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    vocab_size = predictor.vocab_size
    check_range(
        tokens,
        vocab_size,
        "The text holds token ids from {low} to {high}, but this predictor knows 0 to {last}: "
        "encode the text with its tokenizer.",
    )
    batch = tokens.view(-1, tokens.shape[-1])  # (B, T)
    ranks = torch.empty_like(batch)
    state = predictor.start(len(batch))
    read = torch.full((len(batch),), predictor.bos)
    ids = torch.arange(vocab_size)
    for t in range(batch.shape[1]):
        log_probs, state = predictor.step(read, state)  # (B, V)
        log_probs = log_probs.cpu()
        if log_probs.isnan().any():
            raise ValueError(f"The predictor's log-probabilities at position {t} contain NaN.")
        read = batch[:, t]
        right = log_probs.gather(1, read[:, None])  # (B, 1)
        named_before = (log_probs > right) | ((log_probs == right) & (ids < read[:, None]))
        ranks[:, t] = 1 + named_before.sum(1)
    return ranks.view_as(tokens)


class GuessingGame:
    """One round of the guessing game on one passage, for a person or a program; no display.

    Attributes:
        position: the index of the hidden symbol; equals ``len(text)`` when the round is over.
        counts: one entry per symbol after ``start`` that is known by now: the guesses it took, or
            None where it was revealed without being guessed.
        wrong: the symbols that were named in vain at the present position, in order.

    Raises:
        ValueError: for a symbol outside the alphabet.
    """

    def __init__(self, text: str, start: int, alphabet: str) -> None:
        strange = sorted(set(text) - set(alphabet))
        if strange:
            raise ValueError(
                f"The passage contains {strange[0]!r}, which is not in the alphabet {alphabet!r}: "
                "normalise the text first."
            )
        self.text, self.start, self.alphabet = text, start, alphabet
        self.position = start
        self.counts: list[int | None] = []
        self.wrong: list[str] = []

    @property
    def finished(self) -> bool:
        """Whether every symbol of the passage is known."""
        return self.position == len(self.text)

    @property
    def shown(self) -> str:
        """The part of the passage that is known."""
        return self.text[: self.position]

    def guess(self, symbol: str) -> bool:
        """Name a symbol for the hidden position; True, and on to the next one, if it is right."""
        if self.finished:
            raise ValueError("The passage is finished: there is nothing left to guess.")
        if symbol not in self.alphabet or len(symbol) != 1:
            raise ValueError(f"{symbol!r} is not one symbol of the alphabet {self.alphabet!r}.")
        if symbol in self.wrong:
            raise ValueError(f"{symbol!r} was named before at this position; name another symbol.")
        if symbol != self.text[self.position]:
            self.wrong.append(symbol)
            return False
        self._advance(len(self.wrong) + 1)
        return True

    def reveal(self) -> str:
        """Show the hidden symbol without counting it, and go on to the next one."""
        symbol = self.text[self.position]
        self._advance(None)
        return symbol

    def guessed_positions(self) -> list[int]:
        """Indices into ``text`` of the symbols that were guessed, not revealed."""
        return [self.start + k for k, count in enumerate(self.counts) if count is not None]

    def _advance(self, count: int | None) -> None:
        self.counts.append(count)
        self.wrong = []
        self.position += 1
