"""Filled gaps, against a model whose answers are known."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from helpers.data.masking import IGNORED, masked_loss
from helpers.data.sources import HiddenMarkovSource
from helpers.inference.filling import fill_masks

MASK = 3
SOURCE = HiddenMarkovSource([[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


class Exact(nn.Module):
    """The source itself as a model of gaps."""

    def __init__(self):
        super().__init__()
        self.none = nn.Parameter(torch.zeros(1))

    def forward(self, tokens):
        return SOURCE.fill(tokens, tokens != MASK).float()


def test_gaps_are_filled_with_the_models_distribution():
    text = torch.tensor([0, 2, MASK, 1, MASK])
    log_p, places = fill_masks(Exact(), text, MASK)
    assert places.tolist() == [2, 4]
    assert_close(log_p.exp().sum(-1), torch.ones(2))
    wanted = SOURCE.fill(text[None], (text != MASK)[None])[0, [2, 4]]
    assert_close(log_p, wanted.float())


def test_the_loss_is_the_mean_over_chosen_tokens():
    logits, targets = torch.randn(2, 5, 7), torch.full((2, 5), IGNORED)
    assert float(masked_loss(logits, targets)) == 0
    targets[0, 1], targets[1, 4] = 3, 6
    first = F.cross_entropy(logits[0, 1], torch.tensor(3))
    second = F.cross_entropy(logits[1, 4], torch.tensor(6))
    assert_close(masked_loss(logits, targets), (first + second) / 2)
