"""All texts of a few words behind a prompt, listed: what a model says of them is known exactly.

Nothing is estimated then: an expectation is a sum over the list, and so is a divergence.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class ListedTexts:
    """The V^n texts of n words out of V, behind one prompt; a text is named by its row, 0 .. V^n-1.

    A model is asked for these words only: what it says of all other tokens is left out, and the
    rest is divided by its sum.

    Args:
        prompt: (P,) tokens that every text begins with, one or more.
        words: (V,) different tokens.

    Attributes:
        rows: (V^n, n) the words of each text, as places in ``words``, in the order of counting: the
            last word changes first.
    """

    def __init__(self, prompt: Sequence[int], words: Sequence[int], length: int) -> None:
        self.prompt, self.words = torch.tensor(list(prompt)), torch.tensor(list(words))
        self.rows = torch.tensor(list(itertools.product(range(len(words)), repeat=length)))

    def next_log_probs(self, model: nn.Module, texts: Tensor) -> Tensor:
        """The words of texts (B, t) -> log-probabilities of the word after each, (B, t + 1, V)."""
        read = torch.cat([self.prompt.expand(len(texts), -1), self.words[texts]], 1)
        logits = model(read)[:, len(self.prompt) - 1 :]
        return logits[..., self.words].log_softmax(-1)

    def log_probs(self, model: nn.Module, rows: Tensor) -> Tensor:
        """Log-probabilities (B,) of texts, given by their rows (B,); gradients flow."""
        texts = self.rows[rows]
        every = self.next_log_probs(model, texts[:, :-1])  # (B, n, V)
        return every.gather(2, texts[..., None])[..., 0].sum(1)

    @torch.no_grad()
    def all_log_probs(self, model: nn.Module) -> Tensor:
        """Those of all texts, (V^n,); each beginning is read once."""
        first = self.rows[:: len(self.words)]  # one text for each beginning of n - 1 words
        every = self.next_log_probs(model, first[:, :-1])
        begun = every[:, :-1].gather(2, first[:, :-1, None])[..., 0].sum(1)
        return (begun[:, None] + every[:, -1]).flatten()

    @torch.no_grad()
    def draw(self, model: nn.Module, number: int, generator: torch.Generator) -> Tensor:
        """The rows (number,) of texts that the model writes, word by word."""
        texts = torch.empty(number, 0, dtype=torch.long)
        row = torch.zeros(number, dtype=torch.long)
        for _ in range(self.rows.shape[1]):
            p = self.next_log_probs(model, texts)[:, -1].exp()
            word = torch.multinomial(p, 1, generator=generator)
            texts, row = torch.cat([texts, word], 1), row * len(self.words) + word[:, 0]
        return row
