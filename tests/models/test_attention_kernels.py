"""Attention computed quickly: the kernels on their ways, and where they make NaN by themselves."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from helpers.models.attention import (
    MultiHeadAttention,
    attend,
    attend_with_weights,
    causal_mask,
    padding_mask,
)
from helpers.models.attention_kernels import attend_by_kernel, attend_with_one_query
from tests.models.attention_cases import close, coins, numbers, same

B, H, K, KV = 3, 4, 5, 7


def heads(T, S):
    """q (B, H, T, K), k (B, H, S, K), v (B, H, S, KV)."""
    shapes = ((B, H, T, K), (B, H, S, K), (B, H, S, KV))
    return [numbers(*shape, seed=i) for i, shape in enumerate(shapes)]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize(("T", "S"), [(1, 6), (4, 6), (6, 4), (5, 5)])
def test_the_fused_kernel_gives_what_the_products_of_training_give(T, S, with_bias, masked):
    qkv = heads(T, S)
    settings = {
        "allowed": coins(B, H, T, S, share=0.4) if masked else None,
        "bias": numbers(H, T, S, seed=8) if with_bias else None,
        "scale": 0.3,
    }
    in_training = attend_by_kernel(*qkv, **settings)
    assert in_training.requires_grad
    with torch.no_grad():
        close(attend_by_kernel(*qkv, **settings), in_training.detach())


def test_the_kernel_s_own_causal_mask():
    qkv = heads(5, 5)
    wanted = attend_by_kernel(*qkv, causal_mask(5), empty_rows=False)
    same(attend_by_kernel(*qkv, causal=True), wanted, qkv)
    with torch.no_grad():
        close(attend_by_kernel(*qkv, causal=True), wanted.detach())


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


@pytest.mark.parametrize("G", [1, 2, 4])
def test_one_position_gives_what_it_gives_among_others(G):
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, H, n_kv_heads=G).double()
    x = numbers(B, 6, 8)
    close(attention(x[:, -1:], x, causal=True), attention(x, causal=True)[:, -1:])


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
