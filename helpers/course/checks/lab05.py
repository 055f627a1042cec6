"""Checks of lab 05: a GPT, its training loop, and a sampler with a cache.

The tasks, in their order: by_hand (``lab05_paper``), Norm, Block (``lab05_block``), GPT
(``lab05_gpt``), make_batch, lm_loss, bits_per_byte (``lab05_loss``), rate, train
(``lab05_training``), top_k, top_p (``lab05_filters``), attend_new, read_token (``lab05_cache``),
write (``lab05_writing``). The leaderboard is here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from torch import Tensor

# isort: off
# The tasks are registered in this order.
from helpers.course.checks.lab05_common import lab
from helpers.course.checks.lab05_paper import by_hand, configuration
from helpers.course.checks.lab05_block import Block, Norm
from helpers.course.checks.lab05_gpt import GPT
from helpers.course.checks.lab05_loss import bits_per_byte, lm_loss, make_batch
from helpers.course.checks.lab05_training import rate, train
from helpers.course.checks.lab05_filters import top_k, top_p
from helpers.course.checks.lab05_cache import attend_new, read_token
from helpers.course.checks.lab05_writing import write
# isort: on

from helpers.course.checks.lab import announce
from helpers.course.checks.trial import Complaint, NotAttempted, Trial

score, use_variant = lab.score, lab.use_variant


def leaderboard(
    make: Callable, tokens: Tensor, excerpt: Tensor, V: int, text: str, seconds: float = 60
) -> None:
    """Bits per byte of a model of the student's own: one number for the leaderboard.

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
    try:
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
    except Complaint as wrong:
        print(f"No number for the leaderboard: this does not hold: {wrong.rule}. {wrong.hint}")
        if wrong.got:
            print(f"  yours    {wrong.got}")
        return
    except NotAttempted:
        print("○ The stretch task is not attempted yet.")
        return
    announce(bits / len(text.encode()), "bits per byte")


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


__all__ = [
    "GPT",
    "Block",
    "Norm",
    "attend_new",
    "bits_per_byte",
    "by_hand",
    "configuration",
    "lab",
    "leaderboard",
    "lm_loss",
    "make_batch",
    "rate",
    "read_token",
    "score",
    "top_k",
    "top_p",
    "train",
    "use_variant",
    "write",
]
