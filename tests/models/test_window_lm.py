"""Window language models: against naive loops, causal, and the same as a predictor."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.contracts import next_log_probs
from helpers.data.batching import windows
from helpers.inference.evaluation import log_probs, score, score_model
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.inference.sampling import sample
from helpers.learning.training import Training
from helpers.models.ngram import MaximumLikelihood
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


@BOTH
def test_the_future_leaves_past_logits_alone_and_so_does_the_far_past(kind):
    model, tokens, window = make(kind, 3), text(10)[None], 3
    logits = model(tokens)
    for t in range(10):
        other = tokens.clone()
        other[0, t] = (other[0, t] + 1) % V
        changed = (model(other) != logits).any(-1)[0]
        assert changed.nonzero().flatten().tolist() == list(range(t, min(t + window, 10)))


def test_averaging_forgets_the_order_and_the_window_network_does_not():
    forwards, backwards = torch.tensor([[1, 2, 3]]), torch.tensor([[3, 2, 1]])
    averaging, concatenating = make(AveragingLM, 3), make(WindowLM, 3)
    torch.testing.assert_close(averaging(forwards)[0, -1], averaging(backwards)[0, -1])
    assert not torch.allclose(concatenating(forwards)[0, -1], concatenating(backwards)[0, -1])


@BOTH
def test_a_window_of_one_is_a_bigram_network(kind):
    model = make(kind, 1)
    plain = nn.Sequential(
        nn.Embedding.from_pretrained(model.embedding.weight), model.hidden, nn.Tanh(), model.output
    )
    torch.testing.assert_close(model(text(20)[None]), plain(text(20)[None]))


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


def test_the_predictor_and_the_model_get_the_same_score():
    model, tokens = make(WindowLM, 2), text(30)
    whole = torch.cat([torch.tensor([1]), tokens])
    by_model = score_model(model, whole, length=30)
    assert score(NeuralPredictor(model, 1, 2), tokens).nats == pytest.approx(by_model.nats)


def test_a_step_leaves_the_state_valid():
    predictor = NeuralPredictor(make(WindowLM, 3), bos=1, window=3)
    _, state = predictor.step(torch.tensor([1, 1]), predictor.start(2))
    first, _ = predictor.step(torch.tensor([4, 5]), state)
    predictor.step(torch.tensor([0, 0]), state)
    again, _ = predictor.step(torch.tensor([4, 5]), state)
    assert torch.equal(first, again)
    assert torch.allclose(first.exp().sum(-1), torch.ones(2, dtype=torch.float64))


def test_what_is_sampled_follows_the_model():
    """First tokens of many texts against the model's own distribution, by chi-square."""
    predictor = NeuralPredictor(make(WindowLM, 2), bos=1, window=2)
    drawn = sample(predictor, 2, torch.Generator().manual_seed(0), batch_size=5000)
    for seen, p in (
        (drawn[:, 0], next_log_probs(predictor, [])),
        (drawn[drawn[:, 0] == 3][:, 1], next_log_probs(predictor, [3])),
    ):
        expected = p.exp() * len(seen)
        count = torch.bincount(seen, minlength=V)
        assert float(((count - expected) ** 2 / expected).sum()) < 22.5  # 0.1 % at 6 degrees


@pytest.mark.parametrize("seed", [0, 1])
def test_a_wider_window_learns_what_a_bigram_cannot(seed):
    """The next token is the sum of the last two: the order matters to none, the reach does."""
    tokens = [1, 1]
    generator = torch.Generator().manual_seed(seed)
    for noisy in (torch.rand(3000, generator=generator) < 0.2).tolist():
        guess = int(torch.randint(V, (1,), generator=generator)) if noisy else sum(tokens[-2:])
        tokens.append(guess % V)
    tokens = torch.tensor(tokens)
    found = {}
    for window in (1, 2):
        torch.manual_seed(seed)
        model = WindowLM(V, 16, 64, window)
        batches = windows(tokens, 16, 32, torch.Generator().manual_seed(seed))
        list(Training(model, batches, 300, 1e-2))
        found[window] = score_model(model, tokens, 100).nats_per_token
    bigram = MaximumLikelihood(2).fit(tokens, V)
    assert found[1] > -float(bigram.log_probs(tokens)[1:].mean()) - 0.05
    assert found[2] < found[1] - 0.5


def test_a_window_of_nothing_is_refused():
    with pytest.raises(ValueError, match="window"):
        WindowLM(V, D, H, 0)
    with pytest.raises(ValueError, match="window"):
        NeuralPredictor(make(WindowLM, 1), 1, 0)
