"""Attention with one map for queries, keys and values: the same numbers as with three."""

import pytest
import torch

from helpers.models.fused_attention import FusedAttention, fused
from helpers.models.gpt import GPT, GPTConfig


def drawn(seed: int = 0) -> GPT:
    torch.manual_seed(seed)
    gpt = GPT(GPTConfig.modern(19, n_layers=2, n_heads=2, d_model=16, max_length=12)).double()
    for weight in gpt.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return gpt


def test_a_fused_gpt_computes_the_same_and_reads_with_a_cache() -> None:
    gpt, tokens = drawn(), torch.arange(14).view(2, 7) % 19
    made = fused(gpt)
    torch.testing.assert_close(made(tokens), gpt(tokens))
    first, state = made.read(tokens[:, :3])
    rest, _ = made.read(tokens[:, 3:], state)
    torch.testing.assert_close(torch.cat([first, rest], 1), gpt(tokens))
    assert "blocks.0.attention.query.weight" in gpt.state_dict()
    names = [name for name in made.state_dict() if name.startswith("blocks.0.attention")]
    assert len(names) == len([n for n in gpt.state_dict() if n.startswith(names[0][:18])]) - 2
    weight = made.blocks[0].attention.qkv.weight
    assert torch.equal(weight[16:32], gpt.blocks[0].attention.key.weight)


def test_it_reads_one_text() -> None:
    layer, x = FusedAttention(drawn().blocks[0].attention), torch.zeros(1, 3, 16).double()
    with pytest.raises(ValueError, match="one text"):
        layer(x, x.clone())
