"""Attention whose queries, keys and values come from one map, as published GPTs store them."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from helpers.models.attention import MultiHeadAttention
from helpers.models.gpt import GPT


class FusedAttention(MultiHeadAttention):
    """A ``MultiHeadAttention`` with one map ``qkv``, (D) -> (3 D), in place of three.

    Its rows are those of the query, the key and the value, in this order: GPT-2's ``c_attn``.

    Args:
        old: with as many heads of keys as of queries, and without biases; its other parts are
            taken over, its matrices copied.
    """

    def __init__(self, old: MultiHeadAttention) -> None:
        super().__init__(old.output.in_features, old.n_heads)
        del self.query, self.key, self.value
        self.qkv = nn.Linear(old.output.in_features, 3 * old.output.in_features, bias=False)
        three = (old.query.weight, old.key.weight, old.value.weight)
        self.qkv.weight = nn.Parameter(torch.cat([weight.detach() for weight in three]))
        self.output, self.dropout, self.positions = old.output, old.dropout, old.positions
        self.query_norm, self.key_norm = old.query_norm, old.key_norm

    def _projected(self, x: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if source is not x:
            raise ValueError("Fused maps read one text: this attention has no other source.")
        return self.qkv(x).chunk(3, dim=-1)


def fused(gpt: GPT) -> GPT:
    """A copy of a GPT whose blocks have a ``FusedAttention``; it computes the same."""
    gpt = copy.deepcopy(gpt)
    for block in gpt.blocks:
        block.attention = FusedAttention(block.attention)
    return gpt
