"""Encoder-decoders: the lectures' equations by loops, padding, steps, and that they learn."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from helpers.learning.training import Training
from helpers.models.recurrent_cells import ElmanCell, GRUCell, LSTMCell
from helpers.models.seq2seq import AdditiveSeq2Seq, BottleneckSeq2Seq, DotProductSeq2Seq
from helpers.models.torch_weights import load_torch_weights

VS, V, D, H = 7, 6, 3, 4
PAD, BOS, EOS = 0, 1, 2
KINDS = [BottleneckSeq2Seq, AdditiveSeq2Seq, DotProductSeq2Seq]
EVERY = pytest.mark.parametrize("kind", KINDS)
ATTENDING = pytest.mark.parametrize("kind", KINDS[1:])
CELLS = pytest.mark.parametrize("cell", [ElmanCell, GRUCell, LSTMCell])
SOURCE = torch.tensor([[3, 6, 5, 2, PAD], [4, 2, PAD, PAD, PAD], [6, 6, 3, 5, 2]])
TARGET = torch.tensor([[BOS, 4, 3, 5], [BOS, 5, 5, 4], [BOS, 3, PAD, PAD]])


def make(kind, cell=GRUCell, seed=0, **keywords):
    torch.manual_seed(seed)
    model = kind(cell, VS, V, D, H, **keywords).double()
    for parameter in model.parameters():
        parameter.data *= 2  # so that attention is far from even
    return model


def close(a, b):
    torch.testing.assert_close(a, b, atol=1e-10, rtol=1e-10)


# --- The equations


def last_state(model, source, cell):
    """h_1 ... h_S (S, H) and s_0 of one source, by torch.nn's networks with the same weights."""
    name = {ElmanCell: nn.RNN, GRUCell: nn.GRU, LSTMCell: nn.LSTM}[cell]
    torch.manual_seed(1)
    reference = name(D, H // 2, bidirectional=True, batch_first=True).double()
    load_torch_weights(model.encoder, reference)
    h, end = reference(model.source_embedding(source)[None])
    ends = end if cell is LSTMCell else (end,)
    return h[0], [part.flatten()[None] for part in ends]  # forward half first


def softmax(scores):
    numbers = [torch.exp(score) for score in scores]
    return [number / sum(numbers) for number in numbers]


@CELLS
def test_additive_attention_is_bahdanaus_equations_word_by_word(cell):
    model, source = make(AdditiveSeq2Seq, cell), SOURCE[2]
    h, ends = last_state(model, source, cell)
    state = tuple(ends) if cell is LSTMCell else ends[0]
    W, U, v = model.attention.query, model.attention.key, model.attention.score
    logits, weights = [], []
    for y in TARGET[0]:
        s = state[0] if cell is LSTMCell else state
        e = [v.weight[0] @ torch.tanh(W(s[0]) + U.weight @ h_i) for h_i in h]
        alpha = softmax(e)
        c = sum(share * h_i for share, h_i in zip(alpha, h))
        e_y = model.target_embedding(y)
        s, state = model.decoder(torch.cat([e_y, c])[None], state)  # the cell's own full step
        logits.append(model.output(torch.cat([s[0], c, e_y])))
        weights.append(torch.stack(alpha))
    close(model(source[None], TARGET[:1])[0], torch.stack(logits))
    close(model.weights(source[None], TARGET[:1])[0], torch.stack(weights))


@CELLS
def test_dot_product_attention_is_the_lectures_equations_word_by_word(cell):
    model, source = make(DotProductSeq2Seq, cell), SOURCE[2]
    h, ends = last_state(model, source, cell)
    state = tuple(ends) if cell is LSTMCell else ends[0]
    logits, weights = [], []
    for y in TARGET[0]:
        s, state = model.decoder.cells[0](model.target_embedding(y)[None], state)
        alpha = softmax([s[0] @ h_i for h_i in h])
        a = sum(share * h_i for share, h_i in zip(alpha, h))
        logits.append(model.output(torch.cat([a, s[0]])))
        weights.append(torch.stack(alpha))
    close(model(source[None], TARGET[:1])[0], torch.stack(logits))
    close(model.weights(source[None], TARGET[:1])[0], torch.stack(weights))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_model_without_attention_is_two_grus_of_pytorch(bidirectional):
    model = make(BottleneckSeq2Seq, bidirectional=bidirectional)
    half = H // 2 if bidirectional else H
    encoder = nn.GRU(D, half, bidirectional=bidirectional, batch_first=True).double()
    decoder = nn.GRU(D, H, batch_first=True).double()
    load_torch_weights(model.encoder, encoder)
    load_torch_weights(model.decoder, decoder)
    lengths = (SOURCE != PAD).sum(1)
    packed = nn.utils.rnn.pack_padded_sequence(
        model.source_embedding(SOURCE), lengths, batch_first=True, enforce_sorted=False
    )
    _, end = encoder(packed)
    s_0 = torch.cat(list(end), 1)[None]
    s, _ = decoder(model.target_embedding(TARGET), s_0)
    close(model(SOURCE, TARGET), model.output(s))


# --- Weights and padding


@EVERY
@CELLS
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_never_changes_a_result(kind, cell, bidirectional):
    model = make(kind, cell, bidirectional=bidirectional)
    for parameter in (model.source_embedding.weight, model.target_embedding.weight):
        parameter.data[PAD] = 50.0  # whatever looks at padding shows it
    logits = model(SOURCE, TARGET)
    for row, source in enumerate(SOURCE):
        alone = source[source != PAD][None]
        close(model(alone, TARGET[row : row + 1])[0], logits[row])
        if kind is not BottleneckSeq2Seq:
            weights = model.weights(SOURCE, TARGET)[row, :, : alone.shape[1]]
            close(model.weights(alone, TARGET[row : row + 1])[0], weights)
    wider = torch.cat([SOURCE, torch.full((3, 4), PAD)], 1)
    close(model(wider, TARGET), logits)
    model(SOURCE, TARGET).sum().backward()
    assert not model.source_embedding.weight.grad[PAD].any()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


# --- Step by step


@EVERY
@CELLS
def test_the_forward_pass_equals_reading_step_by_step(kind, cell):
    model = make(kind, cell)
    memory = model.encode(SOURCE)
    state, rows = memory.state, []
    for column in TARGET.split(1, 1):
        logits, state = model.read(column, memory, state)
        rows.append(logits)
    close(torch.cat(rows, 1), model(SOURCE, TARGET))


@EVERY
def test_a_step_leaves_the_state_valid(kind):
    model = make(kind, LSTMCell)
    with torch.no_grad():
        memory = model.encode(SOURCE)
        _, state = model.read(torch.full((3, 1), BOS), memory, memory.state)
        before = copy.deepcopy(state)
        first, _ = model.read(torch.tensor([[3], [4], [5]]), memory, state)
        model.read(torch.tensor([[5], [5], [5]]), memory, state)
        assert torch.equal(model.read(torch.tensor([[3], [4], [5]]), memory, state)[0], first)
    torch.testing.assert_close(state, before, atol=0, rtol=0)


# --- Learning


def turned(n, generator, length=5):
    """Sources of ``length`` words and the same words backwards."""
    words = torch.randint(3, VS - 1, (n, length), generator=generator)
    end, begin = torch.full((n, 1), EOS), torch.full((n, 1), BOS)
    backwards = words.flip(1)
    source, target = torch.cat([words, end], 1), torch.cat([backwards, end], 1)
    return (source, torch.cat([begin, backwards], 1)), target


@torch.no_grad()
def most_probable(model, source, steps):
    """What a model says (B, steps) if it takes its most probable word each time."""
    memory = model.encode(source)
    state, said = memory.state, [torch.full((len(source), 1), BOS)]
    for _ in range(steps):
        logits, state = model.read(said[-1], memory, state)
        said.append(logits.argmax(-1))
    return torch.cat(said[1:], 1)


@ATTENDING
def test_it_learns_to_turn_a_sentence_round_and_looks_where_the_words_stand(kind):
    torch.manual_seed(0)
    model, generator = kind(GRUCell, VS, VS, 16, 32), torch.Generator().manual_seed(0)
    batches = (turned(32, generator) for _ in range(250))
    losses = [record.loss for record in Training(model, batches, 250, 1e-2)]
    assert losses[-1] < 0.1 * losses[0]
    (source, target_in), target = turned(100, generator)
    said = most_probable(model, source, target.shape[1])
    assert int((said == target).all(1).sum()) >= 90
    weights = model.weights(source, target_in).detach()[:, :5]  # of the five words
    looks, stands = weights.argmax(-1), torch.arange(4, -1, -1)
    assert float((looks == stands).double().mean()) > 0.5


# --- Errors


@EVERY
def test_input_that_does_not_fit_is_refused(kind):
    model = make(kind)
    for source, sentence in (
        (SOURCE[0], "tokens has the shape"),
        (SOURCE.double(), "torch.float64"),
        (SOURCE + 7, "The tokens go from 7 to 13; expected 0 to 6"),
        (SOURCE.flip(1), "Row 0 of the source is"),
        (SOURCE * 0, "expected one token or more"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model(source, TARGET)
    for target, sentence in (
        (TARGET[0], "tokens has the shape"),
        (TARGET + 7, "The tokens go from 7 to 12; expected 0 to 5"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model(SOURCE, target)
    with pytest.raises(ValueError, match="d_hidden is 5"):
        kind(GRUCell, VS, V, D, 5)
    assert kind(GRUCell, VS, V, D, 5, bidirectional=False)(SOURCE, TARGET).shape == (3, 4, V)
