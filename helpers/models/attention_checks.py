"""What attention is given: shapes that fit and masks that are masks, else one sentence why not."""

from __future__ import annotations

import torch
from torch import Tensor


def check_shapes(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, bias: Tensor | None = None
) -> None:
    """Refuse what ``attend`` cannot bring together."""
    same = q.shape[:-2] == k.shape[:-2] and q.shape[-1:] == k.shape[-1:]
    if q.dim() < 2 or not same or k.shape[:-1] != v.shape[:-1]:
        raise ValueError(
            f"q, k and v have the shapes {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}; "
            "expected (..., T, K), (..., S, K) and (..., S, Kv) with the same sizes in front."
        )
    shape = q.shape[:-1] + k.shape[-2:-1]  # (..., T, S)
    if bias is not None:
        _check_broadcast("bias", bias, shape, set(range(2, len(shape) + 1)))
    if mask is not None:
        check_mask(mask, shape)


def check_mask(mask: Tensor, shape: torch.Size) -> None:
    """Refuse a mask that is not bool, or does not fit scores of this shape."""
    if mask.dtype != torch.bool:
        raise ValueError(
            f"The mask has the type {mask.dtype}; expected torch.bool, where True means that the "
            "query may attend to the key. Numbers to add to the scores are a bias."
        )
    # Beside heads (B, T, S) would be read as (H, T, S), unnoticed where B = H.
    _check_broadcast("mask", mask, shape, {2, len(shape)})


def check_pair(x: Tensor, source: Tensor, d_query: int, d_key: int) -> None:
    """Refuse what is not x (B, T, d_query) and source (B, S, d_key)."""
    fits = x.dim() == source.dim() == 3 and len(x) == len(source)
    if not fits or (x.shape[-1], source.shape[-1]) != (d_query, d_key):
        raise ValueError(
            f"Queries come from the shape {tuple(x.shape)}, keys from {tuple(source.shape)}; "
            f"expected (B, T, {d_query}) and (B, S, {d_key}) with the same B."
        )


def check_counts(name: str, counts: Tensor, dimensions: int, most: int) -> None:
    """Refuse what is not whole numbers from 0 to ``most``, with so many dimensions."""
    whole = not (counts.is_floating_point() or counts.dtype == torch.bool)
    if not whole or counts.dim() != dimensions or bool(((counts < 0) | (counts > most)).any()):
        raise ValueError(f"{name} must be whole numbers from 0 to {most}, (B,), not {counts}.")


def check_divides(name: str, size: int, part: str, parts: int) -> None:
    """Refuse a size that does not split into so many parts."""
    if parts < 1 or size < 1 or size % parts:
        raise ValueError(
            f"{name} = {size} does not split evenly by {part} = {parts}: choose a divisor of it."
        )


def _check_broadcast(name: str, given: Tensor, shape: torch.Size, allowed: set[int]) -> None:
    pairs = zip(reversed(given.shape), reversed(shape), strict=False)
    if given.dim() not in allowed or any(size not in (1, full) for size, full in pairs):
        raise ValueError(
            f"The {name} has the shape {tuple(given.shape)}, the scores {tuple(shape)}; expected "
            f"{' or '.join(map(str, sorted(allowed)))} dimensions, each of the scores' size or 1."
        )
