"""The stretch task of lab 04: attention that reads texts longer than in training."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.trial import Trial


@on_leaderboard("bits per character")
def leaderboard(
    make: Callable, pieces: Tensor, texts: Tensor, vocab_size: int, seconds: float = 20
) -> float:
    """Bits per character of the student's own model on texts longer than those of its training.

    Args:
        make: (pieces, vocab_size) -> model, and model(tokens (B, T)) -> logits (B, T, V) of the
            characters that follow.
        pieces: (N, T) what it may learn from.
        texts: (B, longer) what it is measured on, from the second character on.
        vocab_size: V.
        seconds: of processor time for learning and predicting, on one thread.
    """
    threads, began, trial = torch.get_num_threads(), time.process_time(), Trial(make)
    torch.set_num_threads(1)  # on many cores small products would burn processor time by waiting
    try:
        model = trial.call(pieces, vocab_size, given="the pieces", seconds=2 * seconds)
        with torch.no_grad():
            logits = trial.run(model, texts[:, :-1], given="the texts", seconds=2 * seconds)
            spent = time.process_time() - began
            _fair(trial, model, texts, logits, vocab_size)
        less = "Make fewer steps, or watch time.process_time() while you train."
        rule = f"at most {seconds:g} s of processor time"
        trial.holds(spent <= seconds, rule, f"It took {spent:.1f} s. {less}")
    finally:
        torch.set_num_threads(threads)
    nats = F.cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten())
    return float(nats) / math.log(2)


def _fair(trial: Trial, model: Callable, texts: Tensor, logits: Any, vocab_size: int) -> None:
    """The logits have the right shape, are numbers, and do not look ahead."""
    shape = (*texts[:, 1:].shape, vocab_size)
    fits = isinstance(logits, Tensor) and tuple(logits.shape) == shape
    trial.holds(fits, f"the logits have the shape {shape}", "One row of logits a character.")
    trial.holds(logits.isfinite().all(), "the logits are finite", "Look for NaN and infinities.")
    half = texts.shape[1] // 2
    other = texts[:4, :-1].clone()
    other[:, half:] = (other[:, half:] + 1) % vocab_size
    changed = trial.run(model, other, given="other ends of the texts")[:, :half]
    rule, hint = "no prediction depends on later characters", "Is the mask in every layer?"
    trial.holds((changed - logits[:4, :half]).abs().max() < 1e-3, rule, hint)
