"""What a transformer's first block reads: the embedding of a token, and what is added to it."""

from __future__ import annotations

from torch import Tensor, nn

from helpers.token_ids import check_ids


class InputEmbedding(nn.Embedding):
    """An embedding of the tokens, to which that of positions is added: x_t = E[token_t] + P_t.

    Dropout acts on the sum.

    Args:
        vocab_size: V.
        d_model: D.
        meaning: what the id V stands for, such as "the beginning of a text"; it has an embedding
            then. None where it stands for nothing and cannot be read.
        positions: adds P_t, such as ``LearnedPositions(64, d_model)``; None for zero.
        dropout: share of x set to zero in training.

    Attributes:
        weight: E, (V, D), with one row more where the id V has a meaning.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        meaning: str | None = None,
        positions: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab_size + (meaning is not None), d_model)
        self.vocab_size, self.meaning = vocab_size, meaning
        self.positions, self.dropout = positions, nn.Dropout(dropout)

    def forward(self, tokens: Tensor, before: Tensor | None = None) -> Tensor:
        """x (B, T, D) for tokens (B, T) that stand behind the tokens ``before`` (B, any).

        Raises:
            ValueError: ids out of range, or more tokens than ``positions`` knows.
        """
        check_ids(tokens, self.vocab_size, self.meaning)
        x = super().forward(tokens)  # (B, T, D)
        if self.positions is not None:
            x = self.positions(x, 0 if before is None else before.shape[1])
        return self.dropout(x)
