"""Packed weights predict what the model predicts, and lose what fewer bytes must lose."""

from __future__ import annotations

import pytest
import torch

from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.packed_predictor import PackedPredictor, _Product
from helpers.models.gpt import GPT, GPTConfig

V, BOS = 11, 3
SIZES = {"max_length": 16, "n_layers": 2, "n_heads": 4, "d_model": 32}
SHAPES = {
    "gpt2": GPTConfig.gpt2(V, **SIZES),
    "gpt2, QK-norm": GPTConfig.gpt2(V, qk_norm=True, **SIZES),
    "modern": GPTConfig.modern(V, **SIZES),
    "shared heads, SwiGLU": GPTConfig.modern(V, n_kv_heads=2, activation="swiglu", **SIZES),
    "modern, tied": GPTConfig.modern(V, tied=True, **SIZES),
}


def make(shape: str, seed: int = 0) -> GPT:
    """A GPT far from uniform: every parameter is random, gains and shifts too."""
    model, generator = GPT(SHAPES[shape]), torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.3, generator=generator)
    return model.eval()


def distributions(predictor, tokens):
    state, rows = predictor.start(1), []
    for token in tokens:
        log_p, state = predictor.step(token[None], state)
        rows.append(log_p[0])
    return torch.stack(rows)


@pytest.mark.parametrize("shape", SHAPES)
def test_packed_in_float32_nothing_changes_not_even_when_the_window_is_full(shape):
    model = make(shape)
    tokens = torch.randint(V, (40,), generator=torch.Generator().manual_seed(1))
    expected = distributions(CachedPredictor(model, BOS), tokens)
    found = distributions(PackedPredictor(model, BOS), tokens)
    assert (found - expected).abs().max() < 1e-4
    assert expected.std() > 0.1


@pytest.mark.parametrize(("weights", "most"), [("bfloat16", 0.1), ("int8", 0.2)])
@pytest.mark.parametrize("shape", SHAPES)
def test_fewer_bytes_lose_a_little(shape, weights, most):
    model = make(shape)
    tokens = torch.randint(V, (12,), generator=torch.Generator().manual_seed(2))
    expected = distributions(PackedPredictor(model, BOS), tokens)
    found = distributions(PackedPredictor(model, BOS, weights=weights), tokens)
    assert 1e-5 < (found - expected).abs().max() < most


@pytest.mark.parametrize("inputs", [1, 15, 31, 32, 33, 85, 128])
@pytest.mark.parametrize("outputs", [1, 3, 8, 65])
def test_the_product_in_int8_is_that_of_the_rounded_matrix_at_every_width(inputs, outputs):
    generator = torch.Generator().manual_seed(3)
    W, b = torch.randn(outputs, inputs, generator=generator), torch.randn(outputs)
    product = _Product(W, b, "int8")
    x = torch.randn(1, inputs, generator=generator).bfloat16().float()
    scale = product.scale.float()[:, None]
    rounded = product.weight[:, :inputs].float() * scale
    assert ((rounded - W).abs() <= 0.51 * scale + 0.005 * W.abs()).all()  # scales in bfloat16
    exact = x @ rounded.T + b
    assert (product(x) - exact).abs().max() < 0.01 * max(1.0, (x.abs() @ W.abs().T).max())
    assert torch.equal(rounded[0] == 0, W[0].abs() < 0.5 * scale[0])
