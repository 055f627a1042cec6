"""How many parameters the parts of a transformer have, by formula.

The shape letters stand for D d_model, H heads, K = D / H numbers in a head, F hidden units of the
feed-forward layer.
"""

from __future__ import annotations


def attention_parameters(
    d_model: int,
    n_heads: int,
    *,
    n_kv_heads: int | None = None,
    bias: bool = False,
) -> int:
    """Parameters of ``MultiHeadAttention``: 2 D^2 for W_Q and W_O, 2 D H_kv K for W_K and W_V.

    With as many key-value heads as heads that is 4 D^2, whatever H is.
    """
    width = _kv_width(d_model, n_heads, n_kv_heads)
    weights = 2 * d_model * d_model + 2 * d_model * width
    return weights + bias * (2 * d_model + 2 * width)


def feed_forward_parameters(d_model: int, d_hidden: int | None = None, *, bias: bool = True) -> int:
    """Parameters of ``FeedForward``: 2 D F, and F + D biases; about 8 D^2 for F = 4 D."""
    d_hidden = 4 * d_model if d_hidden is None else d_hidden
    return 2 * d_model * d_hidden + bias * (d_hidden + d_model)


def gated_feed_forward_parameters(
    d_model: int, d_hidden: int | None = None, *, bias: bool = False
) -> int:
    """Parameters of ``GatedFeedForward``: 3 D F, about 8 D^2 for F = 8 D / 3; 2 F + D biases."""
    d_hidden = 8 * d_model // 3 if d_hidden is None else d_hidden
    return 3 * d_model * d_hidden + bias * (2 * d_hidden + d_model)


def norm_parameters(d_model: int, *, bias: bool = True) -> int:
    """Parameters of ``nn.LayerNorm``; of ``RMSNorm`` with ``bias=False``."""
    return d_model + bias * d_model


def _kv_width(d_model: int, n_heads: int, n_kv_heads: int | None) -> int:
    """H_kv K, the numbers in all keys of one position."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    return n_kv_heads * (d_model // n_heads)
