"""Norms, feed-forward layers and blocks: against torch.nn, and against their formulas."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.models.attention import MultiHeadAttention, padding_mask
from helpers.models.blocks import (
    FeedForward,
    GatedFeedForward,
    PostNormBlock,
    PreNormBlock,
    RMSNorm,
)
from helpers.models.positions import ALiBi, RotaryPositions

B, T, D, H, F_HIDDEN = 3, 7, 8, 2, 20
BLOCKS = pytest.mark.parametrize("kind", [PreNormBlock, PostNormBlock])


def close(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=1e-12)


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def shaken(module, seed=0):
    """The module in float64 with every parameter random: ones and zeros hide mistakes."""
    module.double()
    for number, parameter in enumerate(module.parameters()):
        parameter.data = numbers(*parameter.shape, seed=100 * seed + number)
    return module


def gradients(output, *inputs):
    """Gradients of a random combination of the outputs."""
    return torch.autograd.grad((output * numbers(*output.shape, seed=99)).sum(), inputs)


# --- Norms


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RMSNorm(D), nn.RMSNorm(D, eps=1e-6)),
        (RMSNorm(D, eps=0.3), nn.RMSNorm(D, eps=0.3)),
    ],
)
def test_the_norms_equal_torchs_in_values_and_gradients(ours, theirs):
    assert {name: p.shape for name, p in ours.named_parameters()} == {
        name: p.shape for name, p in theirs.named_parameters()
    }
    x = (3 * numbers(B, T, D) + 5).requires_grad_()
    for module in (ours.double(), theirs.double()):
        assert torch.equal(module.weight, torch.ones(D, dtype=torch.float64))
    theirs.load_state_dict(shaken(ours).state_dict())
    close(ours(x), theirs(x))
    found = gradients(ours(x), x, *ours.parameters())
    close(found, gradients(theirs(x), x, *theirs.parameters()))


# --- Feed-forward layers


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", [F.gelu, F.relu])
def test_the_feed_forward_layer_is_its_formula(activation, bias):
    """W2 f(W1 x + b1) + b2 (Vaswani et al. 2017, equation 2), one position at a time."""
    layer = shaken(FeedForward(D, F_HIDDEN, activation, bias))
    x = numbers(B, T, D)
    b1, b2 = (layer.up.bias, layer.down.bias) if bias else (0, 0)
    for i in range(B):
        for t in range(T):
            hidden = activation(layer.up.weight @ x[i, t] + b1)
            close(layer(x)[i, t], layer.down.weight @ hidden + b2)
    assert (layer.up.bias is None) == (layer.down.bias is None) == (not bias)


def swish(z):
    """Swish with beta = 1, as Shazeer (2020) writes it."""
    return z / (1 + torch.exp(-z))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("activation", "formula"),
    [(F.silu, swish), (F.gelu, lambda z: z * torch.special.ndtr(z)), (F.sigmoid, torch.sigmoid)],
)
def test_the_gated_layer_is_shazeers_formula(activation, formula, bias):
    """FFN_SwiGLU(x, W, V, W2) = (Swish(x W) * x V) W2, equation 6; also GEGLU and GLU."""
    layer = shaken(GatedFeedForward(D, F_HIDDEN, activation, bias))
    x, W, V, W2 = numbers(B, T, D), layer.gate.weight.T, layer.up.weight.T, layer.down.weight.T
    b, c, b2 = (p.bias if bias else 0 for p in (layer.gate, layer.up, layer.down))
    close(layer(x), (formula(x @ W + b) * (x @ V + c)) @ W2 + b2)


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_dropout_acts_on_hidden_units_in_training_only(kind):
    layer, x = shaken(kind(D, 1000, torch.sigmoid, False, dropout=0.5)), numbers(2, D)
    layer.down.weight.data = torch.eye(1000, dtype=torch.float64)
    torch.manual_seed(0)
    dropped = layer(x)
    whole = layer.eval()(x)
    kept = dropped != 0
    close(dropped[kept], 2 * whole[kept])
    assert 0.4 < float(kept.double().mean()) < 0.6
    assert whole.all()


# --- Blocks


def make(kind, *, bias=True, activation=F.gelu, dropout=0.0, norm=nn.LayerNorm, **attention):
    layers = (MultiHeadAttention(D, H, bias=bias, **attention), FeedForward(D, 20, activation))
    return shaken(kind(D, *layers, norm=norm, dropout=dropout))


def load(theirs, ours):
    """Give nn.TransformerEncoderLayer our weights."""
    q, k, v = ours.attention.query, ours.attention.key, ours.attention.value
    theirs.self_attn.in_proj_weight.data = torch.cat([q.weight, k.weight, v.weight])
    theirs.self_attn.in_proj_bias.data = torch.cat([q.bias, k.bias, v.bias])
    for here, there in (
        (ours.attention.output, theirs.self_attn.out_proj),
        (ours.feed_forward.up, theirs.linear1),
        (ours.feed_forward.down, theirs.linear2),
        (ours.attention_norm, theirs.norm1),
        (ours.feed_forward_norm, theirs.norm2),
    ):
        there.load_state_dict(here.state_dict())


def encoder_layer(kind, activation="gelu", dropout=0.0):
    first = kind is PreNormBlock
    return nn.TransformerEncoderLayer(
        D, H, 20, dropout, activation, batch_first=True, norm_first=first
    ).double()


@pytest.mark.parametrize("which", ["all", "causal", "padded", "both"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
@BLOCKS
def test_a_block_equals_torchs_layer_in_values_and_gradients(kind, activation, which):
    ours, theirs = make(kind, activation=getattr(F, activation)), encoder_layer(kind, activation)
    load(theirs, ours)
    x = numbers(B, T, D, seed=1).requires_grad_()
    causal = which in ("causal", "both")
    mask = padding_mask(torch.tensor([7, 4, 1]), T) if which in ("padded", "both") else None
    found = ours(x, mask, causal)
    expected = theirs(  # there True means that a position may not be seen
        x,
        src_mask=torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None,
        src_key_padding_mask=None if mask is None else ~mask[:, 0, 0],
    )
    close(found, expected)
    pairs = [
        (ours.attention.output, theirs.self_attn.out_proj),
        (ours.feed_forward.up, theirs.linear1),
        (ours.feed_forward.down, theirs.linear2),
        (ours.attention_norm, theirs.norm1),
        (ours.feed_forward_norm, theirs.norm2),
    ]
    read = [ours.attention.query.weight, ours.attention.key.weight, ours.attention.value.weight]
    here = gradients(found, x, *(p for pair in pairs for p in pair[0].parameters()), *read)
    there = gradients(
        expected,
        x,
        *(p for pair in pairs for p in pair[1].parameters()),
        theirs.self_attn.in_proj_weight,
    )
    close((*here[:-3], torch.cat(here[-3:])), there)


@BLOCKS
def test_a_block_drops_what_torchs_layer_drops(kind):
    """The same units of both sub-layers' outputs, given the same seed."""
    ours, theirs = make(kind, dropout=0.4), encoder_layer(kind, dropout=0.4)
    load(theirs, ours)
    theirs.self_attn.dropout = theirs.dropout.p = 0.0
    x = numbers(1, T, D, seed=1)  # of a batch, torch draws the units in another order
    outputs = []
    for block in (ours, theirs):
        torch.manual_seed(0)
        outputs.append(block(x))
    close(*outputs)
    assert not torch.allclose(ours(x), ours.eval()(x))


