from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.data import parentheses_sets as sets
from helpers.data.parentheses import are_balanced
from helpers.data.parentheses_negatives import KINDS
from helpers.inference.classification import classify, error, errors_by_kind
from helpers.models.shortcuts import colours_ignored


class Rule(nn.Module):
    """A rule as a model: logits in favour of what it says."""

    def __init__(self, rule):
        super().__init__()
        self.rule, self.calls = rule, []

    def forward(self, tokens):
        self.calls.append((tuple(tokens.shape), self.training))
        says = self.rule(tokens)
        return torch.stack([~says, says], 1).double()


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_every_row_is_classified_in_order_and_the_mode_is_kept():
    labelled = sets.near_miss_set(5000, [6, 20], generator())
    model = Rule(are_balanced).train()
    assert torch.equal(classify(model, labelled.tokens), labelled.labels)
    assert len(model.calls) > 1  # read in parts
    assert not any(training for _, training in model.calls)
    assert model.training
    assert error(model, labelled) == 0


def test_errors_are_those_of_a_known_rule():
    """A rule that ignores the colours accepts what has the right shape, and nothing else."""
    labelled = sets.near_miss_set(4000, [12], generator(1))
    model = Rule(colours_ignored)
    by_kind = errors_by_kind(model, labelled)
    assert list(by_kind) == list(KINDS[:7])
    assert by_kind["balanced"] == by_kind["wrong_order"] == by_kind["truncated"] == 0
    assert by_kind["one_colour_swapped"] == by_kind["colours_exchanged"] == 1
    share = sum(
        by_kind[kind] * float((labelled.kinds == number).double().mean())
        for number, kind in enumerate(KINDS)
        if kind in by_kind
    )
    assert error(model, labelled) == pytest.approx(share)
