"""ELECTRA's pair: what is replaced, whose gradient goes where, and that it learns."""

from __future__ import annotations

import math

import pytest
import torch

from helpers.data.batching import seeded
from helpers.data.masking import IGNORED, mask_tokens
from helpers.data.sources import MarkovSource
from helpers.learning.training import Training
from helpers.models.electra import Electra, electra_loss
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.gpt import GPTConfig

V, MASK, PAD, T = 12, 10, 11, 16


def encoder(width, seed=0):
    torch.manual_seed(seed)
    config = GPTConfig.modern(V, max_length=T, n_layers=1, n_heads=2, d_model=width)
    return Encoder.modern(config, pad=PAD)


def pair(small=8, large=16):
    return Electra(MaskedLM(encoder(small)), encoder(large, 1))


def batch(step=0, rows=8):
    tokens = torch.randint(10, (rows, T), generator=seeded(step))
    tokens[0, 9:] = PAD
    masking = {"mask": MASK, "vocab_size": V, "special": (PAD,), "kinds": (1, 0, 0), "share": 0.3}
    return tokens, mask_tokens(tokens, generator=seeded(step, 1), **masking)


def test_only_chosen_tokens_are_replaced_and_right_samples_do_not_count():
    torch.manual_seed(0)
    tokens, (inputs, targets) = batch(rows=200)
    output = pair()(inputs, targets)
    chosen = targets != IGNORED
    assert torch.equal(output.tokens[~chosen], tokens[~chosen])
    assert torch.equal(output.replaced, output.tokens != tokens)
    right = (output.tokens == tokens)[chosen].double().mean()
    assert 0.02 < right < 0.2  # guessing among twelve
    assert torch.equal(output.counts, tokens != PAD)


def test_samples_follow_the_generators_distribution():
    torch.manual_seed(0)
    net = pair()
    with torch.no_grad():
        net.generator.bias.copy_(torch.linspace(0, 2, V))
    inputs = torch.full((4000, 1), MASK)
    output = net(inputs, torch.zeros_like(inputs))
    p = output.logits[0, 0].softmax(-1)
    counts = output.tokens.flatten().bincount(minlength=V) / 4000
    assert bool(((counts - p).abs() < 5 * (p * (1 - p) / 4000).sqrt()).all())


def test_the_discriminators_loss_does_not_reach_the_generator():
    net = pair()
    _, (inputs, targets) = batch()
    output = net(inputs, targets)
    output.scores.sum().backward()
    assert all(p.grad is None for p in net.generator.parameters())
    assert net.output.weight.grad is not None
    shared = pair(16, 16)
    assert shared.generator.encoder.embedding.tokens.weight is (
        shared.discriminator.embedding.tokens.weight
    )


def test_the_loss_is_the_sum_of_two_means_and_padding_counts_for_nothing():
    net = pair().eval()
    _, (inputs, targets) = batch()
    output = net(inputs, targets)
    chosen, real = targets != IGNORED, inputs != PAD
    first = -output.logits.log_softmax(-1)[chosen, targets[chosen]].mean()
    p = output.scores.sigmoid()
    second = -torch.where(output.replaced, p, 1 - p).log()[real].mean()
    expected = (first + 7 * second).item()
    assert electra_loss(output, targets, 7.0).item() == pytest.approx(expected, rel=1e-5)


def test_a_batch_in_which_nothing_was_chosen_is_trained_on_all_the_same():
    net = pair()
    inputs, targets = torch.randint(10, (4, T)), torch.full((4, T), IGNORED)
    (record,) = Training(net, [((inputs, targets), targets)], 1, loss=electra_loss)
    assert 0 < record.loss < 70  # the discriminator's: 50 ln 2 by guessing
    padding = torch.full((4, T), PAD)
    assert electra_loss(net(padding, targets), targets).item() == 0


def test_it_learns_to_find_what_was_replaced():
    torch.manual_seed(0)
    source = MarkovSource(torch.eye(10).roll(1, 1) * 0.9 + 0.01)
    text = source.sample(20_000, torch.Generator().manual_seed(0))

    def batches():
        step = 0
        while True:
            starts = torch.randint(len(text) - T, (32,), generator=seeded(step))
            tokens = torch.stack([text[s : s + T] for s in starts.tolist()])
            masking = {"mask": MASK, "vocab_size": V, "special": (PAD,), "kinds": (1, 0, 0)}
            inputs, targets = mask_tokens(tokens, generator=seeded(step, 1), **masking)
            yield (inputs, targets), targets
            step += 1

    net, found = pair(), []
    for record in Training(net, batches(), 150, 1e-2, warmup=10, loss=electra_loss):
        found.append(record.loss)
    assert found[-1] < 0.6 * found[0]
    assert abs(found[0] - (math.log(V) + 50 * math.log(2))) < 10


def test_two_vocabularies_are_refused():
    other = Encoder.modern(GPTConfig.modern(V + 1, n_layers=1, n_heads=1, d_model=8))
    with pytest.raises(ValueError, match="one vocabulary"):
        Electra(MaskedLM(encoder(8)), other)
