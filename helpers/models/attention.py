"""Attention: a query is compared with keys, and the values are averaged with the weights it finds.

    attend(Q, K, V) = softmax(Q K^T / sqrt(K)) V

``attend_with_weights`` computes it step by step, ``attend`` by fast kernels.

A mask has one meaning everywhere, that of ``F.scaled_dot_product_attention``: True = may attend
(``nn.MultiheadAttention`` means the opposite). A query that may attend to nothing gets zeros, as
weights and as output, and hands zeros back as gradients. Shape letters: B batch, T query length,
S key length, H heads, G heads of keys and values, D d_model, K d_head.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.models.attention_checks import (
    check_counts,
    check_divides,
    check_mask,
    check_pair,
    check_shapes,
)
from helpers.models.attention_kernels import attend_by_kernel, attend_with_one_query

if TYPE_CHECKING:
    from collections.abc import Callable

    from helpers.models.kv_cache import LayerCache
    from helpers.models.positions import RelativePositions


def attend_with_weights(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """What ``attend`` computes, step by step, with the weights: (..., T, Kv) and (..., T, S)."""
    check_shapes(q, k, v, mask, bias)
    scores = attention_scores(q, k, scale)  # (..., T, S)
    scores = scores if bias is None else scores + bias.to(scores.dtype)
    weights = masked_softmax(scores, _allowed(q, k, mask, causal))
    return weights @ v, weights


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Scaled dot-product attention, softmax(Q K^T / sqrt(K)) V: (..., T, Kv).

    Vaswani et al. (2017), equation 1, by PyTorch's fused kernels, which never store all weights.

    Args:
        q, k, v: queries (..., T, K), keys (..., S, K) and values (..., S, Kv).
        mask: bool, (T, S) or all of (..., T, S), any size 1 where it is shared; True = may attend.
        bias: finite numbers added to the scaled scores, broadcast to them, such as (H, T, S).
        causal: hide later positions too, as ``causal_mask(T, S)`` does.
        scale: factor of the scores; None means 1 / sqrt(K).
        dropout: share of the weights set to zero. It always acts: outside of training give 0.

    Raises:
        ValueError: shapes that do not fit, or a mask that is not bool.
    """
    check_shapes(q, k, v, mask, bias)
    T, S = q.shape[-2], k.shape[-2]
    # PyTorch's own causal mask is aligned top left, which is ours only for T = S.
    by_kernel = causal and mask is None and bias is None and T == S
    return attend_by_kernel(
        q,
        k,
        v,
        _allowed(q, k, mask, causal and not by_kernel),
        bias=bias,
        empty_rows=mask is not None or T > S,
        causal=by_kernel,
        scale=scale,
        dropout=dropout,
    )


