"""Checks of lab 07, task 6: a plan that keeps to a budget, and what it comes to."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.common import MEMORY, lab
from helpers.course.checks.lab07.given import (
    T,
    bits_of,
    bits_of_old_stories,
    build,
    examples,
    requests_batch,
    shipped,
    train,
    untouched,
)  # fmt: skip
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models.gpt import GPT

MEGABYTES, GFLOPS = 0.75, 90.0  # what a plan may take
MOST_BITS, MOST_LOST = 42.2, 0.19  # what it must come to
SLACK = 0.4, 0.03  # and when it is marked, on a machine that may round differently
FORGETS = see(17, "Keep what it knew")
CHOICES = {
    "bits": (2, 4, 8),
    "rank": tuple(range(1, 65)),
    "first": (0, 1, 2, 3),
    "rows": tuple(range(1, 257)),
    "steps": tuple(range(1, 2001)),
}
SETTINGS = (*CHOICES, "rate")
# What later cells look at where no plan has passed: it keeps to no budget, so it tells no plan.
OTHER = {"bits": 4, "rank": 4, "first": 0, "rows": 8, "steps": 100, "rate": 0.002}


class Tuned(NamedTuple):
    """What a plan has come to."""

    model: GPT
    bits: float  # for each answer that was held out
    lost: float  # bits per byte of old stories
    positions: int  # that it was trained on


def cost(model: GPT, positions: int) -> tuple[float, float]:
    """MB of the blocks' maps and of what training keeps; 10^9 operations for so many positions.

    Counted from the modules: codes, two bytes a scale, and 16 for each number that is trained;
    2 operations for a weight in a block below all that is trained, 4 for one in the others and in
    the output, 6 for one that is trained.
    """
    stored, operations, below = 0.0, 4 * model.output.weight.numel(), True
    for block in model.blocks:
        trained = sum(p.numel() for p in block.parameters() if p.requires_grad)
        below = below and not trained
        stored, operations = stored + 16 * trained, operations + 6 * trained
        for layer in block.modules():
            if hasattr(layer, "codes"):
                stored += layer.codes.numel() + 2 * layer.scales.numel()
                operations += (2 if below else 4) * layer.in_features * layer.out_features
    return stored / 1e6, operations * positions / 1e9


@cache
def tuned(
    bits: int, rank: int, first: int, rows: int, steps: int, rate: float, seed: int = 0
) -> Tuned:
    """Train as a plan says, with the course's own parts; a plan is trained once."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = planned(bits, rank, first)
    train(model, lambda step: requests_batch(steps * seed + step, rows), steps, rate)
    lost = bits_of_old_stories(model) - untouched()
    return Tuned(model, bits_of(model, examples("test", 200)), lost, rows * steps * T)


def planned(bits: int, rank: int, first: int) -> GPT:
    """The GPT as a plan wants it, before it is trained."""
    gpt = copy.deepcopy(shipped()[0])
    return build(gpt, bits, rank, first, solutions.Packed, solutions.LoRA)


def takes(bits: int, rank: int, first: int, rows: int, steps: int) -> str:
    """What these settings take, in words."""
    stored, operations = cost(planned(bits, rank, first), rows * steps * T)
    return f"{stored:.3f} MB, {operations:.1f} GFLOPs"


def _plan() -> dict[str, float]:
    return {"bits": 4, "rank": 2, "first": 0, "rows": 8, "steps": 80, "rate": 0.0025}


@lab.task(_plan, without=["_plan", "fallback"], lent=False)
def plan(trial: Trial) -> None:
    got = trial.call(given="plan()")
    trial.named(got, SETTINGS)
    for name, allowed in CHOICES.items():
        hint = f"{name}: one of {', '.join(map(str, allowed))}." if len(allowed) < 5 else \
            f"{name}: a whole number from 1 to {allowed[-1]:,}."  # fmt: skip
        fine = type(got[name]) is int and got[name] in allowed
        trial.holds(fine, "settings that can be run", hint, given=name, got=repr(got[name]))
    fine = isinstance(got["rate"], int | float) and 0 < got["rate"] < math.inf
    hint = "A number above 0 is asked for."
    trial.holds(fine, "settings that can be run", hint, given="rate", got=repr(got["rate"]))
    model = planned(got["bits"], got["rank"], got["first"])
    stored, operations = cost(model, got["rows"] * got["steps"] * T)
    given = ", ".join(f"{name} {got[name]}" for name in SETTINGS)
    hint = f"Fewer bits, a smaller rank or fewer adapted blocks take less. {MEMORY}"
    trial.holds(stored <= MEGABYTES, f"it keeps to {MEGABYTES} MB", hint, given=given,
                got=f"{stored:.3f} MB")  # fmt: skip
    hint = "Operations grow with rows times steps, and with the blocks that a gradient has to pass."
    trial.holds(operations <= GFLOPS, f"it keeps to {GFLOPS:.0f} GFLOPs", hint, given=given,
                got=f"{operations:.1f} GFLOPs")  # fmt: skip
    result = tuned(**got)
    words = (
        "What two bits have spoiled so short a training does not bring back." if got["bits"] < 4
        else "A few large batches make too few steps: take fewer rows and more steps."
        if got["steps"] < 50 and got["rows"] > 8
        else "It has read too little: the budget allows more."
        if operations < GFLOPS / 2
        else "The rate is too small for so few steps, or so large that the steps go astray."
    )  # fmt: skip
    slack = SLACK if trial.generator.initial_seed() else (0.0, 0.0)
    rule = f"at most {MOST_BITS} bits for an answer held out"
    found = f"{result.bits:.2f} bits"
    trial.holds(result.bits <= MOST_BITS + slack[0], rule, words, given=given, got=found)
    hint = "A smaller rate moves the weights less; with LoRA in all blocks a smaller one is enough."
    hint += f" {FORGETS}"
    rule = f"old stories lose at most {MOST_LOST} bits per byte"
    found = f"{result.lost:.3f} bits per byte"
    trial.holds(result.lost <= MOST_LOST + slack[1], rule, hint, given=given, got=found)


def outcome(answer: Callable[[], dict[str, float]]) -> Tuned:
    """What a plan comes to; where it does not pass the check, what ``OTHER`` does, and says so."""
    if plan.judge(answer).right:
        return tuned(**answer())
    print("Your plan does not pass yet. This is another one, which does not keep to the budget:")
    return tuned(**OTHER)


@on_leaderboard("bits for an answer of other stories")
def leaderboard(answer: object) -> float:
    """What a plan that keeps to the budget comes to on requests that decide about no points."""
    trial = Trial(answer)
    plan.check(trial)
    return bits_of(tuned(**trial.value).model, examples("validation", 200))
