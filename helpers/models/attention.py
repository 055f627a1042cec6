"""Attention: a query is compared with keys, and the values are averaged with the weights it finds.

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
    _check_counts("lengths", lengths, 1, S)
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]


def prefix_mask(prefix: int | Tensor, T: int) -> Tensor:
    """All T queries see the first ``prefix`` positions, the rest is causal: True = may attend.

    One length gives (T, T) bool, one per sequence (B,) gives (B, 1, T, T), on its device; anything
    but whole numbers from 0 to T raises ValueError. The mask of a prefix language model: Raffel et
    al. (2020), "Exploring the limits of transfer learning", section 3.2.1.
    """
    prefix = torch.as_tensor(prefix)
    _check_counts("prefix", prefix, min(prefix.dim(), 1), T)
    seen = torch.arange(T, device=prefix.device) < prefix[..., None, None]  # (B, 1, T) or (1, T)
    mask = seen | causal_mask(T, device=prefix.device)
    return mask if prefix.dim() == 0 else mask[:, None]


def attention_scores(q: Tensor, k: Tensor, scale: float | None = None) -> Tensor:
    """Dot products q (..., T, K) with k (..., S, K), times ``scale`` or 1 / sqrt(K): (..., T, S).

    Vaswani et al. (2017), "Attention is all you need", equation 1, before the softmax. Shapes that
    do not fit raise ValueError.
    """
    _prepare(q, k, k, None, None, causal=False)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return (q * scale) @ k.transpose(-2, -1)


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Weights of finite scores (..., T, S): each row sums to 1 over the keys that the mask allows.

    The mask is bool, True = may attend, (T, S) or with all dimensions of the scores; any other
    raises ValueError.
    """
    if mask is None:
        return scores.softmax(-1)
    _check_mask(mask, scores.shape)
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
    # PyTorch's own causal mask is aligned top left, which is ours only for T = S.
    by_kernel = causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]
    allowed = _prepare(q, k, v, mask, bias, causal and not by_kernel)
    added, some = None if bias is None else bias.to(q.dtype), None
    if allowed is not None:
        if mask is not None or q.shape[-2] > k.shape[-2]:  # only then can a row be empty
            # What an empty row gives differs between kernels: they see an open one, then cleared.
            some = allowed.any(-1, keepdim=True)
            allowed = allowed | ~some
        added = allowed if added is None else torch.where(allowed, added, -math.inf)
    if added is not None:  # the fused kernels want every dimension
        added = added[(None,) * (q.dim() - added.dim())]
    if q.device.type == "cpu" and torch.is_grad_enabled() and q.requires_grad:
        if by_kernel:
            added = torch.full((q.shape[-2],) * 2, -math.inf, dtype=q.dtype).triu(1)
        output = _by_products(q, k, v, added, dropout, scale)
    else:
        output = F.scaled_dot_product_attention(
            q, k, v, attn_mask=added, dropout_p=dropout, is_causal=by_kernel, scale=scale
        )
    return output if some is None else output.masked_fill(~some, 0.0)


