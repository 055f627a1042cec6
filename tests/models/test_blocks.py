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


@pytest.mark.parametrize("norm", [nn.LayerNorm, RMSNorm])
def test_what_a_norm_takes_away(norm):
    """Scale for both; a shift for LayerNorm alone; and a constant or zero x is no trouble."""
    layer, x = norm(D, eps=0.0).double(), numbers(B, T, D)
    close(layer(7 * x), layer(x))
    close(layer(x).square().mean(-1), torch.ones(B, T, dtype=torch.float64))
    assert torch.allclose(layer(x + 2), layer(x)) == (norm is nn.LayerNorm)
    zeros = torch.zeros(1, D, requires_grad=True)
    y = norm(D)(zeros)
    assert not y.any()
    assert torch.autograd.grad(y.sum(), zeros)[0].isfinite().all()


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


def test_the_gated_layers_default_is_swiglu_without_bias():
    layer = GatedFeedForward(D)
    assert layer.activation is F.silu
    assert all(part.bias is None for part in (layer.gate, layer.up, layer.down))


@pytest.mark.parametrize("d_model", [1, 8, 96, 100])
def test_the_default_widths_cost_about_the_same(d_model):
    plain, gated = FeedForward(d_model, bias=False), GatedFeedForward(d_model)
    assert plain.up.out_features == 4 * d_model
    found, wanted = (sum(p.numel() for p in layer.parameters()) for layer in (gated, plain))
    assert wanted - 3 * d_model < found <= wanted


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


def silence(block):
    for layer in (block.attention.output, block.feed_forward.down):
        nn.init.zeros_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


@pytest.mark.parametrize("norm", [nn.LayerNorm, RMSNorm])
def test_with_silent_sub_layers_a_pre_norm_block_is_the_identity(norm):
    """And so are 50 of them, with the gradient 1; a post-norm block still normalizes twice."""
    block, x = make(PreNormBlock, norm=norm), numbers(B, T, D, seed=1).requires_grad_()
    silence(block)
    y = x
    for _ in range(50):
        y = block(y, causal=True)
    assert torch.equal(y, x)
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.ones_like(x))
    post = make(PostNormBlock, norm=norm)
    silence(post)
    close(post(x), post.feed_forward_norm(post.attention_norm(x)))
    assert not torch.allclose(post(x), x)


PARTS = [
    {},
    {"bias": False, "n_kv_heads": 1},
    {"norm": RMSNorm},
    {"positions": RotaryPositions(D // H)},
    {"positions": ALiBi(H)},
]


@pytest.mark.parametrize("parts", PARTS)
@BLOCKS
def test_a_causal_block_does_not_see_the_future_and_another_does(kind, parts):
    block, x = make(kind, **parts), numbers(B, T, D, seed=1)
    for t in range(T):
        other = x.clone()
        other[:, t] += numbers(D, seed=2)
        changed = (block(other, causal=True) - block(x, causal=True)).abs().amax((0, 2)) > 1e-9
        assert changed.tolist() == [s >= t for s in range(T)]
        assert ((block(other) - block(x)).abs().amax((0, 2)) > 1e-9).all()


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


@BLOCKS
def test_a_row_that_sees_nothing_gives_numbers_and_gradients(kind):
    block, x = make(kind), numbers(B, T, D, seed=1).requires_grad_()
    mask = padding_mask(torch.tensor([7, 2, 0]), T)
    y = block(x, mask)
    assert y.isfinite().all()
    assert all(part.isfinite().all() for part in gradients(y, x, *block.parameters()))


@BLOCKS
def test_the_norm_is_the_one_that_was_asked_for(kind):
    block = make(kind, norm=RMSNorm)
    assert isinstance(block.attention_norm, RMSNorm)
    assert isinstance(block.feed_forward_norm, RMSNorm)
    assert block.attention_norm is not block.feed_forward_norm
