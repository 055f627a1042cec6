"""Attention: a query is compared with keys, and the values are averaged with the weights it finds.

    attend(Q, K, V) = softmax(Q K^T / sqrt(K)) V

``attend_with_weights`` computes it step by step, ``attend`` by fast kernels; ``MultiHeadAttention``
is the layer. ``causal_mask``, ``padding_mask`` and ``prefix_mask`` say who may look at what.

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
from torch.nn import functional as F

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
) -> tuple[Tensor, Tensor]:
    """What ``attend`` computes, step by step, with the weights: (..., T, Kv) and (..., T, S)."""
    scores = attention_scores(q, k)  # (..., T, S)
    scores = scores if bias is None else scores + bias.to(scores.dtype)
    weights = masked_softmax(scores, _allowed(q, k, mask, causal))
    return weights @ v, weights


def attention_scores(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """Dot products q (..., T, K) with k (..., S, K), times ``scale`` or 1 / sqrt(K): (..., T, S).

    Vaswani et al. (2017), "Attention is all you need", equation 1, before the softmax.
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return (q * scale) @ k.transpose(-2, -1)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Weights of finite scores (..., T, S): each row sums to 1 over the keys that the mask allows.

    The mask is bool, True = may attend, (T, S) or with all dimensions of the scores; any other
    raises ValueError.
    """
    if mask is None:
        return scores.softmax(-1)
    _check_mask(mask, scores.dim())
    some = mask.any(-1, keepdim=True)
    # An empty row keeps its scores and is cleared afterwards: of nothing but -inf, NaN would come.
    return scores.masked_fill(~mask & some, -math.inf).softmax(-1).masked_fill(~some, 0.0)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
) -> Tensor:
    """Scaled dot-product attention, softmax(Q K^T / sqrt(K)) V: (..., T, Kv).

    Vaswani et al. (2017), equation 1, by PyTorch's fused kernels, which never store all weights.

    Args:
        q, k, v: queries (..., T, K), keys (..., S, K) and values (..., S, Kv).
        mask: bool, (T, S) or all of (..., T, S), any size 1 where it is shared; True = may attend.
        bias: finite numbers added to the scaled scores, broadcast to them, such as (H, T, S).
        causal: hide later positions too, as ``causal_mask(T, S)`` does.
        dropout: share of the weights set to zero. It always acts: outside of training give 0.

    Raises:
        ValueError: a mask that is not bool, or has other dimensions.
    """
    T, S = q.shape[-2], k.shape[-2]
    # On a CPU the kernels' backward pass is slow: training computes the products one by one.
    by_products = q.device.type == "cpu" and torch.is_grad_enabled() and q.requires_grad
    # PyTorch's own causal mask is aligned top left, which is ours only for T = S.
    torch_causal = causal and T == S and mask is None and bias is None and not by_products
    allowed = _allowed(q, k, mask, causal and not torch_causal)
    added = None if bias is None else bias.to(q.dtype)
    some = None
    if allowed is not None:
        if mask is not None or T > S:
            # What an empty row gives differs between kernels: they see an open one, then cleared.
            some = allowed.any(-1, keepdim=True)
            allowed = allowed | ~some
        added = torch.where(allowed, q.new_zeros(()) if added is None else added, -math.inf)
    if by_products:
        scores = attention_scores(q, k)
        scores = scores if added is None else scores + added
        output = F.dropout(scores.softmax(-1), dropout) @ v
    else:
        if added is not None:  # the fused kernels want every dimension
            added = added[(None,) * (q.dim() - added.dim())]
        output = F.scaled_dot_product_attention(
            q, k, v, attn_mask=added, dropout_p=dropout, is_causal=torch_causal
        )
    return output if some is None else output.masked_fill(~some, 0.0)


def attend_with_one_query(q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0) -> Tensor:
    """One query in each head that sees all keys, as in generating: (B, H, 1, K).

    Args:
        q: (B, H, 1, K).
        k, v: (B, G, S, K), each shared by H / G neighbouring heads.
        dropout: share of the weights set to zero.
    """
    shape, dtype = q.shape, q.dtype
    # The heads that share keys and values stand as the queries of one head: no copies.
    q = q.reshape(len(q), k.shape[1], -1, q.shape[-1])  # (B, G, H/G, K)
    if q.device.type == "cpu" and dtype == torch.bfloat16:
        q, k, v = q.float(), k.float(), v.float()  # a third of the time there
    return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout).to(dtype).reshape(shape)


def _allowed(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    """Mask and causality in one."""
    if mask is not None:
        _check_mask(mask, q.dim())
    T, S = q.shape[-2], k.shape[-2]
    if not causal or T == 1 <= S:  # a single query is the last: it sees all
        return mask
    earlier = causal_mask(T, S, q.device)
    return earlier if mask is None else mask & earlier


def _check_mask(mask: Tensor, dimensions: int) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(
            f"The mask has the type {mask.dtype}; expected torch.bool, where True means that the "
            "query may attend to the key. Numbers to add to the scores are a bias."
        )
    # Beside heads (B, T, S) would be read as (H, T, S), unnoticed where B = H.
    if mask.dim() not in (2, dimensions):
        raise ValueError(
            f"The mask has the shape {tuple(mask.shape)}; expected (T, S), or all {dimensions} "
            "dimensions of the scores."
        )


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
    """
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]


