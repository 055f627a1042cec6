"""Batches: targets, coverage, seeds."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from helpers.data.batching import windows


def test_targets_are_the_inputs_one_token_on():
    inputs, targets = next(windows(torch.arange(100), 4, 8, torch.Generator().manual_seed(0)))
    assert inputs.shape == targets.shape == (4, 8)
    assert torch.equal(inputs + 1, targets)


def test_one_pass_has_no_window_twice():
    batches = islice(windows(torch.arange(90), 2, 10, torch.Generator().manual_seed(0)), 4)
    seen = torch.cat([inputs.flatten() for inputs, _ in batches])
    assert len(seen) == len(set(seen.tolist())) == 80


def test_every_token_is_a_target_about_equally_often():
    batches = islice(windows(torch.arange(101), 3, 10, torch.Generator().manual_seed(0)), 3000)
    seen = torch.bincount(torch.cat([targets.flatten() for _, targets in batches]))
    inner = seen[10:90].float()
    assert inner.min() > 0.9 * inner.mean()
    assert seen[0] == 0


def test_seeded():
    first = [
        next(windows(torch.arange(99), 2, 5, torch.Generator().manual_seed(s)))[0]
        for s in (1, 1, 2)
    ]
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])


def test_too_short_a_text():
    with pytest.raises(ValueError, match="gives 1"):
        next(windows(torch.arange(21), 2, 10, torch.Generator()))
