"""What the heads of a trained model do: scores over all of them, and models with heads cut out.

Three kinds of head are told apart by where they look: at the first position of every text (an
*attention sink*: Xiao et al. 2023, "Efficient streaming language models with attention sinks"), at
the token before (a *previous-token head*), and at what followed the last time that the present
token occurred (an *induction head*: Elhage et al. 2021, "A mathematical framework for transformer
circuits"; Olsson et al. 2022, "In-context learning and induction heads"). Where a head looks is not
yet what it does; ``without_heads`` shows what a model loses with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor

from helpers.evaluating import evaluating
from helpers.models.stack import TransformerStack


def head_weights(model: TransformerStack, tokens: Tensor) -> Tensor:
    """The attention weights of all heads: (L, H, B, T, T) for tokens (B, T)."""
    with evaluating(model), torch.no_grad():
        layers = model.weights(tokens)  # L times (B, H, T, T)
    return torch.stack(layers).transpose(1, 2).cpu()


def sink_score(weights: Tensor) -> Tensor:
    """The mean weight on the first position: (..., T, T) -> (...).

    The first quarter of the queries is left out: they have few positions to choose from.
    """
    T = weights.shape[-1]
    return weights[..., max(1, T // 4) :, 0].mean(-1)


def previous_score(weights: Tensor) -> Tensor:
    """The mean weight on the position before: (..., T, T) -> (...).

    The first two queries are left out where there are others: the position before the second one is
    the first, where sinks look.
    """
    T = weights.shape[-1]
    diagonal = weights.diagonal(-1, -2, -1)  # (..., T - 1), of the queries 1, 2, ...
    return diagonal[..., min(1, T - 2) :].mean(-1)


def repeated(tokens: Tensor, begin: int) -> Tensor:
    """Texts that say everything twice: (B, n) -> (B, 1 + 2 n), each begun with the id ``begin``."""
    first = torch.full((len(tokens), 1), begin, dtype=tokens.dtype)
    return torch.cat([first, tokens, tokens], 1)


@contextmanager
def without_heads(
    model: TransformerStack, heads: Iterable[tuple[int, int]], instead: Tensor | None = None
) -> Iterator[TransformerStack]:
    """The model while some of its heads say nothing, or always the same.

    A head's context vectors are replaced before the output matrix W_O reads them. Its weights stay
    as they are, and so do all other heads; the model is whole again at the end.

    Args:
        model: whose blocks have ``attention.output``, such as a ``GPT``. Its ``forward`` is
            changed, and its passes with a cache too.
        heads: (layer, head) each, both from 0.
        instead: what each head says at every position, (L, H, K): its mean, say; zeros if None.

    Raises:
        ValueError: there is no such head.
    """
    of_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        attention = model.blocks[layer].attention if 0 <= layer < len(model.blocks) else None
        if attention is None or not 0 <= head < attention.n_heads:
            raise ValueError(
                f"There is no head {head} in layer {layer}: both count from 0, and the model has "
                f"{len(model.blocks)} layers of {model.blocks[0].attention.n_heads} heads."
            )
        of_layer.setdefault(layer, []).append(head)
    with ExitStack() as hooks:
        for layer, cut in of_layer.items():
            attention = model.blocks[layer].attention
            means = None if instead is None else instead[layer]
            hook = attention.output.register_forward_pre_hook(
                _replacing(cut, attention.n_heads, means)
            )
            hooks.callback(hook.remove)
        yield model


def mean_contexts(model: TransformerStack, tokens: Tensor) -> Tensor:
    """Each head's mean context vector over texts (B, T): (L, H, K)."""
    found: list[Tensor] = []
    with ExitStack() as hooks:
        for block in model.blocks:
            hook = block.attention.output.register_forward_pre_hook(
                lambda _, inputs, H=block.attention.n_heads: found.append(
                    inputs[0].flatten(0, -2).mean(0).view(H, -1)
                )
            )
            hooks.callback(hook.remove)
        with evaluating(model), torch.no_grad():
            model(tokens)
    return torch.stack(found)


def _replacing(heads: list[int], n_heads: int, means: Tensor | None):
    def hook(_, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        contexts = inputs[0].unflatten(-1, (n_heads, -1)).clone()  # (..., H, K)
        contexts[..., heads, :] = 0.0 if means is None else means[heads].to(contexts)
        return (contexts.flatten(-2),)

    return hook
