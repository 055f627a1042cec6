"""The stretch task of lab 03: a network that errs least on longer sequences."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.trial import Complaint, Trial


@on_leaderboard("share wrong")
def leaderboard(make: Callable, tokens: Tensor, labels: Tensor, seconds: float = 60) -> float:
    """The error of a model of the student's own.

    A model without weights, or one whose answers do not depend on them, has learned nothing and
    gets no number. Which sequences it was trained on cannot be seen from here: who wants a place
    on the board shows the code.

    Args:
        make: () -> a trained ``nn.Module`` that maps tokens (B, T) to logits (B,).
        tokens: (N, T) of the test.
        labels: (N,).
        seconds: of processor time for making and asking the model; on the clock, three times as
            many.
    """
    began = time.process_time()
    trial = Trial(make)
    with torch.random.fork_rng():
        model = trial.call(given="", seconds=3 * seconds)
    if not isinstance(model, nn.Module):
        raise Complaint("it hands back an nn.Module", "What it computes must be learned.")
    if not list(model.parameters()):
        raise Complaint("the model has weights", "What it computes must be learned.")
    with torch.no_grad():
        logits = trial.run(model, tokens, given="the test", seconds=seconds)
    fits = isinstance(logits, Tensor) and logits.shape == labels.shape
    if not fits or not logits.isfinite().all():
        raise Complaint("one finite logit for each row", "Positive says 'balanced'.")
    if time.process_time() - began > seconds:
        hint = "Stop the training by the clock: time.process_time() tells these seconds."
        raise Complaint(f"at most {seconds:g} s of processor time", hint)
    if _same_without_weights(model, tokens[:200], logits[:200]):
        hint = "What it computes must be learned: no stack or window written in Python."
        raise Complaint("its answers depend on its weights", hint)
    return float(((logits > 0) != (labels == 1)).double().mean())


def _same_without_weights(model: nn.Module, tokens: Tensor, logits: Tensor) -> bool:
    """Whether each answer stays as it is when all weights become 0."""
    empty = copy.deepcopy(model)
    with torch.no_grad():
        for p in empty.parameters():
            p.zero_()
        return bool(((empty(tokens) > 0) == (logits > 0)).all())
