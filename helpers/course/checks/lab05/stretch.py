"""The stretch task of lab 05: any model, in a fixed time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from torch import Tensor

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.trial import Complaint, Trial


@on_leaderboard("bits per byte")
def leaderboard(
    make: Callable, tokens: Tensor, excerpt: Tensor, V: int, text: str, seconds: float = 60
) -> float:
    """Bits per byte of a model of the student's own.

    Args:
        make: (tokens, V) -> predict, and predict(tokens so far (t,)) -> probabilities (V,) of the
            next token.
        tokens: what it may learn from, (N,).
        excerpt: what it is measured on, (M,); the first token is only read.
        V: size of the vocabulary.
        text: the raw text of all of the excerpt's tokens but the first.
        seconds: of processor time, of all threads together, for making the model and predicting.
    """
    began, trial, bits = time.process_time(), Trial(make), 0.0
    predict = trial.call(tokens, V, given="the corpus", seconds=3 * seconds)
    for i in range(1, len(excerpt)):
        p = trial.run(predict, excerpt[:i], given=f"the first {i} tokens of the excerpt")
        bits -= math.log2(_probability(p, V, int(excerpt[i])))
        if time.process_time() - began > seconds:
            raise Complaint(
                f"at most {seconds:g} s of processor time",
                f"{i} of {len(excerpt) - 1} tokens were predicted: train for less, or with "
                "fewer threads, or predict with a cache.",
            )
    return bits / len(text.encode())


def _probability(p: object, V: int, token: int) -> float:
    """That of one token, if p is a distribution over V tokens."""
    right = isinstance(p, Tensor) and tuple(p.shape) == (V,)
    if not right or not bool((p >= 0).all()) or abs(float(p.double().sum()) - 1) > 1e-4:
        raise Complaint(
            "predict gives V probabilities that sum to 1",
            "A tensor (V,): the softmax of the logits after the last token.",
            got=f"shape {tuple(p.shape)}, sum {float(p.sum()):g}" if right else repr(p)[:80],
        )
    if float(p[token]) <= 0:
        raise Complaint("no token is impossible", "Leave every token a little.")
    return float(p[token])
