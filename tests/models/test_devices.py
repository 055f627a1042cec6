"""No tensor is made on the CPU on the way: beside the model's on another device it would raise.

The other device is "meta", which every machine has and which computes shapes alone. Models that
look at numbers, to cut padding off (the classifier and the encoder-decoders), cannot run there.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from helpers.course.checks.devices import OneDevice
from helpers.models.blocks import PostNormBlock
from helpers.models.convolution import AutoregressiveLM, CausalConvolutionLM
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.positions import ALiBi, LearnedPositions, RotaryPositions, SinusoidalPositions
from helpers.models.recurrent_cells import ElmanCell, GRUCell, LSTMCell
from helpers.models.recurrent_models import RecurrentLM
from helpers.models.transformer import Transformer
from helpers.models.window_lm import AveragingLM, WindowLM

V, T, D, H = 7, 9, 8, 2
SIZES = {"max_length": T, "n_layers": 2, "n_heads": H, "d_model": D}
MODELS = {
    "GPT-2": lambda: GPT(GPTConfig.gpt2(V, **SIZES, dropout=0.1)),
    "modern GPT": lambda: GPT(GPTConfig.modern(V, **SIZES, n_kv_heads=1)),
    "SwiGLU": lambda: GPT(GPTConfig.modern(V, **SIZES, activation="swiglu")),
    "learned": lambda: Transformer(V, D, H, 2, positions=LearnedPositions(T, D)),
    "sinusoidal": lambda: Transformer(V, D, H, 2, positions=SinusoidalPositions(D), causal=False),
    "rotary": lambda: Transformer(V, D, H, 2, relative=lambda: RotaryPositions(D // H)),
    "ALiBi": lambda: Transformer(V, D, H, 2, relative=lambda: ALiBi(H), block=PostNormBlock),
    "Elman": lambda: RecurrentLM(ElmanCell, V, D, D, 2, dropout=0.1),
    "GRU": lambda: RecurrentLM(GRUCell, V, D, D),
    "LSTM": lambda: RecurrentLM(LSTMCell, V, D, D),
    "auto-regressive": lambda: AutoregressiveLM(V, 3),
    "convolution": lambda: CausalConvolutionLM(V, D),
    "window": lambda: WindowLM(V, 3, D, D),
    "averaging": lambda: AveragingLM(V, 3, D, D),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_on_another_device_makes_its_tensors_there(name):
    model, tokens = MODELS[name]().to("meta"), torch.zeros(2, T, dtype=torch.long, device="meta")
    with OneDevice():
        logits = model(tokens)
        logits.sum().backward()
    assert logits.shape == (2, T, V)
    assert logits.is_meta
    assert all(p.grad is not None and p.grad.is_meta for p in model.parameters())


@pytest.mark.parametrize("name", ["GPT-2", "modern GPT", "SwiGLU"])
def test_the_cache_too(name):
    model, tokens = MODELS[name]().to("meta").eval(), torch.zeros(2, T).long().to("meta")
    with OneDevice():
        state = model.start(2)
        for part in tokens.split([5, 1, 3], 1):
            logits, state = model.read(part, state)
            assert logits.is_meta
        assert all(weights.is_meta for weights in model.weights(tokens))
        model.read(tokens[:, :2], state.cut(4))


class Forgetful(nn.Embedding):
    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(torch.arange(tokens.shape[1]).expand_as(tokens))


def test_a_device_that_is_forgotten_raises():
    model, tokens = Forgetful(V, D).to("meta"), torch.zeros(2, T, dtype=torch.long, device="meta")
    with OneDevice(), pytest.raises(RuntimeError, match=r"embedding.* more than one device"):
        model(tokens)


def test_indices_may_come_from_the_cpu_and_nothing_else():
    x, rows = torch.zeros(3, 4, device="meta"), torch.arange(3)
    with OneDevice():
        assert x[rows, torch.zeros_like(x[:, 0]).long()].is_meta
        x[rows, rows] = torch.zeros(3, device="meta")
        with pytest.raises(RuntimeError, match="more than one device"):
            x[rows, rows] = torch.zeros(3)
    with OneDevice(), pytest.raises(RuntimeError, match="more than one device"):
        torch.zeros(3)[torch.zeros(2, device="meta").long()]
