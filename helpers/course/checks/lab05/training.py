"""Checks of lab 05: the learning rate and the training loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab05.common import DROPOUT, lab, seeded
from helpers.course.checks.lab05.gpt import CourseGPT
from helpers.course.checks.lab05.loss import Batch, Table, course_batch
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial
from helpers.data.sources import lagged_source
from helpers.learning import training

LOOP = see(13, "The loop")
RATE = 0.5  # of the trials with plain gradient steps


def _rate(step: int, steps: int, warmup: int) -> float:
    return training.rate(step, steps, warmup)


@lab.task(_rate)
def rate(trial: Trial) -> None:
    steps, warmup = 10, 4
    given = "steps = 10, warmup = 4, step = 1, 2, ..., 10"
    got = [
        trial.call(step, steps, warmup, given=f"step = {step}, steps = 10, warmup = 4")
        for step in range(1, steps + 1)
    ]
    expected = [_rate(step, steps, warmup) for step in range(1, steps + 1)]
    zero = "A first step with the rate 0 learns nothing: step 1 already has 1 / warmup."
    late = (
        "The fall begins one step too early: the step after the warm-up still has 1, and the last "
        "step still learns. The line would reach 0 at steps + 1."
    )
    falls = [min(s / warmup, (steps - s) / (steps - warmup), 1.0) for s in range(1, steps + 1)]
    slips = [
        ([*[(s - 1) / warmup for s in range(1, 5)], *expected[4:]], zero),
        ([*[(s - 1) / warmup for s in range(1, 5)], *falls[4:]], zero),
        (falls, late),
        (
            [*expected[:4], *[(steps - s + 1) / steps for s in range(5, 11)]],
            "The fall begins at 1 after the warm-up and takes steps - warmup steps.",
        ),
        ([*expected[:4], *[1.0] * 6], "After the warm-up the rate falls."),
    ]
    usual = (
        "Count on your fingers: steps 1 to 4 have 1/4, 2/4, 3/4, 1; step 5 has 1, step 11 would "
        f"have 0, and between the two lies a straight line. {LOOP}"
    )
    hint = NOTHING if any(value is None for value in got) else usual
    trial.equals(got, expected, "ten steps by hand", hint, slips=slips, given=given)
    for steps, warmup in ((7, 0), (1, 0), (3, 2), (trial.integer(50, 90), trial.integer(1, 50))):
        given = f"steps = {steps}, warmup = {warmup}, every step"
        none = "With no warm-up nothing may be divided by 0: the fall begins at once."
        trial.equals(
            [trial.call(step, steps, warmup, hint=none) for step in range(1, steps + 1)],
            [_rate(step, steps, warmup) for step in range(1, steps + 1)],
            "without warm-up, it falls from the first step on" if warmup == 0 else "any lengths",
            none if warmup == 0 else usual,
            given=given,
        )


def _train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    next_batch: Callable[[], Batch],
    steps: int,
    warmup: int,
    clip: float = 1.0,
) -> list[float]:
    was_training = model.training
    model.train()
    run = training.Training(
        model, iter(next_batch, None), steps, warmup=warmup, clip=clip, optimizers=[optimizer]
    )
    losses = [record.loss for record in run]
    model.train(was_training)
    return losses


class _Watched(torch.optim.SGD):
    """Notes the rates, the weights and the gradients of every step."""

    def __init__(self, groups: Sequence[dict[str, Any]]) -> None:
        super().__init__(groups, lr=RATE)
        self.rates: list[list[float]] = []
        self.weights: list[list[Tensor]] = []
        self.gradients: list[list[Tensor | None]] = []

    def step(self, closure: Any = None) -> None:
        watched = [p for group in self.param_groups for p in group["params"]]
        self.rates.append([float(group["lr"]) for group in self.param_groups])
        self.weights.append([p.detach().clone() for p in watched])
        self.gradients.append([None if p.grad is None else p.grad.clone() for p in watched])
        super().step(closure)


class _Run:
    """Ten steps of a small model, and all that was seen of them."""

    steps, warmup = 10, 4

    def __init__(self, trial: Trial, clip: float, mode: bool = True) -> None:
        table = Table(trial.normal(5, 5), trial.normal(6, 5)).train(mode)
        self.model, self.drawn, self.clip = table, [], clip
        groups = [{"params": [table.words]}, {"params": [table.places], "lr": RATE / 10}]
        self.optimizer = _Watched(groups)

        def next_batch() -> Batch:
            self.drawn.append((trial.integers(0, 5, 3, 6), trial.integers(0, 5, 3, 6)))
            return self.drawn[-1]

        limit = "no limit in reach" if clip > 1e6 else f"clip = {clip}"
        self.given = f"a small model, {self.steps} steps, warmup = {self.warmup}, {limit}"
        self.losses = trial.call(
            table, self.optimizer, next_batch, self.steps, self.warmup, clip, given=self.given
        )

    def fresh(self, step: int, copied: bool = False) -> tuple[float, list[Tensor]]:
        """The loss of this step's batch alone, and its gradients before any clipping.

        Args:
            copied: whether the inputs are taken for targets.
        """
        inputs, targets = self.drawn[step]
        targets = inputs if copied else targets
        words, places = (p.clone().requires_grad_() for p in self.optimizer.weights[step])
        logits = words[inputs] + places[: inputs.shape[1]]
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return loss.item(), list(torch.autograd.grad(loss, (words, places)))


@lab.task(_train)
def train(trial: Trial) -> None:
    run = _Run(trial, clip=1e9)
    for found, what in ((run.drawn, "batches drawn"), (run.optimizer.rates, "optimizer.step()")):
        trial.holds(
            len(found) == run.steps,
            "every step draws one batch and makes one update",
            "One turn of the loop: batch, loss, backward, clip, step() of the optimizer that you "
            f"are handed. {LOOP}",
            given=run.given,
            got=f"{what}: {len(found)}",
            expected=run.steps,
        )
    _train_steps(trial, run)
    _train_rates(trial, run)
    _train_clips(trial, _Run(trial, clip=0.05))
    _train_modes(trial)
    _train_learns(trial)


def _train_steps(trial: Trial, run: _Run) -> None:
    sums: list[Tensor] = []
    for step, got in enumerate(run.optimizer.gradients):
        fresh = run.fresh(step)[1]
        given = f"{run.given}; the gradient at optimizer.step() number {step + 1}"
        trial.holds(
            all(g is not None and bool(g.any()) for g in got),
            "every update has a gradient",
            "loss.backward() fills the gradients; zero_grad() must not clear them again before "
            f"optimizer.step(). {LOOP}",
            given=given,
            got="none" if got[0] is None else "all zero",
        )
        sums = [s + g for s, g in zip(sums, fresh, strict=True)] if sums else fresh
        slips = [
            (
                run.fresh(step, copied=True)[1],
                f"The targets are the batch's second part, not its inputs once more. {LOOP}",
            ),
            (
                sums,
                "It holds the earlier steps' gradients too: backward() adds, so clear them with "
                "zero_grad() once in every step.",
            ),
            ([18 * g for g in fresh], "The loss is the mean over all positions."),
        ]
        rule = "an update follows the gradient of its own batch"
        usual = f"The gradient of this batch's cross-entropy. {LOOP}"
        trial.equals(got, fresh, rule, usual, slips=slips, given=given)
    expected = [run.fresh(step)[0] for step in range(run.steps)]
    got = run.losses
    plain = isinstance(got, list) and all(isinstance(value, float) for value in got)
    hint = "loss.item() is a number; a list of tensors would keep every step's graph alive."
    if not isinstance(got, list):
        hint = NOTHING if got is None else "The loss of every step is wanted, in the steps' order."
    trial.holds(
        plain,
        "it hands back a list of numbers",
        hint,
        given=run.given,
        got=f"a list of {type(got[0]).__name__}"
        if isinstance(got, list) and got
        else type(got).__name__,
    )
    rule = "the losses are those of the batches, before the update"
    hint = "One loss per step, in nats, of the batch that the step was made with, before it."
    trial.equals(got, expected, rule, hint, given=run.given)


def _train_rates(trial: Trial, run: _Run) -> None:
    factors = [_rate(step, run.steps, run.warmup) for step in range(1, run.steps + 1)]
    products = [math.prod(factors[: i + 1]) for i in range(run.steps)]
    before = "Set the rate of a step before the update that it is for."
    got = [row[0] for row in run.optimizer.rates]
    slips = [
        ([RATE] * run.steps, f"The rate never changes: set group['lr'] in every step. {LOOP}"),
        ([RATE, *[RATE * f for f in factors[:-1]]], before),
        (
            [RATE * f for f in products],
            "Each factor is one on the highest rate, not on the rate of the step before: keep the "
            "highest rates before the loop.",
        ),
        (factors, "The factor multiplies the rate that the optimizer was made with."),
        (
            [RATE * _rate(max(s, 1), run.steps, run.warmup) for s in range(run.steps)],
            "Steps are counted from 1.",
        ),
        (
            [0.0, *[RATE * f for f in factors[:-1]]],
            "Steps are counted from 1: the first one has the rate of step 1, not of step 0.",
        ),
    ]
    usual = f"The rate in a step is the highest one times rate(step, steps, warmup). {LOOP}"
    given = f"{run.given}; group['lr'] at each optimizer.step(), highest rate {RATE}"
    rule = "the rate of every step is highest * rate(step, steps, warmup)"
    trial.equals(got, [RATE * f for f in factors], rule, usual, slips=slips, given=given)
    second, highest = [row[1] for row in run.optimizer.rates], RATE / 10
    trial.equals(
        second,
        [highest * f for f in factors],
        "every group of parameters has its own highest rate",
        "An optimizer may have several groups: for group in optimizer.param_groups, each with the "
        "rate that it came with.",
        given=f"{run.given}; the second group, highest rate {highest}",
    )


def _train_clips(trial: Trial, run: _Run) -> None:
    for step, got in enumerate(run.optimizer.gradients):
        fresh = run.fresh(step)[1]
        norm = float(torch.cat([g.flatten() for g in fresh]).norm())
        clipped = [g * min(1.0, run.clip / norm) for g in fresh]
        slips = [
            (
                fresh,
                "The gradient is not clipped when the update is made: between backward() and "
                f"optimizer.step() is the place. {LOOP}",
            ),
            (
                [g.clamp(-run.clip, run.clip) for g in fresh],
                "That clips every number; what is bounded is the norm of the whole gradient. "
                f"{LOOP}",
            ),
            (
                [g * min(1.0, run.clip / float(g.norm())) for g in fresh],
                f"One norm for all parameters together, so that the direction stays. {LOOP}",
            ),
            (
                [g * min(1.0, 1 / norm) for g in fresh],
                f"The limit is clip, as it was handed over. {LOOP}",
            ),
        ]
        trial.equals(
            got,
            clipped,
            "before the update, the whole gradient is clipped to the norm clip",
            f"torch.nn.utils.clip_grad_norm_ on all the parameters, after backward(). {LOOP}",
            slips=slips,
            given=f"{run.given}; the gradient at optimizer.step() number {step + 1}, of norm "
            f"{norm:.3f} before clipping",
            tolerance=1e-4,
        )


def _train_modes(trial: Trial) -> None:
    for mode in (False, True):
        run = _Run(trial, clip=1.0, mode=mode)
        given = f"a model that comes in {'training' if mode else 'evaluation'} mode"
        trial.holds(
            all(run.model.modes),
            "training runs in training mode",
            f"model.train() switches dropout on. {DROPOUT}",
            given=given,
        )
        trial.holds(
            run.model.training == mode,
            "afterwards the model is in the mode that it came in",
            "Remember model.training, and hand it to model.train(...) at the end.",
            given=given,
            got="training mode" if run.model.training else "evaluation mode",
        )


def _train_learns(trial: Trial) -> None:
    """A small GPT on a source whose entropy is known; the first two places can only guess."""
    source, T, steps = lagged_source(4, 2, 0.1), 24, 80
    tokens = source.sample(8_000, trial.generator)
    with seeded(trial):
        model = CourseGPT(4, T, 1, 16, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.03, weight_decay=0.0)
    floor = (2 * math.log(4) + (T - 2) * source.entropy_rate()) / T

    def next_batch() -> Batch:
        return course_batch(tokens, 16, T, trial.generator)

    given = f"a GPT of one block, {steps} steps on a source whose entropy is known"
    losses = trial.call(model, optimizer, next_batch, steps, 10, 1.0, given=given)
    last = sum(losses[-20:]) / 20
    trial.holds(
        last < floor + 0.12,
        "a small GPT comes near a source's entropy",
        f"All single steps look right, and yet it does not learn: print the losses. {LOOP}",
        given=given,
        got=f"{last:.3f} nats over the last 20 steps",
        expected=f"near {floor:.3f} nats",
    )
