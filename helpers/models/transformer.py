"""A transformer language model of equal pre-norm blocks, with any kind of positions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock
from helpers.models.positions import RelativePositions
from helpers.models.stack import InputEmbedding, TransformerStack, into_the_stream


class Transformer(TransformerStack):
    """Token embeddings, L pre-norm blocks, a final norm, and the embeddings again as the output.

    x = E[tokens] + P,   x <- block_L(... block_1(x)),   logits = E norm(x)

    A neural language model in the course's sense: tokens (B, T) -> logits (B, T, V). Causal, it is
    GPT's architecture: the logits at position t look at the tokens 1 .. t. Not causal, every
    position looks at all of them, as in BERT. The id V stands for "before the text": it has an
    embedding and is never predicted. Without positions, a model that is not causal knows nothing of
    the order of its tokens; the causal mask alone tells something of it from the second layer on.

    The output has no matrix of its own (Press and Wolf 2017) and no bias. Weights begin normally
    distributed with a deviation of 0.02 at GPT's width of 768 (Radford et al. 2018, section 4.1)
    and of 0.02 sqrt(768 / D) at any width, so that products keep their size: with 0.02 narrow
    models start slowly. Those that write into the residual stream, of which there are 2 L matrices,
    are divided by sqrt(2 L), so that the stream's variance does not grow with the depth (Radford et
    al. 2019, section 2.3). Biases begin at zero.

    Absolute positions should not drown the embeddings, which begin small: ``LearnedPositions``
    begin as small, and sinusoids of their own size may hide the tokens from the first layer for
    hundreds of steps, so ``SinusoidalPositions`` has a ``scale``. They are added as they come.

    Args:
        vocab_size: V.
        d_model: D.
        n_heads: H, heads of attention in each layer; K = D / H.
        n_layers: L.
        positions: absolute positions, added to the embeddings before the first block, such as
            ``LearnedPositions(64, d_model)``; its weights are left as they are.
        relative: makes the relative positions of one layer's attention, such as
            ``lambda: RotaryPositions(d_head)``; called once for each layer.
        causal: no position looks at a later one.
        block: the kind of block, ``PreNormBlock`` or another one made like it.
        d_hidden: width of the feed-forward layers; 4 D if None.
        dropout: share of the embeddings, of the attention weights, of the feed-forward layers'
            hidden units and of the sub-layers' outputs set to zero in training.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        positions: nn.Module | None = None,
        relative: Callable[[], RelativePositions] | None = None,
        causal: bool = True,
        block: Callable[..., PreNormBlock] = PreNormBlock,
        d_hidden: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        embedding = InputEmbedding(
            vocab_size,
            d_model,
            meaning="the beginning of a text",
            positions=positions,
            dropout=dropout,
        )

        def make() -> PreNormBlock:
            rotation = None if relative is None else relative()
            attention = MultiHeadAttention(d_model, n_heads, dropout=dropout, positions=rotation)
            feed_forward = FeedForward(d_model, d_hidden, dropout=dropout)
            return block(d_model, attention, feed_forward, dropout=dropout)

        blocks = [make() for _ in range(n_layers)]
        super().__init__(embedding, blocks, nn.LayerNorm(d_model), causal=causal)
        self._draw((embedding, *self.blocks.modules()))
        with torch.no_grad():
            for matrix in into_the_stream(blocks):
                matrix.div_((2 * n_layers) ** 0.5)
