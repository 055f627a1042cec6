"""Evaluation mode for a while: no dropout, no gradients, and every part's mode comes back."""

import pytest
import torch
from torch import nn

from helpers.evaluating import evaluating


def model():
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.9), nn.Sequential(nn.Dropout(0.9)))


def modes(module):
    return [part.training for part in module.modules()]


def test_no_dropout_and_no_gradients():
    ours, x = model().train(), torch.ones(2, 3)
    with evaluating(ours):
        inside = ours(x)
        assert not any(modes(ours))
    assert not inside.requires_grad
    assert torch.equal(inside, ours[0](x))
    assert torch.is_grad_enabled()


def test_each_part_gets_its_mode_back_even_after_an_error():
    ours = model().train()
    ours[2].eval()
    before = modes(ours)
    assert len(set(before)) == 2
    with pytest.raises(ZeroDivisionError), evaluating(ours):
        raise ZeroDivisionError
    assert modes(ours) == before
    assert torch.is_grad_enabled()


def test_a_model_in_evaluation_mode_is_not_walked_through(monkeypatch):
    ours = model().eval()
    monkeypatch.setattr(nn.Module, "modules", None)
    with evaluating(ours), evaluating(ours):
        assert not ours(torch.ones(1, 3)).requires_grad
    assert not ours.training
