"""Checks of lab 03: a recurrent network on honest parentheses.

The tasks stand in ``lab03_language``, ``lab03_negatives``, ``lab03_network`` and
``lab03_training``; here they come together, with the leaderboard.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import announce
from helpers.course.checks.lab03_language import (
    balanced,
    by_hand,
    by_hand_numbers,
    draw_balanced,
    lab,
)
from helpers.course.checks.lab03_negatives import shortcut_accuracy, unbalance
from helpers.course.checks.lab03_network import ElmanCell, backward_through_time, last_states
from helpers.course.checks.lab03_training import error_by_length, fit
from helpers.course.checks.trial import Complaint, NotAttempted, Trial

score, use_variant = lab.score, lab.use_variant

__all__ = [  # what a notebook uses
    "ElmanCell",
    "backward_through_time",
    "balanced",
    "by_hand",
    "by_hand_numbers",
    "draw_balanced",
    "error_by_length",
    "fit",
    "lab",
    "last_states",
    "leaderboard",
    "score",
    "shortcut_accuracy",
    "unbalance",
    "use_variant",
]


def leaderboard(make: Callable, tokens: Tensor, labels: Tensor, seconds: float = 60) -> None:
    """The error of a model of the student's own: one number for the leaderboard.

    Args:
        make: () -> a trained ``nn.Module`` that maps tokens (B, T) to logits (B,).
        tokens: (N, T) of the test.
        labels: (N,).
        seconds: of processor time for making and asking the model.
    """
    began = time.process_time()
    try:
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
    except Complaint as wrong:
        got = f" ({wrong.got})" if wrong.got else ""
        print(f"No number for the leaderboard: this does not hold: {wrong.rule}{got}. {wrong.hint}")
        return
    except NotAttempted:
        print("○ The stretch task is not attempted yet.")
        return
    announce(float(((logits > 0) != (labels == 1)).double().mean()), "share wrong")
