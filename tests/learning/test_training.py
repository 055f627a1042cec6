"""The trainer: it finds known optima, keeps to its schedule, and says what went wrong."""

from __future__ import annotations

import copy
import gc
import math
import weakref
from itertools import islice, pairwise, repeat

import pytest
import torch
from torch import nn

from helpers.data.batching import windows
from helpers.data.masking import IGNORED
from helpers.inference.evaluation import score_model
from helpers.learning.distillation import distillation_loss
from helpers.learning.training import Training, language_model_loss, rate
from helpers.models.ngram import MaximumLikelihood


def test_a_bigram_network_learns_the_counted_table():
    """The cross-entropy of a table of logits is least at the table of relative frequencies."""
    generator = torch.Generator().manual_seed(0)
    tokens = (torch.rand(4000, generator=generator) ** 2 * 4).long().cumsum(0) % 4
    torch.manual_seed(0)
    model = nn.Embedding(4, 4)
    batches = repeat((tokens[None, :-1], tokens[None, 1:]))
    records = list(Training(model, batches, steps=400, learning_rate=0.1))
    counted = MaximumLikelihood(2).fit(tokens, 4)
    best = -float(counted.log_probs(tokens)[1:].mean())
    assert best - 1e-6 < records[-1].loss < best + 1e-3
    for token in range(4):
        p = counted.step(torch.tensor([token]), counted.start(1))[0].exp()[0]
        assert torch.allclose(model.weight[token].softmax(-1).double(), p, atol=0.01)


def test_records_and_validation():
    tokens = torch.arange(200) % 7
    model = nn.Embedding(7, 7)

    def validate(model):
        return score_model(model, tokens, 16, text="x" * 199).bits_per_byte

    batches = windows(tokens, 2, 8, torch.Generator().manual_seed(0))
    records = list(Training(model, batches, 10, 0.5, validate=validate, validate_every=4))
    assert [r.step for r in records] == list(range(1, 11))
    assert [r.tokens for r in records] == [16 * s for s in range(1, 11)]
    assert [r.step for r in records if r.validation is not None] == [4, 8, 10]
    assert records[-1].validation < records[3].validation
    assert all(a.seconds < b.seconds for a, b in pairwise(records))


def test_the_rate_warms_up_and_decays():
    rates = [rate(step, 10, warmup=4, final=0.1) for step in range(1, 11)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4] == 1.0
    assert all(a > b for a, b in pairwise(rates[4:]))
    assert rates[-1] == pytest.approx(0.1 + 0.9 / 6)


def test_the_rate_may_stay_constant_before_it_decays():
    rates = [rate(step, 10, warmup=2, final=0.1, decay=0.4) for step in range(1, 11)]
    assert rates[:6] == [0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert rates[6:] == pytest.approx([1.0, 0.775, 0.55, 0.325])
    whole = [rate(step, 10, warmup=2, decay=1.0) for step in range(1, 11)]
    assert whole == [rate(step, 10, warmup=2) for step in range(1, 11)]
    assert [rate(step, 4, decay=0.0, final=0.1) for step in range(1, 5)] == [1.0] * 4
    batches = repeat((torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 2, dtype=torch.long)))
    training = Training(nn.Embedding(3, 3), batches, 10, 0.5, 0.0, 2, 0.1, decay=0.4)
    assert [r.learning_rate for r in training] == pytest.approx([0.5 * r for r in rates])


def test_other_optimizers_take_the_place_of_adamw():
    """Plain gradient descent by hand, with the trainer's decay of each optimizer's own rate."""
    model = nn.Linear(2, 1).double()
    by_hand = copy.deepcopy(model)
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=torch.double)
    batches = repeat((x, torch.ones(2, 1, dtype=torch.double)))
    optimizers = [
        torch.optim.SGD([model.weight], lr=0.01),
        torch.optim.SGD([model.bias], lr=0.1),
    ]
    settings = {"loss": nn.functional.mse_loss, "clip": float("inf"), "optimizers": optimizers}
    records = list(Training(model, batches, 3, **settings))
    for factor in (1, 2 / 3, 1 / 3):
        by_hand.zero_grad()
        nn.functional.mse_loss(by_hand(x), torch.ones(2, 1, dtype=torch.double)).backward()
        with torch.no_grad():
            by_hand.weight -= 0.01 * factor * by_hand.weight.grad
            by_hand.bias -= 0.1 * factor * by_hand.bias.grad
    torch.testing.assert_close(model.weight, by_hand.weight)
    torch.testing.assert_close(model.bias, by_hand.bias)
    assert [r.learning_rate for r in records] == pytest.approx([0.01, 0.02 / 3, 0.01 / 3])


def test_what_went_wrong_is_said():
    model = nn.Embedding(3, 3)
    batch = (torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="ran out after 1 of 3"):
        list(Training(model, [batch], 3))
    factors = iter([1.0, float("nan")])
    with pytest.raises(ValueError, match="loss at step 2 is nan: training diverged"):
        list(Training(model, repeat(batch), 3, loss=lambda out, _: out.sum() * next(factors)))
    with pytest.raises(ValueError, match="warmup"):
        list(Training(model, repeat(batch), 3, warmup=3))


