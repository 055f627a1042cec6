"""Attention by blocks: PyTorch's own result to the last digit, in less memory."""

import math
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from helpers.models.blockwise_attention import (
    add_block,
    attend_by_blocks,
    largest_tensor,
    plain_attend,
)


def heads(T: int, S: int, seed: int = 0) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    shapes = (2, 3, T, 8), (2, 3, S, 8), (2, 3, S, 5)
    return [torch.randn(shape, generator=g, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("block", [1, 3, 7, 16, 100])
@pytest.mark.parametrize("causal", [False, True])
def test_equals_pytorch(block: int, causal: bool) -> None:
    q, k, v = heads(21, 21 if causal else 34)
    wanted = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    assert torch.allclose(attend_by_blocks(q, k, v, block, causal=causal), wanted, atol=1e-13)
    if not causal:
        assert torch.allclose(plain_attend(q, k, v), wanted, atol=1e-13)


def test_large_scores_do_not_overflow() -> None:
    q, k, v = heads(4, 9)
    wanted = F.scaled_dot_product_attention(1e4 * q, k, v)
    assert torch.allclose(attend_by_blocks(1e4 * q, k, v, 2), wanted)


def test_two_blocks_by_hand() -> None:
    v = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
    first = add_block(None, torch.tensor([[0.0, math.log(2)]], dtype=torch.float64), v[:2])
    assert (float(first.largest), float(first.total)) == (math.log(2), 1.5)
    both = add_block(first, torch.tensor([[math.log(4)]], dtype=torch.float64), v[2:])
    assert float(both.total) == pytest.approx(1.75)  # (1 + 2 + 4) / 4
    assert float(both.output) == pytest.approx((1 * 1 + 2 * 2 + 4 * 4) / 7)


def test_a_block_that_nothing_may_be_seen_of_changes_nothing() -> None:
    v = torch.ones(2, 1, dtype=torch.float64)
    hidden = torch.full((1, 2), -math.inf, dtype=torch.float64)
    seen = add_block(add_block(None, hidden, v), torch.zeros(1, 2).double(), 3 * v)
    assert float(seen.output) == 3.0


def test_memory_does_not_grow_with_the_square() -> None:
    for T in (64, 256):
        q, k, v = (x[0, 0] for x in heads(T, T))
        assert largest_tensor(partial(plain_attend, q, k, v)) == T * T
        assert largest_tensor(partial(attend_by_blocks, q, k, v, 16)) <= max(16 * 16, 8 * T)


def test_errors() -> None:
    q, k, v = heads(3, 4)
    with pytest.raises(ValueError, match="1 or more"):
        attend_by_blocks(q, k, v, 0)
    with pytest.raises(ValueError, match="T = S"):
        attend_by_blocks(q, k, v, 2, causal=True)
