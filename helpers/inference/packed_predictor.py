"""A GPT's weights packed for writing: few large products a token, and fewer bytes to read.

Writing one text, a model reads every weight once for each token and multiplies it once. What this
costs is the reading, and the time between many small operations. So here W_Q, W_K and W_V are one
matrix, gains and shifts of the norms are part of the matrices behind them, and the weights may be
kept in fewer bytes. Shape letters: H heads, G heads of keys and values, K d_head, I inputs and O
outputs of a product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.inference.cached_predictor import CachedPredictor
from helpers.models.attention import attend_with_one_query
from helpers.models.blocks import GatedFeedForward, PreNormBlock
from helpers.models.gpt import GPT, GPTState
from helpers.models.kv_cache import LayerCache
from helpers.models.quantized import has_int8_kernel, quantize, times_int8

WEIGHTS = ("float32", "bfloat16", "int8")
Norm = Callable[[Tensor], Tensor]


class PackedPredictor(CachedPredictor):
    """A ``CachedPredictor`` that reads the next token of a single text faster, on a CPU.

    Its distributions are those of ``CachedPredictor`` up to rounding, and up to what the weights
    lose in fewer bytes. Prompts and several texts at once are read by the model itself. The weights
    are copied: what the model learns afterwards is not seen.

    Args:
        model: a ``GPT`` in float32.
        weights: "float32"; "bfloat16", half the bytes; or "int8", a quarter: every row of a matrix
            as whole numbers from -127 to 127 times one number of its own.

    Raises:
        ValueError: int8 where this PyTorch cannot multiply with it.
    """

    def __init__(
        self, model: GPT, bos: int, window: int | None = None, weights: str = "float32"
    ) -> None:
        super().__init__(model, bos, window)
        if weights == "int8" and not has_int8_kernel():
            raise ValueError(
                "This PyTorch has no product with int8 weights for this processor: take "
                'weights="bfloat16".'
            )
        self._blocks = [_PackedBlock(block, weights) for block in model.blocks]
        matrix = model.embedding.weight if model.output is None else model.output.weight
        self._norm = _bare(model.norm)
        self._output = _behind(model.norm, [(matrix[: model.vocab_size], None)], weights)

    def _read(self, tokens: Tensor, state: GPTState) -> tuple[Tensor, GPTState]:
        if tokens.shape != (1, 1) or tokens.device.type != "cpu":
            return super()._read(tokens, state)
        x = self.model.embedding(tokens, state.tokens)[0]  # (1, D)
        cache, layers = state.cache.extend(1)
        for block, layer in zip(self._blocks, layers, strict=True):
            x = block(x, layer)
        logits = self._output(self._norm(x))[None]  # (1, 1, V)
        return logits, GPTState(torch.cat([state.tokens, tokens], 1), cache)


class _PackedBlock:
    """A ``PreNormBlock`` for one token, x (1, D) -> (1, D)."""

    def __init__(self, block: PreNormBlock, weights: str) -> None:
        attention, ff = block.attention, block.feed_forward
        self.H, self.K, self.positions = attention.n_heads, attention.d_head, attention.positions
        self.norms = _bare(block.attention_norm), _bare(block.feed_forward_norm)
        maps = [attention.query, attention.key, attention.value]
        self.qkv = _behind(block.attention_norm, [(m.weight, m.bias) for m in maps], weights)
        self.output = _Product(attention.output.weight, attention.output.bias, weights)
        self.gated = isinstance(ff, GatedFeedForward)
        maps = [ff.gate, ff.up] if self.gated else [ff.up]
        self.up = _behind(block.feed_forward_norm, [(m.weight, m.bias) for m in maps], weights)
        self.activation = ff.activation
        self.down = _Product(ff.down.weight, ff.down.bias, weights)
        self.qk_norm: Norm | None = None
        if attention.query_norm is not None:
            both = attention.query_norm, attention.key_norm
            times = self.H, attention.n_kv_heads
            pairs = [_gain_and_shift(norm) for norm in both]
            gain, shift = (
                torch.cat([row.expand(n, 1, -1) for row, n in zip(rows, times, strict=True)])
                for rows in zip(*pairs, strict=True)
            )  # (H + G, 1, K)
            bare = _bare(attention.query_norm)
            self.qk_norm = lambda qk: torch.addcmul(shift, bare(qk), gain)

    def __call__(self, x: Tensor, cache: LayerCache) -> Tensor:
        qkv = self.qkv(self.norms[0](x)).view(-1, 1, self.K)  # (H + 2 G, 1, K)
        G = (len(qkv) - self.H) // 2
        qk, v = qkv[:-G], qkv[-G:]
        if self.qk_norm is not None:
            qk = self.qk_norm(qk)
        if self.positions is not None:
            qk = self.positions.rotate(qk, start=cache.length)
        k, v = cache.append(qk[None, self.H :], v[None])  # (1, G, S, K)
        heads = attend_with_one_query(qk[None, : self.H], k, v)  # (1, H, 1, K)
        x = x + self.output(heads.view(1, -1))
        up = self.up(self.norms[1](x))
        if self.gated:
            gate, up = up.chunk(2, -1)
            return x + self.down(self.activation(gate) * up)
        return x + self.down(self.activation(up))


class _Product:
    """x (1, I) -> x W^T + b, (1, O), in float32, by weights in fewer bytes."""

    def __init__(self, weight: Tensor, bias: Tensor | None, weights: str) -> None:
        self.bias = None if bias is None else bias.detach().clone()
        weight = weight.detach()
        if weights == "int8":
            made = quantize(weight)
            self.weight, self.scale = made.codes, made.scales[:, 0].bfloat16()
        else:
            self.weight = weight.to(getattr(torch, weights), copy=True)
        self.kind = weights

    def __call__(self, x: Tensor) -> Tensor:
        if self.kind == "float32":
            return F.linear(x, self.weight, self.bias)
        if self.kind == "bfloat16":
            y = F.linear(x.bfloat16(), self.weight).float()
        else:
            y = times_int8(x.bfloat16(), self.weight, self.scale).float()
        return y if self.bias is None else y + self.bias


def _behind(
    norm: nn.Module, maps: Sequence[tuple[Tensor, Tensor | None]], weights: str
) -> _Product:
    """Linear maps of one input as one product, which also does the norm's gain g and shift s.

    W (g x + s) + b = (W g) x + (W s + b).
    """
    gain, shift = (row.flatten() for row in _gain_and_shift(norm))
    weight = torch.cat([matrix.detach() for matrix, _ in maps])
    zeros = [torch.zeros(len(matrix)) if b is None else b.detach() for matrix, b in maps]
    bias = weight @ shift + torch.cat(zeros)
    return _Product(weight * gain, bias if bias.any() else None, weights)


def _gain_and_shift(norm: nn.Module) -> tuple[Tensor, Tensor]:
    """What a norm multiplies with and adds: (1, D) each."""
    gain = norm.weight.detach()[None]
    shift = getattr(norm, "bias", None)
    return gain, torch.zeros_like(gain) if shift is None else shift.detach()[None]


def _bare(norm: nn.Module) -> Norm:
    """A norm without its gain and shift."""
    if isinstance(norm, nn.LayerNorm):
        return lambda x: F.layer_norm(x, norm.normalized_shape, None, None, norm.eps)
    return lambda x: F.rms_norm(x, (norm.d_model,), None, norm.eps)
