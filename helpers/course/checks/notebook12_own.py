"""The course's own answers to the tasks of a GPT: what stands in for a student's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock, RMSNorm
from helpers.models.gpt import squared_relu
from helpers.models.positions import RotaryPositions

Model = Callable[[Tensor], Tensor]  # tokens (B, T) -> logits (B, T, V)


class MyGPT(nn.Module):
    """Embeddings, L blocks, a last norm, and the output: tokens (B, T) -> logits (B, T, V).

    Args:
        V, D: tokens of the vocabulary, and the width.
        blocks: L of them, called with ``causal=True``.
        norm: of width D.
        positions: ``nn.Embedding(T, D)``, or None where the blocks rotate.
        output: ``nn.Linear(D, V, bias=False)``, or None for the embeddings again.
    """

    def __init__(
        self,
        V: int,
        D: int,
        blocks: Iterable[nn.Module],
        norm: nn.Module,
        positions: nn.Embedding | None = None,
        output: nn.Linear | None = None,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.output = output

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x, causal=True)
        x = self.norm(x)
        if self.output is None:
            return x @ self.embedding.weight.T
        return self.output(x)


def gpt2_form(V: int, T: int, L: int, D: int, H: int) -> MyGPT:
    """GPT-2's form: LayerNorm, GELU by tanh, biases, T learned positions, a tied output."""
    gelu = partial(F.gelu, approximate="tanh")
    blocks = [
        PreNormBlock(
            D, MultiHeadAttention(D, H, bias=True), FeedForward(D, 4 * D, gelu), nn.LayerNorm
        )
        for _ in range(L)
    ]
    return MyGPT(V, D, blocks, nn.LayerNorm(D), nn.Embedding(T, D))


def next_token_loss(model: Model, window: Tensor) -> Tensor:
    """Mean cross-entropy in nats of the T predictions in a window (B, T + 1)."""
    logits, targets = model(window[:, :-1]), window[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def leak(model: Model, tokens: Tensor, t: int, V: int) -> float:
    """The largest move of a logit before position t when all tokens from t on are changed."""
    changed = tokens.clone()
    changed[:, t:] = (changed[:, t:] + 1) % V
    return (model(changed) - model(tokens))[:, :t].abs().max().item()


@torch.no_grad()
def small_start(model: MyGPT) -> None:
    """Draw all weights as GPT-2 does, those that write into the residual stream smaller."""
    D, L = model.embedding.embedding_dim, len(model.blocks)
    for part in model.modules():
        if isinstance(part, nn.Embedding | nn.Linear):
            part.weight.normal_(0, 0.02 * (768 / D) ** 0.5)
        if isinstance(part, nn.Linear) and part.bias is not None:
            part.bias.zero_()
    for block in model.blocks:
        block.attention.output.weight.div_((2 * L) ** 0.5)
        block.feed_forward.down.weight.div_((2 * L) ** 0.5)


def count_parameters(V: int, T: int, L: int, D: int) -> int:
    """The number of parameters of ``gpt2_form(V, T, L, D, H)``."""
    attention, feed_forward, norm = 4 * D * D + 4 * D, 8 * D * D + 5 * D, 2 * D
    return V * D + T * D + L * (attention + feed_forward + 2 * norm) + norm


def translate(
    tensors: Mapping[str, Tensor], names: Mapping[str, Sequence[str]]
) -> dict[str, Tensor]:
    """Our tensors by our names, from GPT-2's; ``names`` has a tuple of ours for each of theirs."""
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        if theirs.startswith("h.") and tensor.ndim == 2:
            tensor = tensor.T
        state.update(zip(ours, tensor.chunk(len(ours)), strict=True))
    return state


def modern_block(D: int, H: int) -> PreNormBlock:
    """RMSNorm, rotary positions, QK-norm, squared ReLU, no biases."""
    attention = MultiHeadAttention(D, H, positions=RotaryPositions(D // H), qk_norm=RMSNorm)
    feed_forward = FeedForward(D, 4 * D, squared_relu, bias=False)
    return PreNormBlock(D, attention, feed_forward, RMSNorm)


def modern_form(V: int, L: int, D: int, H: int) -> MyGPT:
    """L modern blocks, an output of its own, and a start at zero: ``GPTConfig.modern``."""
    blocks = [modern_block(D, H) for _ in range(L)]
    model = MyGPT(V, D, blocks, RMSNorm(D), output=nn.Linear(D, V, bias=False))
    small_start(model)
    nn.init.normal_(model.embedding.weight)
    nn.init.zeros_(model.output.weight)
    for block in model.blocks:
        nn.init.zeros_(block.attention.output.weight)
        nn.init.zeros_(block.feed_forward.down.weight)
    return model
