"""What the checks of lab 05 share: the lab, its hints, and modules with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

lab = Lab("lab05")

BEFORE_OR_AFTER = see(11, "Before or after the addition")
ONE_PASS = see(12, "One pass, T predictions")
DROPOUT = see(11, "Dropout")


def fill(module: nn.Module, trial: Trial, scale: float = 0.5) -> nn.Module:
    """The same module in float64 with random weights, whatever it began with."""
    module.double()
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(scale * trial.normal(*p.shape))
    return module


@contextmanager
def seeded(trial: Trial) -> Iterator[None]:
    """Layers that are made in here begin with weights that depend on the trial alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(trial.integer(0, 2**31))
        yield


def is_module(trial: Trial, value: Any, given: str) -> None:
    trial.holds(
        isinstance(value, nn.Module),
        "it is an nn.Module",
        "Derive the class from nn.Module, and call super().__init__() first.",
        given=given,
        got=type(value).__name__,
    )
