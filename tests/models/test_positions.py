"""Positions: the lecture's table, rotations by hand, published slopes, what must not change."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from helpers.models.positions import (
    ALiBi,
    LearnedPositions,
    RelativePositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi_slopes,
    shift_matrix,
    sinusoidal_table,
)

F64 = torch.float64
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def randn(*shape, seed=0, dtype=F64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=F64).to(dtype)


def close(a, b, tolerance=1e-12):
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


# The sinusoids


def test_table_of_the_lecture():
    """CMU 11-785, lecture 19: dimensions 1 to 5 of the positions 0 to 4, three digits each."""
    printed = """
        0.000 0.841  0.909  0.141 -0.757
        1.000 0.540 -0.416 -0.990 -0.654
        0.000 0.025  0.050  0.075  0.100
        1.000 1.000  0.999  0.997  0.995
        0.000 0.001  0.001  0.002  0.003
    """
    rows = sinusoidal_table(5, 5, dtype=F64).T.tolist()
    assert [f"{value:.3f}" for row in rows for value in row] == printed.split()


@pytest.mark.parametrize("d_model", [1, 2, 5, 8, 33])
@pytest.mark.parametrize("start", [0, 12])
def test_table_entry_by_entry(d_model, start):
    wanted = [
        [
            (math.cos if d % 2 else math.sin)(t / 10000 ** ((d - d % 2) / d_model))
            for d in range(d_model)
        ]
        for t in range(start, start + 9)
    ]
    table = sinusoidal_table(9, d_model, start=start, dtype=F64)
    close(table, torch.tensor(wanted, dtype=F64))


def test_dot_products_depend_on_the_distance_alone():
    P = sinusoidal_table(40, 16, dtype=F64)
    products = P @ P.T
    for distance in range(40):
        diagonal = products.diagonal(distance)
        expected = sum(math.cos(distance / 10000 ** (i / 8)) for i in range(8))
        close(diagonal, torch.full_like(diagonal, expected))
    close(P.norm(dim=1), torch.full((40,), math.sqrt(8), dtype=F64))


@pytest.mark.parametrize("steps", [0, 1, 13, -4, 2.5])
def test_shift_matrix(steps):
    M = shift_matrix(steps, 12, dtype=F64)
    if isinstance(steps, int):
        before = sinusoidal_table(20, 12, start=7, dtype=F64)
        close(before @ M.T, sinusoidal_table(20, 12, start=7 + steps, dtype=F64))
    close(M @ M.T, torch.eye(12, dtype=F64))
    close(torch.linalg.eigvals(M).abs(), torch.ones(12, dtype=F64))
    close(M @ shift_matrix(3, 12, dtype=F64), shift_matrix(steps + 3, 12, dtype=F64))
    close(shift_matrix(-steps, 12, dtype=F64), M.T)
    power = torch.linalg.matrix_power(shift_matrix(1, 12, dtype=F64), 13)  # the lecture's M^t'
    close(power, shift_matrix(13, 12, dtype=F64))
    assert shift_matrix(1, 4).dtype == sinusoidal_table(1, 4).dtype


# Absolute positions


@pytest.mark.parametrize("d_model", [6, 7])
def test_sinusoidal_positions_add_the_table(d_model):
    layer = SinusoidalPositions(d_model)
    x = randn(2, 5, d_model)
    table = sinusoidal_table(9, d_model, dtype=F64)
    assert torch.equal(layer(x), x + table[:5])
    assert torch.equal(layer(x, start=4), x + table[4:])
    assert list(layer.parameters()) == []


def test_learned_positions_add_their_vectors():
    layer = LearnedPositions(6, 4).double()
    x = randn(2, 3, 4)
    ids = torch.tensor([2, 3, 4])
    close(layer(x, start=2), x + F.embedding(ids, layer.embedding.weight))
    layer(x, start=2).sum().backward()
    # Two texts use each of three vectors; the others get nothing.
    expected = torch.tensor([0, 0, 2, 2, 2, 0], dtype=F64)
    assert torch.equal(layer.embedding.weight.grad, expected[:, None].expand(6, 4))
    assert layer(x, start=3).shape == x.shape
    with pytest.raises(ValueError, match=r"has 7 positions.*max_length = 6"):
        layer(x, start=4)
    assert set(layer.state_dict()) == {"embedding.weight"}


# Rotary positions


def rotated_by_hand(x, start):
    """A matrix of 2 x 2 rotations for each position, one vector at a time."""
    K = x.shape[-1]
    out = torch.empty_like(x)
    for t in range(x.shape[-2]):
        blocks = []
        for i in range(K // 2):
            angle = (start + t) / 10000 ** (2 * i / K)
            cos, sin = math.cos(angle), math.sin(angle)
            blocks.append(torch.tensor([[cos, -sin], [sin, cos]], dtype=x.dtype))
        out[..., t, :] = x[..., t, :] @ torch.block_diag(*blocks).T
    return out


@pytest.mark.parametrize("K", [2, 8, 10])
@pytest.mark.parametrize("start", [0, 21])
def test_rotary_by_hand_and_by_complex_numbers(K, start):
    x = randn(2, 3, 6, K)
    turned = RotaryPositions(K).rotate(x, start)
    close(turned, rotated_by_hand(x, start))
    t = torch.arange(start, start + 6, dtype=F64)
    angles = t[:, None] * 10000 ** (-torch.arange(0, K, 2, dtype=F64) / K)
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    close(turned, torch.view_as_real(pairs * turns).flatten(-2))


def test_another_width_than_that_of_a_head_is_refused():
    with pytest.raises(RuntimeError, match="don't multiply up"):  # one pair would serve for all
        RotaryPositions(2).rotate(randn(3, 8))


def test_slower_pairs_turn_as_at_a_share_of_the_position():
    x = randn(17, 6)
    turned, slowed = (RotaryPositions(6, slower=f).rotate(x) for f in (None, (1.0, 8.0, 8.0)))
    close(slowed[:, :2], turned[:, :2])
    for t in (0, 8, 16):
        close(slowed[t, 2:], RotaryPositions(6).rotate(x[t : t + 1], t // 8)[0, 2:])
    assert torch.equal(RotaryPositions(6, slower=(1.0, 1.0, 1.0)).rotate(x), turned)


@given(
    i=st.integers(0, 500),
    j=st.integers(0, 500),
    shift=st.integers(0, 20000),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=60)
def test_rotary_scores_depend_on_the_distance_alone(i, j, shift, seed):
    rotary = RotaryPositions(8)
    q, k = randn(2, 1, 8, seed=seed)
    score = rotary.rotate(q, i) @ rotary.rotate(k, j).T
    close(rotary.rotate(q, i + shift) @ rotary.rotate(k, j + shift).T, score, 1e-10)
    close(rotary.rotate(q, i).norm(), q.norm())
    # Not a constant either: it is the score after the query alone was turned by the distance.
    relative = q @ shift_matrix(j - i, 8, dtype=F64).T @ k.T
    close(score, relative, 1e-10)


def test_start_is_a_slice_and_position_0_stays():
    x = randn(2, 4, 11, 6)
    for layer in (RotaryPositions(6), SinusoidalPositions(6), LearnedPositions(11, 6).double()):
        place = layer.rotate if isinstance(layer, RelativePositions) else layer
        whole = place(x)
        for start in range(11):
            assert torch.equal(place(x[..., start:, :], start), whole[..., start:, :])
            assert torch.equal(place(x[..., start : start + 1, :], start), whole[..., [start], :])
    assert torch.equal(RotaryPositions(6).rotate(x)[..., 0, :], x[..., 0, :])


# What all layers hold on to


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    x = randn(2, 7, 8)
    layers = [RotaryPositions(8).rotate, SinusoidalPositions(8)]
    for place in layers:
        exact = place(x, 50)
        given = place(x.to(dtype), 50)
        assert given.dtype == dtype
        error = (given.double() - exact).abs().max()
        assert error <= 4 * torch.finfo(dtype).eps * exact.abs().max()
    assert LearnedPositions(9, 8)(x.to(dtype)).dtype == dtype
    assert ALiBi(4).to(dtype).bias(3, 5).dtype == dtype


def test_nothing_of_it_in_the_state_and_copies_work():
    parts = [SinusoidalPositions(6), RotaryPositions(6), ALiBi(3), RelativePositions()]
    whole, x = nn.ModuleList(parts), randn(2, 5, 6)
    sinusoidal, rotary, alibi, _ = whole
    before = sinusoidal(x), rotary.rotate(x), alibi.bias(2, 5)
    assert len(whole.state_dict()) == 0
    for other in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        other.load_state_dict(whole.state_dict())
        sinusoidal, rotary, alibi, _ = other
        for old, new in zip(before, (sinusoidal(x), rotary.rotate(x), alibi.bias(2, 5))):
            assert torch.equal(old, new)


@pytest.mark.parametrize("make", [RotaryPositions, SinusoidalPositions])
def test_tables_made_in_inference_mode_serve_in_training(make):
    layer = make(6)
    place = layer.rotate if isinstance(layer, RelativePositions) else layer
    weight = randn(6, 6).requires_grad_()
    with torch.inference_mode():
        place(randn(2, 5, 6))
    place(randn(2, 5, 6) @ weight).square().sum().backward()
    assert weight.grad.abs().sum() > 0


@pytest.mark.parametrize("layer", [RotaryPositions(6), SinusoidalPositions(6)])
def test_tables_in_a_compiled_graph(layer):
    place = layer.rotate if isinstance(layer, RelativePositions) else layer
    compiled = torch.compile(place, backend="eager", fullgraph=True)
    for T in (3, 4, 9):
        x = randn(2, T, 6).requires_grad_()
        close(compiled(x), place(x))
        compiled(x).square().sum().backward()
        assert x.grad.abs().sum() > 0


# ALiBi


def test_slopes_of_the_paper():
    """Press et al. (2022), section 3: halves for 8 heads, powers of 1/sqrt(2) for 16."""
    assert alibi_slopes(8).tolist() == [
        1 / 2,
        1 / 4,
        1 / 8,
        1 / 16,
        1 / 32,
        1 / 64,
        1 / 128,
        1 / 256,
    ]
    sixteen = alibi_slopes(16)
    close(sixteen, math.sqrt(0.5) ** torch.arange(1.0, 17), 1e-6)
    close((sixteen[1:-1:2] * sixteen[3::2]).sqrt(), sixteen[2::2], 1e-6)  # geometric means
    assert alibi_slopes(1).tolist() == [1 / 256]
    assert alibi_slopes(2).tolist() == [1 / 16, 1 / 256]


def test_slopes_of_the_published_code():
    """For 12 heads, the 8 of eight heads, then every other one of sixteen."""
    exponents = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5])
    close(alibi_slopes(12), 2**-exponents, 1e-6)
    for n_heads in range(1, 130):
        slopes = alibi_slopes(n_heads).tolist()
        power = 2 ** (n_heads.bit_length() - 1)
        more = alibi_slopes(2 * power).tolist()[::2]
        assert slopes == alibi_slopes(power).tolist() + more[: n_heads - power]
        assert len(set(slopes)) == n_heads
        assert all(0 < slope < 1 for slope in slopes)


def test_bias_by_hand():
    bias = ALiBi(2).bias(4, 4)
    for h, slope in enumerate((1 / 16, 1 / 256)):
        for i in range(4):
            for j in range(4):
                assert bias[h, i, j] == -slope * abs(i - j)
    assert not torch.signbit(bias[:, range(4), range(4)]).any()  # prints 0, not -0
    for T in range(5):  # the queries are the last
        assert torch.equal(ALiBi(2).bias(T, 4), bias[:, 4 - T :])


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: RotaryPositions(5), "d_head is 5.*even"),
        (lambda: LearnedPositions(3, 4)(torch.zeros(2, 4, 4)), "4 positions.*max_length = 3"),
    ],
)
def test_bad_input_is_told(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_learned_positions_begin_as_small_as_words_and_a_scale_makes_sinusoids_so():
    torch.manual_seed(0)
    learned = LearnedPositions(256, 64).embedding.weight
    assert learned.std().item() == pytest.approx(0.02 * 12**0.5, rel=0.03)
    x = torch.zeros(1, 9, 6)
    scaled = SinusoidalPositions(6, scale=0.5)(x)[0]
    torch.testing.assert_close(scaled, 0.5 * sinusoidal_table(9, 6))
