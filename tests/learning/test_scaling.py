"""Fits of scaling laws to losses that were made by one."""

import pytest
import torch

from helpers.learning.scaling import ScalingLaw, fit_scaling

LAW = ScalingLaw(floor=1.7, a=40.0, alpha=0.34, b=300.0, beta=0.45)
N, D = (
    x.flatten()
    for x in torch.meshgrid(10.0 ** torch.arange(3, 7), 10.0 ** torch.arange(4, 8), indexing="ij")
)


def test_finds_the_law_again() -> None:
    loss = LAW(N, D)
    for floor in (None, 1.7):
        got = fit_scaling(N, D, loss, floor)
        assert got.floor == pytest.approx(1.7, abs=0.01)
        assert got.alpha == pytest.approx(0.34, abs=0.005)
        assert got.beta == pytest.approx(0.45, abs=0.005)
        assert torch.allclose(got(N.double(), D.double()), loss.double(), rtol=1e-3)


def test_noise_moves_a_known_floors_exponents_little() -> None:
    noise = 1 + 0.01 * torch.randn(len(N), generator=torch.Generator().manual_seed(0))
    got = fit_scaling(N, D, 1.7 + (LAW(N, D) - 1.7) * noise, 1.7)
    assert got.alpha == pytest.approx(0.34, abs=0.03)


def test_no_part_is_negative() -> None:
    got = fit_scaling(N, D, 5 * N**-0.3, None)
    assert got.floor >= 0
    assert got.b >= 0
    assert got.alpha == pytest.approx(0.3, abs=0.02)


def test_errors() -> None:
    with pytest.raises(ValueError, match="five or more"):
        fit_scaling(N[:4], D[:4], N[:4])
    with pytest.raises(ValueError, match="above the floor"):
        fit_scaling(N, D, LAW(N, D), 5.0)


def test_two_sizes_or_lengths_do_not_determine_a_floor() -> None:
    loss = LAW(N, D)
    for used in (N < 10**5, D > 10**5):
        with pytest.raises(ValueError, match="2 different"):
            fit_scaling(N[used], D[used], loss[used])
        assert fit_scaling(N[used], D[used], loss[used], 1.7).floor == 1.7
