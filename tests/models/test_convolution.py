"""Auto-regressive and convolutional models: against loops, their exact reach, known sources."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.contracts import next_log_probs
from helpers.data.batching import windows
from helpers.data.sources import MarkovSource
from helpers.inference.evaluation import score
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.learning.training import Training
from helpers.models.convolution import AutoregressiveLM, CausalConvolutionLM

V, D = 5, 3


def seeded(build, seed=0):
    """A model in float64 with every parameter drawn, those that begin as zeros too."""
    torch.manual_seed(seed)
    model = build().double()
    for p in model.parameters():
        nn.init.normal_(p, std=0.7)
    return model


def autoregressive(order):
    return seeded(lambda: AutoregressiveLM(V, order))


def convolution(dilations=(1, 2, 4), kernel=2, dropout=0.0):
    return seeded(lambda: CausalConvolutionLM(V, D, dilations, kernel, dropout))


def text(size, seed=0):
    return torch.randint(V, (size,), generator=torch.Generator().manual_seed(seed))


def assert_equal_with_gradients(model, tokens, expected):
    logits = model(tokens[None])[0]
    torch.testing.assert_close(logits, expected, atol=1e-11, rtol=1e-11)
    weights = torch.randn_like(expected)
    parameters = list(model.parameters())
    found = torch.autograd.grad((logits * weights).sum(), parameters)
    wanted = torch.autograd.grad((expected * weights).sum(), parameters)
    for a, b in zip(found, wanted):
        torch.testing.assert_close(a, b, atol=1e-11, rtol=1e-11)


# Values


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("order", [1, 2, 4, 9])
def test_autoregressive_values_and_gradients_equal_the_formula(order, size):
    model, tokens = autoregressive(order), text(size)
    rows = []
    for t in range(size):
        row = model.b
        for k in range(1, order + 1):
            place = t - k + 1
            row = row + model.A[k - 1].weight[tokens[place] if place >= 0 else V]
        rows.append(row)
    assert_equal_with_gradients(model, tokens, torch.stack(rows))


@pytest.mark.parametrize("size", [1, 6])
@pytest.mark.parametrize(("dilations", "kernel"), [((1, 2, 4), 2), ((1, 3), 3), ((2,), 2)])
def test_convolution_values_and_gradients_equal_a_recursion(dilations, kernel, size):
    """Position t of layer l from the positions t - j dilation of the layer below, one at a time."""
    model, tokens = convolution(dilations, kernel), text(size)

    def vector(layer, t):
        if layer == 0:
            return model.embedding.weight[tokens[t] if t >= 0 else V]
        block, dilation = model.layers[layer - 1], dilations[layer - 1]
        both = block.filter_and_gate.bias
        for j in range(kernel):  # the last column of the kernel meets the newest position
            weight = block.filter_and_gate.weight[:, :, kernel - 1 - j]
            both = both + weight @ vector(layer - 1, t - j * dilation)
        z = torch.tanh(both[:D]) * torch.sigmoid(both[D:])
        step = block.residual.weight[:, :, 0] @ z + block.residual.bias
        return vector(layer - 1, t) + step

    last = len(dilations)
    rows = [model.output.weight @ vector(last, t) + model.output.bias for t in range(size)]
    assert_equal_with_gradients(model, tokens, torch.stack(rows))


# What a position looks at

MODELS = {
    "AR 1": (lambda: autoregressive(1), {0}),
    "AR 4": (lambda: autoregressive(4), {0, 1, 2, 3}),
    "1 2 4 8": (lambda: convolution((1, 2, 4, 8)), set(range(16))),
    "kernel 3": (lambda: convolution((1, 3), 3), set(range(9))),
    "with gaps": (lambda: convolution((1, 4)), {0, 1, 4, 5}),
    "kernel 1": (lambda: convolution((1, 2), 1), {0}),
}


@pytest.fixture(params=MODELS)
def model_and_reach(request):
    build, distances = MODELS[request.param]
    return build(), distances


def test_a_token_changes_the_logits_in_its_reach_and_no_others(model_and_reach):
    """Neither the past of a token nor what lies a receptive field behind it or further."""
    model, distances = model_and_reach
    assert model.receptive_field == max(distances) + 1
    tokens, size = text(20)[None], 20
    logits = model(tokens)
    for t in range(size):
        other = tokens.clone()
        other[0, t] = (other[0, t] + 1) % V
        changed = (model(other) != logits).any(-1)[0].nonzero().flatten().tolist()
        assert changed == sorted(t + d for d in distances if t + d < size)


@pytest.mark.parametrize("length", [1, 3, 512])
def test_the_predictor_equals_the_full_forward_pass(model_and_reach, length):
    model, _ = model_and_reach
    tokens = text(24)
    predictor = NeuralPredictor(model, model.vocab_size, model.receptive_field)
    full = model(torch.cat([torch.tensor([V]), tokens])[None])[0].log_softmax(-1).detach()
    for t in (0, 1, 5, 24):
        torch.testing.assert_close(next_log_probs(predictor, tokens[:t]), full[t])
    expected = full[:-1].gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(predictor.log_probs(tokens, length), expected)


# Trained on known sources


def fitted(build, tokens, seed, steps, learning_rate):
    torch.manual_seed(seed)
    model = build()
    batches = windows(tokens, 16, 32, torch.Generator().manual_seed(seed))
    list(Training(model, batches, steps, learning_rate))
    return NeuralPredictor(model, model.vocab_size, model.receptive_field)


def samples(source, seed, n=10_000):
    return [source.sample(n, torch.Generator().manual_seed(s)) for s in (seed, seed + 100)]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_order_one_learns_a_source_of_order_one(seed):
    rows = torch.rand(4, 4, generator=torch.Generator().manual_seed(seed)).double() ** 2 + 0.05
    source = MarkovSource(rows / rows.sum(1, keepdim=True))
    tokens, fresh = samples(source, seed)
    found = score(fitted(lambda: AutoregressiveLM(4, 1), tokens, seed, 400, 0.05), fresh)
    # 12 free parameters cost 12 / 2n = 0.0006 nats per token at the optimum; the optimizer, which
    # sees 512 tokens at a time, is allowed as much as ten times that.
    assert found.nats_per_token - score(source, fresh).nats_per_token < 0.006
    # -log p deviates by less than 1 nat, so its mean by less than 0.01.
    assert found.nats_per_token == pytest.approx(source.entropy_rate(), abs=0.006 + 0.05)
