"""What enters the first block: the sum, token by token, and in parts as in one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.models.positions import LearnedPositions
from helpers.models.stack import InputEmbedding

V, D = 7, 6


def make(**settings) -> InputEmbedding:
    torch.manual_seed(0)
    embedding = InputEmbedding(V, D, **settings).double()
    for parameter in embedding.parameters():
        nn.init.normal_(parameter)
    return embedding


def whole() -> InputEmbedding:
    return make(positions=LearnedPositions(20, D), meaning="the beginning of a text")


def text(*shape: int) -> torch.Tensor:
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("T", [1, 2, 3, 9])
def test_the_parts_add_up(T):
    embedding, tokens = whole(), text(2, T)
    wanted = embedding.weight[tokens] + embedding.positions.embedding.weight[:T]
    torch.testing.assert_close(embedding(tokens), wanted)


def test_by_itself_it_is_an_embedding():
    tokens = text(2, 9)
    assert torch.equal(make()(tokens), make().weight[tokens])


@pytest.mark.parametrize("cut", [1, 2, 3, 8])
def test_a_text_in_two_parts_gives_what_it_gives_in_one(cut):
    embedding, tokens = whole(), text(2, 9)
    parts = embedding(tokens[:, :cut]), embedding(tokens[:, cut:], tokens[:, :cut])
    torch.testing.assert_close(torch.cat(parts, 1), embedding(tokens))


def test_an_id_with_a_meaning_has_an_embedding():
    begun = torch.tensor([[V, 0]])
    assert torch.equal(make(meaning="the beginning")(begun)[0, 0], make(meaning="any").weight[V])
    with pytest.raises(ValueError, match=f"from 0 to {V}; expected 0 to {V - 1}: encode"):
        make()(begun)


def test_dropout_acts_on_the_sum_in_training_only():
    embedding, tokens = make(dropout=0.5), text(2, 9)
    plain = make()(tokens)
    dropped = embedding.train()(tokens)
    assert torch.equal(dropped, torch.where(dropped == 0, 0, 2 * plain))
    assert (dropped == 0).any()
    assert torch.equal(embedding.eval()(tokens), plain)
