"""Networks that read pictures: the vision transformer, and a small convolutional network.

A picture is cut into square patches, which are read as a text of vectors. Dosovitskiy et al.
(2021), "An image is worth 16x16 words". Shape letters: B batch, C channels, N patches, D d_model.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock


def patches(pictures: Tensor, p: int) -> Tensor:
    """Cut pictures (B, C, H, W) into patches of p x p pixels, row by row: (B, N, C p p).

    Raises:
        ValueError: p does not divide the height or the width.
    """
    B, C, H, W = pictures.shape
    if H % p or W % p:
        raise ValueError(f"Pictures of {H} x {W} pixels cannot be cut into patches of {p} x {p}.")
    grid = pictures.view(B, C, H // p, p, W // p, p)
    return grid.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * p * p)


def unpatch(x: Tensor, p: int) -> Tensor:
    """The way back for square pictures: patches (B, N, C p p) -> pictures (B, C, H, H)."""
    B, N, _ = x.shape
    n = round(N**0.5)
    grid = x.view(B, n, n, -1, p, p)  # (B, row, column, C, p, p)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(B, -1, n * p, n * p)


class VisionTransformer(nn.Module):
    """Patches, embedded linearly, behind a class token; an encoder; the class read off its state.

    x = [class; E patch_1; ...; E patch_N] + P,   logits = W norm(block_L(... block_1(x)))_0

    Dosovitskiy et al. (2021), equations 1 to 4, with one linear layer as its head.

    Args:
        size: height and width of the pictures.
        p: side of a patch, which divides ``size``.
        n_classes: how many there are.
        d_model: D.
        n_heads: H; n_layers: L.
        channels: C.

    Attributes:
        positions: P, (1 + N, D); its first row belongs to the class token.
    """

    def __init__(
        self,
        size: int,
        p: int,
        n_classes: int,
        d_model: int = 64,
        n_heads: int = 4,
        n_layers: int = 2,
        channels: int = 1,
    ) -> None:
        super().__init__()
        D, self.p = d_model, p
        self.embedding = nn.Linear(channels * p * p, D)
        self.class_token = nn.Parameter(torch.zeros(D))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + (size // p) ** 2, D))
        self.blocks = nn.ModuleList(
            PreNormBlock(D, MultiHeadAttention(D, n_heads, bias=True), FeedForward(D), nn.LayerNorm)
            for _ in range(n_layers)
        )
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, n_classes)

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits (B, n_classes) for pictures (B, C, size, size)."""
        x = self.embedding(patches(pictures, self.p))  # (B, N, D)
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


def small_cnn(n_classes: int) -> nn.Sequential:
    """Three convolutions with batch norm, and the maximum over all places: logits (B, n_classes).

    As in LeCun et al. (1998), "Gradient-based learning applied to document recognition", the same
    filters read every place; the maximum forgets where something was found.
    """
    sizes = ((1, 12, 5, 1), (12, 24, 5, 2), (24, 48, 3, 1))  # channels, channels, side, stride
    layers: list[nn.Module] = []
    for c, d, side, stride in sizes:
        convolution = nn.Conv2d(c, d, side, stride, padding=side // 2, bias=False)
        layers += [convolution, nn.BatchNorm2d(d), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(48, n_classes))
