"""Checks of lab 05, task 5: AdamW from its equations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab05.common import lab
from helpers.course.checks.trial import Trial


class _AdamW:
    """The course's version, with the interface of the student's; ``flaw`` names a known slip."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.95),
        eps: float = 1e-8,
        decay: float = 0.1,
        flaw: str = "",
    ) -> None:
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay, self.flaw = lr, betas, eps, decay, flaw
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        flaw, n = self.flaw, self.steps + 1
        self.steps += flaw not in ("always the first", "counts parameters")
        b1, b2 = self.betas[::-1] if flaw == "betas" else self.betas
        for p, m, v in zip(self.parameters, self.m, self.v, strict=True):
            if p.grad is None:
                continue
            if flaw == "counts parameters":
                self.steps += 1
                n = self.steps
            if flaw in ("new averages", "new m"):
                m = torch.zeros_like(m)
            if flaw in ("new averages", "new v"):
                v = torch.zeros_like(v)
            g = p.grad + self.decay * p if flaw == "coupled" else p.grad
            m.mul_(b1).add_(g, alpha=1.0 if flaw == "sum" else 1 - b1)
            v.mul_(b2).addcmul_(g, g if flaw != "first power" else g.sign(), value=1 - b2)
            first = m / (1 if flaw in ("raw", "raw m") else 1 - b1**n)
            second = v / (1 if flaw in ("raw", "raw v") else 1 - b2**n)
            if flaw in ("corrected in place", "m corrected in place"):
                m.copy_(first)
            if flaw in ("corrected in place", "v corrected in place"):
                v.copy_(second)
            if flaw == "late count":
                first, second = m / max(1 - b1 ** (n - 1), 1e-12), v / max(1 - b2 ** (n - 1), 1e-12)
            below = (second + self.eps).sqrt() if flaw == "eps" else second.sqrt() + self.eps
            if flaw == "no root":
                below = second + self.eps
            shrink = {"coupled": 0.0, "no decay": 0.0, "full decay": self.decay}
            p.mul_(1 - shrink.get(flaw, self.lr * self.decay))
            p.add_(first / below, alpha=self.lr if flaw == "uphill" else -self.lr)


_IN_PLACE = "makes a new tensor, and the one of the list stays 0. Change it in place: mul_, add_."
_CORRECTED = (
    "The bias correction is for this step alone: divide into a new tensor, m / (1 - beta1**t), and "
    "leave m and v as they are for the next step."
)
_HINTS = {
    "coupled": "The decay is decoupled: it shrinks p by itself and never enters the gradient, m "
    "or v. Added to the gradient it is Adam with L2, which divides it by sqrt(v), too.",
    "no decay": "The weight decay is missing: p shrinks by lr * decay * p in every step.",
    "full decay": "The decay is multiplied by the rate: p - lr * decay * p.",
    "raw": "The bias correction is missing: m and v begin at 0, so early averages are too small. "
    "Divide them by 1 - beta^t.",
    "raw m": "The bias correction of m is missing: divide it by 1 - beta1^t.",
    "raw v": "The bias correction of v is missing: divide it by 1 - beta2^t.",
    "betas": "beta1 belongs to m, beta2 to v.",
    "eps": "eps is added outside of the root: sqrt(v) + eps.",
    "no root": "What divides is the root of v.",
    "first power": "v is the mean of the squared gradients.",
    "sum": "m is a mean: the new gradient has the weight 1 - beta1.",
    "always the first": "t counts the steps: the correction fades as the steps go on.",
    "late count": "The first step has t = 1: count before you correct.",
    "new averages": "m and v of one step are those that the next one goes on with: "
    f"m = beta1 * m + ... {_IN_PLACE}",
    "new m": f"The next step goes on with m of this one: m = beta1 * m + ... {_IN_PLACE}",
    "new v": f"The next step goes on with v of this one: v = beta2 * v + ... {_IN_PLACE}",
    "corrected in place": _CORRECTED,
    "m corrected in place": _CORRECTED,
    "v corrected in place": _CORRECTED,
    "counts parameters": "self.steps counts the steps, not the parameters: raise it once, before "
    "the loop.",
    "uphill": "p goes against the gradient: it is subtracted.",
}


WITHOUT = "Where p.grad is None go on with the next parameter: continue."
ZERO = "NaN is 0 / 0: the first step has t = 1, so raise self.steps before you correct."
ROOT = "NaN is the root of a negative number: v is the mean of g**2, not of g."


