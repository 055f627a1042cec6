"""Checks of lab 05, task 7: training in a given time.

Time is measured by a clock that is handed over; here it goes on by a known number of seconds in
every step and every evaluation, so that all that follows from it can be foretold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import IGNORED, OnHost, lab, on_host
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.course.checks.turn import Slips

Batch = tuple[Tensor, Tensor]

DEVICE = (
    "A batch comes from the memory of the CPU: inputs.to(device) and targets.to(device), before "
    "the model reads them. On a CPU nobody notices that it is missing."
)


OTHER = "cpu:0"  # a name of the CPU that nobody writes by himself


class Table(nn.Module):
    """The smallest language model: a row of logits for each token."""

    def __init__(self, weights: Tensor, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(weights)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.scale * F.embedding(tokens, self.weight)


def _batches(trial: Trial, V: int, n: int, T: int = 6) -> list[Batch]:
    """Batches of different sizes, with a different share of places that predict nothing."""
    found = []
    for i in range(n):
        x, y = trial.integers(0, V, 1 + i, T), trial.integers(0, V, 1 + i, T)
        y[:, T - 1 - i % 4 :] = IGNORED
        found.append((x, y))
    return found


def _asked(trial: Trial, given: str) -> None:
    hint = "Move to the device that is handed over, and to no other."
    found = sorted(set(OnHost.asked))
    trial.holds(found == [OTHER], "batches go to this device", hint, given=given, got=found,
                expected=[OTHER])  # fmt: skip


class _World:
    """A model, an optimizer, batches and an evaluation that all note what is done with them."""

    RATE, STEP, EVALUATION = 0.5, 2.0, 3.0  # seconds that a step and an evaluation take

    def __init__(
        self, trial: Trial, function: Callable, held_out: Sequence[float], device: str = "",
        accumulate: int = 1, every: int = 3, seconds: float = 40.0,
    ) -> None:  # fmt: skip
        self.now, self.lr, self.trial, self.V = 100.0, self.RATE, trial, 5
        self.model, self.drawn = Table(trial.normal(self.V, self.V), 20.0), []
        self.rates: list[float] = []
        self.norms: list[float] = []
        self.begun: list[float] = []
        self.evaluated: list[int] = []
        self.kept: list[Tensor] = []
        self.values, self.away, self.seconds = list(held_out), bool(device), seconds
        limit = "every step takes 2 s and every evaluation 3 s"
        self.given = f"seconds = {seconds:g}, every = {every}, accumulate = {accumulate}; {limit}"
        # ``self`` stands in for the optimizer: it has lr and step(), and zero_grad() for who asks.
        self.history = trial.run(
            function, self.model, self, self._next_batch, self._evaluate, seconds, device or "cpu",
            accumulate=accumulate, every=every, clock=lambda: self.now, given=self.given,
            hint=DEVICE if device else "",
        )  # fmt: skip

    def _next_batch(self) -> Batch:
        x, y = _batches(self.trial, self.V, 2)[len(self.drawn) % 2]
        self.drawn.append((x, y))
        if len(self.drawn) > 500:
            raise Complaint(
                STOPS,
                "The time is told by clock(), which is handed over: neither time.monotonic() nor "
                "time.time(). The loop ends when (clock() - began) / seconds is 1 or more.",
                self.given,
                "500 batches drawn, and training does not stop when the time is over",
            )
        return (on_host(x), on_host(y)) if self.away else (x, y)

    def _evaluate(self, model: nn.Module) -> float:
        self.evaluated.append(len(self.rates))
        self.kept.append(model.weight.detach().clone())
        self.now += self.EVALUATION
        place = len(self.evaluated) - 1
        return self.values[place] if place < len(self.values) else 9.0

    def zero_grad(self) -> None:
        self.model.zero_grad()

    def step(self) -> None:
        gradient = self.model.weight.grad
        self.rates.append(self.lr)
        self.norms.append(math.inf if gradient is None else float(gradient.norm()))
        self.now += self.STEP
        with torch.no_grad():
            if gradient is not None:
                self.model.weight.sub_(gradient)


SLIPS = Slips(
    solutions.train,
    """
    highest * factor(progress) => highest
        The rate never changes: set optimizer.lr before each step.
    highest * factor(progress) => optimizer.lr * factor(progress)
        Each factor is one on the highest rate: keep optimizer.lr before the loop.
    highest * factor(progress) => factor(progress)
        The factor multiplies the rate that the optimizer had.
    optimizer.lr = highest * factor(progress) => ;; \
    optimizer.step() => optimizer.step(); optimizer.lr = highest * factor(progress)
        Set the rate of a step before the step that it is for.
    step += 1 => step += 1; seen = (clock() - began) / seconds ;; \
    factor(progress) => factor(seen if step else 0)
        Did an evaluation come between your look at the clock and the step? Its time counts: look
        again.
    """,
)
STOPS = "it stops when the time is over"
HELD_OUT = (3.0, 1.5, 2.0, 2.5, 2.7)


@lab.task(solutions.train)
def train(trial: Trial) -> None:
    mine = _World(trial, trial.answer, HELD_OUT)
    ours = _World(Trial(solutions.train), solutions.train, HELD_OUT)
    given = mine.given
    trial.equals(
        len(mine.rates),
        len(ours.rates),
        STOPS,
        "After each step: (clock() - began) / seconds; from 1 on there is no further step. "
        "Evaluations take time, too, and the clock is the one that is handed over.",
        given=f"{given}: number of steps",
    )
    n = len(mine.rates)
    of_steps = [mine.RATE * solutions.factor(i / n) for i in range(n)]
    slips = chain(
        ((_World(Trial(version), version, HELD_OUT).rates, hint) for version, hint in SLIPS),
        [(of_steps, "The progress is a share of the time, not of the steps.")],
    )
    usual = "In each step optimizer.lr is the first rate times factor(progress) at its beginning."
    trial.equals(mine.rates, ours.rates, "the rate follows the time", usual, slips=slips,
                 given=given)  # fmt: skip
    hint = "The whole gradient is clipped to the norm 1 between backward() and optimizer.step()."
    trial.holds(
        max(mine.norms) < 1 + 1e-3, "the gradient is clipped before the step", hint,
        given=f"{given}: the norm at optimizer.step()", got=max(mine.norms),
    )  # fmt: skip
    trial.holds(len(mine.drawn) == n, "one batch for each step", "accumulate = 1: one batch.",
                given=given, got=f"{len(mine.drawn)} batches in {n} steps")  # fmt: skip
    often = "After every step whose number is a multiple of `every`, and after the last step."
    wanted = ours.evaluated
    once = [*dict.fromkeys(mine.evaluated)]
    trial.equals(
        once, wanted, "it evaluates after these steps", often, given=f"{given}: steps made before"
    )
    _best(trial, mine, given)
    _history(trial, mine, wanted, given)
    parted = _World(trial, trial.answer, HELD_OUT, accumulate=3)
    trial.equals(
        len(parted.drawn),
        3 * len(parted.rates),
        "a step draws `accumulate` batches",
        "[next_batch() for _ in range(accumulate)], and one step for all of them.",
        given=f"{parted.given}: batches drawn in {len(parted.rates)} steps",
    )
    OnHost.asked.clear()
    moved = _World(trial, trial.answer, HELD_OUT, device=OTHER)
    _asked(trial, moved.given)
    rule = "batches are moved to the device"
    trial.holds(len(moved.rates) == n, rule, DEVICE, given=moved.given)
    short = _World(trial, trial.answer, HELD_OUT, every=100)
    hint = "Also with fewer steps than `every` the last weights are evaluated."
    trial.holds(len(short.evaluated) >= 1, "a short run is evaluated once", hint, given=short.given)
    even = _World(trial, trial.answer, HELD_OUT, every=3, seconds=6.0)
    hint = (
        "Where the last step is a multiple of `every`, one evaluation is enough for both reasons."
    )
    trial.equals([row[0] for row in even.history], [3], "no step is evaluated twice", hint,
                 given=even.given)  # fmt: skip


def _best(trial: Trial, run: _World, given: str) -> None:
    rule = "it ends with the weights that were best on stories held back"
    final, best = run.model.weight.detach(), run.kept[1]
    last = run.kept[-1]
    slips = [
        (last, "These are the last weights: load the best ones at the end, load_state_dict."),
        (run.kept[0], "Keep the weights whenever the value is below all those before."),
    ]
    usual = (
        "Keep copies, w.detach().clone(), when the held-back loss is lower than ever: state_dict() "
        "hands out the weights themselves, which go on changing."
    )
    if torch.equal(final, last):
        slips[0] = (last, f"These are the last weights, not the best ones. {usual}")
    where = f"{given}; evaluations {', '.join(map(str, run.values))}"
    trial.equals(final, best, rule, usual, slips=slips, given=where)


def _history(trial: Trial, run: _World, wanted: list[int], given: str) -> None:
    got = run.history
    fine = isinstance(got, list | tuple) and all(
        isinstance(row, tuple | list) and len(row) == 3 for row in got
    )
    hint = "A list with one (step, training loss, held-back loss) for each evaluation."
    trial.holds(fine, "it hands back its history", hint if got is not None else NOTHING, got=got)
    trial.equals([row[0] for row in got], wanted, "the history has the steps", hint, given=given)
    values = run.values[: len(wanted)]
    trial.equals([row[2] for row in got], values, "the history has the held-back losses", hint)
    numbers = all(isinstance(row[1], float) and math.isfinite(row[1]) for row in got)
    trial.holds(numbers, "the history has the training losses as numbers", hint, got=got)


train.slips = SLIPS