PARTS = [
    {},
    {"bias": False, "n_kv_heads": 1},
    {"norm": RMSNorm},
    {"positions": RotaryPositions(D // H)},
    {"positions": ALiBi(H)},
]


@pytest.mark.parametrize("parts", PARTS)
@BLOCKS
def test_the_weights_are_those_that_the_block_uses(kind, parts):
    """The attention's part of the block, put together again from the weights and the values."""
    block, x = make(kind, **parts), numbers(B, T, D, seed=1)
    weights = block.weights(x, causal=True)
    assert weights.shape == (B, H, T, T)
    close(weights.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert not weights.triu(1).any()
    read = block.attention_norm(x) if kind is PreNormBlock else x
    v = block.attention.value(read).unflatten(-1, (-1, D // H)).transpose(1, 2)
    v = v.repeat_interleave(H // v.shape[1], dim=1)  # (B, H, T, K)
    heads = (weights @ v).transpose(1, 2).flatten(2)
    silent = nn.Module()
    silent.forward = lambda x: torch.zeros_like(x)
    block.feed_forward = silent
    after = x + block.attention.output(heads)
    if kind is PostNormBlock:
        after = block.feed_forward_norm(block.attention_norm(after))
    close(block(x, causal=True), after)


def test_layer_norm_is_the_lectures_formula_with_the_biased_variance():
    """Galerne: y = (x - E) / sqrt(V + eps) * gamma + beta, over the features of each token."""
    norm, x = shaken(nn.LayerNorm(D)), 3 * numbers(B, T, D) + 5
    y = norm(x)
    for i in range(B):
        for j in range(T):
            E = sum(x[i, j, k] for k in range(D)) / D
            V = sum((x[i, j, k] - E) ** 2 for k in range(D)) / D
            for k in range(D):
                expected = (x[i, j, k] - E) / (V + 1e-5).sqrt() * norm.weight[k] + norm.bias[k]
                close(y[i, j, k], expected)


def test_rms_norm_is_the_lectures_formula():
    """Godey: a_i / sqrt(mean of a_j^2) * g_i; without eps only where eps does not matter."""
    norm, x = shaken(RMSNorm(D)), 3 * numbers(B, T, D) + 5
    expected = torch.empty_like(x)
    for i in range(D):
        mean_of_squares = sum(x[..., j] ** 2 for j in range(D)) / D
        expected[..., i] = x[..., i] / mean_of_squares.sqrt() * norm.weight[i]
    torch.testing.assert_close(norm(x), expected, atol=0, rtol=1e-6)
    close(norm.__class__(D, eps=0.0).double()(x), expected / norm.weight)
