"""Adapting a trained model with few new weights: LoRA, adapters, soft prompts, and what is frozen.

All of them leave the model's own weights as they are, and all begin as nothing: before the first
step the adapted model computes what the model computes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.gpt import GPT

WHERE = ("query", "value")  # the maps that the paper of LoRA adapts


class LoRALinear(nn.Module):
    """A linear map with a low-rank update: y = W_0 x + b + (alpha / r) B A x.

    W_0 and b are frozen. A (r, k) is drawn, B (d, r) begins at zero, so that the update does, too.
    Hu et al. (2022), "LoRA: Low-rank adaptation of large language models", section 4.1.

    Args:
        base: the trained map, from k to d; it is frozen here.
        rank: r.
        alpha: the update is multiplied by alpha / r; r if None, which makes the factor 1.

    Attributes:
        A, B: the two matrices that are trained.
        merged: whether the update stands in the weights of ``base`` now.
    """

    def __init__(
        self,
        base: nn.Linear,
        rank: int,
        alpha: float | None = None,
    ) -> None:
        super().__init__()
        d, k = base.weight.shape
        self.base, self.rank = base.requires_grad_(False), rank
        self.in_features, self.out_features = k, d
        self.scale = 1.0 if alpha is None else alpha / rank
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        drawn = torch.randn(rank, k) * k**-0.5
        self.A = nn.Parameter(drawn.to(**like))
        self.B = nn.Parameter(torch.zeros(d, rank, **like))
        self.merged = False

    def forward(self, x: Tensor) -> Tensor:
        """(..., k) -> (..., d)."""
        if self.merged:
            return self.base(x)
        return self.base(x) + self.scale * F.linear(F.linear(x, self.A), self.B)

    def update(self) -> Tensor:
        """What is added to W_0, (d, k): a matrix of rank r or less."""
        return self.scale * (self.B @ self.A)

    @torch.no_grad()
    def merge(self) -> None:
        """Add the update to W_0; from then on the map costs what it did before."""
        if not isinstance(self.base, nn.Linear):
            raise ValueError(
                f"The map under this LoRA is a {type(self.base).__name__}, to which nothing can be "
                "added: merge first, then quantize."
            )
        if not self.merged:
            self.base.weight += self.update()
            self.merged = True


class Adapter(nn.Module):
    """A narrow layer with a residual connection: y = x + W_2 f(W_1 x + b_1) + b_2.

    W_2 and b_2 begin at zero, so that y = x. Houlsby et al. (2019), "Parameter-efficient transfer
    learning for NLP", section 2.1, where they begin near zero.

    Args:
        d_model: D.
        width: m, of the layer in between.
    """

    def __init__(self, d_model: int, width: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(d_model, width), nn.Linear(width, d_model)
        nn.init.zeros_(self.down.bias)
        nn.init.zeros_(self.up.bias)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(..., D) -> (..., D)."""
        return x + self.up(F.gelu(self.down(x)))


class Adapted(nn.Module):
    """A sub-layer of a block, attention or feed-forward, with an adapter behind it."""

    def __init__(self, layer: nn.Module, adapter: nn.Module) -> None:
        super().__init__()
        self.layer, self.adapter = layer, adapter

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """What the sub-layer gives, adapted; arguments are the sub-layer's."""
        return self.adapter(self.layer(*args, **kwargs))

    def weights(self, *args: Any, **kwargs: Any) -> Tensor:
        """The attention weights, as the attention gives them."""
        return self.layer.weights(*args, **kwargs)


class SoftPrompt(nn.Module):
    """A frozen GPT that reads P trained vectors before every text.

    Lester et al. (2021), "The power of scale for parameter-efficient prompt tuning". The vectors
    stand where embeddings of tokens would.

    Args:
        model: frozen here; without learned positions.
        tokens: whose embeddings the vectors begin as, (P,).

    Raises:
        ValueError: a model with learned positions, of which the prompt would need some.
    """

    def __init__(self, model: GPT, tokens: Tensor) -> None:
        super().__init__()
        if model.config.positions == "learned":
            raise ValueError(
                "This model has learned positions, which the texts have been trained with: take "
                "a model with rotary positions, which can be moved."
            )
        prompt = model.embedding.weight[tokens].detach().clone()  # (P, D)
        self.model = model.requires_grad_(False)
        self.config, self.vocab_size = model.config, model.vocab_size
        self.prompt = nn.Parameter(prompt)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) for tokens (B, T), which stand behind the prompt."""
        prompts = self.prompt.expand(len(tokens), -1, -1)
        x = torch.cat([prompts, self.model.embedding(tokens)], 1)
        for block in self.model.blocks:
            x = block(x, causal=True)
        return self.model._logits(x[:, len(self.prompt) :])


def add_lora(
    model: GPT,
    rank: int,
    alpha: float | None = None,
    where: Iterable[str] = WHERE,
) -> list[LoRALinear]:
    """Freeze a model and give LoRA to linear maps of its blocks, in place.

    Args:
        where: the maps' names in a block: query, key, value, output, up, down.

    Raises:
        ValueError: no map has one of the names, or the model is adapted already; it is then as it
            was.
    """
    _refuse_adapted(model)
    wanted = {where} if isinstance(where, str) else set(where)
    places = [
        (parent, name, layer)
        for parent in model.blocks.modules()
        for name, layer in parent.named_children()
        if name in wanted and isinstance(layer, nn.Linear)
    ]
    if missing := (wanted or {"nothing"}) - {name for _, name, _ in places}:
        raise ValueError(
            f"The blocks have no linear map named {' or '.join(sorted(missing))}: choose of query, "
            "key, value, output, up and down, in a model that is not quantized."
        )
    model.requires_grad_(False)
    found = [LoRALinear(layer, rank, alpha) for _, _, layer in places]
    for (parent, name, _), new in zip(places, found, strict=True):
        setattr(parent, name, new)
    return found


def merge_lora(model: nn.Module) -> nn.Module:
    """A copy of a model in which each map with LoRA, if any, is one plain linear map again.

    Raises:
        ValueError: a map with LoRA has been quantized.
    """
    model = copy.deepcopy(model)
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, LoRALinear):
                layer.merge()
                setattr(parent, name, layer.base)
    return model


def add_adapters(model: GPT, width: int) -> list[Adapter]:
    """Freeze a model and put an adapter behind the attention and the feed-forward of each block.

    Raises:
        ValueError: the model is adapted already; it is then as it was.
    """
    _refuse_adapted(model)
    model.requires_grad_(False)
    D, found = model.config.d_model, []
    for block in model.blocks:
        for name in ("attention", "feed_forward"):
            layer = getattr(block, name)
            new = Adapter(D, width).to(next(layer.parameters()))
            setattr(block, name, Adapted(layer, new))
            found.append(new)
    return found


def train_only(model: nn.Module, *parts: str) -> nn.Module:
    """Freeze all weights but those whose name begins with one of ``parts``; the model itself."""
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(parts))
    return model


def _refuse_adapted(model: nn.Module) -> None:
    """What is added is trained alone, so a second time would freeze the first."""
    for name, part in model.named_modules():
        if isinstance(part, LoRALinear | Adapter):
            what = "LoRA" if isinstance(part, LoRALinear) else "an adapter"
            raise ValueError(
                f"The model has {what} already, such as in {name}: begin with a fresh copy of the "
                "model, in the same cell."
            )


def trained(model: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """The weights that are not frozen, with their names: what an adapted model has to store."""
    return ((name, p) for name, p in model.named_parameters() if p.requires_grad)
