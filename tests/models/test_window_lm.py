"""Window language models: against naive loops, causal, and the same as a predictor."""

from __future__ import annotations

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.inference.evaluation import log_probs
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.models.window_lm import AveragingLM, WindowLM

V, D, H = 7, 3, 5
BOTH = pytest.mark.parametrize("kind", [WindowLM, AveragingLM])


def make(kind, window, seed=0, **keywords):
    torch.manual_seed(seed)
    return kind(V, D, H, window, **keywords).double()


def text(size, seed=0):
    return torch.randint(V, (size,), generator=torch.Generator().manual_seed(seed))


def by_hand(model, tokens, mean):
    """The lecture's formulas, one position at a time."""
    rows = []
    for t in range(len(tokens)):
        window = [int(tokens[i]) if i >= 0 else V for i in range(t - model.window + 1, t + 1)]
        vectors = [model.embedding.weight[token] for token in window]
        e = sum(vectors) / len(vectors) if mean else torch.cat(vectors)
        h = torch.tanh(model.hidden.weight @ e + model.hidden.bias)
        rows.append(model.output.weight @ h + model.output.bias)
    return torch.stack(rows)


@pytest.mark.parametrize("window", [1, 2, 4, 9])
@BOTH
def test_values_and_gradients_equal_the_formulas(kind, window):
    model, tokens = make(kind, window), text(6)
    logits, expected = model(tokens[None])[0], by_hand(model, tokens, kind is AveragingLM)
    torch.testing.assert_close(logits, expected, atol=1e-12, rtol=1e-12)
    weights = torch.randn(6, V, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    parameters = list(model.parameters())
    found = torch.autograd.grad((logits * weights).sum(), parameters)
    wanted = torch.autograd.grad((expected * weights).sum(), parameters)
    for a, b in zip(found, wanted):
        torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 5, 512])
@BOTH
def test_the_predictor_equals_the_full_forward_pass(kind, length):
    model, tokens = make(kind, 3, dropout=0.5), text(12)
    predictor = NeuralPredictor(model, bos=1, window=3)
    model.eval()
    read = torch.cat([torch.tensor([1]), tokens])
    full = model(read[None])[0].log_softmax(-1).detach()
    model.train()
    for t in range(len(read)):
        torch.testing.assert_close(next_log_probs(predictor, tokens[:t]), full[t])
    assert model.training, "the model is left in its mode"
    expected = full[:-1].gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(predictor.log_probs(tokens, length), expected)
    torch.testing.assert_close(log_probs(predictor, tokens), expected)
