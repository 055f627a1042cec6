"""Masked language modelling: what is chosen, what becomes of it, and that a seed decides it."""

from __future__ import annotations

import pytest
import torch

from helpers.data.batching import seeded
from helpers.data.masking import IGNORED, mask_tokens

V, MASK, PAD, CLS = 40, 39, 38, 37
SPECIAL = {"mask": MASK, "vocab_size": V, "special": (PAD, CLS)}


def text(n=200_000):
    return torch.randint(0, 37, (n,), generator=torch.Generator().manual_seed(0))


def test_the_shares_of_all_tokens_are_12_and_one_and_a_half_and_85_per_cent():
    tokens = text()
    inputs, targets = mask_tokens(tokens, generator=seeded(1), **SPECIAL)
    chosen = targets != IGNORED
    assert torch.equal(targets[chosen], tokens[chosen])
    assert torch.equal(inputs[~chosen], tokens[~chosen])
    masked = chosen & (inputs == MASK)
    changed = chosen & ~masked & (inputs != tokens)
    kept = chosen & (inputs == tokens)
    n = len(tokens)
    # Of the random tokens one in 37 is the right one and looks unchanged.
    expected = {0.12: masked, 0.015 * 36 / 37: changed, 0.015 * 38 / 37: kept, 0.85: ~chosen}
    for share, found in expected.items():
        sigma = (share * (1 - share) / n) ** 0.5
        assert abs(float(found.double().mean()) - share) < 5 * sigma
    assert int(inputs[changed].max()) < 37  # no special token is drawn


@pytest.mark.parametrize(("kinds", "number"), [((1, 0, 0), 0), ((0, 1, 0), 1), ((0, 0, 1), 2)])
def test_each_kind_alone(kinds, number):
    tokens = text(5000)
    inputs, targets = mask_tokens(tokens, generator=seeded(2), share=0.5, kinds=kinds, **SPECIAL)
    chosen = targets != IGNORED
    of_kind = (
        (inputs == MASK)[chosen].double().mean(),
        (inputs != tokens)[chosen].double().mean() - (inputs == MASK)[chosen].double().mean(),
        (inputs == tokens)[chosen].double().mean(),
    )
    assert of_kind[number] > 0.95
    assert sum(float(x) for x in of_kind) == pytest.approx(1)


def test_special_tokens_are_never_chosen_and_all_others_may_be():
    tokens = torch.tensor([CLS, 3, 4, PAD, MASK, 5])
    inputs, targets = mask_tokens(tokens, generator=seeded(3), share=1.0, **SPECIAL)
    assert (targets != IGNORED).tolist() == [False, True, True, False, False, True]
    assert inputs[[0, 3, 4]].tolist() == [CLS, PAD, MASK]
