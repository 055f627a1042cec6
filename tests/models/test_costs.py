"""Cost formulas against what is there: counted parameters, counted FLOPs."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import (
    FeedForward,
    GatedFeedForward,
    PostNormBlock,
    PreNormBlock,
    RMSNorm,
)
from helpers.models.costs import (
    attention_flops,
    attention_parameters,
    block_flops,
    feed_forward_flops,
    feed_forward_parameters,
    gated_feed_forward_parameters,
    norm_parameters,
)
from helpers.models.positions import ALiBi, LearnedPositions, RotaryPositions
from helpers.models.transformer import Transformer

HEADS = [(8, 1, None), (8, 2, None), (24, 4, 4), (24, 4, 2), (24, 4, 1), (48, 6, 3)]
FEED_FORWARDS = [
    (FeedForward, feed_forward_parameters),
    (GatedFeedForward, gated_feed_forward_parameters),
]


def parameters(module):
    return sum(p.numel() for p in module.parameters())


def counted(module, *arguments, **keywords):
    """FLOPs of matrix products in a forward pass, by PyTorch's counter.

    The counter does not see the CPU's fused attention kernel, so attention runs in single products.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        module(*arguments, **keywords)
    return counter.get_total_flops()


# --- Parameters


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("d_model", "n_heads", "n_kv_heads"), HEADS)
def test_the_parameters_of_attention(d_model, n_heads, n_kv_heads, bias):
    keywords = {"n_kv_heads": n_kv_heads, "bias": bias}
    layer = MultiHeadAttention(d_model, n_heads, **keywords)
    assert attention_parameters(d_model, n_heads, **keywords) == parameters(layer)


@pytest.mark.parametrize(("kind", "formula"), FEED_FORWARDS)
def test_the_parameters_of_feed_forward_layers(kind, formula):
    settings = itertools.product([1, 8, 100], [None, 1, 33])
    for d_model, d_hidden in settings:
        assert formula(d_model, d_hidden) == parameters(kind(d_model, d_hidden))
        for bias in (True, False):
            layer = kind(d_model, d_hidden, bias=bias)
            assert formula(d_model, d_hidden, bias=bias) == parameters(layer)


def test_the_parameters_of_norms():
    assert norm_parameters(12) == parameters(nn.LayerNorm(12))
    assert norm_parameters(12, bias=False) == parameters(nn.LayerNorm(12, bias=False))
    assert norm_parameters(12, bias=False) == parameters(RMSNorm(12))


@pytest.mark.parametrize(
    ("norm", "norm_bias"), [(nn.LayerNorm, True), (RMSNorm, False)], ids=["LayerNorm", "RMSNorm"]
)
@pytest.mark.parametrize("block", [PreNormBlock, PostNormBlock])
@pytest.mark.parametrize(("kind", "formula"), FEED_FORWARDS)
def test_the_parameters_of_a_block(kind, formula, block, norm, norm_bias):
    for d_model, n_heads, n_kv_heads in HEADS:
        attention = MultiHeadAttention(d_model, n_heads, n_kv_heads=n_kv_heads)
        layers = block(d_model, attention, kind(d_model), norm)
        found = attention_parameters(d_model, n_heads, n_kv_heads=n_kv_heads) + formula(d_model)
        assert found + 2 * norm_parameters(d_model, bias=norm_bias) == parameters(layers)


def test_a_block_of_gpt2_has_the_known_number_of_parameters():
    """The smallest GPT-2: D = 768, 12 heads, biases everywhere: 7,087,872 in each of 12 blocks."""
    block = attention_parameters(768, 12, bias=True) + feed_forward_parameters(768)
    block += 2 * norm_parameters(768)
    assert block == 7_087_872
    assert 50257 * 768 + 1024 * 768 + 12 * block + norm_parameters(768) == 124_439_808


@pytest.mark.parametrize("d_hidden", [None, 50])
@pytest.mark.parametrize("n_layers", [1, 3])
def test_the_parameters_of_a_transformer(n_layers, d_hidden):
    sizes = (30, 24, 4, n_layers)
    plain = Transformer(*sizes, d_hidden=d_hidden)
    attention, norm = attention_parameters(24, 4), norm_parameters(24)
    block = attention + feed_forward_parameters(24, d_hidden) + 2 * norm
    # One embedding more, for the beginning of a text; the output shares them.
    assert parameters(plain) == (30 + 1) * 24 + n_layers * block + norm
    for relative in (lambda: RotaryPositions(6), lambda: ALiBi(4)):
        rotated = Transformer(*sizes, relative=relative, d_hidden=d_hidden)
        assert parameters(rotated) == parameters(plain)
    learned = Transformer(*sizes, positions=LearnedPositions(17, 24), d_hidden=d_hidden)
    assert parameters(learned) == parameters(plain) + 17 * 24


