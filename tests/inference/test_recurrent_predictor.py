"""A recurrent language model as a predictor: its state carried is the text read anew."""

from __future__ import annotations

import copy

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.inference.evaluation import log_probs
from helpers.inference.neural_predictor import RecurrentPredictor
from helpers.models.recurrent_cells import ElmanCell, GRUCell, LSTMCell
from helpers.models.recurrent_models import RecurrentLM

V, BOS = 6, 6
KINDS = pytest.mark.parametrize("cell", [ElmanCell, GRUCell, LSTMCell])


def make(cell, seed=0, n_layers=2, dropout=0.5):
    torch.manual_seed(seed)
    return RecurrentLM(cell, V, 4, 8, n_layers, dropout).double()


def text(size, seed=0):
    return torch.randint(V, (size,), generator=torch.Generator().manual_seed(seed))


@KINDS
def test_steps_stretches_and_one_full_pass_agree(cell):
    model, tokens = make(cell), text(23)
    predictor = RecurrentPredictor(model, BOS)
    model.eval()
    read = torch.cat([torch.tensor([BOS]), tokens])
    full = model(read[None])[0].detach().log_softmax(-1)  # (T + 1, V)
    model.train()
    for t in range(len(read)):
        torch.testing.assert_close(next_log_probs(predictor, tokens[:t]), full[t])
    expected = full[:-1].gather(1, tokens[:, None])[:, 0]
    for length in (1, 2, 7, 23, 512):
        torch.testing.assert_close(predictor.log_probs(tokens, length), expected)
    torch.testing.assert_close(log_probs(predictor, tokens), expected)
    assert model.training, "the model is left in its mode"


@KINDS
def test_a_step_leaves_the_state_valid(cell):
    predictor = RecurrentPredictor(make(cell), BOS)
    _, state = predictor.step(torch.tensor([BOS, BOS]), predictor.start(2))
    before = copy.deepcopy(state)
    first, _ = predictor.step(torch.tensor([4, 5]), state)
    predictor.step(torch.tensor([0, 0]), state)
    again, _ = predictor.step(torch.tensor([4, 5]), state)
    torch.testing.assert_close(state, before, atol=0, rtol=0)
    assert torch.equal(first, again)
    assert torch.allclose(first.exp().sum(-1), torch.ones(2, dtype=torch.float64))


def test_errors_name_what_is_wrong_and_leave_the_mode():
    model = make(GRUCell)
    for bos in (-1, V + 1):
        with pytest.raises(ValueError, match=f"bos is {bos}"):
            RecurrentPredictor(model, bos)
    predictor = RecurrentPredictor(model, BOS)
    with pytest.raises(RuntimeError, match="must match"):
        predictor.step(torch.tensor([0, 0]), predictor.start(3))
    with pytest.raises(ValueError, match="from 9 to 9"):
        predictor.step(torch.tensor([9]), predictor.start(1))
    assert model.training