@lab.task(_AdamW, without=("optim", "AdamW_", "adamw", "_fused_adamw_", "Adam"))
def AdamW(trial: Trial) -> None:
    usual = "Write one line for each equation, in their order, and compare them one by one."
    settings = {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "decay": 0.5}

    def parameters(shapes: list[tuple[int, ...]]) -> list[Tensor]:
        return [trial.normal(*shape).requires_grad_() for shape in shapes]

    def run(make: Any, start: list[Tensor], gradients: list[list[Tensor]], **named: Any) -> list:
        """The parameters after every step; the rate is changed before the last one."""
        mine = [p.detach().clone().requires_grad_() for p in start]
        optimizer, after = make(mine, **settings, **named), []
        for number, row in enumerate(gradients, start=1):
            for p, g in zip(mine, row, strict=False):
                p.grad = None if g is None else g.clone()
            if number == len(gradients):
                optimizer.lr = 0.03
            make_step(optimizer, mine, row, number)
            after.append([p.detach().clone() for p in mine])
        return after

    def make_step(optimizer: Any, mine: list[Tensor], row: list[Tensor], number: int) -> None:
        if isinstance(optimizer, _AdamW):
            optimizer.step()
            return
        given = f"step {number}"
        hint = "Leaves that require gradients change in place under torch.no_grad() only."
        hint = WITHOUT if any(g is None for g in row) else hint
        trial.run(optimizer.step, given=given, hint=hint)
        for p, g in zip(mine, row, strict=False):
            kept = p.grad is g is None or (p.grad is not None and torch.equal(p.grad, g))
            hint = "p.grad is read, and nothing is written into it: m, v and p change in place."
            trial.holds(kept, "the gradients stay as they are", hint, given=given)

    def make(mine: list[Tensor], **named: Any) -> Any:
        named_as = ", ".join(f"{name} = {value}" for name, value in settings.items())
        return trial.call(mine, given=f"AdamW(parameters, {named_as})", **named)

    def slips(start: list[Tensor], gradients: list[list[Tensor]], n: int) -> Iterator:
        for flaw, hint in _HINTS.items():
            yield run(_AdamW, start, gradients, flaw=flaw)[:n], hint

    for shapes, n, rule in (
        ([(3,)], 1, "one step"),
        ([(3,)], 2, "two steps"),
        ([(3, 2), (4,)], 6, "equal to torch.optim.AdamW, six steps and a change of the rate"),
    ):
        start = parameters(shapes)
        gradients = [[trial.normal(*shape) for shape in shapes] for _ in range(n)]
        mine = [p.detach().clone().requires_grad_() for p in start]
        theirs = _torchs(mine, settings, gradients)
        got = run(make, start, gradients)
        numbers = all(bool(p.isfinite().all()) for row in got for p in row)
        whole = bool(got[0][0].isnan().all())  # where no gradient's sign could be the reason
        broken = ZERO if whole and bool((gradients[0][0] > 0).any()) else ROOT
        trial.holds(numbers, rule, broken, given=f"{n} steps", got=got[0][0])
        moved = any(not torch.equal(p, q) for p, q in zip(got[0], start, strict=True))
        still = "The parameter has not moved: p = p - ... makes a new tensor. Change p in place."
        trial.holds(moved, rule, still, given=f"{n} steps", got=got[0][0])
        given = f"{n} step{'s' * (n > 1)} on random gradients, eps = 1e-3 and decay = 0.5"
        trial.equals(got, theirs, rule, usual, slips=slips(start, gradients, n), given=given)
    start, gradients = parameters([(2,), (2,)]), [[None, trial.normal(2)]]
    after = run(make, start, gradients)[0]
    rule = "a parameter without a gradient stays as it is"
    hint = "Where p.grad is None there is no step for p, and no decay either."
    given = "two parameters, of which the second alone has a gradient"
    trial.equals(after[0], start[0].detach(), rule, hint, given=given)
    moved = run(_AdamW, start, gradients)[0][1]
    rule = "the parameters after it are updated"
    trial.equals(after[1], moved, rule, WITHOUT, given=given)
    away = torch.zeros(3, device="meta", requires_grad=True)
    away.grad = torch.zeros(3, device="meta")
    hint = "m and v lie where p lies: make no tensor, and no plain number, of their values."
    given = 'a parameter on the device "meta"'
    optimizer = trial.run(lambda: trial.answer([away], **settings), given=given)
    trial.run(optimizer.step, given=given, hint=hint)
    trial.holds(True, "on any device", hint)


def _torchs(parameters: list[Tensor], settings: dict, gradients: list[list[Tensor]]) -> list:
    optimizer = torch.optim.AdamW(
        parameters,
        lr=settings["lr"],
        betas=settings["betas"],
        eps=settings["eps"],
        weight_decay=settings["decay"],
    )
    after = []
    for number, row in enumerate(gradients, start=1):
        for p, g in zip(parameters, row, strict=True):
            p.grad = g.clone()
        if number == len(gradients):
            optimizer.param_groups[0]["lr"] = 0.03
        optimizer.step()
        after.append([p.detach().clone() for p in parameters])
    assert all(math.isfinite(float(p.sum())) for row in after for p in row)
    return after
