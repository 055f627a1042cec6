"""Checks of lab 05, task 8: one's own entry, and the leaderboard."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import announce
from helpers.course.checks.lab05.common import IGNORED, lab
from helpers.course.checks.lab05.model import course_gpt
from helpers.course.checks.lab05.optimizer import _AdamW
from helpers.course.checks.lab05.repair import _sees_the_future
from helpers.course.checks.lab05.training import Batch, course_train
from helpers.course.checks.lab05.windows import pack_windows
from helpers.course.checks.trial import NOTHING, Trial

LONGEST = 512  # tokens of a window in which an entry is measured
GRACE = 15.0  # seconds for making a model and a last evaluation, beside the time for training


def _entry(
    stories: Sequence[Tensor], V: int, end: int, seconds: float, device: Any
) -> tuple[nn.Module, list]:
    kept, read = pack_windows(stories[:32], end, 256), pack_windows(stories[32:], end, 256)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = course_gpt(V, 3, 128, 4, 2).to(device)
    generator = torch.Generator().manual_seed(0)

    def next_batch() -> Batch:
        rows = torch.randint(len(read[0]), (4,), generator=generator)
        return read[0][rows], read[1][rows]

    def evaluate(model: nn.Module) -> float:
        return nats(model, kept) / int((kept[1] != IGNORED).sum())

    optimizer = _AdamW(model.parameters(), lr=5e-3, decay=0.0)
    return model, course_train(model, optimizer, next_batch, evaluate, seconds, device, every=100)


@torch.no_grad()
def nats(model: nn.Module, windows: Batch, rows: int = 8) -> float:
    """What all real targets of windows cost together."""
    device, total = next(model.parameters()).device, 0.0
    for x, y in zip(*(part.split(rows) for part in windows), strict=True):
        logits = model(x.to(device)).float().flatten(0, 1)
        total += F.cross_entropy(
            logits, y.to(device).flatten(), ignore_index=IGNORED, reduction="sum"
        ).item()
    return total


@lab.task(_entry)
def entry(trial: Trial) -> None:
    V, end, n, seconds = 16, 15, 80, 0.5
    stories = [trial.integers(3, 4, trial.integer(10, 40)) for _ in range(n)]
    given = f"{n} short stories of one word, V = {V}, end = {end}, {seconds} s, on the CPU"
    with torch.random.fork_rng(devices=[]):
        began = time.monotonic()
        got = trial.call(stories, V, end, seconds, "cpu", given=given)
        took = time.monotonic() - began
    pair = isinstance(got, tuple | list) and len(got) == 2 and isinstance(got[0], nn.Module)
    hint = NOTHING if got is None else "return model, history."
    trial.holds(pair, "it hands back the model and the history", hint, given=given, got=type(got))
    model, history = got
    trial.holds(
        took < seconds + GRACE,
        "it comes to an end in time",
        "Hand `seconds` on to train, and evaluate on few windows.",
        given=given,
        got=f"{took:.0f} s",
    )
    tokens = torch.stack([trial.integers(0, V, 12) for _ in range(2)])
    with torch.no_grad():
        logits = trial.run(model, tokens, given="the trained model, tokens (2, 12)")
    fine = isinstance(logits, Tensor) and tuple(logits.shape) == (2, 12, V)
    hint = "The model's vocabulary is the V that is handed over."
    trial.holds(fine, "the model gives logits (B, T, V)", hint, got=logits)
    causal = "An entry that sees the future has no place on the board: look at its mask."
    trial.holds(not _sees_the_future(model, tokens, V), "it sees no later token", causal)
    hint = "Put together: pack, GPT with its blocks, AdamW, train."
    trial.holds(isinstance(history, list | tuple) and len(history) > 0, "it has a history", hint)
    windows = pack_windows(stories, end, 64)
    cost = nats(model, windows) / int((windows[1] != IGNORED).sum())
    trial.holds(
        cost < math.log(V) - 0.01,
        "it has learned from the stories",
        "Is the optimizer given the model's parameters, and is the model trained the one that "
        "comes back? Half a second is enough for a few steps.",
        given=given,
        got=f"{cost:.2f} nats a target",
        expected=f"below log V = {math.log(V):.2f}",
    )


def leaderboard(
    made: Any, model: nn.Module, stories: Sequence[Tensor], n_bytes: int, end: int, took: float,
    seconds: float,
) -> None:  # fmt: skip
    """Show the bits per byte of a trained entry, where it is one's own.

    Args:
        made: the function ``entry`` that made it.
        model: tokens (B, T) -> logits (B, T, V).
        stories: what it is measured on, none of which it has read.
        n_bytes: of all of them together.
        end: the token before and after each story.
        took: the seconds that making it took.
        seconds: those that were allowed.
    """
    if made is entry.fallback:
        print("○ The leaderboard waits for your own entry of task 8.")
        return
    windows = pack_windows(stories, end, LONGEST)
    few = windows[0][:2, :24]
    try:
        if took > seconds + GRACE:
            print(f"No number for the leaderboard: it took {took:.0f} s, not {seconds:g} s.")
        elif _sees_the_future(model, few, int(model(few).shape[-1])):
            print("No number for the leaderboard: the model sees later tokens.")
        else:
            announce(nats(model, windows) / math.log(2) / n_bytes, "bits per byte")
    except Exception as error:
        print(
            "No number for the leaderboard: the model does not read tokens (B, T) of windows of "
            f"up to {LONGEST} tokens ({type(error).__name__}: {error})."
        )
