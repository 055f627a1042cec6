"""What the parts of a transformer cost, by formula: parameters and FLOPs.

The shape letters stand for T queries, S keys, D d_model, H heads, K = D / H numbers in a head, F
hidden units of the feed-forward layer.

FLOPs are those of one forward pass over one sequence, and of matrix products only: a multiply-add
counts as 2, and norms, activations, softmax, biases, residual sums and rotations count as 0. So
(T x D) times (D x F) costs 2 T D F. A causal mask saves nothing here: the products are counted
whole. Multiply by B for a batch; the backward pass of a matrix product costs twice the forward
pass (Kaplan et al. 2020, section 2.1).
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


def attention_flops(
    d_model: int,
    n_heads: int,
    T: int,
    S: int | None = None,
    *,
    n_kv_heads: int | None = None,
) -> int:
    """FLOPs of ``MultiHeadAttention``; S is T if None.

    4 T D^2 for W_Q and W_O, 4 S D H_kv K for W_K and W_V, 2 T S D for the scores and as many for
    the sums over the values. In self-attention that is 8 T D^2 + 4 T^2 D: from T = 2 D on, the
    quadratic part is the larger one. Fewer key-value heads save on their projections only, because
    every head still meets every key.
    """
    width = _kv_width(d_model, n_heads, n_kv_heads)
    S = T if S is None else S
    projections = 4 * T * d_model * d_model + 4 * S * d_model * width
    return projections + 4 * T * S * d_model


def feed_forward_flops(d_model: int, T: int, d_hidden: int | None = None) -> int:
    """FLOPs of ``FeedForward``: 4 T D F, that is 16 T D^2 for F = 4 D."""
    return 2 * T * feed_forward_parameters(d_model, d_hidden, bias=False)


def block_flops(attention: int, feed_forward: int) -> int:
    """FLOPs of a block from those of its sub-layers; norms and residuals multiply no matrices.

    For the usual sub-layers that is 24 T D^2 + 4 T^2 D, twice the parameters per token and a part
    that grows with the square of the length.
    """
    return attention + feed_forward


def _kv_width(d_model: int, n_heads: int, n_kv_heads: int | None) -> int:
    """H_kv K, the numbers in all keys of one position."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    return n_kv_heads * (d_model // n_heads)
