"""Packed weights predict what the model predicts, and lose what fewer bytes must lose."""

from __future__ import annotations

import pytest
import torch

from helpers.inference import packed_predictor
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.packed_predictor import PackedPredictor, _Product
from helpers.inference.sampling import sample
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


@pytest.mark.parametrize("shape", ["gpt2", "modern"])
def test_sampling_and_several_texts_work_as_with_the_model_itself(shape):
    model = make(shape)
    plain, packed = CachedPredictor(model, BOS), PackedPredictor(model, BOS)
    for batch_size in (1, 3):
        texts = (
            sample(p, 30, torch.Generator().manual_seed(4), [1, 2], batch_size=batch_size)
            for p in (plain, packed)
        )
        assert torch.equal(*texts)


def test_an_earlier_state_can_be_read_again():
    packed = PackedPredictor(make("modern"), BOS)
    _, state = packed.step(torch.tensor([BOS]), packed.start(1))
    first, _ = packed.step(torch.tensor([1]), state)
    packed.step(torch.tensor([5]), state)
    again, _ = packed.step(torch.tensor([1]), state)
    assert torch.equal(first, again)


def test_what_cannot_be_packed_is_told(monkeypatch):
    with pytest.raises(ValueError, match="weights is 'int4'; expected one of float32"):
        PackedPredictor(make("gpt2"), BOS, weights="int4")
    with pytest.raises(ValueError, match=r"torch.bfloat16; pack it in float32"):
        PackedPredictor(make("gpt2").bfloat16(), BOS)
    monkeypatch.setattr(packed_predictor, "has_int8_kernel", lambda: False)
    with pytest.raises(ValueError, match="no product with int8 weights"):
        PackedPredictor(make("gpt2"), BOS, weights="int8")
