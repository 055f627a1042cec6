"""One layer of attention that looks by positions alone, and hands over what it finds there.

It shows what heads can and cannot bring back: queries and keys are made of positions, values of the
inputs. Shape letters: B batch, T positions, D d_model, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from helpers.models.attention import MultiHeadAttention


class LookBack(nn.Module):
    """answer(W_O [head_1; ...; head_H]) of T inputs, with causal weights that are always the same.

    Args:
        n_heads: H.
        d_model: D.
        length: T.
    """

    def __init__(
        self, embed: nn.Module, answer: nn.Module, n_heads: int, d_model: int = 32, length: int = 12
    ) -> None:
        super().__init__()
        self.embed, self.answer = embed, answer
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.positions = nn.Parameter(0.5 * torch.randn(1, length, d_model))

    def weights(self) -> Tensor:
        """Of all heads, (H, T, T)."""
        return self.attention.weights(self.positions, causal=True)[0]

    def forward(self, x: Tensor) -> Tensor:
        values = self.attention.value(self.embed(x)).unflatten(-1, (self.attention.n_heads, -1))
        heads = self.weights() @ values.transpose(1, 2)  # (B, H, T, K)
        return self.answer(self.attention.output(heads.transpose(1, 2).flatten(2)))
