"""Language models with a fixed window: concatenated embeddings (Bengio et al. 2003), or their mean.

Both are neural language models in the course's sense: tokens (B, T) -> logits (B, T, V), where the
logits at position t look at the tokens t-W+1 .. t and at no others. In the lecture's notation

    e = [e(1); ...; e(W)]  or their mean,   h = f(W e + b1),   y = softmax(U h + b2)

with f = tanh. Positions before the text hold the "before the text" token, whose id is V: it has an
embedding of its own and is never predicted. In training it stands at the head of each window of
tokens that ``helpers.data.batching.windows`` cuts, so there it means "not known".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class WindowLM(nn.Module):
    """The word-window network: embeddings of the last W tokens side by side, one hidden layer.

    Bengio et al. (2003), "A neural probabilistic language model", without the direct connections
    from e to y.

    Args:
        vocab_size: V.
        d_model: D, the length of an embedding.
        d_hidden: H, the width of the hidden layer.
        window: W, how many tokens it looks at.
        dropout: share of e and of h set to zero in training.
    """

    def __init__(
        self, vocab_size: int, d_model: int, d_hidden: int, window: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.vocab_size, self.window = vocab_size, window
        self.embedding = nn.Embedding(vocab_size + 1, d_model)
        self.hidden = nn.Linear(self._features(d_model), d_hidden)  # W, b1
        self.output = nn.Linear(d_hidden, vocab_size)  # U, b2
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        before = F.pad(tokens, (self.window - 1, 0), value=self.vocab_size)  # (B, W-1+T)
        e = self._window_features(self.embedding(before))  # (B, T, W D), or (B, T, D)
        h = torch.tanh(self.hidden(self.dropout(e)))  # (B, T, H)
        return self.output(self.dropout(h))  # (B, T, V)

    def _features(self, d_model: int) -> int:
        return self.window * d_model

    def _window_features(self, embedded: Tensor) -> Tensor:
        """Embeddings (B, W-1+T, D), each window's oldest first, side by side: (B, T, W D)."""
        return embedded.unfold(1, self.window, 1).transpose(2, 3).flatten(2)


class AveragingLM(WindowLM):
    """The word-averaging network: the mean of the window's embeddings instead of their sequence.

    The order of the words is lost. The lecture's slide repeats the formula of the concatenation;
    the mean is meant.
    """

    def _features(self, d_model: int) -> int:
        return d_model

    def _window_features(self, embedded: Tensor) -> Tensor:
        return embedded.unfold(1, self.window, 1).mean(-1)  # (B, T, D)
