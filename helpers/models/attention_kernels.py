"""How attention is computed quickly: by PyTorch's fused kernels, and around what they do slowly.

What is computed is said in ``helpers.models.attention``, whose functions call these and check what
they are given. Shape letters as there.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def attend_by_kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    empty_rows: bool = True,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """softmax(Q K^T scale + bias) V over the allowed keys, zero where there are none: (..., T, Kv).

    Args:
        q, k, v: queries (..., T, K), keys (..., S, K) and values (..., S, Kv).
        allowed: bool, broadcast to (..., T, S); True = may attend.
        bias: numbers, broadcast to (..., T, S).
        empty_rows: whether some row of ``allowed`` may hold nothing.
        causal: the kernel's own mask, for T = S and in place of ``allowed`` and ``bias``.
        scale: factor of the scores; None means 1 / sqrt(K).
        dropout: share of the weights set to zero.
    """
    added, some = None if bias is None else bias.to(q.dtype), None
    if allowed is not None:
        if empty_rows:
            # What an empty row gives differs between kernels: they see an open one, then cleared.
            some = allowed.any(-1, keepdim=True)
            allowed = allowed | ~some
        added = allowed if added is None else torch.where(allowed, added, -math.inf)
    if added is not None:  # the fused kernels want every dimension
        added = added[(None,) * (q.dim() - added.dim())]
    if q.device.type == "cpu" and torch.is_grad_enabled() and q.requires_grad:
        if causal:
            added = torch.full((q.shape[-2],) * 2, -math.inf, dtype=q.dtype).triu(1)
        output = _by_products(q, k, v, added, scale, dropout)
    else:
        output = F.scaled_dot_product_attention(
            q, k, v, attn_mask=added, dropout_p=dropout, is_causal=causal, scale=scale
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


def _by_products(
    q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, scale: float | None, dropout: float
) -> Tensor:
    """What the fused kernel computes, for training on a CPU: its backward pass is slow there."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = (q * scale) @ k.transpose(-2, -1)
    if added is not None and added.dtype == torch.bool:
        scores = scores.masked_fill(~added, -math.inf)
    elif added is not None:
        scores = scores + added
    return F.dropout(scores.softmax(-1), dropout) @ v
