"""What the transformer language models share: an embedding, blocks, a final norm, the output."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.blocks import PreNormBlock
from helpers.token_ids import check_ids


class InputEmbedding(nn.Embedding):
    """An embedding of the tokens, to which that of positions is added: x_t = E[token_t] + P_t.

    Dropout acts on the sum.

    Args:
        vocab_size: V.
        d_model: D.
        meaning: what the id V stands for, such as "the beginning of a text"; it has an embedding
            then. None where it stands for nothing and cannot be read.
        positions: adds P_t, such as ``LearnedPositions(64, d_model)``; None for zero.
        dropout: share of x set to zero in training.

    Attributes:
        weight: E, (V, D), with one row more where the id V has a meaning.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        meaning: str | None = None,
        positions: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab_size + (meaning is not None), d_model)
        self.vocab_size, self.meaning = vocab_size, meaning
        self.positions, self.dropout = positions, nn.Dropout(dropout)

    def forward(self, tokens: Tensor, before: Tensor | None = None) -> Tensor:
        """x (B, T, D) for tokens (B, T) that stand behind the tokens ``before`` (B, any).

        Raises:
            ValueError: ids out of range, or more tokens than ``positions`` knows.
        """
        check_ids(tokens, self.vocab_size, self.meaning)
        x = super().forward(tokens)  # (B, T, D)
        if self.positions is not None:
            x = self.positions(x, 0 if before is None else before.shape[1])
        return self.dropout(x)


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
        if self.output is not None:
            return self.output(self.norm(x))  # (B, T, V)
        matrix = self.embedding.weight
        if len(matrix) > self.vocab_size:  # what can be read and is never predicted
            matrix = matrix[: self.vocab_size]
        return F.linear(self.norm(x), matrix)

    def _draw(self, modules: Iterable[nn.Module], of_embeddings: float | None = None) -> None:
        """``draw_weights`` with the deviation that a width asks for.

        It is 0.02 at GPT's width of 768 (Radford et al. 2018, section 4.1) and 0.02 sqrt(768 / D)
        at any width, so that products keep their size: with 0.02 narrow models start slowly.
        """
        deviation = 0.02 * (768 / self.embedding.embedding_dim) ** 0.5
        draw_weights(modules, deviation, of_embeddings)


def into_the_stream(blocks: Iterable[nn.Module]) -> list[Tensor]:
    """The matrices that write into the residual stream: the last ones of the sub-layers."""
    layers = [layer for block in blocks for layer in block.named_modules()]
    return [layer.weight for name, layer in layers if name.endswith((".output", ".down"))]


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
