"""Encoder-decoders made of transformer blocks: for translation, summaries, and text to text.

The encoder reads the source and makes a state of each of its tokens. The decoder is a causal
transformer whose blocks have one more sub-layer, *cross-attention*: its queries come from the
decoder, its keys and values from the encoder's states. Vaswani et al. (2017), section 3.1.

    h = Encoder(x_1 ... x_S),   y_t from Decoder(y_1 ... y_{t-1}, h)

Shape letters: B batch, S source tokens, T target tokens, H heads, D d_model, V target vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock
from helpers.models.encoder import Encoder, EncoderEmbedding
from helpers.models.positions import LearnedPositions
from helpers.models.stack import InputEmbedding, draw_weights, into_the_stream


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention and a feed-forward layer, each x + f(norm(x)).

    Args:
        d_model: D.
        attention: the self-attention, such as ``MultiHeadAttention(d_model, n_heads)``.
        cross_attention: of the same kind; reads the encoder's states.
        feed_forward: such as ``FeedForward(d_model)``.
        norm: the kind of norm; called three times with D.
        dropout: share of each sub-layer's output set to zero in training.
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
        norm: Callable[[int], nn.Module] = nn.LayerNorm,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention_norm, self.attention = norm(d_model), attention
        self.cross_norm, self.cross_attention = norm(d_model), cross_attention
        self.feed_forward_norm, self.feed_forward = norm(d_model), feed_forward
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """x (B, T, D), memory (B, S, D) -> (B, T, D); memory_mask as in ``MultiHeadAttention``."""
        x = x + self.dropout(self.attention(self.attention_norm(x), causal=True))
        read = self.cross_attention(self.cross_norm(x), memory, mask=memory_mask)  # (B, T, D)
        x = x + self.dropout(read)
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))

    def weights(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """The cross-attention weights (B, H, T, S) that ``forward`` uses for the same arguments."""
        x = x + self.dropout(self.attention(self.attention_norm(x), causal=True))
        return self.cross_attention.weights(self.cross_norm(x), memory, mask=memory_mask)


class TargetState(NamedTuple):
    """What a decoder has read of its targets so far: their ids (B, t)."""

    tokens: Tensor


class SourceMemory(NamedTuple):
    """What the encoder hands to the decoder.

    Attributes:
        keys: the states of the source, (B, S, D).
        mask: (B, 1, 1, S) bool, True at tokens; None without padding.
        state: nothing read yet.
    """

    keys: Tensor
    mask: Tensor | None
    state: TargetState


class EncoderDecoder(nn.Module):
    """An encoder, L decoder blocks, a final norm and the output.

    Used like ``helpers.models.seq2seq.Seq2Seq``: ``model(source, target_in)`` gives logits,
    ``encode`` and ``read`` write. ``bos`` stands before every target.

    Args:
        encoder: reads the source; its states are D wide.
        embedding: of the target, with its positions.
        blocks: of the decoder.
        norm: of width D, after the last block.
        bos: the id that stands before every target.
    """

    def __init__(
        self,
        encoder: Encoder,
        embedding: InputEmbedding,
        blocks: list[DecoderBlock],
        norm: nn.Module,
        bos: int = 1,
    ) -> None:
        super().__init__()
        self.encoder, self.embedding, self.blocks = encoder, embedding, nn.ModuleList(blocks)
        self.norm, self.bos, self.vocab_size = norm, bos, embedding.vocab_size

    @classmethod
    def build(
        cls,
        source_size: int,
        target_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        max_length: int = 256,
        d_hidden: int | None = None,
        dropout: float = 0.0,
        pad: int = 0,
        bos: int = 1,
        shared: bool = False,
    ) -> EncoderDecoder:
        """Pre-norm blocks with GELU and learned positions on both sides, L layers each.

        Args:
            source_size, target_size: tokens of the two vocabularies.
            max_length: positions of either side.
            shared: both sides have one vocabulary and one table of embeddings, as in T5.

        Raises:
            ValueError: a shared table for vocabularies of two sizes.
        """
        if shared and source_size != target_size:
            raise ValueError(
                f"The vocabularies have {source_size} and {target_size} tokens; expected one size "
                "where the embeddings are shared."
            )

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(d_model, n_heads, bias=True, dropout=dropout)

        def feed_forward() -> FeedForward:
            return FeedForward(d_model, d_hidden)

        positions = (LearnedPositions(max_length, d_model) for _ in range(2))
        embedding = EncoderEmbedding(
            source_size, d_model, positions=next(positions), dropout=dropout
        )
        blocks = [
            PreNormBlock(d_model, attention(), feed_forward(), dropout=dropout)
            for _ in range(n_layers)
        ]
        encoder = Encoder(embedding, blocks, nn.LayerNorm(d_model), pad)
        target = InputEmbedding(target_size, d_model, positions=next(positions), dropout=dropout)
        decoder = [
            DecoderBlock(d_model, attention(), attention(), feed_forward(), dropout=dropout)
            for _ in range(n_layers)
        ]
        made = cls(encoder, target, decoder, nn.LayerNorm(d_model), bos)
        draw_weights(made.modules(), 0.02 * math.sqrt(768 / d_model))
        if shared:
            target.weight = embedding.tokens.weight
        with torch.no_grad():
            for matrix in into_the_stream([*blocks, *decoder]):
                matrix.mul_((3 * n_layers) ** -0.5)
        return made

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow target_in (B, T), given source (B, S).

        Raises:
            ValueError: ids out of range, or more tokens than there are positions.
        """
        memory = self.encode(source)
        return self._logits(target_in, memory)

    def weights(self, source: Tensor, target_in: Tensor) -> list[Tensor]:
        """Cross-attention of every layer, (B, H, T, S) each: row t of a head sums to 1.

        Row t belongs to the logits at t, thus to the token after target_in[t].
        """
        memory, x, found = self.encode(source), self.embedding(target_in), []
        for block in self.blocks:
            found.append(block.weights(x, memory.keys, memory.mask))
            x = block(x, memory.keys, memory.mask)
        return found

    def encode(self, source: Tensor) -> SourceMemory:
        """Read the sources (B, S), once for all steps of the decoder."""
        none = torch.empty(len(source), 0, dtype=torch.long, device=source.device)
        return SourceMemory(self.encoder(source), self.encoder.mask(source), TargetState(none))

    def read(
        self, target_in: Tensor, memory: SourceMemory, state: TargetState
    ) -> tuple[Tensor, TargetState]:
        """Read on from a state: logits (B, T, V) for target_in (B, T), and the state after them.

        The decoder reads all of the target again: the cost of a token grows with their number.
        """
        tokens = torch.cat([state.tokens, target_in], 1)
        logits = self._logits(tokens, memory)[:, state.tokens.shape[1] :]
        return logits, TargetState(tokens)

    def _logits(self, target_in: Tensor, memory: SourceMemory) -> Tensor:
        x = self.embedding(target_in)  # (B, T, D)
        for block in self.blocks:
            x = block(x, memory.keys, memory.mask)
        return F.linear(self.norm(x), self.embedding.weight)
