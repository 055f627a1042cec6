"""Weights in few bits: against arithmetic by hand and PyTorch's own quantisation."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.models.gpt import GPT, GPTConfig
from helpers.models.quantized import (
    QuantizedLinear,
    has_int8_kernel,
    quantize,
    quantize_model,
    weight_bytes,
)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("group", [None, 4, 16])
def test_no_weight_moves_by_more_than_half_a_step(bits: int, group: int | None) -> None:
    weight = normal(6, 32)
    made = quantize(weight, bits, group)
    step = made.scales.repeat_interleave(made.group, 1)
    assert (made.dequantized() - weight).abs().le(step / 2 + 1e-12).all()
    assert made.codes.abs().max() == 2 ** (bits - 1) - 1  # the largest of some group is exact
    assert made.codes.dtype == torch.int8
    assert made.group == (group or 32)
    assert made.bytes == 6 * 32 * bits / 8 + 2 * 6 * (32 // (group or 32))


def test_equals_pytorchs_quantisation_per_channel() -> None:
    weight = normal(5, 12, dtype=torch.float32)
    made = quantize(weight)
    zeros = torch.zeros(5, dtype=torch.int32)
    theirs = torch.fake_quantize_per_channel_affine(weight, made.scales[:, 0], zeros, 0, -127, 127)
    assert torch.allclose(theirs, made.dequantized())


def test_layer_equals_the_product_with_the_rounded_matrix() -> None:
    linear, x = nn.Linear(32, 8).double(), normal(2, 3, 32)
    for bits, group in ((8, None), (4, 16)):
        layer = QuantizedLinear(linear, bits, group)
        W = quantize(linear.weight, bits, group).dequantized()
        assert torch.allclose(layer(x), x @ W.T + linear.bias)


@pytest.mark.skipif(not has_int8_kernel(), reason="this PyTorch has no such kernel")
def test_kernel_equals_the_product() -> None:
    linear = nn.Linear(64, 48).bfloat16()
    layer, x = QuantizedLinear(linear), normal(5, 64).bfloat16()
    slow = x.double() @ layer.quantized.dequantized().double().T + linear.bias.double()
    assert torch.allclose(layer(x).double(), slow, atol=0.05, rtol=0.02)


def test_a_model_is_copied_and_weighs_less() -> None:
    torch.manual_seed(0)
    model = GPT(GPTConfig.gpt2(16, n_layers=1, n_heads=2, d_model=32, max_length=8)).double()
    before = [p.clone() for p in model.parameters()]
    small = quantize_model(model)
    tokens = torch.arange(8)[None]
    with torch.no_grad():
        moved = (small(tokens) - model(tokens)).abs().max()
    assert 0 < moved < 0.05
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    matrices = 12 * 32 * 32
    rows = (4 + 4 + 1) * 32
    saved = 8 * matrices - matrices - 2 * rows
    assert weight_bytes(model) - weight_bytes(small) == saved
    rounded = quantize_model(model, 4, 16, embeddings=True)
    assert not torch.equal(rounded.embedding.weight, model.embedding.weight)


def test_what_cannot_be_quantised_is_said() -> None:
    small = quantize_model(nn.Sequential(nn.Linear(4, 4)), 8)
    with pytest.raises(ValueError, match="is quantized already, to 8 bits"):
        quantize_model(small, 4)


@pytest.mark.parametrize("inputs", [1, 15, 16, 33, 85])
def test_the_kernel_reads_rows_of_every_width(inputs: int) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(inputs, 7)
    layer, x = QuantizedLinear(linear), torch.randn(5, inputs).bfloat16()
    expected = F.linear(x.float(), layer.weight, layer.bias)
    size = (x.float().abs() @ layer.weight.abs().T).max()
    assert ((layer(x).float() - expected).abs() < 0.02 * size).all()


def test_by_hand() -> None:
    made = quantize(torch.tensor([[0.7, -0.35, 0.12, 0.0]]), bits=4)
    assert made.scales.tolist() == [[pytest.approx(0.1)]]
    assert made.codes.tolist() == [[7, -4, 1, 0]] or made.codes.tolist() == [[7, -3, 1, 0]]
    assert made.dequantized()[0, 0] == pytest.approx(0.7)
    assert quantize(torch.tensor([[1.27, -0.5, 0.004]])).codes.tolist() == [[127, -50, 0]]
