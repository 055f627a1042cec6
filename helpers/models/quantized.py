"""Weights in few bits: a matrix as small whole numbers and a scale for each group of them.

Only weights are made smaller; what flows through the layers stays as it is. A row of W is cut into
groups of G neighbouring numbers. With b bits a group knows the 2^b - 1 levels s q for
q = -(2^(b-1) - 1) ... 2^(b-1) - 1 (the one whole number more at the lower end is left out, so that
the levels lie evenly around zero), and its scale s is its largest |w| divided by the largest q. So
no weight moves by more than s / 2.

Shape letters: O outputs, I inputs of a linear map, G numbers in a group, b bits.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_MULTIPLE = 32  # of inputs, for the product with int8
_BITS = (2, 3, 4, 5, 6, 7, 8)
_Module = TypeVar("_Module", bound=nn.Module)


@dataclass(frozen=True)
class Quantized:
    """A matrix in whole numbers.

    Attributes:
        codes: int8, (O, I).
        scales: (O, I / G), in the type of the matrix.
        bits: b.
    """

    codes: Tensor
    scales: Tensor
    bits: int

    @property
    def group(self) -> int:
        """G."""
        return self.codes.shape[1] // self.scales.shape[1]

    @property
    def bytes(self) -> float:
        """What it takes with b bits for each code, packed, and two bytes for each scale."""
        return self.codes.numel() * self.bits / 8 + 2 * self.scales.numel()

    def dequantized(self) -> Tensor:
        """The matrix that the codes stand for, (O, I)."""
        groups = self.codes.unflatten(1, (-1, self.group)).to(self.scales.dtype)
        return (groups * self.scales[..., None]).flatten(1)


def quantize(weight: Tensor, bits: int = 8, group: int | None = None) -> Quantized:
    """A matrix (O, I) in ``bits`` bits, with a scale for each ``group`` numbers of a row.

    Args:
        weight: of a floating type.
        bits: 2 to 8.
        group: divides I; None means a whole row.

    Raises:
        ValueError: bits out of range, or a group that does not divide I.
    """
    group = weight.shape[1] if group is None else group
    if bits not in _BITS or group < 1 or weight.shape[1] % group:
        raise ValueError(
            f"bits is {bits} and group {group}; expected 2 to 8 bits and a group that divides the "
            f"{weight.shape[1]} numbers of a row."
        )
    highest = 2 ** (bits - 1) - 1
    groups = weight.detach().unflatten(1, (-1, group))
    scales = groups.abs().amax(-1) / highest
    safe = torch.where(scales > 0, scales, torch.ones_like(scales))  # a group of zeros
    codes = (groups / safe[..., None]).round().clamp(-highest, highest)
    return Quantized(codes.flatten(1).to(torch.int8), scales, bits)


class QuantizedLinear(nn.Module):
    """y = x W^T + b with the W of ``quantize``; for reading a text or writing, not for training.

    Eight bits with one scale a row are multiplied by PyTorch's own kernel for weights in int8,
    where this build of PyTorch has one for the CPU and x is bfloat16: it reads a quarter of the
    bytes of float32. In all other cases W is made anew in each call, which saves memory and costs
    time.
    """

    codes: Tensor
    scales: Tensor

    def __init__(self, linear: nn.Linear, bits: int = 8, group: int | None = None) -> None:
        super().__init__()
        made = quantize(linear.weight, bits, group)
        self.in_features, self.out_features, self.bits = (
            linear.in_features,
            linear.out_features,
            bits,
        )
        self.register_buffer("codes", made.codes)
        self.register_buffer("scales", made.scales)
        bias = linear.bias
        self.register_buffer("bias", None if bias is None else bias.detach().clone())
        self._one_scale = self.scales.shape[1] == 1

    @property
    def quantized(self) -> Quantized:
        """The matrix as it is kept."""
        return Quantized(self.codes, self.scales, self.bits)

    @property
    def weight(self) -> Tensor:
        """The matrix that is multiplied by, made anew at each call, (O, I)."""
        return self.quantized.dequantized()

    def forward(self, x: Tensor) -> Tensor:
        if self._one_scale and x.dtype == torch.bfloat16 and has_int8_kernel(x.device):
            y = times_int8(x.reshape(-1, x.shape[-1]), self.codes, self.scales[:, 0].to(x.dtype))
            y = y.reshape(*x.shape[:-1], -1)
            return y if self.bias is None else y + self.bias
        return F.linear(x, self.weight.to(x.dtype), self.bias)


def times_int8(x: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
    """x (N, I) in bfloat16 times int8 weights (O, I) with a scale (O,) a row: (N, O).

    PyTorch's own product, which has no public name yet, reads beyond the end of a row where I is no
    multiple of 16; so what is missing is filled with zeros.
    """
    missing = -x.shape[1] % _MULTIPLE
    if missing:
        x, weight = F.pad(x, (0, missing)), F.pad(weight, (0, missing))
    return torch._weight_int8pack_mm(x, weight, scale)


def has_int8_kernel(device: torch.device | str = "cpu") -> bool:
    """Whether this PyTorch multiplies bfloat16 by int8 weights there, and does it rightly."""
    return torch.device(device).type == "cpu" and _multiplies_int8()


@cache
def _multiplies_int8() -> bool:
    whole = torch.arange(40 * 64).view(40, 64) % 255 - 127
    x, scale = torch.arange(64)[None] / 64 - 0.5, torch.arange(1, 41) / 32
    expected = (x @ whole.float().T) * scale
    try:
        found = times_int8(x.bfloat16(), whole.to(torch.int8), scale.bfloat16()).float()
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return bool((found - expected).abs().max() < 0.02 * expected.abs().max())


def quantize_model(
    model: _Module, bits: int = 8, group: int | None = None, *, embeddings: bool = False
) -> _Module:
    """A copy of a model whose linear maps are ``QuantizedLinear``; the model itself is not changed.

    Norms stay, and so do embeddings, unless ``embeddings`` says that their tables are rounded too
    (they are then kept as numbers, so that only what is computed changes, not what it takes).

    Raises:
        ValueError: bits or a group as for ``quantize``, or a model that is quantized already.
    """
    parts = list(model.modules())
    if made := [part for part in parts if isinstance(part, QuantizedLinear)]:
        raise ValueError(
            f"The model is quantized already, to {made[0].bits} bits: quantize the model that it "
            "was made from."
        )
    model = copy.deepcopy(model)
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, nn.Linear):
                setattr(parent, name, QuantizedLinear(part, bits, group))
            elif isinstance(part, nn.Embedding) and embeddings:
                part.weight.data = quantize(part.weight, bits, group).dequantized()
    return model


def weight_bytes(model: nn.Module) -> float:
    """Bytes of all numbers of a model: packed codes with two-byte scales, and its parameters."""
    packed = [part for part in model.modules() if isinstance(part, QuantizedLinear)]
    inside = sum(part.quantized.bytes for part in packed)
    biases = [part.bias for part in packed if part.bias is not None]
    others = sum(p.numel() * p.element_size() for p in [*model.parameters(), *biases])
    return inside + others
