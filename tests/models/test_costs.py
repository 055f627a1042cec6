"""Formulas against the parameters that are counted."""

from __future__ import annotations

import itertools

import pytest

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import (
    FeedForward,
    GatedFeedForward,
)
from helpers.models.costs import (
    attention_parameters,
    feed_forward_parameters,
    gated_feed_forward_parameters,
    norm_parameters,
)

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


def test_a_block_of_gpt2_has_the_known_number_of_parameters():
    """The smallest GPT-2: D = 768, 12 heads, biases everywhere: 7,087,872 in each of 12 blocks."""
    block = attention_parameters(768, 12, bias=True) + feed_forward_parameters(768)
    block += 2 * norm_parameters(768)
    assert block == 7_087_872
    assert 50257 * 768 + 1024 * 768 + 12 * block + norm_parameters(768) == 124_439_808
