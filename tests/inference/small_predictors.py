"""Predictors that are small enough to list all their texts."""

from __future__ import annotations

import torch

from helpers.inference.neural_predictor import RecurrentPredictor
from helpers.models.recurrent_cells import GRUCell
from helpers.models.recurrent_models import RecurrentLM

STOP = 2


def network(seed, vocab_size=3):
    """A random network whose next token depends on all before it, in a state of its own."""
    torch.manual_seed(seed)
    model = RecurrentLM(GRUCell, vocab_size, 6, 12).double()
    for parameter in model.parameters():
        parameter.data *= 4
    return RecurrentPredictor(model, vocab_size)


class Sources:
    """A predictor of several texts: row b says its source's words, then stops."""

    vocab_size, bos = 4, 4

    def __init__(self, *sources):
        self.sources = sources

    def start(self, batch_size):
        assert batch_size == len(self.sources)
        return 0

    def step(self, tokens, state):
        log_p = torch.full((len(tokens), 4), -5.0)
        for row, source in enumerate(self.sources):
            log_p[row, source[state] if state < len(source) else STOP] = -0.1
        return log_p, state + 1