def attention_scores(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """Dot products q (..., T, K) with k (..., S, K), times ``scale`` or 1 / sqrt(K): (..., T, S).

    Vaswani et al. (2017), "Attention is all you need", equation 1, before the softmax. Shapes that
    do not fit raise ValueError.
    """
    check_shapes(q, k, k)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return (q * scale) @ k.transpose(-2, -1)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Weights of finite scores (..., T, S): each row sums to 1 over the keys that the mask allows.

    The mask is bool, True = may attend, (T, S) or with all dimensions of the scores; any other
    raises ValueError.
    """
    if mask is None:
        return scores.softmax(-1)
    check_mask(mask, scores.shape)
    some = mask.any(-1, keepdim=True)
    # An empty row keeps its scores and is cleared afterwards: of nothing but -inf, NaN would come.
    return scores.masked_fill(~mask & some, -math.inf).softmax(-1).masked_fill(~some, 0.0)


def _allowed(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    """Mask and causality in one."""
    T, S = q.shape[-2], k.shape[-2]
    if not causal or T == 1 <= S:  # a single query is the last: it sees all
        return mask
    earlier = causal_mask(T, S, q.device)
    return earlier if mask is None else mask & earlier


def causal_mask(T: int, S: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """Who may see whom when nobody looks ahead: (T, S) bool, True = may attend; S = T by default.

    The queries are the last T of S positions, as when the keys of earlier tokens are kept: query t
    is the position S - T + t. With S < T the first T - S queries see nothing.
    """
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    """True where a key counts and is no padding: lengths (B,) -> (B, 1, 1, S) bool.

    The ones stand for heads and queries; an attention without heads takes the mask's ``[:, 0]``.
    Lengths other than whole numbers from 0 to S raise ValueError.
    """
    check_counts("lengths", lengths, 1, S)
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]


def prefix_mask(prefix: int | Tensor, T: int) -> Tensor:
    """All T queries see the first ``prefix`` positions, the rest is causal: True = may attend.

    One length gives (T, T) bool, one per sequence (B,) gives (B, 1, T, T), on its device; anything
    but whole numbers from 0 to T raises ValueError. The mask of a prefix language model: Raffel et
    al. (2020), "Exploring the limits of transfer learning", section 3.2.1.
    """
    prefix = torch.as_tensor(prefix)
    check_counts("prefix", prefix, min(prefix.dim(), 1), T)
    seen = torch.arange(T, device=prefix.device) < prefix[..., None, None]  # (B, 1, T) or (1, T)
    mask = seen | causal_mask(T, device=prefix.device)
    return mask if prefix.dim() == 0 else mask[:, None]


class MultiHeadAttention(nn.Module):
    """H attentions side by side, each in K = D / H dimensions of its own.

    MultiHead(x) = W_O [head_1; ...; head_H],  head_h = attend(W_Q,h x, W_K,h x, W_V,h x)

    Vaswani et al. (2017), section 3.2.2. With G < H, neighbouring heads share keys and values:
    Ainslie et al. (2023), "GQA". With G = 1 all do: Shazeer (2019), "Fast transformer decoding".

    Args:
        d_model: D.
        n_heads: H, which divides D.
        n_kv_heads: G, which divides H; None means H.
        d_source: length of the vectors that keys and values are made of; None means D.
        bias: whether the four linear maps add a vector.
        dropout: share of the weights set to zero in training.
        positions: relative positions, which turn queries and keys or add to the scores. The
            queries are the last T of the S positions, as in ``causal_mask``.
        qk_norm: makes the norms of each head's queries and keys, before positions turn them, such
            as ``RMSNorm``; called twice with K. Henry et al. (2020), "Query-key normalization".
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_source: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        positions: RelativePositions | None = None,
        qk_norm: Callable[[int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_divides("d_model", d_model, "n_heads", n_heads)
        check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias)  # W_Q
        self.key = nn.Linear(d_source or d_model, n_kv_heads * self.d_head, bias)  # W_K
        self.value = nn.Linear(d_source or d_model, n_kv_heads * self.d_head, bias)  # W_V
        self.output = nn.Linear(d_model, d_model, bias)  # W_O
        self.dropout, self.positions = nn.Dropout(dropout), positions
        self.query_norm, self.key_norm = (qk_norm and qk_norm(self.d_head) for _ in range(2))

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """Self-attention over x, or cross-attention from x to source: (B, T, D).

        Args:
            x: where the queries come from, (B, T, D).
            source: where keys and values come from, (B, S, d_source); None means x.
            mask: bool, (T, S) or (B, H, T, S), any size 1 where it is shared; True = may attend.
            causal: hide later positions too, as ``causal_mask(T, S)`` does.
            cache: keys and values of earlier positions, for self-attention. Those of x are added
                to them, and x stands behind them: S counts all.

        Raises:
            ValueError: shapes that do not fit, or a mask that is not bool.
        """
        q, k, v, bias = self._heads(x, x if source is None else source, cache)
        dropout = self.dropout.p if self.training else 0.0
        if q.shape[2] == 1 and mask is None and bias is None:  # it sees all keys
            heads = attend_with_one_query(q, k, v, dropout)  # (B, H, 1, K)
        else:
            k, v = self._for_all_heads(k), self._for_all_heads(v)
            heads = attend(q, k, v, mask, bias=bias, causal=causal, dropout=dropout)  # (B, H, T, K)
        return self.output(heads.transpose(1, 2).flatten(2))  # (B, T, D)

    def weights(
        self,
        x: Tensor,
        source: Tensor | None = None,
        mask: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """The weights (B, H, T, S) behind ``forward``, without dropout."""
        q, k, v, bias = self._heads(x, x if source is None else source)
        k, v = self._for_all_heads(k), self._for_all_heads(v)
        return attend_with_weights(q, k, v, mask, bias=bias, causal=causal)[1]

    def _heads(
        self, x: Tensor, source: Tensor, cache: LayerCache | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """q (B, H, T, K), k and v (B, G, S, K), and what the positions add to the scores."""
        check_pair(x, source, self.query.in_features, self.key.in_features)
        projections = self.query(x), self.key(source), self.value(source)
        q, k, v = (y.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for y in projections)
        if self.query_norm is not None:
            q, k = self.query_norm(q), self.key_norm(k)
        before = 0 if cache is None else cache.length
        bias, T, S = None, q.shape[2], before + k.shape[2]
        if self.positions is not None:
            q, k = self.positions.rotate(q, start=S - T), self.positions.rotate(k, start=before)
            bias = self.positions.bias(T, S)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, G, S, K)
        return q, k, v, bias

    def _for_all_heads(self, y: Tensor) -> Tensor:
        """Keys or values (B, G, S, K), each as often as heads share it: (B, H, S, K)."""
        times = self.n_heads // self.n_kv_heads
        return y if times == 1 else y.repeat_interleave(times, 1)
