"""Checks of lab 05, task 5: the gradient of a batch in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import IGNORED, OnHost, lab, on_host
from helpers.course.checks.trial import Trial, with_hints
from helpers.course.checks.turn import Case, Slips

OTHER = "cpu:0"  # a name of the CPU that nobody writes by himself
Batch = tuple[Tensor, Tensor]

_MEAN = (
    "Add up the nats of all real targets, and divide by how many there are in all batches "
    "together: count them first."
)
_EMPTY = "A target of -100 predicts nothing, and does not count as one."
_DEVICE = (
    "A batch comes from the memory of the CPU: inputs.to(device) and targets.to(device), before "
    "the model reads them."
)
_STALE = "What an earlier step has left in p.grad is cleared first: model.zero_grad()."
_SLIPS = Slips(
    solutions.gradients,
    f"""
    model.zero_grad() =>
        {_STALE}
    int((targets >= 0).sum()) => targets.numel()
        {_EMPTY}
    int((targets >= 0).sum()) => 1 ;; reduction="sum" => reduction="mean"
        This is the mean of the batches' means: a real target of a small batch counts for more in \
        it. {_MEAN}
    (nats / total).backward() => nats.backward()
        The loss is divided by the number of real targets, the gradient is not: both are of the \
        mean.
    loss += nats.item() / total => loss = nats.item() / total
        The loss of all batches is asked for, not that of the last.
    loss += nats.item() / total => loss += nats.item()
        The mean is asked for, not the sum. {_MEAN}
    logits = model( => model.zero_grad(); logits = model(
        p.grad is cleared once, before the loop: what the batches before have left there belongs
        to this step.
    loss += nats.item() / total => \
    loss += nats.item() / int((targets >= 0).sum()) / len(batches)
        The gradient is that of the mean over all real targets; the loss handed back is the mean
        of the batches' means.
    (nats / total).backward() => (nats / total / len(batches)).backward()
        The number of real targets counts those of all batches already: there is nothing else to \
        divide by.
    """,
)


class Table(nn.Module):
    """The smallest language model, a row of logits for each token.

    Attributes:
        before: for each call, whether p.grad had a number other than 0 by then.
    """

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weights.clone())
        self.weight.grad = torch.ones_like(weights)  # of an earlier step
        self.before: list[bool] = []

    def forward(self, tokens: Tensor) -> Tensor:
        self.before.append(self.weight.grad is not None and bool(self.weight.grad.any()))
        return F.embedding(tokens, self.weight)


def _left(answer: Callable, weights: Tensor, batches: list[Batch]) -> dict[str, Any]:
    model = Table(weights)
    loss = answer(model, batches, OTHER)
    return {"loss": loss, "p.grad": model.weight.grad}


def _batches(trial: Trial) -> Iterator[Case]:
    V = 5
    zeros = torch.zeros(V, V, dtype=torch.float64)
    for rule, sizes in (
        ("one batch without empty positions", [(2, 3, 3)]),
        ("one batch with empty positions", [(2, 4, 2)]),
        ("two batches of unequal sizes", [(1, 4, 4), (3, 4, 4)]),
        ("three batches, each with its own empty positions", [(2, 5, 2), (1, 5, 5), (3, 5, 1)]),
    ):
        batches = []
        for rows, T, real in sizes:
            x, y = trial.integers(0, V, rows, T), trial.integers(0, V, rows, T)
            y[:, real:] = IGNORED
            batches.append((x, y))
        weights = zeros if len(sizes) == 1 and sizes[0][1] == sizes[0][2] else trial.normal(V, V)
        counts = ", ".join(f"{rows * real} of {rows * T}" for rows, T, real in sizes)
        yield Case(rule, weights, batches, given=f"a table of logits; real targets: {counts}")


@lab.task(solutions.gradients)
def gradients(trial: Trial) -> None:
    errors = {"same device": _DEVICE, "OnHost": _DEVICE}
    with with_hints(errors):
        for case in _batches(trial):
            trial.agrees(
                solutions.gradients, *case.arguments, rule=case.rule, hint=f"{_MEAN} {_EMPTY}",
                slips=_SLIPS, given=case.given, call=_left,
            )  # fmt: skip
        weights, batches = case.arguments
        trial.holds(
            type(trial.value["loss"]) is float,
            "the loss is a number",
            "A tensor keeps the graph: nats.item() is its number.",
            got=trial.value["loss"],
        )
        model = Table(weights)
        trial.run(trial.answer, model, batches, OTHER, given=case.given)
        trial.holds(
            model.before[1:] == [True] * (len(batches) - 1),
            "backward() comes before the next batch is read",
            "Call backward() inside of the loop, for each batch: its activations are free then.",
            given=case.given,
        )
        away = [(on_host(x), on_host(y)) for x, y in batches]
        OnHost.asked.clear()
        trial.run(trial.answer, Table(weights), away, OTHER, given=f"device = {OTHER!r}")
        found = sorted(set(OnHost.asked))
        trial.holds(
            found == [OTHER],
            "batches go to this device",
            f"{_DEVICE} Move to the device that is handed over, and to no other.",
            got=found,
            expected=[OTHER],
        )


gradients.slips = _SLIPS
