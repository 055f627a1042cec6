"""The encoder-decoder: its block equals PyTorch's decoder layer; causality, padding, writing."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from helpers.learning.training import Training
from helpers.models.encoder_decoder import DecoderBlock, EncoderDecoder

D, H, V, PAD, BOS = 16, 4, 11, 0, 1


@pytest.mark.parametrize(("T", "S"), [(7, 5), (1, 4), (3, 1)])
def test_the_block_equals_pytorchs_decoder_layer(T, S):
    torch.manual_seed(0)
    settings = {"dropout": 0.0, "activation": F.gelu, "batch_first": True, "dtype": torch.double}
    theirs = nn.TransformerDecoderLayer(D, H, 4 * D, norm_first=True, **settings).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    ours = DecoderBlock.of_torch(theirs).eval()
    x, memory = torch.randn(3, T, D).double(), torch.randn(3, S, D).double()
    real = torch.ones(3, S, dtype=torch.bool)
    real[1, max(1, S - 2) :] = False
    hidden = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.double)
    wanted = theirs(x, memory, tgt_mask=hidden, memory_key_padding_mask=~real)
    assert_close(ours(x, memory, real[:, None, None]), wanted, atol=1e-12, rtol=1e-12)


def model():
    torch.manual_seed(0)
    return EncoderDecoder.build(V, V, D, H, 2, max_length=12)


def rows(B, T, seed=0):
    return torch.randint(2, V, (B, T), generator=torch.Generator().manual_seed(seed))


def test_the_future_of_the_target_changes_nothing_and_all_of_the_source_does():
    net = model().eval()
    source, target = rows(1, 6), rows(1, 8, seed=1)
    base = net(source, target)
    for place in range(8):
        other = target.clone()
        other[0, place] = (target[0, place] - 1) % (V - 2) + 2
        changed = (net(source, other) - base).abs().amax(-1)[0] > 1e-7
        assert changed.tolist() == [False] * place + [True] * (8 - place)
    for place in range(6):
        other = source.clone()
        other[0, place] = (source[0, place] - 1) % (V - 2) + 2
        assert bool(((net(other, target) - base).abs().amax(-1) > 1e-7).all())


def test_padding_of_the_source_changes_nothing():
    net = model().eval()
    source, target = rows(2, 6), rows(2, 5, seed=1)
    padded = torch.cat([source, torch.full((2, 4), PAD)], 1)
    assert_close(net(padded, target), net(source, target), atol=1e-6, rtol=1e-5)
    for layer in net.weights(padded, target):
        assert layer.shape == (2, H, 5, 10)
        assert float(layer[..., 6:].detach().max()) == 0
        assert_close(layer.sum(-1), torch.ones(2, H, 5))


def test_it_learns_to_turn_a_text_round():
    net, random = model(), torch.Generator().manual_seed(0)

    def batches():  # BOS stands for the end, too
        while True:
            source = torch.randint(2, V, (32, 4), generator=random)
            turned = source.flip(1)
            before = torch.full((32, 1), BOS)
            yield (source, torch.cat([before, turned], 1)), torch.cat([turned, before], 1)

    losses = [r.loss for r in Training(net, batches(), 200, 5e-3, warmup=20)]
    assert abs(losses[0] - torch.tensor(float(V)).log()) < 0.3
    assert losses[-1] < 0.1
    sources = torch.tensor([[5, 3, 9, 2], [4, 4, 7, 8]])
    wanted = [[2, 9, 3, 5, BOS], [8, 7, 4, 4, BOS]]
    assert net.write(sources, BOS, BOS + V, 5).tolist() == wanted
    assert net.write(sources[:1], BOS, 9, 7).tolist() == [[2, 9]]  # it ends where its end comes
