"""Checks of lab 07, task 5: a loop with three planted faults."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.adapters import Small, adapted, small
from helpers.course.checks.lab07.common import lab
from helpers.course.checks.trial import Trial, with_hints

Batch = tuple[Tensor, Tensor]
RATE = 0.1
# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "switched off, the model is the old one": "After some steps, with all B set to zero, the "
    "model is no more the one that it was: A and B alone would not bring it back.",
    "a step depends on its own batch": "The gradient of which a step is made is not that of its "
    "batch's loss alone.",
    "the best is kept": "After train, the loss on what is held out is not the number that train "
    "has handed back.",
}
_OTHER = "The faults are gone and something else has changed: mend the faults alone."
_UPDATES = (".A", ".B")
_NONE = (
    "trained finds no parameter. When the optimizer is made, nothing requires a gradient yet, and "
    "the check's model has classes of its own: choose by names."
)


def _batch(trial: Trial, B: int = 3, T: int = 5) -> Batch:
    targets = trial.integers(0, 6, B, T)
    targets[:, :2] = -100
    return trial.integers(0, 6, B, T), targets


def _batches(trial: Trial) -> tuple[list[Batch], Batch]:
    """Batches of which the later ones ask for something else than the first, and the held out."""
    held = _batch(trial)
    other = held[0], torch.where(held[1] >= 0, (held[1] + 3) % 6, held[1])
    return [held] * 2 + [other] * 10, held


def _beginning(trial: Trial) -> Small:
    """A model with LoRA that has changed nothing yet."""
    model = adapted(trial, small(trial), packed=True)
    for layer in model.modules():
        if isinstance(layer, solutions.LoRA):
            nn.init.zeros_(layer.B)
    return model


def _last(model: Small, batches: list[Batch], held: Batch) -> float:
    """The held-out loss behind the last step."""
    tuner = solutions.Repaired(model, RATE)
    for batch in batches:
        tuner.step(*batch)
    return tuner.loss(*held).item()


def _twin(model: Small) -> Small:
    made = adapted(Trial(None), small(Trial(None)), packed=True)
    made.load_state_dict(model.state_dict())
    return made


@lab.task(solutions.Repaired)
def Repaired(trial: Trial) -> None:
    trial.is_class_from("Broken", "trained", "loss", "step", "train")
    given = "a small model with packed maps and LoRA, batches of 3 texts of 5 tokens"
    best, last = 1.0, 0.0
    while last < best + 0.05:  # the best step is not the last one
        model, (batches, held) = _beginning(trial), _batches(trial)
        theirs = _twin(model)
        best = solutions.Repaired(theirs, RATE).train(batches, held)
        last = _last(_twin(model), batches, held)
    off = not _moved(trial, _twin(model), batches, given)
    own = _own_gradients(trial, _twin(model), batches, given)
    mine = _twin(model)
    lowest = _trained(trial, mine, batches, held, given)
    with torch.no_grad():
        now = solutions.Broken(mine, RATE).loss(*held).item()
    kept = abs(now - lowest) < 1e-9
    trial.has_no_fault(_SHOWS, (off, own, kept), given)
    trial.equals(lowest, best, "train hands back the lowest held-out loss", _OTHER, given=given)
    for name, value in theirs.state_dict().items():
        got, hint = mine.state_dict()[name], _OTHER
        trial.equals(got, value, "the steps are those of Broken", hint, given=f"{given}: {name}",
                     tolerance=1e-5)  # fmt: skip


def _made(trial: Trial, model: Small, given: str) -> Any:
    with with_hints({"empty parameter list": _NONE}):
        tuner = trial.run(trial.answer, model, RATE, given=given)
    fine = hasattr(getattr(tuner, "optimizer", None), "step")
    hint = "Keep Broken's attributes: model, and optimizer with its step."
    trial.holds(fine, "it has an optimizer", hint, given=given)
    return tuner


def _moved(trial: Trial, model: Small, batches: list[Batch], given: str) -> bool:
    """Whether something else than A and B has moved after some steps."""
    before = {name: value.clone() for name, value in model.state_dict().items()}
    tuner = _made(trial, model, given)
    for batch in batches[:3]:
        with torch.no_grad():
            first = solutions.Broken.loss(tuner, *batch).item()
        loss = trial.run(tuner.step, *batch, given=given)
        hint = "step hands back the loss of its batch, a number: loss.item()."
        fine = isinstance(loss, float)
        trial.holds(fine, "step hands back a number", hint, given=given, got=loss)
        hint = "As in Broken: that of the batch, before the optimizer's step."
        trial.equals(loss, first, "step hands back the loss before the step", hint, given=given)
    moved = [n for n, value in model.state_dict().items() if not torch.equal(value, before[n])]
    learned = [name for name in moved if name.endswith(_UPDATES)]
    wanted = [name for name in before if name.endswith(_UPDATES)]
    hint = "trained hands back every A and every B, by name; these do not move."
    if not learned:
        hint = "Nothing moves at all: a gradient that is gone before the optimizer's step is none."
    trial.holds(learned == wanted, "all A and B are trained", hint, given=given,
                got=[name for name in wanted if name not in learned])  # fmt: skip
    return moved != learned


def _own_gradients(trial: Trial, model: Small, batches: list[Batch], given: str) -> bool:
    """Whether each step's gradient is that of its batch."""
    tuner, right = _made(trial, model, given), []
    usual, names = tuner.optimizer.step, [n for n, _ in model.named_parameters()]
    updates = [model.get_parameter(name) for name in names if name.endswith(_UPDATES)]
    batch = batches[0]

    def watched(*arguments: Any, **named: Any) -> Any:
        with torch.enable_grad():
            loss = solutions.Broken.loss(tuner, *batch)
            own = torch.autograd.grad(loss, updates)
        right.append(all(p.grad is not None and torch.allclose(p.grad, g, atol=1e-9)
                         for p, g in zip(updates, own, strict=True)))  # fmt: skip
        return usual(*arguments, **named)

    tuner.optimizer.step = watched
    for batch in (batches[0], batches[-1], batches[0]):
        trial.run(tuner.step, *batch, given=given)
    hint = "step takes one step of self.optimizer."
    trial.holds(len(right) == 3, "one step of the optimizer for each batch", hint, given=given)
    return all(right)


def _trained(trial: Trial, model: Small, batches: list[Batch], held: Batch, given: str) -> float:
    lowest = trial.run(_made(trial, model, given).train, batches, held, given=given)
    hint = "train hands back the lowest loss on what is held out, a number."
    trial.holds(isinstance(lowest, float), "train hands back a number", hint, given=given,
                got=lowest)  # fmt: skip
    return lowest