# --- FLOPs


def test_the_counter_counts_a_multiply_add_as_two():
    """One product of (5, 8) and (8, 3), a bias and a GELU, which count as nothing."""
    layer = torch.nn.Sequential(torch.nn.Linear(8, 3), torch.nn.GELU())
    assert counted(layer, torch.zeros(5, 8)) == 2 * 5 * 8 * 3


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("d_model", "n_heads", "n_kv_heads"), HEADS)
def test_the_flops_of_self_attention(d_model, n_heads, n_kv_heads, causal):
    layer = MultiHeadAttention(d_model, n_heads, n_kv_heads=n_kv_heads, bias=True)
    for B, T in ((1, 1), (1, 9), (3, 40)):
        found = counted(layer, torch.zeros(B, T, d_model), causal=causal)
        assert B * attention_flops(d_model, n_heads, T, n_kv_heads=n_kv_heads) == found


@pytest.mark.parametrize(("d_model", "n_heads", "n_kv_heads"), HEADS)
def test_the_flops_of_cross_attention(d_model, n_heads, n_kv_heads):
    keywords = {"n_kv_heads": n_kv_heads}
    layer = MultiHeadAttention(d_model, n_heads, **keywords)
    for T, S in ((1, 7), (6, 1), (6, 7)):
        x, source = torch.zeros(2, T, d_model), torch.zeros(2, S, d_model)
        assert 2 * attention_flops(d_model, n_heads, T, S, **keywords) == counted(layer, x, source)


def test_the_flops_of_feed_forward_layers():
    for d_model, d_hidden, T in itertools.product([8, 100], [None, 33], [1, 9]):
        layer = FeedForward(d_model, d_hidden)
        found = counted(layer, torch.zeros(3, T, d_model))
        assert 3 * feed_forward_flops(d_model, T, d_hidden) == found


@pytest.mark.parametrize("norm", [nn.LayerNorm, RMSNorm])
@pytest.mark.parametrize("block", [PreNormBlock, PostNormBlock])
def test_the_flops_of_a_block(block, norm):
    for d_model, n_heads, n_kv_heads in HEADS:
        attention = MultiHeadAttention(d_model, n_heads, n_kv_heads=n_kv_heads)
        layers = block(d_model, attention, FeedForward(d_model), norm)
        found = counted(layers, torch.zeros(2, 9, d_model), causal=True)
        flops = attention_flops(d_model, n_heads, 9, n_kv_heads=n_kv_heads)
        assert 2 * block_flops(flops, feed_forward_flops(d_model, 9)) == found


@pytest.mark.parametrize("relative", [None, lambda: RotaryPositions(6), lambda: ALiBi(4)])
def test_the_flops_of_a_transformer(relative):
    model = Transformer(30, 24, 4, 3, relative=relative, d_hidden=50)
    block = block_flops(attention_flops(24, 4, 11), feed_forward_flops(24, 11, 50))
    found = counted(model, torch.zeros(2, 11, dtype=torch.long))
    assert found == 2 * (3 * block + 2 * 11 * 24 * 30)


def test_the_backward_pass_costs_twice_the_forward_pass():
    """Kaplan et al. (2020): a matrix product has two in its gradient, one for each factor."""
    layer, x = FeedForward(8), torch.zeros(3, 9, 8, requires_grad=True)
    y = layer(x).sum()
    with FlopCounterMode(display=False) as counter:
        y.backward()
    assert counter.get_total_flops() == 2 * 3 * feed_forward_flops(8, 9)


@pytest.mark.parametrize("d_model", [32, 768])
def test_the_rules_of_thumb(d_model):
    """12 D^2 parameters in a block, 24 T D^2 + 4 T^2 D FLOPs, half of it quadratic at T = 6 D."""
    attention, feed_forward = attention_parameters(d_model, 4), feed_forward_parameters(d_model)
    norm = norm_parameters(d_model)
    assert attention + feed_forward + 2 * norm == 12 * d_model**2 + 9 * d_model
    for T in (1, 100, 6 * d_model):
        flops = block_flops(attention_flops(d_model, 4, T), feed_forward_flops(d_model, T))
        assert flops == 24 * T * d_model**2 + 4 * T**2 * d_model
    assert flops == 2 * 24 * T * d_model**2
