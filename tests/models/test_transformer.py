"""The transformer: its formula, causality, positions, weights, beginning; and that it learns."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.contracts import next_log_probs
from helpers.data.batching import windows
from helpers.data.sources import MarkovSource
from helpers.inference.evaluation import score_model
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.learning.training import Training
from helpers.models.blocks import PostNormBlock
from helpers.models.positions import (
    ALiBi,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.models.transformer import Transformer

V, D, H, L, LONGEST = 5, 8, 2, 2, 16
POSITIONS = {
    "none": dict,
    "learned": lambda: {"positions": LearnedPositions(LONGEST, D)},
    "sinusoidal": lambda: {"positions": SinusoidalPositions(D)},
    "rotary": lambda: {"relative": lambda: RotaryPositions(D // H)},
    "alibi": lambda: {"relative": lambda: ALiBi(H)},
}
EVERY = pytest.mark.parametrize("kind", list(POSITIONS))
CAUSAL = pytest.mark.parametrize("causal", [True, False])


def make(kind, seed=0, **keywords):
    """In float64, with weights large enough for every part to matter."""
    torch.manual_seed(seed)
    model = Transformer(V, D, H, L, **POSITIONS[kind](), **keywords).double()
    for parameter in model.parameters():
        parameter.data = parameter.data + 0.3 * torch.randn_like(parameter)
    return model


def text(*shape, seed=0):
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(seed))


def close(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-11, rtol=1e-11)


# --- What it computes


@CAUSAL
@pytest.mark.parametrize("kind", ["none", "learned", "sinusoidal"])
def test_values_and_gradients_equal_a_model_built_on_torch(kind, causal):
    model = make(kind, causal=causal)
    layer = nn.TransformerEncoderLayer(
        D, H, 4 * D, 0.0, "gelu", batch_first=True, norm_first=True
    ).double()
    theirs = nn.TransformerEncoder(
        layer, L, nn.LayerNorm(D).double(), enable_nested_tensor=False
    ).double()
    theirs.norm.load_state_dict(model.norm.state_dict())
    for ours, there in zip(model.blocks, theirs.layers):
        q, k, v = ours.attention.query, ours.attention.key, ours.attention.value
        there.self_attn.in_proj_weight.data = torch.cat([q.weight, k.weight, v.weight])
        there.self_attn.out_proj.load_state_dict(ours.attention.output.state_dict(), strict=False)
        there.linear1.load_state_dict(ours.feed_forward.up.state_dict())
        there.linear2.load_state_dict(ours.feed_forward.down.state_dict())
        there.norm1.load_state_dict(ours.attention_norm.state_dict())
        there.norm2.load_state_dict(ours.feed_forward_norm.state_dict())
        assert not there.self_attn.in_proj_bias.any()
        assert not there.self_attn.out_proj.bias.any()
    tokens = F.pad(text(3, 7), (1, 0), value=V)
    x = F.embedding(tokens, model.embedding.weight)
    x = x if kind == "none" else model.embedding.positions(x)
    mask = torch.ones(8, 8, dtype=torch.bool).triu(1) if causal else None
    expected = theirs(x, mask) @ model.embedding.weight[:V].T
    logits = model(tokens)
    assert logits.shape == (3, 8, V)
    close(logits, expected)
    parameters = [model.embedding.weight]
    found = torch.autograd.grad(
        F.cross_entropy(logits.flatten(0, 1), tokens.flatten() % V), parameters
    )
    wanted = torch.autograd.grad(
        F.cross_entropy(expected.flatten(0, 1), tokens.flatten() % V), parameters
    )
    close(found, wanted)


@EVERY
def test_relative_positions_depend_on_distances_alone(kind):
    """Where absolute ones are moved too, a text further along gets other logits."""
    model, tokens = make(kind, causal=False), text(1, 9)
    x = shifted = F.embedding(tokens, model.embedding.weight)
    if (positions := model.embedding.positions) is not None:
        x, shifted = positions(x), positions(x, start=3)

    def read(x):
        for block in model.blocks:
            x = block(x)
        return x

    assert torch.allclose(read(x), read(shifted)) == (kind in ("none", "rotary", "alibi"))


def test_each_layer_has_relative_positions_of_its_own():
    model = make("rotary")
    made = [block.attention.positions for block in model.blocks]
    assert all(isinstance(positions, RotaryPositions) for positions in made)
    assert len({id(positions) for positions in made}) == L


# --- Weights


# --- Vocabulary, initialization, dropout


def test_the_beginning_is_read_and_never_predicted_and_the_output_is_tied():
    model, tokens = make("learned"), text(2, 6)
    begun = F.pad(tokens, (1, 0), value=V)
    assert model(begun).shape == (2, 7, V)
    assert not torch.allclose(model(begun)[:, 1:], model(F.pad(tokens, (1, 0), value=0))[:, 1:])
    shapes = [tuple(p.shape) for p in model.parameters()]
    assert shapes.count((V + 1, D)) == 1
    assert not any(V in shape for shape in shapes)
    before = model(tokens)
    with torch.no_grad():
        model.embedding.weight[V] += 1.0  # what stands before a text is no output
    close(model(tokens), before)


def test_the_model_is_a_predictor_of_distributions():
    model, tokens = make("alibi").eval(), text(7)
    predictor = NeuralPredictor(model, bos=V, window=LONGEST)
    full = model(F.pad(tokens, (1, 0), value=V)[None])[0].log_softmax(-1)
    for t in range(8):
        close(next_log_probs(predictor, tokens[:t]), full[t])
        assert full[t].exp().sum().item() == pytest.approx(1)


def test_the_weights_begin_as_gpt2s():
    """Deviation 0.02 sqrt(768 / D), divided by sqrt(2 L) where a layer writes into the stream."""
    torch.manual_seed(0)
    model = Transformer(500, 128, 4, 8, positions=LearnedPositions(64, 128))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            written = name.endswith(("output.weight", "down.weight"))
            wanted = 0.02 * 6**0.5 / (4 if written else 1)
            spread = 5 / (2 * parameter.numel()) ** 0.5  # five standard errors
            assert parameter.std().item() == pytest.approx(wanted, rel=spread), name
            assert abs(parameter.mean().item()) < 5 * wanted / parameter.numel() ** 0.5, name
    tokens = torch.randint(500, (4, 64), generator=torch.Generator().manual_seed(0))
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    assert loss.item() == pytest.approx(math.log(500), abs=0.3)


def test_dropout_acts_in_training_only():
    plain, model = make("learned"), make("learned", dropout=0.3)
    tokens = text(3, 8)
    assert not torch.allclose(model(tokens), model(tokens))
    assert {m.p for m in model.modules() if isinstance(m, nn.Dropout)} == {0.3}
    close(model.eval()(tokens), plain(tokens))


def test_it_refuses_what_it_cannot_read():
    model = make("learned")
    for tokens, complaint in (
        ([[0, 6]], "from 0 to 6; expected 0 to 4, and 5 for the beginning of a text"),
        ([[-1, 0]], "from -1 to 0"),
        ([0, 1], "expected whole numbers"),
        ([[0.0, 1.0]], "expected whole numbers"),
        ([[]], "expected whole numbers"),
        ([[0] * (LONGEST + 1)], "max_length"),
    ):
        for call in (model, model.weights):
            with pytest.raises(ValueError, match=complaint):
                call(torch.tensor(tokens))
    with pytest.raises(ValueError, match="n_heads"):
        Transformer(V, D, 3, 1)


# --- Learning


NIGHTLY = [pytest.param(kind, marks=pytest.mark.nightly) for kind in ("sinusoidal", "alibi")]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", ["learned", "rotary", *NIGHTLY])
def test_it_learns_what_lies_two_tokens_back(kind, seed):
    """A source in which the token before last decides: its exact entropy is the floor."""
    transitions = torch.full((V, V, V), 0.04)
    for token in range(V):
        transitions[token, :, (token + 1) % V] = 0.84
    source = MarkovSource(transitions)
    tokens = source.sample(8000, torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    positions = {
        "learned": {"positions": LearnedPositions(LONGEST, 32)},
        "sinusoidal": {"positions": SinusoidalPositions(32, scale=0.03)},
        "rotary": {"relative": lambda: RotaryPositions(16)},
        "alibi": {"relative": lambda: ALiBi(2)},
    }[kind]
    model = Transformer(V, 32, 2, 2, **positions)
    batches = windows(tokens, 16, 16, torch.Generator().manual_seed(seed))
    list(Training(model, batches, 250, 7e-3, warmup=10))
    held_out = source.sample(4000, torch.Generator().manual_seed(seed + 100))
    nats = score_model(model, held_out, LONGEST).nats_per_token
    # Without the order one pays log 5 = 1.609, for the next token is uniform given the last alone.
    assert nats < (source.entropy_rate() + math.log(V)) / 2


def test_another_kind_of_block():
    """Two blocks that normalize after the sum, put together by hand, then norm and output."""
    torch.manual_seed(0)
    model = Transformer(V, D, H, L, block=PostNormBlock).double()
    tokens = text(3, 7)
    assert all(type(block) is PostNormBlock for block in model.blocks)
    x = model.embedding(tokens)
    for block in model.blocks:
        x = block.attention_norm(x + block.attention(x, causal=True))
        x = block.feed_forward_norm(x + block.feed_forward(x))
    close(model(tokens), model.norm(x) @ model.embedding.weight[:V].T)


@pytest.mark.parametrize("length", [1, 2, 9])
@EVERY
def test_a_causal_model_does_not_see_the_future(kind, length):
    model, tokens = make(kind), text(2, length)
    logits = model(tokens)
    for t in range(length):
        other = tokens.clone()
        other[:, t] = (other[:, t] + 1) % V
        changed = (model(other) - logits).abs().amax((0, 2)) > 1e-9
        assert changed.tolist() == [s >= t for s in range(length)]
        close(model(tokens[:, : t + 1]), logits[:, : t + 1])
