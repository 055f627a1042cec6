"""Checks of lab 05, task 4: AdamW from its equations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips

_IN_PLACE = "makes a new tensor, and the one of the list stays 0. Change it in place: mul_, add_."
SLIPS = Slips(
    solutions.AdamW,
    f"""
    add_(p.grad, => add_(p.grad + self.decay * p, ;; \
    v.mul_(beta2).addcmul_(p.grad, p.grad, => \
    v.mul_(beta2).addcmul_(p.grad + self.decay * p, p.grad + self.decay * p, ;; \
    p.mul_(1 - self.lr * self.decay) =>
        The decay is decoupled: it shrinks p by itself and never enters the gradient, m or v. Added
        to the gradient it is Adam with L2, which divides it by sqrt(v), too.
    p.mul_(1 - self.lr * self.decay) =>
        The weight decay is missing: p shrinks by lr * decay * p in every step.
    1 - self.lr * self.decay => 1 - self.decay
        The decay is multiplied by the rate: p - lr * decay * p.
    / (1 - beta1**self.steps) => ;; / (1 - beta2**self.steps) =>
        The bias correction is missing: m and v begin at 0, so early averages are too small. Divide
        them by 1 - beta^t.
    beta1, beta2 = => beta2, beta1 =
        beta1 belongs to m, beta2 to v.
    square.sqrt() + self.eps => (square + self.eps).sqrt()
        eps is added outside of the root: sqrt(v) + eps.
    square.sqrt() => square
        What divides is the root of v.
    p.grad, alpha=1 - beta1 => p.grad
        m is a mean: the new gradient has the weight 1 - beta1.
    self.steps += 1 => self.steps = 1
        t counts the steps: the correction fades as the steps go on.
    m.mul_(beta1) => m = torch.zeros_like(m) ;; v.mul_(beta2) => v = torch.zeros_like(v)
        m and v of one step are those that the next one goes on with: m = beta1 * m + ...
        {_IN_PLACE}
    m / (1 => m.div_(1 ;; v / (1 => v.div_(1
        The bias correction is for this step alone: divide into a new tensor, m / (1 - beta1**t),
        and leave m and v as they are for the next step.
    self.steps += 1 => ;; m.mul_(beta1) => self.steps += 1; m.mul_(beta1)
        self.steps counts the steps, not the parameters: raise it once, before the loop.
    p.sub_( => p.add_(
        p goes against the gradient: it is subtracted.
    """,
)
WITHOUT = "Where p.grad is None go on with the next parameter: continue."
ZERO = "NaN is 0 / 0: the first step has t = 1, so raise self.steps before you correct."
ROOT = "NaN is the root of a negative number: v is the mean of g**2, not of g."


class _Torchs(torch.optim.AdamW):
    """PyTorch's, with the interface of the student's."""

    def __init__(self, parameters: list[Tensor], decay: float, **settings: Any) -> None:
        super().__init__(parameters, weight_decay=decay, **settings)
        self.lr = settings["lr"]

    def step(self) -> None:
        self.param_groups[0]["lr"] = self.lr
        super().step()


@lab.task(solutions.AdamW, without=("optim", "AdamW_", "adamw", "_fused_adamw_", "Adam"))
def AdamW(trial: Trial) -> None:
    usual = "Write one line for each equation, in their order, and compare them one by one."
    settings = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "decay": 0.5}

    def parameters(shapes: list[tuple[int, ...]]) -> list[Tensor]:
        return [trial.normal(*shape).requires_grad_() for shape in shapes]

    def run(
        make: Any, start: list[Tensor], gradients: list[list[Tensor]], watched: bool = False
    ) -> list[list[Tensor]]:
        """The parameters after every step; the rate is changed before the last one."""
        mine = [p.detach().clone().requires_grad_() for p in start]
        optimizer, after = make(mine, **settings), []
        for number, row in enumerate(gradients, start=1):
            for p, g in zip(mine, row, strict=False):
                p.grad = None if g is None else g.clone()
            if number == len(gradients):
                optimizer.lr = 0.03
            if watched:
                watch(optimizer, mine, row, number)
            else:
                optimizer.step()
            after.append([p.detach().clone() for p in mine])
        return after

    def watch(optimizer: Any, mine: list[Tensor], row: list[Tensor], number: int) -> None:
        given = f"step {number}"
        hint = "Leaves that require gradients change in place under torch.no_grad() only."
        hint = WITHOUT if any(g is None for g in row) else hint
        trial.run(optimizer.step, given=given, hint=hint)
        for p, g in zip(mine, row, strict=False):
            kept = p.grad is g is None or (p.grad is not None and torch.equal(p.grad, g))
            hint = "p.grad is read, and nothing is written into it: m, v and p change in place."
            trial.holds(kept, "the gradients stay as they are", hint, given=given)

    def make(mine: list[Tensor], **settings: Any) -> Any:
        named = ", ".join(f"{name} = {value}" for name, value in settings.items())
        return trial.call(mine, given=f"AdamW(parameters, {named})", **settings)

    for shapes, n, rule in (
        ([(3,)], 1, "one step"),
        ([(3,)], 2, "two steps"),
        ([(3, 2), (4,)], 6, "equal to torch.optim.AdamW, six steps and a change of the rate"),
    ):
        start = parameters(shapes)
        gradients = [[trial.normal(*shape) for shape in shapes] for _ in range(n)]
        theirs = run(_Torchs, start, gradients)
        got = run(make, start, gradients, watched=True)
        numbers = all(bool(p.isfinite().all()) for row in got for p in row)
        whole = bool(got[0][0].isnan().all())  # where no gradient's sign could be the reason
        broken = ZERO if whole and bool((gradients[0][0] > 0).any()) else ROOT
        trial.holds(numbers, rule, broken, given=f"{n} steps", got=got[0][0])
        moved = any(not torch.equal(p, q) for p, q in zip(got[0], start, strict=True))
        still = "The parameter has not moved: p = p - ... makes a new tensor. Change p in place."
        trial.holds(moved, rule, still, given=f"{n} steps", got=got[0][0])
        given = f"{n} step{'s' * (n > 1)} on random gradients, eps = 1e-3 and decay = 0.5"
        slips = ((run(version, start, gradients), hint) for version, hint in SLIPS)
        trial.equals(got, theirs, rule, usual, slips=slips, given=given)
    start, gradients = parameters([(2,), (2,)]), [[None, trial.normal(2)]]
    after = run(make, start, gradients, watched=True)[0]
    rule = "a parameter without a gradient stays as it is"
    hint = "Where p.grad is None there is no step for p, and no decay either."
    given = "two parameters, of which the second alone has a gradient"
    trial.equals(after[0], start[0].detach(), rule, hint, given=given)
    moved = run(solutions.AdamW, start, gradients)[0][1]
    rule = "the parameters after it are updated"
    trial.equals(after[1], moved, rule, WITHOUT, given=given)
    away = torch.zeros(3, device="meta", requires_grad=True)
    away.grad = torch.zeros(3, device="meta")
    hint = "m and v lie where p lies: make no tensor, and no plain number, of their values."
    given = 'a parameter on the device "meta"'
    optimizer = trial.run(lambda: trial.answer([away], **settings), given=given)
    trial.run(optimizer.step, given=given, hint=hint)
    trial.holds(True, "on any device", hint)


AdamW.slips = SLIPS
