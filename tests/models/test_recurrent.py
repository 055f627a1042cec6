"""Recurrent cells and layers: against torch.nn's, against the formulas, and padding left out."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import (
    ElmanCell,
    GatedCell,
    GRUCell,
    LectureGRUCell,
    LSTMCell,
    ReLUElmanCell,
)
from helpers.models.torch_weights import load_torch_weights

D, H = 3, 5
CELLS = [ElmanCell, ReLUElmanCell, GatedCell, LectureGRUCell, GRUCell, LSTMCell]
TORCH = {
    ElmanCell: (nn.RNN, {}),
    ReLUElmanCell: (nn.RNN, {"nonlinearity": "relu"}),
    GRUCell: (nn.GRU, {}),
    LSTMCell: (nn.LSTM, {}),
}
LENGTHS = torch.tensor([3, 7, 1, 7, 2])
EVERY = pytest.mark.parametrize("cell", CELLS)
STACKS = pytest.mark.parametrize(
    ("n_layers", "bidirectional"), [(1, False), (2, False), (1, True), (2, True)]
)


def make(cell, n_layers=1, bidirectional=False, seed=0, **keywords):
    torch.manual_seed(seed)
    return Recurrent(cell, D, H, n_layers, bidirectional, **keywords).double()


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def random_state(recurrent, batch_size, seed=5):
    zeros = recurrent.start(batch_size)
    return tuple(
        tuple(numbers(batch_size, H, seed=seed + i + j) for j in range(2))
        if isinstance(one, tuple)
        else numbers(batch_size, H, seed=seed + i)
        for i, one in enumerate(zeros)
    )


def flat(state):
    """All tensors of a state, in order."""
    return [part for one in state for part in (one if isinstance(one, tuple) else (one,))]


def close(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=1e-12)


def gradients(outputs, state, inputs):
    """Of a random weighting of everything that a network gives."""
    total = sum((part * numbers(*part.shape, seed=i)).sum() for i, part in enumerate(flat(state)))
    total = total + (outputs * numbers(*outputs.shape, seed=99)).sum()
    return torch.autograd.grad(total, inputs)


# --- torch.nn


def run_torch(module, x, lengths):
    """Outputs and the final state in our form: per cell h, or (h, C)."""
    if lengths is None:
        outputs, state = module(x)
    else:
        packed, state = module(pack_padded_sequence(x, lengths, True, enforce_sorted=False))
        outputs = pad_packed_sequence(packed, True, total_length=x.shape[1])[0]
    return outputs, tuple(zip(*state) if isinstance(state, tuple) else state)


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["equal", "ragged"])
@STACKS
@pytest.mark.parametrize("cell", TORCH)
def test_values_and_gradients_equal_torch(cell, n_layers, bidirectional, lengths):
    ours = make(cell, n_layers, bidirectional)
    kind, keywords = TORCH[cell]
    settings = {"bidirectional": bidirectional, "batch_first": True, "dtype": torch.float64}
    theirs = kind(D, H, n_layers, **settings, **keywords)
    load_torch_weights(ours, theirs)
    x = numbers(5, 7, D).requires_grad_()
    results = []
    for module, (outputs, state) in (
        (ours, ours(x, lengths)),
        (theirs, run_torch(theirs, x, lengths)),
    ):
        found = gradients(outputs, state, [x, *module.parameters()])
        results.append((outputs, state, found[0], with_values(module, found[1:])))
    for a, b in zip(flat(results[0][1]), flat(results[1][1])):
        close(a, b)
    close(results[0][0], results[1][0])
    close(results[0][2], results[1][2])
    # PyTorch's gradients, arranged as our weights are. Both of its biases have our bias's gradient;
    # taking one of them is enough, but for the one in a GRU's candidate, which is another.
    wanted, theirs = copy.deepcopy(ours), results[1][3]
    for name, gradient in theirs.named_parameters():
        if name.startswith("bias_hh"):
            gradient.data[: 2 * H if cell is GRUCell else None] = 0
    load_torch_weights(wanted, theirs)
    for (name, a), b in zip(results[0][3].named_parameters(), wanted.parameters()):
        assert float(b.detach().abs().max()) > 0, name
        close(a.data, b.data)


def with_values(module, values):
    """A copy of a module that holds other numbers."""
    other = copy.deepcopy(module)
    for parameter, value in zip(other.parameters(), values):
        parameter.data = value.clone()
    return other


@pytest.mark.parametrize("cell", TORCH)
def test_a_torch_module_without_biases(cell):
    kind, keywords = TORCH[cell]
    theirs = kind(D, H, bias=False, batch_first=True, dtype=torch.float64, **keywords)
    ours = make(cell)
    load_torch_weights(ours, theirs)
    close(ours(numbers(2, 4, D))[0], theirs(numbers(2, 4, D))[0])


# --- The formulas, on single vectors


def formula(cell, x, h):
    """One step as the lecture writes it, gate by gate; torch has neither of these cells."""
    blocks = range(0, len(cell.gates) * H, H)
    W_x = {g: cell.x2h.weight[i : i + H] for g, i in zip(cell.gates, blocks)}
    b = {g: cell.x2h.bias[i : i + H] for g, i in zip(cell.gates, blocks)}
    if isinstance(cell, LectureGRUCell):
        W_h = {"z": cell.h2zr.weight[:H], "r": cell.h2zr.weight[H:], "h": cell.h2h.weight}
    else:
        W_h = {g: cell.h2h.weight[i : i + H] for g, i in zip(cell.gates, blocks)}

    def gate(g):
        return 1 / (1 + torch.exp(-(W_x[g] @ x + W_h[g] @ h + b[g])))

    if isinstance(cell, LectureGRUCell):
        candidate = torch.tanh(W_x["h"] @ x + W_h["h"] @ (gate("r") * h) + b["h"])
    else:
        candidate = torch.clamp(W_x["h"] @ x + W_h["h"] @ h + b["h"], min=0)
    return gate("z") * h + (1 - gate("z")) * candidate


@pytest.mark.parametrize("cell", [GatedCell, LectureGRUCell])
def test_values_and_gradients_equal_the_formulas(cell):
    recurrent, x = make(cell), numbers(2, 6, D).requires_grad_()
    outputs, state = recurrent(x)
    rows = []
    for row in x:
        h, hs = torch.zeros(H, dtype=torch.float64), []
        for x_t in row:
            h = formula(recurrent.cells[0], x_t, h)
            hs.append(h)
        rows.append(torch.stack(hs))
    expected = torch.stack(rows)
    end = (expected[:, -1],)
    close(outputs, expected)
    close(state[0], end[0])
    inputs = [x, *recurrent.parameters()]
    for a, b in zip(gradients(outputs, state, inputs), gradients(expected, end, inputs)):
        close(a, b)


# --- Sequences of unequal length


@STACKS
@EVERY
def test_a_padded_batch_equals_its_sequences_alone(cell, n_layers, bidirectional):
    recurrent, x = make(cell, n_layers, bidirectional), numbers(5, 8, D)
    for row, length in zip(x, LENGTHS):
        row[length:] = float("nan")  # whatever touches the padding shows it
    x.requires_grad_()
    outputs, state = recurrent(x, LENGTHS)
    assert outputs.shape == (5, 8, recurrent.output_size)
    alone = [recurrent(x[i : i + 1, :length]) for i, length in enumerate(LENGTHS)]
    padding = torch.zeros(8, recurrent.output_size, dtype=torch.float64)
    expected = torch.stack([torch.cat([one[0][0], padding])[:8] for one in alone])
    end = tuple(torch.cat(parts) for parts in zip(*(flat(one[1]) for one in alone)))
    close(outputs, expected)
    for a, b in zip(flat(state), end):
        close(a, b)
    inputs = [x, *recurrent.parameters()]
    found, wanted = gradients(outputs, state, inputs), gradients(expected, end, inputs)
    for a, b in zip(found, wanted):
        close(a, b)
    for row, length in zip(found[0], LENGTHS):
        assert not row[length:].any()


@EVERY
def test_a_padded_batch_that_goes_on_from_a_state(cell):
    recurrent, x = make(cell, 2), numbers(5, 7, D)
    begin = random_state(recurrent, 5)
    outputs, state = recurrent(x, LENGTHS, begin)
    for i, length in enumerate(LENGTHS):
        one = tuple(
            tuple(part[i : i + 1] for part in s) if isinstance(s, tuple) else s[i : i + 1]
            for s in begin
        )
        alone, end = recurrent(x[i : i + 1, :length], state=one)
        close(outputs[i : i + 1, :length], alone)
        for a, b in zip(flat(state), flat(end)):
            close(a[i : i + 1], b)


@pytest.mark.parametrize("bidirectional", [False, True])
@EVERY
def test_token_ids_stand_for_one_hot_vectors(cell, bidirectional):
    recurrent = make(cell, 2, bidirectional)
    tokens = torch.randint(D, (5, 7), generator=torch.Generator().manual_seed(0))
    x = nn.functional.one_hot(tokens, D).double()
    for i, length in enumerate(LENGTHS):
        tokens[i, length:] = 1000  # never looked up
    found, wanted = recurrent(tokens, LENGTHS), recurrent(x, LENGTHS)
    close(found[0], wanted[0])
    parameters = list(recurrent.parameters())
    for a, b in zip(gradients(*found, parameters), gradients(*wanted, parameters)):
        close(a, b)


# --- States, time, stacks


@pytest.mark.parametrize("cuts", [[1, 6], [3, 3, 1], [1] * 7])
@EVERY
def test_reading_in_stretches_equals_reading_at_once(cell, cuts):
    recurrent, x = make(cell, 2), numbers(3, 7, D).requires_grad_()
    state, pieces = random_state(recurrent, 3), []
    whole, end = recurrent(x, state=state)
    for part in x.split(cuts, 1):
        outputs, state = recurrent(part, state=state)
        pieces.append(outputs)
    close(torch.cat(pieces, 1), whole)
    inputs = [x, *recurrent.parameters()]
    found = gradients(torch.cat(pieces, 1), state, inputs)
    for a, b in zip(found, gradients(whole, end, inputs)):
        close(a, b)


def test_dropout_acts_between_the_layers_and_in_training_only():
    recurrent, x = make(LSTMCell, 2, dropout=1.0), numbers(2, 4, D)
    plain = make(LSTMCell, 2)
    outputs, state = recurrent(x)
    upper = Recurrent(LSTMCell, H, H).double()
    upper.cells[0] = recurrent.cells[1]
    close(outputs, upper(torch.zeros(2, 4, H, dtype=torch.float64))[0])  # reads zeros
    close(state[0][0], plain(x)[1][0][0])
    close(recurrent.eval()(x)[0], plain(x)[0])


# --- Errors


def test_shapes_that_do_not_fit_are_refused():
    recurrent, x = make(LSTMCell), numbers(2, 4, D)
    for lengths in ([4], [[4, 4]], [1.0, 2.0]):
        with pytest.raises(ValueError, match="one whole number for each of the 2"):
            recurrent(x, lengths)
    for lengths in ([0, 4], [1, 5], [-1, 2]):
        with pytest.raises(ValueError, match="The lengths go from"):
            recurrent(x, lengths)


def test_both_directions_do_not_go_on_from_a_state():
    x = numbers(2, 4, D)
    both = make(LSTMCell, bidirectional=True)
    with pytest.raises(ValueError, match="whole text at once"):
        both(x, state=both.start(2))