def prefix_mask(prefix: int | Tensor, T: int) -> Tensor:
    """All T queries see the first ``prefix`` positions, the rest is causal: True = may attend.

    One length gives (T, T) bool, one per sequence (B,) gives (B, 1, T, T), on its device. The mask
    of a prefix language model: Raffel et al. (2020), "Exploring the limits of transfer learning",
    section 3.2.1.
    """
    prefix = torch.as_tensor(prefix)
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
        bias: whether the four linear maps add a vector.
        dropout: share of the weights set to zero in training.
        positions: relative positions, which turn queries and keys or add to the scores. The
            queries are the last T of the S positions, as in ``causal_mask``.
        qk_norm: makes the norms of each head's queries and keys, before positions turn them, such
            as ``RMSNorm``; called twice with K. Henry et al. (2020), "Query-key normalization".

    Raises:
        ValueError: H does not divide D, or G does not divide H.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        positions: RelativePositions | None = None,
        qk_norm: Callable[[int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(
                f"d_model = {d_model} must be divisible by n_heads = {n_heads}, and that by "
                f"n_kv_heads = {n_kv_heads}."
            )
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias)  # W_Q
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias)  # W_K
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias)  # W_V
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
            source: where keys and values come from, (B, S, D); None means x.
            mask: bool, (T, S) or (B, H, T, S), any size 1 where it is shared; True = may attend.
            causal: hide later positions too, as ``causal_mask(T, S)`` does.
            cache: keys and values of earlier positions, for self-attention. Those of x are added
                to them, and x stands behind them: S counts all.

        Raises:
            ValueError: x without three dimensions, or a mask as in ``attend``.
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
        B, T, _ = x.shape
        new = source.shape[1]
        q, k, v = self._projected(x, source)
        q = q.view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        k = k.view(B, new, self.n_kv_heads, self.d_head).transpose(1, 2)
        v = v.view(B, new, self.n_kv_heads, self.d_head).transpose(1, 2)
        if self.query_norm is not None:
            q, k = self.query_norm(q), self.key_norm(k)
        before = 0 if cache is None else cache.length
        S = before + new
        bias = None
        if self.positions is not None:
            q, k = self.positions.rotate(q, start=S - T), self.positions.rotate(k, start=before)
            bias = self.positions.bias(T, S)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, G, S, K)
        return q, k, v, bias

    def _projected(self, x: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, T, H K), keys and values (B, S, G K), their heads side by side."""
        return self.query(x), self.key(source), self.value(source)

    def _for_all_heads(self, y: Tensor) -> Tensor:
        """Keys or values (B, G, S, K), each as often as heads share it: (B, H, S, K)."""
        times = self.n_heads // self.n_kv_heads
        return y if times == 1 else y.repeat_interleave(times, 1)
