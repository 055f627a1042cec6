"""The recurrent classifier and language model: formulas, padding, states, and that they learn."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.data.batching import windows
from helpers.data.sources import MarkovSource
from helpers.inference.evaluation import score_model
from helpers.learning.training import Training
from helpers.models.recurrent_cells import (
    ElmanCell,
    GatedCell,
    GRUCell,
    LectureGRUCell,
    LSTMCell,
    ReLUElmanCell,
)
from helpers.models.recurrent_models import RecurrentClassifier, RecurrentLM
from helpers.models.torch_weights import load_torch_weights

V, D, H = 4, 3, 5
CELLS = [ElmanCell, ReLUElmanCell, GatedCell, LectureGRUCell, GRUCell, LSTMCell]
EVERY = pytest.mark.parametrize("cell", CELLS)
PAD = V
ROWS = torch.tensor([[2, 0, PAD, PAD], [1, 3, 3, 0], [3, PAD, PAD, PAD], [2, 2, 1, PAD]])


def make(kind, cell, *sizes, seed=0, **keywords):
    torch.manual_seed(seed)
    return kind(cell, V, *sizes, **keywords).double()


def close(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=1e-12)


# --- Classifier


@pytest.mark.parametrize(("n_layers", "bidirectional"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize(
    ("cell", "kind"), [(ElmanCell, nn.RNN), (GRUCell, nn.GRU), (LSTMCell, nn.LSTM)]
)
def test_the_classifier_reads_torchs_final_hidden_states(cell, kind, n_layers, bidirectional):
    keywords = {"n_layers": n_layers, "bidirectional": bidirectional}
    model = make(RecurrentClassifier, cell, H, **keywords)
    theirs = kind(V, H, n_layers, bidirectional=bidirectional, batch_first=True).double()
    load_torch_weights(model.recurrent, theirs)
    for row, logits, states in zip(ROWS, model(ROWS), model.hidden_states(ROWS)):
        x = F.one_hot(row[row != PAD], V).double()[None]
        outputs, end = theirs(x)
        h = end[0] if kind is nn.LSTM else end  # (layers * directions, 1, H)
        top = torch.cat(list(h[-2:, 0] if bidirectional else h[-1:, 0]))
        close(logits, model.h2y(top))
        close(states, F.pad(outputs[0], (0, 0, 0, len(row) - x.shape[1])))


@pytest.mark.parametrize("bidirectional", [False, True])
@EVERY
def test_what_a_row_is_batched_with_makes_no_difference(cell, bidirectional):
    model = make(RecurrentClassifier, cell, H, n_layers=2, bidirectional=bidirectional)
    labels = torch.tensor([0, 1, 1, 0])
    alone = torch.cat([model(row[row != PAD][None]) for row in ROWS])
    longer = F.pad(ROWS, (0, 3), value=PAD)
    parameters = list(model.parameters())
    wanted = torch.autograd.grad(F.cross_entropy(alone, labels), parameters)
    for tokens in (ROWS, longer):
        close(model(tokens), alone)
        found = torch.autograd.grad(F.cross_entropy(model(tokens), labels), parameters)
        for a, b in zip(found, wanted):
            close(a, b)
    close(model(ROWS.flip(0)).flip(0), alone)


@pytest.mark.parametrize(
    ("tokens", "complaint"),
    [
        ([[1, PAD, 2]], r"Row 0 of the tokens is \[1, 4, 2\]"),
        ([[1, 5]], "The tokens go from 1 to 5; expected 0 to 3, and 4 for the padding"),
        ([1, 2], "expected whole numbers"),
    ],
)
def test_the_classifier_refuses_what_it_cannot_read(tokens, complaint):
    model = make(RecurrentClassifier, ElmanCell, H)
    for call in (model, model.hidden_states):
        with pytest.raises(ValueError, match=complaint):
            call(torch.tensor(tokens))


def first_symbols(generator, batch_size):
    """Rows of 2 to 6 symbols, filled up; the class of each is its first symbol modulo 2."""
    while True:
        tokens = torch.randint(V, (batch_size, 6), generator=generator)
        lengths = torch.randint(2, 7, (batch_size, 1), generator=generator)
        yield tokens.masked_fill(torch.arange(6) >= lengths, PAD), tokens[:, 0] % 2


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
@EVERY
def test_the_trainer_teaches_the_classifier_what_came_first(cell, seed):
    torch.manual_seed(seed)
    model = RecurrentClassifier(cell, V, 16)
    batches = first_symbols(torch.Generator().manual_seed(seed), 64)
    list(Training(model, batches, 150, 1e-2, loss=F.cross_entropy))
    tokens, labels = next(first_symbols(torch.Generator().manual_seed(seed + 100), 500))
    assert float((model(tokens).argmax(1) == labels).double().mean()) > 0.95


# --- Language model


def text(*shape, seed=0):
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize(
    ("cell", "kind"), [(ElmanCell, nn.RNN), (GRUCell, nn.GRU), (LSTMCell, nn.LSTM)]
)
def test_the_language_model_equals_one_built_on_torch(cell, kind, n_layers):
    model = make(RecurrentLM, cell, D, H, n_layers=n_layers)
    theirs = kind(D, H, n_layers, batch_first=True).double()
    load_torch_weights(model.recurrent, theirs)
    tokens = F.pad(text(2, 6), (1, 0), value=V)
    expected = theirs(F.embedding(tokens, model.embedding.weight))[0]
    expected = expected @ model.h2y.weight.t() + model.h2y.bias
    assert model(tokens).shape == (2, 7, V)
    close(model(tokens), expected)


@EVERY
def test_reading_on_equals_reading_at_once_and_the_future_changes_nothing(cell):
    model, tokens = make(RecurrentLM, cell, D, H, n_layers=2), text(3, 8)
    logits, end = model.read(tokens)
    first, state = model.read(tokens[:, :3], model.start(3))
    second, state = model.read(tokens[:, 3:], state)
    close(torch.cat([first, second], 1), logits)
    close(state, end)
    for t in range(8):
        other = tokens.clone()
        other[:, t] = (other[:, t] + 1) % V
        assert (model(other) != logits).any(-1).any(0).tolist() == [s >= t for s in range(8)]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("cell", [ElmanCell, GRUCell, LSTMCell])
def test_it_learns_what_lies_two_tokens_back(cell, seed):
    """A source in which the token before last decides: its exact entropy is the floor."""
    transitions = torch.full((V, V, V), 0.05)
    for token in range(V):
        transitions[token, :, (token + 1) % V] = 0.85
    source = MarkovSource(transitions)
    tokens = source.sample(8000, torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    model = RecurrentLM(cell, V, 8, 32)
    batches = windows(tokens, 16, 16, torch.Generator().manual_seed(seed))
    list(Training(model, batches, 150, 1e-2))
    held_out = source.sample(4000, torch.Generator().manual_seed(seed + 100))
    nats = score_model(model, held_out, 200).nats_per_token
    # With the last token alone one pays log 4 = 1.386, for the source's is uniform given it.
    assert nats < source.entropy_rate() + 0.1 < 0.8


def test_the_language_model_refuses_what_it_cannot_read():
    model = make(RecurrentLM, GRUCell, D, H)
    for tokens, complaint in (
        ([[0, 5]], "from 0 to 5; expected 0 to 3, and 4 for the beginning of a text"),
        ([[-1, 0]], "from -1 to 0"),
        ([0, 1], "expected whole numbers"),
    ):
        with pytest.raises(ValueError, match=complaint):
            model(torch.tensor(tokens))
