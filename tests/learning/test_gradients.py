"""Accumulation, precision and compilation leave the gradient what it is."""

from __future__ import annotations

import copy
import math
import warnings
from functools import partial
from itertools import repeat

import pytest
import torch
from torch import nn

from helpers.learning import training as trainer
from helpers.learning.training import Training


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(7, 8), nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 7))


def some_batches(count: int, rows: int = 2) -> list[tuple[torch.Tensor, torch.Tensor]]:
    tokens = torch.randint(7, (count, 2, rows, 5), generator=seeded(1))
    return [(inputs, targets) for inputs, targets in tokens]


def run(model: nn.Module, batches, steps: int, **settings):
    """The records and the weights after plain gradient descent, clipped."""
    model = copy.deepcopy(model)
    sgd = torch.optim.SGD(model.parameters(), 0.5)
    records = list(Training(model, batches, steps, optimizers=[sgd], clip=0.3, **settings))
    return records, list(model.parameters())


@pytest.mark.parametrize("k", [2, 3])
def test_accumulated_batches_are_one_large_batch(k):
    model, small = network().double(), some_batches(4 * k)
    large = [
        tuple(torch.cat(parts) for parts in zip(*small[i : i + k])) for i in range(0, 4 * k, k)
    ]
    records, weights = run(model, small, 4, accumulate=k)
    expected, wanted = run(model, large, 4)
    assert [r.loss for r in records] == pytest.approx([r.loss for r in expected], rel=1e-12)
    assert (
        [r.tokens for r in records]
        == [r.tokens for r in expected]
        == [10 * k * i for i in range(1, 5)]
    )
    for a, b, start in zip(weights, wanted, model.parameters()):
        torch.testing.assert_close(a, b)
        assert not torch.allclose(a, start)


class Watching(nn.Module):
    """Notes the dtype of its product."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.seen = model, set()

    def forward(self, tokens):
        logits = self.model(tokens)
        self.seen.add(logits.dtype)
        return logits


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [
        (None, torch.float32),
        ("float32", torch.float32),
        ("bfloat16", torch.bfloat16),
        ("float16", torch.float16),
    ],
)
def test_the_precision_is_that_of_the_products_alone(precision, dtype):
    losses = set()

    def loss(logits, targets):
        losses.add(logits.dtype)
        return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())

    model = Watching(network())
    sgd = torch.optim.SGD(model.parameters(), 0.5)
    settings = {"optimizers": [sgd], "loss": loss, "clip": 0.3, "precision": precision}
    records = list(Training(model, some_batches(5), 5, **settings))
    assert model.seen == {dtype}
    assert losses == {torch.float32}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    expected, wanted = run(network(), some_batches(5), 5)
    assert [r.loss for r in records] == pytest.approx([r.loss for r in expected], abs=0.02)
    for a, b, start in zip(model.parameters(), wanted, network().parameters()):
        assert (a - b).norm() < 0.1 * (b - start).norm()


def test_overflowing_gradients_are_skipped_and_the_scale_is_lowered():
    """65504 is the largest float16, so a gradient scaled by 2^16 is infinite at first."""
    x = (torch.ones(1, 1), torch.zeros(1, 1))
    model = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(1.0)
    sgd = torch.optim.SGD(model.parameters(), 0.125)
    settings = {"optimizers": [sgd], "clip": math.inf, "decay": 0.0, "precision": "float16"}
    square = lambda output, targets: (output - targets).square().sum()  # noqa: E731
    training = Training(model, repeat(x), 6, loss=square, **settings)
    weights, steps = [], []
    for record in training:
        weights.append(model.weight.item())
        steps.append(record.step)
    assert steps == [1, 2, 3, 4, 5, 6]  # counted all the same
    assert weights[0] == 1.0
    skipped = weights.count(1.0)
    assert weights[skipped:] == pytest.approx([0.75**i for i in range(1, 7 - skipped)], rel=1e-3)
    assert training.state_dict()["scaler"]["scale"] == 65536 / 2**skipped


def test_a_compiled_model_keeps_its_names_and_its_numbers(monkeypatch):
    """Through the whole of torch.compile but the code generator, which takes long."""
    monkeypatch.setattr(trainer, "can_compile", lambda device: True)
    counted = []

    def backend(graph, example_inputs):
        counted.append(len(example_inputs))
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    model = network()
    training = Training(model, some_batches(4), 4, 0.01, compiled=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        losses = [record.loss for record in training]
    assert counted
    assert training.model is model
    assert list(model.state_dict()) == list(network().state_dict())
    plain = network()
    expected = [record.loss for record in Training(plain, some_batches(4), 4, 0.01)]
    assert losses == pytest.approx(expected, rel=1e-5)
    for a, b in zip(model.parameters(), plain.parameters()):
        torch.testing.assert_close(a, b)


def test_a_failing_compiler_is_gone_without(monkeypatch):
    monkeypatch.setattr(trainer, "can_compile", lambda device: True)

    def backend(graph, example_inputs):
        torch.rand(3)
        raise OSError("no compiler at all\nand more lines")

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    model, plain = (nn.Sequential(network(), nn.Dropout(0.5)) for _ in range(2))
    torch.manual_seed(3)
    training = Training(model, some_batches(4), 4, 0.01, compiled=True)
    with pytest.warns(UserWarning, match=r"without torch\.compile, which failed") as told:
        losses = [record.loss for record in training]
    ours = [str(w.message) for w in told if "torch.compile" in str(w.message)]
    assert len(ours) == 1
    assert "\n" not in ours[0]
    torch.manual_seed(3)
    assert losses == [record.loss for record in Training(plain, some_batches(4), 4, 0.01)]
    assert all(map(torch.equal, model.parameters(), plain.parameters()))


def test_an_error_of_the_model_is_not_hidden_by_the_compiler(monkeypatch):
    monkeypatch.setattr(trainer, "can_compile", lambda device: True)
    monkeypatch.setattr(torch, "compile", lambda model: model)

    class Broken(nn.Linear):
        def forward(self, x):
            raise KeyError("the model's own")

    with (
        pytest.warns(UserWarning, match=r"torch\.compile"),
        pytest.raises(KeyError, match="the model's own"),
    ):
        list(Training(Broken(1, 1), some_batches(1), 1, compiled=True))


@pytest.mark.parametrize(("asked", "able"), [(False, True), (True, False), (False, False)])
def test_nothing_is_compiled_unasked_or_in_vain(monkeypatch, asked, able):
    monkeypatch.setattr(trainer, "can_compile", lambda device: able)
    monkeypatch.setattr(torch, "compile", lambda model: pytest.fail("compiled"))
    assert len(list(Training(network(), some_batches(1), 1, compiled=asked))) == 1
