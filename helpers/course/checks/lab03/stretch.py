"""The stretch task of lab 03: a network that errs least on longer sequences."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.trial import Complaint, Trial


@on_leaderboard("share wrong")
def leaderboard(make: Callable, tokens: Tensor, labels: Tensor, seconds: float = 60) -> float:
    """The error of a model of the student's own.

    Args:
        make: () -> a trained ``nn.Module`` that maps tokens (B, T) to logits (B,).
        tokens: (N, T) of the test.
        labels: (N,).
        seconds: of processor time for making and asking the model.
    """
    began = time.process_time()
    trial = Trial(make)
    with torch.random.fork_rng():
        model = trial.call(given="", seconds=3 * seconds)
    if not isinstance(model, nn.Module):
        raise Complaint("it hands back an nn.Module", "What it computes must be learned.")
    with torch.no_grad():
        logits = trial.run(model, tokens, given="the test", seconds=seconds)
    fits = isinstance(logits, Tensor) and logits.shape == labels.shape
    if not fits or not logits.isfinite().all():
        raise Complaint("one finite logit for each row", "Positive says 'balanced'.")
    if time.process_time() - began > seconds:
        hint = "Stop the training after a fixed number of batches."
        raise Complaint(f"at most {seconds:g} s of processor time", hint)
    return float(((logits > 0) != (labels == 1)).double().mean())
