"""Batches: targets, coverage, seeds."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from helpers.data.batching import TextWindows, windows


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


# Batches that can be asked for in any order


def test_a_batch_depends_on_the_seed_and_its_number_alone():
    tokens = torch.arange(200)
    one, other = TextWindows(tokens, 4, 7, seed=5), TextWindows(tokens, 4, 7, seed=5)
    forwards = [one.batch(number)[0] for number in range(30)]
    backwards = [other.batch(number)[0] for number in range(29, -1, -1)][::-1]
    assert all(torch.equal(a, b) for a, b in zip(forwards, backwards))
    another = [TextWindows(tokens, 4, 7, seed=6).batch(number)[0] for number in range(30)]
    assert not any(torch.equal(a, b) for a, b in zip(forwards, another))


def test_its_targets_are_the_inputs_one_token_on():
    inputs, targets = TextWindows(torch.arange(100), 4, 8).batch(3)
    assert inputs.shape == targets.shape == (4, 8)
    assert torch.equal(inputs + 1, targets)


def test_each_pass_has_no_window_twice_and_its_own_order():
    batches = TextWindows(torch.arange(90), 2, 10)
    assert batches.batches_per_pass == 4
    passes = []
    for first in (0, 4, 8):
        seen = torch.cat([batches.batch(s)[0].flatten() for s in range(first, first + 4)])
        assert len(seen) == len(set(seen.tolist())) == 80
        passes.append(seen.tolist())
    assert passes[0] != passes[1] != passes[2] != passes[0]


def test_the_windows_of_another_pass_begin_elsewhere():
    batches = TextWindows(torch.arange(100), 9, 10)
    begins = [batches.batch(number)[0][:, 0] % 10 for number in range(80)]
    assert all(len(set(begin.tolist())) == 1 for begin in begins)
    assert {int(begin[0]) for begin in begins} == set(range(10))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: TextWindows(torch.arange(21), 2, 10), "gives 1. Use a longer text"),
        (lambda: TextWindows(torch.arange(5), 2, 10), "gives 0"),
    ],
)
def test_what_cannot_be_dealt_out_is_said(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
