"""Encoder-decoders made of transformer blocks: text in, text out.

The encoder reads the source and makes a state of each of its tokens. The decoder is a causal
transformer whose blocks have one more sub-layer, *cross-attention*: its queries come from the
decoder, its keys and values from the encoder's states. Vaswani et al. (2017), section 3.1.

Shape letters: B batch, S source tokens, T target tokens, H heads, D d_model, V target vocabulary.
"""

from __future__ import annotations

import math

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
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
    ) -> None:
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(d_model), attention
        self.cross_norm, self.cross_attention = nn.LayerNorm(d_model), cross_attention
        self.feed_forward_norm, self.feed_forward = nn.LayerNorm(d_model), feed_forward

    @classmethod
    @torch.no_grad()
    def of_torch(cls, layer: nn.TransformerDecoderLayer) -> DecoderBlock:
        """A block with the weights of PyTorch's layer: ``norm_first=True``, GELU, with biases."""
        D, dtype = layer.linear1.in_features, layer.linear1.weight.dtype
        theirs = layer.self_attn, layer.multihead_attn
        own, cross = (MultiHeadAttention(D, each.num_heads, bias=True) for each in theirs)
        made = cls(D, own, cross, FeedForward(D, layer.linear1.out_features)).to(dtype)
        for ours, other in zip((own, cross), theirs, strict=True):
            stacked = other.in_proj_weight.chunk(3), other.in_proj_bias.chunk(3)
            maps = ours.query, ours.key, ours.value  # PyTorch stacks the three into one
            for one, weight, bias in zip(maps, *stacked, strict=True):
                one.load_state_dict({"weight": weight, "bias": bias})
            ours.output.load_state_dict(other.out_proj.state_dict())
        pairs = [(made.attention_norm, layer.norm1), (made.cross_norm, layer.norm2)]
        pairs += [(made.feed_forward_norm, layer.norm3)]
        pairs += [(made.feed_forward.up, layer.linear1), (made.feed_forward.down, layer.linear2)]
        for mine, yours in pairs:
            mine.load_state_dict(yours.state_dict())
        return made

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """x (B, T, D), memory (B, S, D) -> (B, T, D); memory_mask as in ``MultiHeadAttention``."""
        x = x + self.attention(self.attention_norm(x), causal=True)
        x = x + self.cross_attention(self.cross_norm(x), memory, mask=memory_mask)
        return x + self.feed_forward(self.feed_forward_norm(x))

    def weights(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """The cross-attention weights (B, H, T, S) that ``forward`` uses for the same arguments."""
        x = x + self.attention(self.attention_norm(x), causal=True)
        return self.cross_attention.weights(self.cross_norm(x), memory, mask=memory_mask)


class EncoderDecoder(nn.Module):
    """An encoder, L decoder blocks, a final norm and the output."""

    def __init__(
        self, encoder: Encoder, embedding: InputEmbedding, blocks: list[DecoderBlock], d_model: int
    ) -> None:
        super().__init__()
        self.encoder, self.embedding, self.blocks = encoder, embedding, nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(d_model)

    @classmethod
    def build(
        cls,
        source_size: int,
        target_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        max_length: int = 256,
    ) -> EncoderDecoder:
        """Pre-norm blocks with GELU and learned positions on both sides, L layers each.

        Args:
            max_length: positions of either side.
        """

        def attention() -> MultiHeadAttention:
            return MultiHeadAttention(d_model, n_heads, bias=True)

        positions = (LearnedPositions(max_length, d_model) for _ in range(2))
        embedding = EncoderEmbedding(source_size, d_model, positions=next(positions))
        blocks = [PreNormBlock(d_model, attention(), FeedForward(d_model)) for _ in range(n_layers)]
        encoder = Encoder(embedding, blocks, nn.LayerNorm(d_model), 0)
        target = InputEmbedding(target_size, d_model, positions=next(positions))
        decoder = [
            DecoderBlock(d_model, attention(), attention(), FeedForward(d_model))
            for _ in range(n_layers)
        ]
        made = cls(encoder, target, decoder, d_model)
        draw_weights(made.modules(), 0.02 * math.sqrt(768 / d_model))
        with torch.no_grad():
            for matrix in into_the_stream([*blocks, *decoder]):
                matrix.mul_((3 * n_layers) ** -0.5)
        return made

    def forward(self, source: Tensor, words: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each of words (B, T), given source (B, S).

        Raises:
            ValueError: ids out of range, or more tokens than there are positions.
        """
        return self.decode(words, *self.encode(source))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Sources (B, S) -> the memory (B, S, D), and what of it is no padding, (B, 1, 1, S)."""
        return self.encoder(source), self.encoder.mask(source)

    def decode(self, words: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) for words (B, T) and what was read."""
        x = self.embedding(words)  # (B, T, D)
        for block in self.blocks:
            x = block(x, memory, mask)
        return F.linear(self.norm(x), self.embedding.weight)

    @torch.no_grad()
    def write(self, source: Tensor, bos: int, eos: int, longest: int) -> Tensor:
        """The likeliest words, one after another: up to (B, longest), without ``bos``.

        What stands behind the first ``eos`` of a row belongs to no text.
        """
        memory, mask = self.encode(source)
        words = torch.full((len(source), 1), bos, device=source.device)
        for _ in range(longest):
            y = self.decode(words, memory, mask)[:, -1:].argmax(-1)
            words = torch.cat([words, y], 1)
            if bool((words == eos).any(1).all()):
                break
        return words[:, 1:]

    def weights(self, source: Tensor, words: Tensor) -> list[Tensor]:
        """Cross-attention of every layer, (B, H, T, S) each: row t of a head sums to 1.

        Row t belongs to the logits at t, thus to the token after words[t].
        """
        (memory, mask), x, found = self.encode(source), self.embedding(words), []
        for block in self.blocks:
            found.append(block.weights(x, memory, mask))
            x = block(x, memory, mask)
        return found
