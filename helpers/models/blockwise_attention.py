"""Attention by blocks of keys, with a softmax that is put right as it goes: memory without T x S.

Plain attention needs a whole row of scores before it can divide by the softmax's sum. Here a block
of keys is read at a time. Kept for each query are the largest score so far m, the sum l of
exp(score - m), and the sum o of exp(score - m) times the values. A block with a larger score
shrinks l and o by exp(m_old - m_new). In the end o / l is the plain result, not an approximation.

This is the idea of FlashAttention, in PyTorch and for reading, not for speed: the fused kernels
behind ``helpers.models.attention.attend`` do the same in fast memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Running(NamedTuple):
    """What is kept of the blocks so far, for T queries.

    Attributes:
        largest: m, (..., T, 1).
        total: l, (..., T, 1).
        weighted: o, (..., T, Kv).
    """

    largest: Tensor
    total: Tensor
    weighted: Tensor

    @property
    def output(self) -> Tensor:
        """softmax(scores) V over all blocks so far, (..., T, Kv)."""
        return self.weighted / self.total


def add_block(state: Running | None, scores: Tensor, v: Tensor) -> Running:
    """Read one more block: scores (..., T, B) and values (..., B, Kv); None begins.

    Source: M. Milakov and N. Gimelshein, Online normalizer calculation for softmax (2018).
    """
    largest = scores.amax(-1, keepdim=True)
    if state is not None:
        largest = torch.maximum(largest, state.largest)
    # A query that may see nothing yet has -inf as its largest score; exp(-inf - 0) is 0.
    shift = largest.masked_fill(largest.isneginf(), 0.0)
    weights = (scores - shift).exp()
    total, weighted = weights.sum(-1, keepdim=True), weights @ v
    if state is not None:
        keep = (state.largest - shift).exp()
        total, weighted = total + keep * state.total, weighted + keep * state.weighted
    return Running(largest, total, weighted)


def attend_by_blocks(
    q: Tensor, k: Tensor, v: Tensor, block: int = 64, *, causal: bool = False
) -> Tensor:
    """softmax(Q K^T / sqrt(K)) V with ``block`` queries and keys at a time: (..., T, Kv).

    No tensor of scores is larger than (..., block, block). With ``causal`` (for T = S) blocks above
    the diagonal are never computed.

    Raises:
        ValueError: a block below 1, or ``causal`` where T is not S.

    Source: T. Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with
    IO-Awareness (2022).
    """
    T, S = q.shape[-2], k.shape[-2]
    if block < 1 or (causal and T != S):
        raise ValueError(
            f"block is {block}, T {T} and S {S}; expected a block of 1 or more, and T = S for "
            "causal attention."
        )
    outputs = []
    for first in range(0, T, block):
        rows = q[..., first : first + block, :] / math.sqrt(q.shape[-1])
        state, last = None, first + rows.shape[-2]
        for start in range(0, min(last, S) if causal else S, block):
            keys, values = (x[..., start : start + block, :] for x in (k, v))
            scores = rows @ keys.transpose(-2, -1)
            if causal and start + block > first:
                t = torch.arange(first, last, device=q.device)[:, None]
                s = start + torch.arange(keys.shape[-2], device=q.device)
                scores = scores.masked_fill(s > t, -math.inf)
            state = add_block(state, scores, values)
        outputs.append(state.output)
    return torch.cat(outputs, -2)


def plain_attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same with all scores at once, (..., T, S) of them: what blocks are compared with."""
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1) @ v


def largest_tensor(run: Callable[[], Any]) -> int:
    """How many numbers the largest tensor has that is made while ``run`` runs."""
    with _Watching() as watched:
        run()
    return watched.numbers


class _Watching(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        made = function(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            self.numbers = max(self.numbers, made.numel())
        return made
