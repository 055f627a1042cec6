"""Sequence models without a memory: the auto-regressive model and causal convolutions (WaveNet).

Both are neural language models in the course's sense: tokens (B, T) -> logits (B, T, V), where the
logits at position t look at the tokens t-R+1 .. t, R the receptive field, and at no others. As in
``helpers.models.window_lm``, positions before the text hold the token V, which is read like any
other and never predicted; at the head of a window that is cut from a text it means "not known".
``NeuralPredictor(model, bos=model.vocab_size, window=model.receptive_field)`` makes a predictor.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class AutoregressiveLM(nn.Module):
    """The classical auto-regressive model for symbols: logits linear in the last k tokens.

    For numbers x_t = b + A_1 x_{t-1} + ... + A_k x_{t-k} + noise; for symbols, of which it is the
    probabilities that one models,

        P(x_{t+1} | x_1 ... x_t) = softmax(b + A_1 onehot(x_t) + ... + A_k onehot(x_{t-k+1}))

    Each token adds its own vote; no combination of tokens has one. With k = 1 that is every bigram
    model; with k = 2 it is fewer than every trigram model. The loss has no local minima, so
    learning starts from zeros, where all tokens are equally likely.

    Args:
        vocab_size: V.
        order: k, how many tokens it looks at.

    Attributes:
        A: k tables (V+1, V); row x of the i-th is A_i onehot(x). Its last row is for "before the
            text".

    Source: lecture [G], "Auto-regressive models".
    """

    def __init__(self, vocab_size: int, order: int) -> None:
        super().__init__()
        self.vocab_size, self.order, self.receptive_field = vocab_size, order, order
        self.A = nn.ModuleList(nn.Embedding(vocab_size + 1, vocab_size) for _ in range(order))
        for table in self.A:
            nn.init.zeros_(table.weight)
        self.b = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        before = F.pad(tokens, (self.order - 1, 0), value=self.vocab_size)  # (B, k-1+T)
        shifted = before.unfold(1, self.order, 1).flip(-1)  # (B, T, k), the newest first
        votes = (table(shifted[:, :, i]) for i, table in enumerate(self.A))
        return sum(votes, self.b)  # (B, T, V)


class GatedConvolution(nn.Module):
    """One layer of WaveNet: a dilated convolution, a gated unit and a residual connection.

        z = tanh(W_f * x) . sigmoid(W_g * x),   output = x + W_r z + b_r

    with * the convolution over time and . the product of entries; the biases of W_f and W_g are
    left out of the formula. Van den Oord et al. (2016), section 2.3 and figure 4, without the skip
    connections: with residual connections the last layer's output holds a sum of all layers'.

    Args:
        d_model: D, the number of channels.
        kernel: how many positions the convolution looks at.
        dilation: the distance between them.
        dropout: share of z set to zero in training.
    """

    def __init__(self, d_model: int, kernel: int, dilation: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.reach = (kernel - 1) * dilation  # how far it looks back
        self.filter_and_gate = nn.Conv1d(d_model, 2 * d_model, kernel, dilation=dilation)
        self.residual = nn.Conv1d(d_model, d_model, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, D, T) -> (B, D, T - reach): the first positions, which see too little, are gone."""
        f, g = self.filter_and_gate(x).chunk(2, dim=1)  # (B, D, T - reach) each
        z = torch.tanh(f) * torch.sigmoid(g)
        return x[:, :, self.reach :] + self.residual(self.dropout(z))


class CausalConvolutionLM(nn.Module):
    """A stack of dilated causal convolutions over time, as in WaveNet: its reach grows fast.

    Position t of every layer sees no position after t. With kernel 2 and dilations 1, 2, 4, 8, ...
    each layer doubles the receptive field, so L layers see 2^L tokens; the parameters grow with L.

    Args:
        vocab_size: V.
        d_model: D, the number of channels.
        dilations: one per layer, from the tokens up.
        kernel: how many positions of the layer below each position looks at.
        dropout: share of each layer's z set to zero in training.

    Attributes:
        receptive_field: R = 1 + (kernel - 1) * sum(dilations), how many tokens position t looks at.

    Source: A. van den Oord et al., WaveNet: A Generative Model for Raw Audio (2016),
    arXiv:1609.03499, sections 2.1 and 2.3; lecture [G], "1d convolution".
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        dilations: Sequence[int] = (1, 2, 4, 8),
        kernel: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.receptive_field = 1 + (kernel - 1) * sum(dilations)
        self.embedding = nn.Embedding(vocab_size + 1, d_model)
        self.layers = nn.Sequential(
            *[GatedConvolution(d_model, kernel, dilation, dropout) for dilation in dilations]
        )
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        before = F.pad(tokens, (self.receptive_field - 1, 0), value=self.vocab_size)
        h = self.layers(self.embedding(before).transpose(1, 2))  # (B, D, R-1+T) -> (B, D, T)
        return self.output(h.transpose(1, 2))  # (B, T, V)
