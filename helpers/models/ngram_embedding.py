"""What an n-gram model knows, handed to a network: vectors for the last tokens and for n-grams.

They are added to what a GPT's first block reads. ``gpt_with_ngrams`` makes such a model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.gpt import GPT, GPTConfig
from helpers.models.stack import InputEmbedding

# h <- (MULTIPLIER h + id + 1) mod PRIME stays far below 2^63, so every machine finds the same rows.
_PRIME, _MULTIPLIER = 2**31 - 1, 1_000_003


class HashedNGrams(nn.Module):
    """A vector for the n-gram that ends at each token, summed over n = 2 .. order.

        y_t = sum over n of  E_n[hash(token_{t-n+1}, ..., token_t) mod rows]

    A transformer has to find out through its layers which tokens stand side by side; here one look
    into a table says it, at a cost that does not grow with the table. Different n-grams may share a
    row, which costs little as long as the frequent ones mostly do not. Rows begin at zero, and the
    gradient is sparse: an optimizer such as ``torch.optim.SparseAdam`` touches only the rows that a
    batch has read.

    Joulin et al. (2017), "Bag of tricks for efficient text classification", section 2.2, hash
    n-grams for a linear classifier; Pagnoni et al. (2024), "Byte latent transformer", section
    3.2.1, add hashed n-grams to the embeddings of a transformer.

    Args:
        vocab_size: V; the place before a text counts as the id V.
        d_model: D.
        order: the longest n, 2 or more.
        rows: of each of the order - 1 tables.
        dropout: share of the vectors that are left out in training, each n of each place by itself;
            the others are divided by 1 - dropout.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        order: int,
        rows: int = 2**16,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size, self.order, self.rows, self.dropout = vocab_size, order, rows, dropout
        # One table below the other: one look-up, and one update, for all of them.
        self.tables = nn.EmbeddingBag((order - 1) * rows, d_model, mode="sum", sparse=True)
        self.start_weights()

    @torch.no_grad()
    def start_weights(self) -> None:
        """Set every row to zero, as training should begin."""
        self.tables.weight.zero_()

    def forward(self, tokens: Tensor, before: Tensor | None = None) -> Tensor:
        """y (B, T, D) for tokens (B, T) that stand behind the tokens ``before`` (B, any)."""
        found = enumerate(self.hashes(tokens, before))
        rows = torch.stack([row + n * self.rows for n, row in found], -1).flatten(0, 1)  # (BT, N)
        kept = None
        if self.training and self.dropout:
            kept = F.dropout(torch.ones_like(rows, dtype=self.tables.weight.dtype), self.dropout)
        return self.tables(rows, per_sample_weights=kept).view(*tokens.shape, -1)

    def hashes(self, tokens: Tensor, before: Tensor | None = None) -> list[Tensor]:
        """The rows that are read, (B, T) for each n = 2 .. order."""
        reach, T = self.order - 1, tokens.shape[1]
        text = tokens if before is None else torch.cat([before[:, -reach:], tokens], 1)
        text = F.pad(text, (max(0, reach + T - text.shape[1]), 0), value=self.vocab_size)
        found = []
        for n in range(2, self.order + 1):
            value = torch.zeros_like(tokens)
            for back in range(n - 1, -1, -1):
                token = text[:, text.shape[1] - T - back : text.shape[1] - back]
                value = (_MULTIPLIER * value + token + 1) % _PRIME
            found.append(value % self.rows)
        return found


class NearbyTokens(nn.Module):
    """An input embedding to which vectors of earlier tokens and of n-grams add up.

        x_t = E(token_t) + E_1[token_{t-1}] + ... + E_{n-1}[token_{t-n+1}] + N_t

    where tokens before the text count as zero.

    Args:
        embedding: makes E(token_t), with positions if it has any; it knows V and D.
        last_tokens: n, how many of the last tokens have an embedding in x_t; those of earlier
            tokens begin with deviation 1, as the modern GPT's.
        ngrams: makes N_t; None for zero.
    """

    def __init__(
        self, embedding: InputEmbedding, last_tokens: int = 1, ngrams: HashedNGrams | None = None
    ) -> None:
        super().__init__()
        V, D = embedding.vocab_size, embedding.embedding_dim
        self.embedding, self.ngrams = embedding, ngrams
        self.earlier = nn.ModuleList(nn.Embedding(V, D) for _ in range(last_tokens - 1))

    @property
    def weight(self) -> Tensor:
        """E, (V, D), which may be the output's matrix, too."""
        return self.embedding.weight

    def forward(self, tokens: Tensor, before: Tensor | None = None) -> Tensor:
        """x (B, T, D) for tokens (B, T) that stand behind the tokens ``before`` (B, any)."""
        x, T = self.embedding(tokens, before), tokens.shape[1]
        near = tokens if before is None else torch.cat([before, tokens], 1)
        for back, table in enumerate(self.earlier, 1):
            found = table(near[:, : max(0, near.shape[1] - back)][:, -T:])  # (B, up to T, D)
            x = x + F.pad(found, (0, 0, T - found.shape[1], 0))
        return x if self.ngrams is None else x + self.ngrams(tokens, before)


def gpt_with_ngrams(
    vocab_size: int,
    *,
    last_tokens: int = 1,
    ngrams: int = 1,
    ngram_rows: int = 2**16,
    ngram_dropout: float = 0.0,
    **settings: Any,
) -> GPT:
    """The modern GPT, whose first block reads more than one token at each place.

    Args:
        vocab_size, settings: as for ``GPTConfig.modern``.
        last_tokens: see ``NearbyTokens``; 1 for the token itself alone.
        ngrams, ngram_rows, ngram_dropout: order, rows and dropout of ``HashedNGrams``; 1 for no
            n-grams. Where a text is read more than once, long n-grams that occur once give their
            next token away, which dropout is against.
    """
    model = GPT(GPTConfig.modern(vocab_size, **settings))
    tables = None
    if ngrams > 1:
        D = model.config.d_model
        tables = HashedNGrams(vocab_size, D, ngrams, ngram_rows, ngram_dropout)
    if last_tokens > 1 or tables is not None:
        nearby = NearbyTokens(model.embedding, last_tokens, tables)
        model.register_module("embedding", nearby)
    return model
