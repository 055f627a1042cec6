"""Attention: against torch's own, against the formulas in loops, and masks that leave nothing."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.models.attention import (
    MultiHeadAttention,
    attend,
    attend_with_one_query,
    attend_with_weights,
    attention_scores,
    causal_mask,
    masked_softmax,
    padding_mask,
    prefix_mask,
)
from helpers.models.positions import ALiBi, RelativePositions, RotaryPositions
from tests.models.attention_cases import close, coins, gradients, numbers, same

B, H, D, K, KV = 3, 4, 8, 5, 7
SIZES = pytest.mark.parametrize(("T", "S"), [(1, 1), (1, 6), (6, 1), (4, 6), (6, 4), (5, 5)])


def heads(T, S, seed=0):
    """q (B, H, T, K), k (B, H, S, K), v (B, H, S, KV)."""
    shapes = ((B, H, T, K), (B, H, S, K), (B, H, S, KV))
    return [numbers(*shape, seed=seed + i) for i, shape in enumerate(shapes)]


def make(*args, seed=0, **keywords):
    torch.manual_seed(seed)
    return MultiHeadAttention(*args, **keywords).double()


def both(q, k, v, *args, **keywords):
    """The output of the fused path and that of the explicit one."""
    return attend(q, k, v, *args, **keywords), attend_with_weights(q, k, v, *args, **keywords)[0]


# --- masks


def test_a_causal_mask_is_aligned_with_the_last_position():
    assert causal_mask(3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(2, 4).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert causal_mask(1, 4).tolist() == [[1, 1, 1, 1]]
    assert causal_mask(3, 2).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert causal_mask(2).dtype == torch.bool


@pytest.mark.parametrize("T", [1, 2, 6])
def test_the_masks_equal_their_definitions(T):
    lengths = torch.tensor([0, 1, T])
    padding = padding_mask(lengths, T)
    several, single = prefix_mask(lengths, T), [prefix_mask(int(n), T) for n in lengths]
    assert padding.shape == (3, 1, 1, T)
    assert several.shape == (3, 1, T, T)
    for b, length in enumerate(lengths.tolist()):
        assert padding[b, 0, 0].tolist() == [j < length for j in range(T)]
        wanted = [[j < length or j <= i for j in range(T)] for i in range(T)]
        assert several[b, 0].tolist() == single[b].tolist() == wanted


# --- scaled dot-product attention


def masks(T, S):
    """One mask of each form, each row with at least one key."""
    lengths = 1 + torch.arange(B) % S
    random = coins(B, H, T, S, seed=3)
    random[..., 0] = True
    return {
        "none": None,
        "one for all": coins(T, S, seed=1) | (torch.arange(S) == 0),
        "padding": padding_mask(lengths, S),
        "padding of queries and keys": padding_mask(lengths, S).expand(B, 1, T, S),
        "random": random,
        "prefix": prefix_mask(lengths.clamp(max=T), T) if T == S else None,
    }


FORMS = pytest.mark.parametrize("form", list(masks(2, 2)))


@SIZES
@FORMS
def test_both_forms_equal_torch(T, S, form):
    mask, qkv = masks(T, S)[form], heads(T, S)
    wanted = F.scaled_dot_product_attention(*qkv, attn_mask=mask)
    for found in both(*qkv, mask):
        same(found, wanted, qkv)


@SIZES
@FORMS
def test_a_bias_is_added_to_the_scores(T, S, form):
    mask, qkv = masks(T, S)[form], heads(T, S)
    bias = numbers(H, T, S, seed=8)
    added = bias.expand(B, H, T, S)
    added = added if mask is None else added.masked_fill(~mask, -math.inf)
    wanted = F.scaled_dot_product_attention(*qkv, attn_mask=added)
    for found in both(*qkv, mask, bias=bias):
        same(found, wanted, [*qkv, bias])


@SIZES
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_causal_joins_the_other_masks(T, S, with_bias, padded):
    qkv, bias = heads(T, S), numbers(H, T, S, seed=8) if with_bias else None
    mask = padding_mask(torch.tensor([S, 1, 0]), S) if padded else None
    joined = causal_mask(T, S) & (True if mask is None else mask)
    wanted = attend_with_weights(*qkv, joined, bias=bias)[0]
    for found in both(*qkv, mask, bias=bias, causal=True):
        same(found, wanted, qkv)
    if T == S and not padded and not with_bias:
        same(wanted, F.scaled_dot_product_attention(*qkv, is_causal=True), qkv)


def test_the_scale_is_one_over_the_root_of_the_width_unless_given():
    q, k, _ = heads(3, 4)
    products = torch.einsum("bhtk,bhsk->bhts", q, k)
    close(attention_scores(q, k), products / math.sqrt(K))
    close(attention_scores(q, k, scale=2.0), 2 * products)


@pytest.mark.parametrize("T", [1, 5])
def test_dropout_keeps_the_mean_and_zero_means_none(T):
    q, k, v = (numbers(1, 1, n, 2, seed=n, grad=False) for n in (T, 6, 6))
    wanted, weights = attend_with_weights(q, k, v)
    torch.manual_seed(0)
    drawn = torch.stack([attend(q, k, v, dropout=0.5) for _ in range(4000)])
    # Each weight is dropped or doubled: its variance is the square of the weight.
    deviation = ((weights**2) @ (v**2) / 4000).sqrt()
    assert float(((drawn.mean(0) - wanted).abs() / deviation).max()) < 4.5
    assert float(drawn.std(0).min()) > 0
    close(attend(q, k, v, dropout=0.0), wanted)


# --- rows that may attend to nothing


def with_empty_rows(T, S):
    """Masks with rows of nothing: name -> (mask, causal)."""
    rows = coins(T, S, seed=1) | (torch.arange(S) == 0)
    rows[0] = False
    each = coins(B, H, T, S, seed=2, share=0.3)
    each[0, 1] = False
    forms = {
        "rows": (rows, False),
        "padding": (padding_mask(torch.tensor([0, S, 1]), S), False),
        "everything": (torch.zeros(1, 1, 1, 1, dtype=torch.bool), False),
        "left padding under causal": (~padding_mask(torch.tensor([1, 0, S]), S), True),
        "each head its own": (each, False),
    }
    if T == S:
        padding = padding_mask(torch.tensor([0, 1, T]), T)
        forms["prefix and padding"] = (prefix_mask(torch.tensor([0, 1, 0]), T) & padding, False)
    if T > S:
        forms["more queries than keys"] = (None, True)
    return forms


@pytest.mark.parametrize(
    ("T", "S", "form"),
    [(T, S, form) for T, S in SIZES.args[1] for form in with_empty_rows(T, S)],
)
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_empty_rows_are_zero_and_pass_zeros_back(T, S, form, with_bias, dropout):
    mask, causal = with_empty_rows(T, S)[form]
    q, k, v = heads(T, S)
    bias = numbers(H, T, S, seed=8) if with_bias else None
    allowed = torch.ones(B, H, T, S, dtype=torch.bool)
    allowed = allowed & (True if mask is None else mask) & (causal_mask(T, S) if causal else True)
    empty = ~allowed.any(-1)
    assert empty.any()
    explicit, weights = attend_with_weights(q, k, v, mask, bias=bias, causal=causal)
    fused = attend(q, k, v, mask, bias=bias, causal=causal, dropout=dropout)
    inputs = [q, k, v] + [bias] * with_bias
    for output in (explicit, fused):
        assert torch.equal(output[empty], torch.zeros_like(output[empty]))
        assert output.isfinite().all()
        found = gradients(output, inputs)
        assert all(gradient.isfinite().all() for gradient in found)
        assert torch.equal(found[0][empty], torch.zeros_like(q[empty]))
        # The empty rows by themselves: nothing of them reaches any input.
        for gradient in gradients(output[empty], inputs):
            assert torch.equal(gradient, torch.zeros_like(gradient))
    assert torch.equal(weights[~allowed], torch.zeros_like(weights[~allowed]))
    close(weights.sum(-1), (~empty).double())
    if not dropout:
        same(fused, explicit, inputs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_empty_rows_in_the_dtypes_of_training(dtype):
    q, k, v = (y.detach().to(dtype).requires_grad_() for y in heads(5, 5))
    mask = padding_mask(torch.tensor([0, 5, 2]), 5)
    bias = numbers(H, 5, 5).detach()
    for keywords in ({}, {"causal": True}, {"bias": bias}):
        for output in both(q, k, v, mask, **keywords):
            assert output.dtype == dtype
            assert not output[0].any()
            assert output[1:].any(-1).all()
            for gradient in torch.autograd.grad(output.float().square().sum(), [q, k, v]):
                assert gradient.isfinite().all()
                assert not gradient[0].any()


def test_masked_softmax_without_a_mask_and_with_nothing_to_see():
    scores = numbers(B, 3, 4)
    close(masked_softmax(scores), scores.softmax(-1))
    weights = masked_softmax(scores, torch.zeros(3, 4, dtype=torch.bool))
    assert torch.equal(weights, torch.zeros_like(weights))
    assert torch.equal(gradients(weights, [scores])[0], torch.zeros_like(scores))
    far = torch.tensor([[1000.0, -1000.0, 0.0]], requires_grad=True)
    assert masked_softmax(far, torch.tensor([[False, True, True]])).tolist() == [[0, 0, 1]]


# --- multi-head attention


def torch_attention(ours, bias):
    """torch's module with the same weights."""
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=True, dtype=torch.float64)
    layers = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            theirs.out_proj.bias.copy_(ours.output.bias)
    return theirs


