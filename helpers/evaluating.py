"""A model as it is used, not trained: without dropout and without gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """``with evaluating(model):`` has no dropout and no gradients.

    At the end, after an error too, each part of the model is in the mode that it was in. A model in
    evaluation mode is taken at its word and stays untouched: to walk through all parts costs as
    much as a small layer, at every token that a predictor reads.
    """
    modes = [(part, part.training) for part in model.modules()] if model.training else []
    if modes:
        model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, training in modes:
            part.training = training