def _by_products(
    q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, dropout: float, scale: float | None
) -> Tensor:
    """What the fused kernel computes, for training on a CPU: its backward pass is slow there."""
    scores = attention_scores(q, k, scale)
    if added is not None and added.dtype == torch.bool:
        scores = scores.masked_fill(~added, -math.inf)
    elif added is not None:
        scores = scores + added
    weights = scores.softmax(-1)
    return F.dropout(weights, dropout) @ v


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
    mask = _prepare(q, k, v, mask, bias, causal)
    scores = attention_scores(q, k, scale)
    weights = masked_softmax(scores if bias is None else scores + bias.to(scores.dtype), mask)
    return weights @ v, weights


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
            projected: ``project(keys)`` of ``AdditiveAttention``, where many calls share it.

        Raises:
            ValueError: shapes that do not fit, or a mask that is not bool.
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
        _check_pair(queries, keys, self.query.in_features, self.key.in_features)
        projected = self.project(keys) if projected is None else projected
        sums = self.query(queries)[:, :, None] + projected[:, None]  # (B, T, S, d_attention)
        return self.score(torch.tanh(sums))[..., 0]


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
        _check_divides("d_model", d_model, "n_heads", n_heads)
        _check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads)
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
        if q.shape[2] == 1 and mask is None and bias is None:
            # It sees all keys, so the heads that share them may stand as its queries: no copies.
            q = q.reshape(len(q), k.shape[1], -1, self.d_head)  # (B, G, H/G, K)
            if q.device.type == "cpu" and q.dtype == torch.bfloat16:
                q, k, v = q.float(), k.float(), v.float()  # a third of the time there
            heads = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
            return self.output(heads.to(x.dtype).reshape(x.shape))  # (B, 1, D)
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
        _check_pair(x, source, self.query.in_features, self.key.in_features)
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


def _prepare(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None, causal: bool
) -> Tensor | None:
    """Check that everything fits; mask and causality in one."""
    same = q.shape[:-2] == k.shape[:-2] and q.shape[-1:] == k.shape[-1:]
    if q.dim() < 2 or not same or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(
            f"q, k and v have the shapes {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}; "
            "expected (..., T, K), (..., S, K) and (..., S, Kv) with the same sizes in front."
        )
    shape = q.shape[:-1] + k.shape[-2:-1]  # (..., T, S)
    if bias is not None:
        _check_broadcast("bias", bias, shape, set(range(2, len(shape) + 1)))
    if mask is not None:
        _check_mask(mask, shape)
    if not causal or shape[-2] == 1 <= shape[-1]:  # a single query is the last: it sees all
        return mask
    earlier = causal_mask(shape[-2], shape[-1], q.device)
    return earlier if mask is None else mask & earlier


def _check_mask(mask: Tensor, shape: torch.Size) -> None:
    if mask.dtype != torch.bool:
        raise ValueError(
            f"The mask has the type {mask.dtype}; expected torch.bool, where True means that the "
            "query may attend to the key. Numbers to add to the scores are a bias."
        )
    # Beside heads (B, T, S) would be read as (H, T, S), unnoticed where B = H.
    _check_broadcast("mask", mask, shape, {2, len(shape)})


def _check_broadcast(name: str, given: Tensor, shape: torch.Size, allowed: set[int]) -> None:
    pairs = zip(reversed(given.shape), reversed(shape), strict=False)
    if given.dim() not in allowed or any(size not in (1, full) for size, full in pairs):
        raise ValueError(
            f"The {name} has the shape {tuple(given.shape)}, the scores {tuple(shape)}; expected "
            f"{' or '.join(map(str, sorted(allowed)))} dimensions, each of the scores' size or 1."
        )


def _check_pair(x: Tensor, source: Tensor, d_query: int, d_key: int) -> None:
    fits = x.dim() == source.dim() == 3 and len(x) == len(source)
    if not fits or (x.shape[-1], source.shape[-1]) != (d_query, d_key):
        raise ValueError(
            f"Queries come from the shape {tuple(x.shape)}, keys from {tuple(source.shape)}; "
            f"expected (B, T, {d_query}) and (B, S, {d_key}) with the same B."
        )


def _check_counts(name: str, counts: Tensor, dimensions: int, most: int) -> None:
    whole = not (counts.is_floating_point() or counts.dtype == torch.bool)
    if not whole or counts.dim() != dimensions or bool(((counts < 0) | (counts > most)).any()):
        raise ValueError(f"{name} must be whole numbers from 0 to {most}, (B,), not {counts}.")


def _check_divides(name: str, size: int, part: str, parts: int) -> None:
    if parts < 1 or size < 1 or size % parts:
        raise ValueError(
            f"{name} = {size} does not split evenly by {part} = {parts}: choose a divisor of it."
        )
