"""What the transformer language models share: blocks between an embedding and the output."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.blocks import PreNormBlock
from helpers.models.input_embedding import InputEmbedding


class TransformerStack(nn.Module):
    """An input embedding, L blocks, a final norm, and the output.

    x = embedding(tokens),   x <- block_L(... block_1(x)),   logits = W norm(x)

    with W = E, the tokens' embeddings, where the output has no matrix of its own (Press and Wolf
    2017). A neural language model in the course's sense: tokens (B, T) -> logits (B, T, V).

    Args:
        embedding: what makes x of the tokens; it knows V and D.
        blocks: L of them, such as ``PreNormBlock``.
        norm: of width D.
        output: from D to V, without a bias; None for the embeddings.
        causal: no position looks at a later one.
    """

    def __init__(
        self,
        embedding: InputEmbedding,
        blocks: Iterable[PreNormBlock],
        norm: nn.Module,
        output: nn.Linear | None = None,
        causal: bool = True,
    ) -> None:
        super().__init__()
        self.vocab_size, self.causal = embedding.vocab_size, causal
        self.embedding, self.blocks = embedding, nn.ModuleList(blocks)
        self.norm, self.output = norm, output

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T).

        Where the model is not causal, position t has seen the tokens after it too.

        Raises:
            ValueError: ids out of range, or more tokens than there are positions.
        """
        x = self.embedding(tokens)  # (B, T, D)
        for block in self.blocks:
            x = block(x, causal=self.causal)
        return self._logits(x)

    def weights(self, tokens: Tensor) -> list[Tensor]:
        """The attention weights of every layer, (B, H, T, T) each; raises as ``forward`` does.

        Row t of a head holds what position t looks at and sums to 1. Without dropout, they are the
        weights that ``forward`` uses; in training mode take ``model.eval()`` first.
        """
        x, found = self.embedding(tokens), []
        for block in self.blocks:
            found.append(block.weights(x, causal=self.causal))
            x = block(x, causal=self.causal)
        return found

    def _logits(self, x: Tensor) -> Tensor:
        if self.output is not None and self.output.out_features == self.vocab_size:
            return self.output(self.norm(x))  # as a layer: it may be a quantised one
        matrix = self.embedding.weight if self.output is None else self.output.weight
        if len(matrix) > self.vocab_size:  # what can be read and is never predicted
            matrix = matrix[: self.vocab_size]
        return F.linear(self.norm(x), matrix)  # (B, T, V)

    def _draw(self, modules: Iterable[nn.Module], of_embeddings: float | None = None) -> None:
        """``draw_weights`` with the deviation that a width asks for.

        It is 0.02 at GPT's width of 768 (Radford et al. 2018, section 4.1) and
        0.02 sqrt(768 / D) at any width, so that
        products keep their size: with 0.02 narrow models start slowly.
        """
        deviation = 0.02 * (768 / self.embedding.embedding_dim) ** 0.5
        draw_weights(modules, deviation, of_embeddings)

    def _into_the_stream(self) -> list[Tensor]:
        """The 2 L matrices that write into the residual stream."""
        maps = ((block.attention.output, block.feed_forward.down) for block in self.blocks)
        return [projection.weight for pair in maps for projection in pair]


@torch.no_grad()
def draw_weights(
    modules: Iterable[nn.Module], deviation: float, of_embeddings: float | None = None
) -> None:
    """Draw the weights of embeddings and linear maps, in the modules' order; no bias is left.

    Args:
        modules: as ``module.modules()`` gives them; others than these two kinds stay as they are.
        deviation: standard deviation of the normal distribution that they are drawn from.
        of_embeddings: another one for the embeddings.
    """
    for module in modules:
        if isinstance(module, nn.Embedding):
            module.weight.normal_(0, deviation if of_embeddings is None else of_embeddings)
        elif isinstance(module, nn.Linear):
            module.weight.normal_(0, deviation)
            if module.bias is not None:
                module.bias.zero_()
