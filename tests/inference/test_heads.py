"""Scores of heads on patterns made by hand, and what is left of a model without some heads."""

import pytest
import torch

from helpers.inference.heads import (
    head_weights,
    mean_contexts,
    previous_score,
    repeated,
    sink_score,
    without_heads,
)
from helpers.models.gpt import GPT, GPTConfig

TOKENS = torch.tensor([[0, 3, 1, 4, 2], [0, 2, 2, 1, 3]])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(GPTConfig.gpt2(5, n_layers=2, n_heads=2, d_model=8)).double()


def test_perfect_heads_have_a_score_of_one():
    sink, previous = torch.zeros(2, 8, 8)
    sink[:, 0] = 1
    previous[torch.arange(1, 8), torch.arange(7)] = 1
    both = torch.stack([sink, previous])
    assert sink_score(both).tolist() == [1, 0]
    assert previous_score(both).tolist() == [0, 1]


def test_heads_that_look_everywhere_alike():
    even = torch.ones(3, 6, 6).tril() / torch.arange(1, 7)[:, None]
    assert sink_score(even).tolist() == pytest.approx([sum(1 / t for t in range(2, 7)) / 5] * 3)
    assert previous_score(even)[0] == pytest.approx(sum(1 / t for t in range(3, 7)) / 4)


def test_weights_are_those_of_the_model_and_sum_to_one(model):
    model.train()
    weights = head_weights(model, TOKENS)
    assert weights.shape == (2, 2, 2, 5, 5)
    assert model.training
    assert torch.allclose(weights[1][0], model.weights(TOKENS)[1][:, 0])
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 2, 5, dtype=torch.double))


def test_texts_that_say_everything_twice():
    assert repeated(torch.tensor([[1, 2]]), 9).tolist() == [[9, 1, 2, 1, 2]]


def test_without_a_head_its_columns_of_the_output_matrix_count_for_nothing(model):
    expected = GPT(model.config).double()
    expected.load_state_dict(model.state_dict())
    with torch.no_grad():
        expected.blocks[1].attention.output.weight[:, 4:] = 0  # of the second head
        whole = model(TOKENS)
        with without_heads(model, [(1, 1)]):
            assert torch.allclose(model(TOKENS), expected(TOKENS))
            assert torch.allclose(model.read(TOKENS)[0], expected(TOKENS))
        assert torch.equal(model(TOKENS), whole)
        assert not torch.allclose(expected(TOKENS), whole)


def test_a_head_may_say_its_mean_instead(model):
    means = mean_contexts(model, TOKENS)
    assert means.shape == (2, 2, 4)
    with torch.no_grad():
        # At the first position of each text, which sees itself alone, a head says its own value.
        first = mean_contexts(model, TOKENS[:, :1])
        x = model.blocks[0].attention_norm(model.embedding(TOKENS[:1, :1]))
        assert torch.allclose(first[0].flatten(), model.blocks[0].attention.value(x).flatten())
        with without_heads(model, [(0, 0), (0, 1)], first):
            assert torch.allclose(model(TOKENS[:, :1]), model(TOKENS[:, :1]))
            replaced = model(TOKENS)
        assert torch.allclose(model(TOKENS)[:, 0], replaced[:, 0])
        assert not torch.allclose(model(TOKENS)[:, 1:], replaced[:, 1:])
