from __future__ import annotations

import pytest
import torch
from torch import nn

from helpers.models.shapes import record_shapes


class Branching(nn.Module):
    """Calls one part twice, one not at all, and gives a tensor among other things."""

    def __init__(self) -> None:
        super().__init__()
        self.twice = nn.ReLU()
        self.unused = nn.Linear(3, 3)
        self.recurrent = nn.LSTM(3, 5, batch_first=True)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x, *, longer: bool = False):
        if longer:
            x = torch.cat([x, x], dim=1)
        x = self.dropout(self.twice(x))
        states, _ = self.recurrent(x)
        return {"name": "result", "states": self.twice(states)}


def test_shapes_of_a_known_network():
    network = nn.Sequential(
        nn.Conv1d(2, 6, kernel_size=3), nn.Flatten(), nn.Sequential(nn.Linear(48, 7), nn.Tanh())
    )
    shapes = record_shapes(network, torch.zeros(4, 2, 10))
    assert list(shapes.items()) == [  # in the order in which the parts finish
        ("0", (4, 6, 8)),  # 10 - 3 + 1
        ("1", (4, 48)),
        ("2.0", (4, 7)),
        ("2.1", (4, 7)),
        ("2", (4, 7)),
        ("", (4, 7)),
    ]


def test_several_outputs_several_calls_and_keywords():
    shapes = record_shapes(Branching(), torch.zeros(2, 4, 3), longer=True)
    assert shapes == {
        "dropout": (2, 8, 3),
        "recurrent": (2, 8, 5),
        "twice": (2, 8, 5),
        "": (2, 8, 5),
    }


def test_the_model_and_the_random_numbers_stay_as_they_were():
    model = Branching().train()
    model.recurrent.eval()
    modes = [part.training for part in model.modules()]
    before = torch.get_rng_state()
    record_shapes(model, torch.zeros(1, 1, 3))
    assert torch.equal(torch.get_rng_state(), before)
    assert [part.training for part in model.modules()] == modes
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(part._forward_hooks for part in model.modules())


def test_hooks_are_removed_when_the_model_fails():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4)).train()
    with pytest.raises(RuntimeError, match="shape"):
        record_shapes(model, torch.zeros(1, 3))
    assert not any(part._forward_hooks for part in model.modules())
    assert all(part.training for part in model.modules())


def test_pytorchs_own_layer_takes_no_shortcut_around_its_parts():
    layer = nn.TransformerEncoderLayer(8, 2, 32, batch_first=True)
    shapes = record_shapes(layer, torch.zeros(3, 4, 8))
    assert shapes["linear1"] == (3, 4, 32)
    assert shapes["self_attn"] == shapes["norm2"] == shapes[""] == (3, 4, 8)