def with_dropout(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Embedding(5, 8), nn.Dropout(0.3), nn.Linear(8, 5))


def test_every_number_is_that_of_a_loop_by_hand():
    """Bit for bit, dropout included: PyTorch's parts in the order in which they are documented."""
    model, tokens = with_dropout(), torch.arange(120) ** 2 % 5
    by_hand = copy.deepcopy(model)
    settings = {"weight_decay": 0.1, "warmup": 3, "final_rate": 0.1, "clip": 0.2}
    torch.manual_seed(1)
    batches = windows(tokens, 2, 6, torch.Generator().manual_seed(2))
    records = list(Training(model, batches, 9, 3e-2, **settings))

    torch.manual_seed(1)
    batches = windows(tokens, 2, 6, torch.Generator().manual_seed(2))
    matrices = [p for p in by_hand.parameters() if p.ndim == 2]
    vectors = [p for p in by_hand.parameters() if p.ndim == 1]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, weight_decay=0.1)
    losses = []
    for step, (inputs, targets) in enumerate(islice(batches, 9), start=1):
        for group in adamw.param_groups:
            group["lr"] = 3e-2 * (step / 3 if step <= 3 else 0.1 + (1 - 0.1) * (10 - step) / 6)
        loss = language_model_loss(by_hand(inputs), targets)
        adamw.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(by_hand.parameters(), 0.2)
        adamw.step()
        losses.append(loss.item())
    assert [record.loss for record in records] == losses
    assert all(map(torch.equal, model.parameters(), by_hand.parameters()))


class Numbered:
    """Batches that are a function of their number."""

    def batch(self, step: int):
        tokens = torch.randint(5, (4, 7), generator=torch.Generator().manual_seed(step))
        return tokens[:, :-1], tokens[:, 1:]


@pytest.mark.parametrize("precision", [None, "bfloat16", "float16"])
@pytest.mark.parametrize("stop", [1, 4])
def test_a_resumed_run_is_the_run_that_was_not_stopped(stop, precision):
    settings = {"warmup": 2, "accumulate": 2, "precision": precision, "decay": 0.5}
    model = with_dropout()
    torch.manual_seed(1)
    uninterrupted = Training(model, Numbered(), 6, 0.03, **settings)
    expected = [(r.step, r.loss, r.tokens, r.learning_rate) for r in uninterrupted]

    first = with_dropout()
    torch.manual_seed(1)
    training = Training(first, Numbered(), 6, 0.03, **settings)
    found = [(r.step, r.loss, r.tokens, r.learning_rate) for r in islice(training, stop)]
    saved = copy.deepcopy((first.state_dict(), training.state_dict()))
    assert (saved[1]["step"], saved[1]["tokens"]) == (stop, found[-1][2])
    second = with_dropout(seed=9)
    second.load_state_dict(saved[0])
    resumed = Training(second, Numbered(), 6, 0.03, **settings)
    resumed.load_state_dict(saved[1])
    torch.rand(17)  # whatever else the new process drew
    seconds = resumed.seconds
    assert seconds == training.seconds > 0
    found += [(r.step, r.loss, r.tokens, r.learning_rate) for r in resumed]
    assert found == expected
    assert resumed.seconds > seconds
    assert all(map(torch.equal, second.parameters(), model.parameters()))


class Hungry(nn.Linear):
    """Runs out of memory at the second step, holding a large tensor."""

    calls, held = 0, None

    def forward(self, x):
        self.calls += 1
        if self.calls == 2:
            activations = torch.ones(1000)
            self.held = weakref.ref(activations)
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 1."
            )
        return super().forward(x)


def test_out_of_memory_is_one_sentence_and_lets_go():
    model = Hungry(2, 2)
    batches = repeat((torch.ones(1, 2), torch.ones(1, 2)))
    training = Training(model, batches, 3, loss=nn.functional.mse_loss)
    expected = (
        r"memory of CPU \(Tried to allocate 2.50 GiB\): lower batch_size and raise accumulate"
    )
    with pytest.raises(RuntimeError, match=expected) as told:
        list(training)
    assert "length" in str(told.value)
    assert type(told.value) is RuntimeError
    assert told.value.__context__ is None
    gc.collect()
    assert model.held() is None
    assert all(p.grad is None for p in model.parameters())
    assert training.step == 1
    assert [record.step for record in training] == [2, 3]


def test_targets_that_do_not_count_cost_nothing():
    logits, targets = torch.randn(2, 3, 5), torch.full((2, 3), IGNORED)
    assert float(language_model_loss(logits, targets)) == 0
    targets[1, 2] = 4
    wanted = -logits.log_softmax(-1)[1, 2, 4]
    torch.testing.assert_close(language_model_loss(logits, targets), wanted)
    found = distillation_loss(logits, logits, targets, mix=0.0)
    torch.testing.assert_close(found, wanted)


def test_a_diverged_loss_leaves_the_weights():
    model = nn.Linear(1, 1)
    before = copy.deepcopy(list(model.parameters()))
    bad = repeat((torch.ones(1, 1), torch.full((1, 1), math.inf)))
    with pytest.raises(ValueError, match="first batch is inf, before any training"):
        list(Training(model, bad, 2, loss=nn.functional.mse_loss))
    assert all(map(torch.equal, model.parameters(), before))
