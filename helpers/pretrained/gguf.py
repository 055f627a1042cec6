"""GGUF, the file format in which models travel with few bits a weight (ggml, llama.cpp).

A file holds settings, a table of tensors (name, shape, type, offset), and their blocks. A block of
32 or 256 weights has one scale and few bits a weight, so the file is a quarter of the model's size
in bfloat16. The package ``gguf`` by the format's makers reads the same; this reader takes a tenth
of its time, because the long lists of tokens are read at once.

Formats: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md and ggml-common.h (block_q8_0,
block_q5_0, block_q4_K, block_q6_K).
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

# Of a setting's number, as ``struct`` names them.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?"}
_SCALARS |= {10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as the file keeps it.

    Attributes:
        kind: how its blocks are laid out, such as "Q4_K".
        shape: as in PyTorch, a matrix (out, in).
        begin: where its blocks stand in the file, in bytes.
    """

    kind: str
    shape: tuple[int, ...]
    begin: int

    @property
    def n_bytes(self) -> int:
        """Bytes in the file."""
        weights, size, _ = _LAYOUTS[self.kind]
        return math.prod(self.shape) // weights * size

    @property
    def bits(self) -> float:
        """Bits a weight, with its share of the scales."""
        weights, size, _ = _LAYOUTS[self.kind]
        return 8 * size / weights


class GGUF:
    """A GGUF file, whose tensors are read when they are asked for.

    Attributes:
        tensors: name -> where and how it is kept.

    Raises:
        ValueError: it is no GGUF file, is cut off, or keeps a tensor in another way than these.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.settings, self.tensors = Path(path), {}, {}
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                raise ValueError(f"{path} is empty: fetch it again.")
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        if self._bytes[:4] != b"GGUF":
            raise ValueError(f"{path} is no GGUF file.")
        try:
            self._read_head()
        except (struct.error, UnicodeDecodeError, KeyError, IndexError) as error:
            raise ValueError(f"{path} is no whole GGUF file ({error!r}): fetch it again.") from None
        end = max((t.begin + t.n_bytes for t in self.tensors.values()), default=0)
        if end > size:
            raise ValueError(
                f"{path} has {size:,} bytes, and its table of tensors asks for {end:,}: it is cut "
                "off; fetch it again."
            )

    def __getitem__(self, name: str) -> Tensor:
        """A tensor as float32."""
        stored = self.tensors[name]
        weights, size, values = _LAYOUTS[stored.kind]
        count = math.prod(stored.shape)
        blocks = torch.frombuffer(
            self._bytes, dtype=torch.uint8, count=stored.n_bytes, offset=stored.begin
        )
        return values(blocks.view(count // weights, size)).view(stored.shape)

    def _read_head(self) -> None:
        self._at = 4
        _, n_tensors, n_settings = self._take("<IQQ")
        for _ in range(n_settings):
            name = self._string()
            self.settings[name] = self._value(*self._take("<I"))
        found = []
        for _ in range(n_tensors):
            name, (dimensions,) = self._string(), self._take("<I")
            shape = self._take(f"<{dimensions}Q")[::-1]  # the file's first dimension is the inner
            kind, offset = self._take("<IQ")
            found.append((name, _KINDS[kind], shape, offset))
        unit = self.settings.get("general.alignment", 32)
        start = -(-self._at // unit) * unit
        self.tensors = {name: StoredTensor(k, s, start + o) for name, k, s, o in found}

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._bytes, self._at)
        self._at += struct.calcsize(form)
        return values

    def _string(self) -> str:
        (length,) = self._take("<Q")
        self._at += length
        return self._bytes[self._at - length : self._at].decode()

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._take("<" + _SCALARS[kind])[0]
        of, length = self._take("<IQ")
        if of in _SCALARS:
            return list(self._take(f"<{length}{_SCALARS[of]}"))
        return [self._value(of) for _ in range(length)]


def _halves(blocks: Tensor) -> Tensor:
    """Two bytes a number, float16 -> float32: (N, 2 n) -> (N, n)."""
    return blocks.contiguous().view(torch.float16).float()


def _nibbles(blocks: Tensor) -> Tensor:
    """The lower four bits of all bytes, then the upper: (N, n) -> (N, 2, n)."""
    return torch.stack([blocks & 15, blocks >> 4], -2)


def _float32(blocks: Tensor) -> Tensor:
    return blocks.contiguous().view(torch.float32).clone()


def _q8_0(blocks: Tensor) -> Tensor:
    """32 weights: a scale, and a signed byte for each."""
    return _halves(blocks[:, :2]) * blocks[:, 2:].contiguous().view(torch.int8)


def _q5_0(blocks: Tensor) -> Tensor:
    """32 weights: a scale, their fifth bits, and four bits for each; 16 stands for 0."""
    fifth = blocks[:, 2:6, None] >> torch.arange(8, dtype=torch.uint8) & 1  # (N, 4, 8)
    codes = _nibbles(blocks[:, 6:]).flatten(1) | fifth.flatten(1) << 4
    return _halves(blocks[:, :2]) * (codes.to(torch.int8) - 16)


def _q4_k(blocks: Tensor) -> Tensor:
    """256 weights in eight groups: w = scale * code - least, both of which are codes themselves.

    Six bits each for eight scales and eight least values are packed into twelve bytes.
    """
    both, packed = _halves(blocks[:, :4]), blocks[:, 4:16]
    low, high = packed[:, :8], packed[:, 8:]
    first = low & 63  # (N, 8): of groups 0 to 3, four scales and four least values
    scales = torch.cat([first[:, :4], high & 15 | (low[:, :4] >> 6) << 4], 1)
    least = torch.cat([first[:, 4:], high >> 4 | (low[:, 4:] >> 6) << 4], 1)
    codes = _nibbles(blocks[:, 16:].view(-1, 4, 32)).flatten(1, 2)  # (N, 8, 32)
    steps, offsets = both[:, :1] * scales, both[:, 1:] * least
    return steps[..., None] * codes - offsets[..., None]


def _q6_k(blocks: Tensor) -> Tensor:
    """256 weights in sixteen groups: six bits each, of which 32 stands for 0, and signed scales."""
    low = _nibbles(blocks[:, :128].view(-1, 2, 64)).view(-1, 2, 4, 32)
    places = torch.tensor([0, 2, 4, 6], dtype=torch.uint8)[:, None]
    high = blocks[:, 128:192].view(-1, 2, 1, 32) >> places & 3  # (N, 2, 4, 32)
    codes = (low | high << 4).to(torch.int8) - 32
    scales = _halves(blocks[:, 208:]) * blocks[:, 192:208].contiguous().view(torch.int8)
    return scales[..., None] * codes.view(-1, 16, 16)


# kind: (weights in a block, its bytes, what makes float32 of blocks (N, bytes))
_LAYOUTS: dict[str, tuple[int, int, Callable[[Tensor], Tensor]]] = {
    "F32": (1, 4, _float32),
    "Q8_0": (32, 34, _q8_0),
    "Q5_0": (32, 22, _q5_0),
    "Q4_K": (256, 144, _q4_k),
    "Q6_K": (256, 210, _q6_k),
}
_KINDS = {0: "F32", 6: "Q5_0", 8: "Q8_0", 12: "Q4_K", 14: "Q6_K"}
