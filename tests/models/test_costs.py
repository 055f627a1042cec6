"""Formulas against the parameters that are counted."""

from __future__ import annotations

import itertools

import pytest
from torch import nn

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import (
    FeedForward,
    GatedFeedForward,
    PostNormBlock,
    PreNormBlock,
    RMSNorm,
)
from helpers.models.costs import (
    attention_parameters,
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


@pytest.mark.parametrize("d_model", [32, 768])
def test_the_rule_of_thumb(d_model):
    """12 D^2 parameters in a block."""
    attention, feed_forward = attention_parameters(d_model, 4), feed_forward_parameters(d_model)
    norm = norm_parameters(d_model)
    assert attention + feed_forward + 2 * norm == 12 * d_model**2 + 9 * d_model
