"""Encoder-decoders made of recurrent cells, for translation: without attention and with it.

An encoder reads the source x_1 ... x_S, in both directions or in one, and keeps its states
h_1 ... h_S. A decoder goes on from the encoder's last state and reads the target so far, as a
language model would. What it knows of the source tells three models apart, in the lectures' letters

    BottleneckSeq2Seq   s_t = f(s_{t-1}, y_{t-1})         y_t from s_t
    AdditiveSeq2Seq     s_t = f(s_{t-1}, y_{t-1}, c_t)    y_t from [s_t; c_t; y_{t-1}]
    DotProductSeq2Seq   s_t = f(s_{t-1}, y_{t-1})         y_t from [a_t; s_t]

where c_t and a_t are means of the h_i, weighted by a softmax of scores. The scores of c_t compare
s_{t-1} with each h_i, before y_{t-1} is read; those of a_t compare s_t with each h_i. So the states
of the third model wait for no attention, and in training it is computed for all t at once.

All h_i and s_t have H numbers, H/2 for each direction of an encoder that reads in both. Sources are
filled up at their ends with the id ``pad``, which changes no result. The target's ids are the
tokenizer's: ``bos`` first in what the decoder reads, ``eos`` last in what it should say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.alignment_attention import AdditiveAttention, DotProductAttention
from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import RecurrentCell
from helpers.models.sequence_layout import State, each, row_lengths
from helpers.token_ids import check_ids


class Memory(NamedTuple):
    """What the encoder hands to the decoder.

    Attributes:
        keys: h_i (B, S, H), zero at padding.
        mask: (B, 1, S) bool, True at words.
        state: s_0, the encoder's last state.
        projected: U h_i, for additive attention.
    """

    keys: Tensor
    mask: Tensor
    state: State
    projected: Tensor | None = None


class Seq2Seq(nn.Module):
    """What the encoder-decoders share: the embeddings, the encoder and the output.

    A model of one's own defines ``build`` and ``decode``.

    Args:
        source_size: tokens in the source's vocabulary.
        target_size: V, tokens in the target's vocabulary.
        d_model: D, the length of an embedding.
        d_hidden: H, the length of h_i and s_t.
        bidirectional: the encoder reads from the end too; H is then even.
        dropout: share of the embeddings and of what the output reads set to zero in training.

    Raises:
        ValueError: an odd d_hidden for an encoder of two directions.
    """

    def __init__(
        self,
        cell: Callable[[int, int], RecurrentCell],
        source_size: int,
        target_size: int,
        d_model: int,
        d_hidden: int,
        bidirectional: bool = True,
        dropout: float = 0.0,
        pad: int = 0,
        bos: int = 1,
    ) -> None:
        super().__init__()
        if bidirectional and d_hidden % 2:
            raise ValueError(
                f"d_hidden is {d_hidden}; an encoder of two directions halves it: take an even one."
            )
        self.vocab_size, self.pad, self.bos, self.d_hidden = target_size, pad, bos, d_hidden
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        half = d_hidden // 2 if bidirectional else d_hidden
        self.encoder = Recurrent(cell, d_model, half, bidirectional=bidirectional)
        self.dropout = nn.Dropout(dropout)
        self.build(cell, d_model)

    def build(self, cell: Callable[[int, int], RecurrentCell], d_model: int) -> None:
        """Make ``decoder``, ``output`` and what else ``decode`` needs."""
        raise NotImplementedError

    def decode(self, e: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, State]:
        """Embedded targets (B, T, D) -> what the output reads (B, T, F), weights, last state."""
        raise NotImplementedError

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits (B, T, V) of the words that follow target_in (B, T), given source (B, S).

        Raises:
            ValueError: ids out of range, unlike numbers of rows, or sources with no word or with
                padding before a word.
        """
        memory = self.encode(source)
        return self.read(target_in, memory, memory.state)[0]

    def weights(self, source: Tensor, target_in: Tensor) -> Tensor:
        """How much each step looks at each word of the source: (B, T, S), rows that sum to 1.

        Row t belongs to the logits at t, thus to the word after target_in[t]. Dropout acts as in
        ``forward``: call ``eval()`` first. Raises as ``forward`` does.
        """
        memory = self.encode(source)
        return self._decode(target_in, memory, memory.state)[1]

    def encode(self, source: Tensor) -> Memory:
        """Read the sources (B, S), once for all steps of the decoder. Raises as ``forward``."""
        e = self._embed(self.source_embedding, source)  # (B, S, D)
        lengths = row_lengths(source, self.pad, "source")
        keys, ends = self.encoder(e, lengths)  # (B, S, H)
        places = torch.arange(source.shape[1], device=source.device)
        mask = (places < lengths[:, None])[:, None]  # (B, 1, S)
        return Memory(keys, mask, each(lambda *both: torch.cat(both, 1), *ends))

    def read(self, target_in: Tensor, memory: Memory, state: State) -> tuple[Tensor, State]:
        """Read on from a state: logits (B, T, V) for target_in (B, T), and the state after them.

        The first state is ``memory.state``.
        """
        features, _, state = self._decode(target_in, memory, state)
        return self.output(self.dropout(features)), state

    def _decode(
        self, target_in: Tensor, memory: Memory, state: State
    ) -> tuple[Tensor, Tensor, State]:
        e = self._embed(self.target_embedding, target_in)  # (B, T, D)
        return self.decode(e, memory, state)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor) -> Tensor:
        check_ids(tokens, embedding.num_embeddings)
        return self.dropout(embedding(tokens))


