"""The parts of a transformer block around its attention: norms, feed-forward layers, residuals.

A block has two sub-layers: attention, through which the positions look at each other, and a
feed-forward layer, which is applied to every position by itself. Each has a residual connection,
x + f(x), through whose first term the gradient passes unchanged. Where the norm stands makes two
kinds of block, *post-norm* (Vaswani et al. 2017) and *pre-norm* (most models since GPT-2).

The sub-layers are handed to a block ready-made, so every kind of attention goes with every kind of
feed-forward layer and of norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from helpers.models.kv_cache import LayerCache


class RMSNorm(nn.Module):
    """Root mean square normalization: every position's vector is divided by its root mean square.

    y = x / sqrt(mean(x^2) + eps) * g. The mean stays where it is, and there is no bias. Zhang and
    Sennrich (2019), section 4; Godey's lecture writes it without eps. The parameter is named as in
    ``nn.RMSNorm``: weight is g.

    Args:
        d_model: D.
        eps: added to the mean of the squares; keeps x = 0 from a division by zero.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize x (..., D); the shape stays."""
        # With a gain, PyTorch's own backward pass is three times as slow on a CPU.
        return F.rms_norm(x, (self.d_model,), None, self.eps) * self.weight.to(x.dtype)


class FeedForward(nn.Module):
    """The position-wise feed-forward layer: FFN(x) = W2 f(W1 x + b1) + b2.

    Vaswani et al. (2017), section 3.3, with f = ReLU; GPT and BERT take f = GELU. The output of
    attention is linear in its values; this layer adds the non-linearity (Lerner's lecture).

    Args:
        d_model: D.
        d_hidden: F, the width between the two matrices; 4 D if None.
        activation: f.
        bias: with b1 and b2.
        dropout: share of the hidden units set to zero in training.

    Attributes:
        up: W1 and b1.
        down: W2 and b2.
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        self.up = nn.Linear(d_model, d_hidden, bias=bias)
        self.down = nn.Linear(d_hidden, d_model, bias=bias)
        self.activation, self.dropout = activation, nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        hidden = self.activation(self.up(x))  # (..., F)
        return self.down(self.dropout(hidden))  # (..., D)


class GatedFeedForward(nn.Module):
    """The gated feed-forward layer: FFN(x) = W2 (f(W x) * V x), one product per hidden unit.

    With f = SiLU, also called Swish, this is SwiGLU (LLaMA, PaLM); with GELU it is GEGLU, with ReLU
    ReGLU, with the sigmoid GLU. Shazeer (2020), "GLU variants improve transformer", section 2.
    Three matrices of width 8 D / 3 have as many parameters as the two of width 4 D of
    ``FeedForward``; the width is rounded down.

    Args:
        d_model: D.
        d_hidden: F, the number of hidden units; 8 D / 3 if None.
        activation: f.
        bias: with a bias on each of the three, which the paper leaves out.
        dropout: share of the hidden units set to zero in training.

    Attributes:
        gate: W.
        up: V.
        down: W2.
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = F.silu,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        d_hidden = 8 * d_model // 3 if d_hidden is None else d_hidden
        self.gate = nn.Linear(d_model, d_hidden, bias=bias)
        self.up = nn.Linear(d_model, d_hidden, bias=bias)
        self.down = nn.Linear(d_hidden, d_model, bias=bias)
        self.activation, self.dropout = activation, nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        hidden = self.activation(self.gate(x)) * self.up(x)  # (..., F)
        return self.down(self.dropout(hidden))  # (..., D)


class PreNormBlock(nn.Module):
    """A transformer block whose sub-layers read a normalized copy of the residual stream.

    x <- x + attention(norm(x)),   x <- x + feed_forward(norm(x))

    From the first block to the last, x is only added to, so the gradient reaches every layer
    through the identity. The sum itself is never normalized: after the last block a model applies
    one more norm. Radford et al. (2019), section 2.3; Xiong et al. (2020) on why it trains without
    warm-up.

    Args:
        d_model: D.
        attention: the first sub-layer, such as ``MultiHeadAttention(d_model, n_heads)``.
        feed_forward: the second, such as ``FeedForward(d_model)``.
        norm: the kind of norm, such as ``nn.LayerNorm`` or ``RMSNorm``; called twice with D.
        dropout: share of each sub-layer's output set to zero in training, before it is added
            (Vaswani et al. 2017, section 5.4).
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        feed_forward: nn.Module,
        norm: Callable[[int], nn.Module] = nn.LayerNorm,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention_norm, self.attention = norm(d_model), attention
        self.feed_forward_norm, self.feed_forward = norm(d_model), feed_forward
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); mask, causal and cache as in ``MultiHeadAttention``."""
        read = self._attend(self.attention_norm(x), mask, causal, cache)  # (B, T, D)
        x = x + self.dropout(read)
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))

    def weights(self, x: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """The attention weights (B, H, T, T) that ``forward`` uses for the same arguments."""
        return self.attention.weights(self.attention_norm(x), mask=mask, causal=causal)

    def _attend(
        self, x: Tensor, mask: Tensor | None, causal: bool, cache: LayerCache | None
    ) -> Tensor:
        # An attention that knows no cache can stand in a block too, as long as none is given.
        kept = {} if cache is None else {"cache": cache}
        return self.attention(x, mask=mask, causal=causal, **kept)


class PostNormBlock(PreNormBlock):
    """A transformer block that normalizes after each sum, as the first transformer did.

    x <- norm(x + attention(x)),   x <- norm(x + feed_forward(x))

    The norms stand on the residual stream, so the gradient passes through all of them; with many
    layers such a model bears only small learning rates without a warm-up. No further norm follows
    the last block. Vaswani et al. (2017), section 3.1. Arguments as for ``PreNormBlock``.
    """

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); mask, causal and cache as in ``MultiHeadAttention``."""
        read = self._attend(x, mask, causal, cache)  # (B, T, D)
        x = self.attention_norm(x + self.dropout(read))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))

    def weights(self, x: Tensor, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """The attention weights (B, H, T, T) that ``forward`` uses for the same arguments."""
        return self.attention.weights(x, mask=mask, causal=causal)
