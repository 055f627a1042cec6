"""What a transformer's first block reads: the embedding of a token, and what is added to it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.ngram_embedding import HashedNGrams
from helpers.token_ids import check_ids


class InputEmbedding(nn.Embedding):
    """An embedding of the tokens, to which those of earlier tokens, n-grams and positions add up.

        x_t = E_0[token_t] + E_1[token_{t-1}] + ... + E_{n-1}[token_{t-n+1}] + N_t + P_t

    where tokens before the text count as zero. Dropout acts on the sum.

    Args:
        vocab_size: V.
        d_model: D.
        meaning: what the id V stands for, such as "the beginning of a text"; it has an embedding
            then. None where it stands for nothing and cannot be read.
        last_tokens: n, how many of the last tokens have an embedding in x_t.
        ngrams: makes N_t; None for zero.
        positions: adds P_t, such as ``LearnedPositions(64, d_model)``; None for zero.
        dropout: share of x set to zero in training.

    Attributes:
        weight: E_0, (V, D), with one row more where the id V has a meaning.
        earlier: E_1, ..., E_{n-1}.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        meaning: str | None = None,
        last_tokens: int = 1,
        ngrams: HashedNGrams | None = None,
        positions: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab_size + (meaning is not None), d_model)
        self.vocab_size, self.meaning = vocab_size, meaning
        self.earlier = nn.ModuleList(
            nn.Embedding(vocab_size, d_model) for _ in range(last_tokens - 1)
        )
        self.ngrams, self.positions, self.dropout = ngrams, positions, nn.Dropout(dropout)

    def forward(self, tokens: Tensor, before: Tensor | None = None) -> Tensor:
        """x (B, T, D) for tokens (B, T) that stand behind the tokens ``before`` (B, any).

        Raises:
            ValueError: ids out of range, or more tokens than ``positions`` knows.
        """
        check_ids(tokens, self.vocab_size, self.meaning)
        x, T = super().forward(tokens), tokens.shape[1]  # (B, T, D)
        if self.earlier:
            near = tokens if before is None else torch.cat([before, tokens], 1)
            for back, table in enumerate(self.earlier, 1):
                found = table(near[:, : max(0, near.shape[1] - back)][:, -T:])  # (B, up to T, D)
                x = x + F.pad(found, (0, 0, T - found.shape[1], 0))
        if self.ngrams is not None:
            x = x + self.ngrams(tokens, before)
        if self.positions is not None:
            x = self.positions(x, 0 if before is None else before.shape[1])
        return self.dropout(x)