class BottleneckSeq2Seq(Seq2Seq):
    """Without attention: all that the decoder knows of the source is the encoder's last state.

    s_t = f(s_{t-1}, y_{t-1}), s_0 = the encoder's last state. Sutskever et al. (2014), "Sequence to
    sequence learning with neural networks"; they reverse the source, Cho et al. (2014) show that
    state to every step of the decoder. Arguments as for ``Seq2Seq``.
    """

    def build(self, cell: Callable[[int, int], RecurrentCell], d_model: int) -> None:
        self.decoder = Recurrent(cell, d_model, self.d_hidden)
        self.output = nn.Linear(self.d_hidden, self.vocab_size)

    def decode(self, e: Tensor, memory: Memory, state: State) -> tuple[Tensor, None, State]:
        s, (state,) = self.decoder(e, state=(state,))  # (B, T, H)
        return s, None, state

    def weights(self, source: Tensor, target_in: Tensor) -> Tensor:
        raise ValueError(
            "BottleneckSeq2Seq has no attention and so no weights: take AdditiveSeq2Seq or "
            "DotProductSeq2Seq."
        )


class AdditiveSeq2Seq(Seq2Seq):
    """With additive attention: the context c_t is chosen from s_{t-1} and shapes s_t.

    e_ti = v^T tanh(W s_{t-1} + U h_i),  c_t = sum_i softmax_i(e_t) h_i,
    s_t = f(s_{t-1}, y_{t-1}, c_t),  y_t ~ softmax(linear in [s_t; c_t; y_{t-1}])

    Bahdanau et al. (2015), "Neural machine translation by jointly learning to align and translate";
    their g is a deeper network and their s_0 = tanh(W_s h_1), with the backward half of h_1. c_t is
    chosen before y_{t-1} is read. The network of the scores is H/2 wide, for speed. Arguments as
    for ``Seq2Seq``.
    """

    def build(self, cell: Callable[[int, int], RecurrentCell], d_model: int) -> None:
        H = self.d_hidden
        self.attention = AdditiveAttention(H, H, max(1, H // 2))
        self.decoder = cell(d_model + H, H)
        self.output = nn.Linear(H + H + d_model, self.vocab_size)

    def encode(self, source: Tensor) -> Memory:
        memory = super().encode(source)
        return memory._replace(projected=self.attention.project(memory.keys))

    def decode(self, e: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, State]:
        # The share of y_{t-1} in W_x [y_{t-1}; c_t] + b of all steps at once, that of c_t in each.
        W_y, W_c = self.decoder.x2h.weight.split((e.shape[-1], self.d_hidden), 1)
        from_y = F.linear(e, W_y, self.decoder.x2h.bias)  # (B, T, G H)
        states, contexts, weights = [], [], []
        for now in from_y.unbind(1):
            query = self.decoder.hidden(state)[:, None]  # (B, 1, H)
            c, alpha = self.attention(query, memory.keys, memory.mask, projected=memory.projected)
            s, state = self.decoder.step(torch.addmm(now, c[:, 0], W_c.t()), state)
            states.append(s)
            contexts.append(c)
            weights.append(alpha)
        features = torch.cat([torch.stack(states, 1), torch.cat(contexts, 1), e], -1)
        return features, torch.cat(weights, 1), state


class DotProductSeq2Seq(Seq2Seq):
    """With dot-product attention: the output a_t is chosen from s_t and stands beside it.

    e_ti = s_t^T h_i,  a_t = sum_i softmax_i(e_t) h_i,  y_t ~ softmax(linear in [a_t; s_t])

    The form of the lecture. Luong et al. (2015), "Effective approaches to attention-based neural
    machine translation", put a tanh layer between [a_t; s_t] and the output. Arguments as for
    ``Seq2Seq``.
    """

    def build(self, cell: Callable[[int, int], RecurrentCell], d_model: int) -> None:
        self.attention = DotProductAttention()
        self.decoder = Recurrent(cell, d_model, self.d_hidden)
        self.output = nn.Linear(2 * self.d_hidden, self.vocab_size)

    def decode(self, e: Tensor, memory: Memory, state: State) -> tuple[Tensor, Tensor, State]:
        s, (state,) = self.decoder(e, state=(state,))  # (B, T, H)
        a, alpha = self.attention(s, memory.keys, memory.mask)  # (B, T, H), (B, T, S)
        return torch.cat([a, s], -1), alpha, state