def joined(gradients_of, layers, name):
    return torch.cat([gradients_of[id(getattr(layer, name))] for layer in layers])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(
    ("S", "causal"),
    [
        *[(S, causal) for S in (None, 5, 6, 7) for causal in (True, False)],
        (1, False),  # with causal=True torch gives NaN: four queries see nothing
    ],
)
def test_multi_head_attention_equals_torch(S, padded, causal, bias):
    T = 5
    ours = make(D, H, bias=bias)
    if bias:
        for layer in (ours.query, ours.key, ours.value, ours.output):
            nn.init.normal_(layer.bias)
    theirs = torch_attention(ours, bias)
    x, source = numbers(B, T, D), None if S is None else numbers(B, S, D, seed=1)
    S = S or T
    mask = padding_mask(1 + torch.arange(B) % S, S) if padded else None
    hidden = ~causal_mask(T, S) if causal else None  # torch: True = may not attend
    found = ours(x, source, mask, causal)
    wanted, weights = theirs(
        x,
        x if source is None else source,
        x if source is None else source,
        key_padding_mask=None if mask is None else ~mask[:, 0, 0],
        attn_mask=hidden,
        average_attn_weights=False,
    )
    inputs = [x] if source is None else [x, source]
    same(found, wanted, inputs)
    close(ours.weights(x, source, mask, causal), weights)
    mine, its = list(ours.parameters()), list(theirs.parameters())
    of_mine = dict(zip(map(id, mine), gradients(found, mine)))
    of_its = dict(zip(map(id, its), gradients(wanted, its)))
    layers = (ours.query, ours.key, ours.value)
    close(of_mine[id(ours.output.weight)], of_its[id(theirs.out_proj.weight)])
    close(joined(of_mine, layers, "weight"), of_its[id(theirs.in_proj_weight)])
    if bias:
        close(joined(of_mine, layers, "bias"), of_its[id(theirs.in_proj_bias)])


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_grouped_queries_equal_those_of_torch(n_kv_heads):
    attention, x, source = make(D, H, n_kv_heads=n_kv_heads), numbers(B, 5, D), numbers(B, 7, D)
    q, k, v = (
        layer(y).unflatten(-1, (-1, D // H)).transpose(1, 2)
        for layer, y in ((attention.query, x), (attention.key, source), (attention.value, source))
    )
    assert k.shape == (B, n_kv_heads, 7, D // H)
    wanted = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    wanted = attention.output(wanted.transpose(1, 2).reshape(B, 5, D))
    same(attention(x, source), wanted, [x, source, *attention.parameters()])


# --- relative positions


class Doubling(RelativePositions):
    """Multiplies what stands at position t by t + 1 and prefers near keys."""

    def rotate(self, x, start=0):
        return x * torch.arange(start + 1, start + 1 + x.shape[-2], dtype=x.dtype)[:, None]

    def bias(self, T, S):
        distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
        return -torch.arange(1.0, H + 1)[:, None, None] * distance.abs()


@pytest.mark.parametrize("n_kv_heads", [2, 4])
@pytest.mark.parametrize("causal", [True, False])
def test_positions_turn_each_head_and_bias_the_scores(n_kv_heads, causal):
    attention = make(D, H, n_kv_heads=n_kv_heads, positions=Doubling())
    x, width = numbers(B, 5, D), D // H
    wanted = torch.zeros(B, H, 5, 5, dtype=torch.float64)
    for h in range(H):
        g = h * n_kv_heads // H
        W_Q = attention.query.weight[h * width : (h + 1) * width]
        W_K = attention.key.weight[g * width : (g + 1) * width]
        for i in range(5):
            for j in range(i + 1 if causal else 5):
                products = ((x[:, i] @ W_Q.T) * (x[:, j] @ W_K.T)).sum(-1) * (i + 1) * (j + 1)
                score = products / math.sqrt(width) - (h + 1) * abs(i - j)
                wanted[:, h, i, j] = score.exp()
    wanted = wanted / wanted.sum(-1, keepdim=True)
    close(attention.weights(x, causal=causal), wanted)
    values = attention.value(x).unflatten(-1, (-1, width))[:, :, torch.arange(H) * n_kv_heads // H]
    output = torch.einsum("bhts,bshk->bthk", wanted, values).flatten(2)
    close(attention(x, causal=causal), attention.output(output))


@pytest.mark.parametrize(
    "positions", [None, RelativePositions(), Doubling(), RotaryPositions(D // H), ALiBi(H)]
)
@pytest.mark.parametrize("last", [1, 3, 6])
def test_the_last_queries_alone_give_the_last_outputs(positions, last):
    """As with a key-value cache: x holds the new tokens, source the whole sequence."""
    attention, x = make(D, H, n_kv_heads=2, positions=positions), numbers(B, 6, D, grad=False)
    whole = attention(x, causal=True)
    close(attention(x[:, -last:], x, causal=True), whole[:, -last:])
    if type(positions) in (type(None), RelativePositions):
        close(whole, make(D, H, n_kv_heads=2)(x, causal=True))
    else:
        assert not torch.allclose(whole, make(D, H, n_kv_heads=2)(x, causal=True))


# --- kernels


@FORMS
@SIZES
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_the_fused_kernel_gives_what_the_products_of_training_give(T, S, form, with_bias, causal):
    qkv, mask = heads(T, S), masks(T, S)[form]
    settings = {"bias": numbers(H, T, S, seed=8) if with_bias else None, "causal": causal}
    in_training = attend(*qkv, mask, **settings)
    assert in_training.requires_grad
    with torch.no_grad():
        close(attend(*qkv, mask, **settings), in_training.detach())


@pytest.mark.parametrize("G", [1, 2, 4])
def test_one_query_sees_the_keys_that_its_head_shares(G):
    q, k, v = numbers(B, H, 1, K), numbers(B, G, 6, K, seed=1), numbers(B, G, 6, K, seed=2)
    shared = [y.repeat_interleave(H // G, 1) for y in (k, v)]
    same(attend_with_one_query(q, k, v), attend(q, *shared), [q, k, v])
    q, k, v = (y.detach().bfloat16() for y in (q, k, v))
    found = attend_with_one_query(q, k, v)
    assert found.dtype == torch.bfloat16
    shared = [y.repeat_interleave(H // G, 1).float() for y in (k, v)]
    close(found, attend(q.float(), *shared).bfloat16())


def unguarded(q, k, v, attn_mask=None, scale=None, **_):
    """A kernel that makes NaN of an empty row, as some do."""
    scores = q @ k.transpose(-2, -1) * (scale or 1 / math.sqrt(q.shape[-1]))
    if attn_mask.dtype == torch.bool:
        return scores.masked_fill(~attn_mask, -math.inf).softmax(-1) @ v
    return (scores + attn_mask).softmax(-1) @ v


@pytest.mark.parametrize("with_bias", [True, False])
def test_no_nan_arises_on_the_way(with_bias, monkeypatch):
    q, k, v = heads(4, 6)
    mask = padding_mask(torch.tensor([0, 6, 1]), 6)
    bias = numbers(H, 4, 6, seed=8) if with_bias else None
    wanted = attend(q, k, v, mask, bias=bias)
    assert unguarded(q, k, v, mask).isnan().any()
    monkeypatch.setattr(F, "scaled_dot_product_attention", unguarded)
    with torch.autograd.set_detect_anomaly(True):  # raises where a gradient passes through NaN
        explicit = attend_with_weights(q, k, v, mask, bias=bias)[0]
        for output in (attend(q, k, v, mask, bias=bias), explicit):
            same(output, wanted, [q, k, v])


# --- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(10, 4), "d_model = 10 .* n_heads = 4"),
        (lambda: MultiHeadAttention(8, 4, n_kv_heads=3), "n_heads = 4, .* n_kv_heads = 3"),
        (lambda: MultiHeadAttention(8, 1)(torch.zeros(3, 8)), "expected 3"),
        (
            # as many heads as sequences: it would be read as (H, T, S)
            lambda: MultiHeadAttention(8, 2)(
                torch.zeros(2, 3, 8), mask=torch.ones(2, 3, 3, dtype=torch.bool)
            ),
            r"mask .*\(2, 3, 3\).*all 4 dimensions",
        ),
        (
            lambda: attend(*torch.zeros(3, 5, 4), mask=torch.zeros(5, 5)),
            "float32.*torch.bool.*True means .* may attend",
        ),
        (
            lambda: masked_softmax(torch.zeros(3, 5), torch.zeros(3, 5, dtype=torch.long)),
            "int64.*True means",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n_kv_heads", [1, 4])
def test_the_future_leaves_the_past_alone(n_kv_heads):
    attention, x = make(D, H, n_kv_heads=n_kv_heads), numbers(B, 6, D, grad=False)
    output = attention(x, causal=True)
    for t in range(6):
        other = x.clone()
        other[:, t] += 1
        changed = (attention(other, causal=True) != output).any(-1)
        assert changed.tolist() == [[i >= t for i in range(6)]] * B


def test_padding_is_never_looked_at():
    attention, x = make(D, H), numbers(B, 6, D, grad=False)
    lengths = torch.tensor([2, 6, 4])
    output = attention(x, mask=padding_mask(lengths, 6))
    for b, length in enumerate(lengths):
        close(output[b, :length], attention(x[b : b + 1, :length])[0])


@pytest.mark.parametrize("bias", [True, False])
def test_a_sequence_without_keys_gets_what_the_output_map_makes_of_zeros(bias):
    attention, x = make(D, H, bias=bias), numbers(B, 5, D)
    mask = padding_mask(torch.tensor([0, 5, 2]), 5)
    output = attention(x, mask=mask, causal=True)
    close(output[0], attention.output(torch.zeros(5, D, dtype=torch.float64)))
    assert not attention.weights(x, mask=mask)[0].any()
    for gradient in gradients(output, [x, *attention.parameters()]):
        assert gradient.isfinite().all()
    assert not gradients(output, [x])[0][0].any()


def test_dropout_acts_in_training_only():
    attention, x = make(D, H, dropout=0.5), numbers(B, 5, D)
    plain = make(D, H)
    assert not torch.allclose(attention(x), plain(x))
    close(attention.weights(x), plain.weights(x))
    same(attention.eval()(x), plain(x), [x])
