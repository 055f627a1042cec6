"""The stretch task of lab 05: the best GPT that reads so many tokens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.lab05 import solutions
from helpers.course.checks.trial import Complaint, Trial

WINDOW = 256  # tokens of a window in which an entry is measured, as in the lab's chart


@on_leaderboard("bits per byte")
def leaderboard(
    make: Callable, stories: Sequence[Tensor], held_out: Sequence[Tensor], n_bytes: int, V: int,
    end: int, most: int,
) -> float:  # fmt: skip
    """Bits per byte of a student's own model on the held-out stories.

    Args:
        make: (stories, V, end) -> a trained module, tokens (B, T) -> logits (B, T, V).
        stories: what it may read, most of them several times.
        held_out: what it is measured on.
        n_bytes: of all of these together.
        end: the token before and after each story.
        most: how many tokens it may read for gradients, in all.
    """
    read: Counter[nn.Module] = Counter()

    def note(module: nn.Module, given: tuple[Any, ...]) -> None:
        if isinstance(module, nn.Embedding) and torch.is_grad_enabled():
            read[module] += given[0].numel()

    trial = Trial(make)
    hook = nn.modules.module.register_module_forward_pre_hook(note)
    try:
        with torch.random.fork_rng():
            model = trial.call(stories, V, end, given="the stories", seconds=600)
    finally:
        hook.remove()
    if not isinstance(model, nn.Module):
        raise Complaint("it hands back a module", "return model.")
    if max(read.values(), default=0) > most:
        got = f"{max(read.values()):,}"
        raise Complaint(f"at most {most:,} tokens are read", "Make fewer steps.", got=got)
    inputs, targets = solutions.pack(list(held_out), end, WINDOW)
    if _sees_the_future(model.eval(), inputs[:2, :24].to(next(model.parameters()).device), V):
        raise Complaint("no logit depends on a later token", "Is the mask in every block?")
    nats = solutions.mean_loss(model, inputs, targets) * int((targets >= 0).sum())
    return nats / math.log(2) / n_bytes


def _sees_the_future(model: nn.Module, tokens: Tensor, V: int) -> bool:
    with torch.no_grad():
        before = model(tokens)
        for t in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, t:] = (changed[:, t:] + 1) % V
            if (model(changed) - before)[:, :t].abs().max() > 1e-4:
                return True
    return False
