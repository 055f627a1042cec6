"""The stretch task of lab 01: a character model of the student's own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.lab01.common import SUM
from helpers.course.checks.trial import Complaint, Trial


@on_leaderboard("bits per character")
def leaderboard(
    make: Callable, train: str, text: str, vocabulary: str, seconds: float = 20
) -> float:
    """Bits per character of a model of the student's own.

    Args:
        make: (train, vocabulary) -> predict, and predict(text so far) -> distribution.
        train: what it may count on.
        text: what it is measured on.
        vocabulary: all characters.
        seconds: of processor time for making the model and predicting the text.
    """
    began, trial, bits = time.process_time(), Trial(make), 0.0
    predict = trial.call(train, vocabulary, given="the corpus", seconds=2 * seconds)
    for i, symbol in enumerate(text):
        p = trial.run(predict, text[:i], given="the text so far")
        if not math.isclose(sum(p.values()), 1, abs_tol=1e-6) or min(p.values()) < 0:
            raise Complaint("probabilities sum to 1", SUM)
        if p.get(symbol, 0) <= 0:
            raise Complaint("no character is impossible", "Leave every one a little.")
        bits -= math.log2(p[symbol])
        if time.process_time() - began > seconds:
            raise Complaint(
                f"at most {seconds:g} s of processor time",
                "Compute what does not change once, before the prediction.",
            )
    return bits / len(text)
