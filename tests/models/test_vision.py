"""Patches against PyTorch's unfold, ViT-B/16 against its published size, and what is built in."""

import pytest
import torch
from torch.nn import functional as F

from helpers.models.vision import VisionTransformer, patches, small_cnn, unpatch


@pytest.mark.parametrize(("channels", "size", "p"), [(1, 8, 2), (3, 12, 4), (2, 6, 6)])
def test_patches_are_those_of_unfold_and_nothing_is_lost(channels, size, p):
    pictures = torch.randn(2, channels, size, size)
    cut = patches(pictures, p)
    assert torch.equal(cut, F.unfold(pictures, p, stride=p).transpose(1, 2))
    assert torch.equal(unpatch(cut, p), pictures)


def test_a_patch_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="cannot be cut"):
        patches(torch.zeros(1, 1, 6, 8), 4)


def test_vit_base_has_the_published_number_of_parameters():
    with torch.device("meta"):  # torchvision's vit_b_16 states it
        base = VisionTransformer(224, 16, 1000, 768, 12, 12, channels=3)
    assert sum(weights.numel() for weights in base.parameters()) == 86_567_656


def test_all_that_a_vit_knows_of_the_grid_are_its_positions():
    torch.manual_seed(0)
    vit, pictures, order = (
        VisionTransformer(8, 2, 5, 16, 2),
        torch.randn(3, 1, 8, 8),
        torch.randperm(16),
    )
    moved = unpatch(patches(pictures, 2)[:, order], 2)
    before = vit(pictures)
    assert not torch.allclose(vit(moved), before, atol=1e-4)
    vit.positions.data[1:] = vit.positions.data[1:][order]
    assert torch.allclose(vit(moved), before, atol=1e-5)


def test_a_cnn_does_not_care_where_a_thing_stands():
    torch.manual_seed(0)
    cnn, thing = small_cnn(5).eval(), torch.randn(1, 1, 4, 4)
    one, other = (
        F.pad(thing, (left, 18 - left, top, 18 - top)) for left, top in ((8, 10), (10, 8))
    )
    assert torch.allclose(cnn(one), cnn(other), atol=1e-6)
