"""Models made of recurrent cells: a classifier of sequences and a language model.

Both take the kind of cell as their first argument, such as ``ElmanCell`` or ``LSTMCell`` from
``helpers.models.recurrent_cells``, and ``helpers.learning.training`` trains both.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import RecurrentCell
from helpers.models.sequence_layout import State, row_lengths
from helpers.token_ids import check_ids


class RecurrentClassifier(nn.Module):
    """Reads a sequence of symbols and says from the last hidden state which class it belongs to.

    x_t is the one-hot vector of the symbol at t, and y = W_hy h_T + b_y. With several layers h_T is
    the top one's; a bidirectional network puts beside it the h that has read backwards to the first
    symbol. For every cell the output is linear in h_T, as the lecture has it for its first
    networks. Its LSTM code takes ReLU(h_T) instead, which drops what the negative half of h_T says
    and makes the cells harder to compare.

    Rows of unequal length are filled up at their ends with the id ``pad``. It is left out, so a
    sequence's logits do not depend on what it is batched with.

    Args:
        vocab_size: V; symbols are 0 .. V-1.
        d_hidden: H, the length of h_t.

    Attributes:
        pad: V, the id that means "nothing here".
    """

    def __init__(
        self,
        cell: Callable[[int, int], RecurrentCell],
        vocab_size: int,
        d_hidden: int,
        n_classes: int = 2,
        n_layers: int = 1,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        self.vocab_size = self.pad = vocab_size
        self.recurrent = Recurrent(cell, vocab_size, d_hidden, n_layers, bidirectional)
        self.h2y = nn.Linear(self.recurrent.output_size, n_classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, n_classes) of tokens (B, T).

        Raises:
            ValueError: ids out of range, padding before a symbol, or a row without a symbol.
        """
        _, state = self.recurrent(tokens, self.lengths(tokens))
        top = range(-self.recurrent.directions, 0)
        h = [self.recurrent.cells[number].hidden(state[number]) for number in top]
        return self.h2y(torch.cat(h, 1))

    def hidden_states(self, tokens: Tensor) -> Tensor:
        """The top layer's h_t at every position: (B, T, H), or (B, T, 2H); zero at padding."""
        return self.recurrent(tokens, self.lengths(tokens))[0]

    def lengths(self, tokens: Tensor) -> Tensor:
        """How many symbols each row of tokens (B, T) holds: (B,). Raises as ``forward`` does."""
        check_ids(tokens, self.vocab_size, "the padding")
        return row_lengths(tokens, self.pad, "tokens")


class RecurrentLM(nn.Module):
    """A recurrent language model: P(x_{t+1} | x_1 ... x_t) = softmax(W_hy h_t + b_y).

    A neural language model in the course's sense: tokens (B, T) -> logits (B, T, V). Its state is
    all that it knows of the text so far, so it has no window, and it can read a text in stretches.
    The id V stands for "before the text": it has an embedding and is never predicted. Mikolov et
    al. (2010), "Recurrent neural network based language model", with embeddings for one-hot
    vectors.

    Args:
        vocab_size: V.
        d_model: D, the length of an embedding.
        d_hidden: H, the length of h_t.
        dropout: share of the embeddings, of what goes from layer to layer, and of the top h_t set
            to zero in training; never of what goes from step to step (Zaremba et al. 2014).
    """

    def __init__(
        self,
        cell: Callable[[int, int], RecurrentCell],
        vocab_size: int,
        d_model: int,
        d_hidden: int,
        n_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size + 1, d_model)
        self.recurrent = Recurrent(cell, d_model, d_hidden, n_layers, dropout=dropout)
        self.h2y = nn.Linear(d_hidden, vocab_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        return self.read(tokens)[0]

    def start(self, batch_size: int) -> tuple[State, ...]:
        """The state before anything is read."""
        return self.recurrent.start(batch_size)

    def read(
        self, tokens: Tensor, state: tuple[State, ...] | None = None
    ) -> tuple[Tensor, tuple[State, ...]]:
        """Read on from a state: logits (B, T, V) for tokens (B, T), and the state after them.

        Gradients flow back into the state that was given.

        Raises:
            ValueError: ids out of range, or a state for another batch or another model.
        """
        check_ids(tokens, self.vocab_size, "the beginning of a text")
        e = self.dropout(self.embedding(tokens))  # (B, T, D)
        h, state = self.recurrent(e, state=state)  # (B, T, H)
        return self.h2y(self.dropout(h)), state
