"""The attentions of recurrent translation: which word of the source a decoder's state looks at.

Both average the keys themselves, without matrices for queries, keys and values; they differ in the
score. Shape letters: B batch, T decoder states, S words of the source.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from helpers.models.attention import attention_scores, masked_softmax


class DotProductAttention(nn.Module):
    """Attention with score(s, h_i) = s^T h_i: nothing to learn, and no scale.

    The lecture's attention, and "dot" of Luong et al. (2015), "Effective approaches to
    attention-based neural machine translation", section 3.1. s and h_i have the same length.
    """

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        mask: Tensor | None = None,
        *,
        projected: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Contexts sum_i weights_ti h_i (B, T, Dk), and the weights (B, T, S).

        Args:
            queries: decoder states s (B, T, Dq).
            keys: encoder states h (B, S, Dk).
            mask: (B, 1, S) or (B, T, S) bool; True = may attend.

        Raises:
            ValueError: a mask that is not bool, or has other dimensions.
        """
        weights = masked_softmax(self._scores(queries, keys, projected), mask)  # (B, T, S)
        return weights @ keys, weights

    def _scores(self, queries: Tensor, keys: Tensor, projected: Tensor | None) -> Tensor:
        return attention_scores(queries, keys, scale=1.0)


class AdditiveAttention(DotProductAttention):
    """Attention with score(s, h_i) = v^T tanh(W s + U h_i + b): a small network compares.

    Bahdanau et al. (2015), "Neural machine translation by jointly learning to align and
    translate", section A.1.2, which leaves biases unwritten.

    Args:
        d_query, d_key: Dq and Dk, the lengths of s and h_i.
        d_attention: the width of the network.
    """

    def __init__(self, d_query: int, d_key: int, d_attention: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_query, d_attention)  # W, b
        self.key = nn.Linear(d_key, d_attention, bias=False)  # U
        self.score = nn.Linear(d_attention, 1, bias=False)  # v

    def project(self, keys: Tensor) -> Tensor:
        """U h_i of every key: (B, S, Dk) -> (B, S, d_attention)."""
        return self.key(keys)

    def _scores(self, queries: Tensor, keys: Tensor, projected: Tensor | None) -> Tensor:
        projected = self.project(keys) if projected is None else projected
        sums = self.query(queries)[:, :, None] + projected[:, None]  # (B, T, S, d_attention)
        return self.score(torch.tanh(sums))[..., 0]
