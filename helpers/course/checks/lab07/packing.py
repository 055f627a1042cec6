"""Checks of lab 07, task 2: a matrix in few bits, with a scale for each group, packed."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor, nn

from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.common import BITS, has, is_module_class, lab, linear
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips

SLIPS = Slips(
    solutions.Packed,
    """
    codes.flatten(1) - (2 ** (self.bits - 1) - 1) => codes.flatten(1) - 2 ** (self.bits - 1) ;; \
    .flatten(1) + top => .flatten(1) + 2 ** (bits - 1)
        What is stored is the code plus 2^(b-1) - 1, so that the smallest code becomes 0.
    << shifts).sum => << shifts.flip(0)).sum
        The first of the codes in a byte stands in its lowest bits: shift the second one up.
    top = 2 ** (bits - 1) - 1 => top = 2 ** (bits - 1)
        The largest code is 2^(b-1) - 1: 7 in four bits, and not 8.
    W.abs().amax(-1) => W.amax(-1)
        The scale comes from the largest |w| of a group, which may be below zero.
    W.abs().amax(-1) => W.abs().amax((1, 2))[:, None].expand(-1, W.shape[1])
        Every group has a scale of its own, not every row.
    W.abs().amax(-1) => W.abs().amax((0, 2)).expand(len(W), -1)
        Every group has a scale of its own: a group is part of one row.
    .round().int() => .int()
        int() cuts towards zero: round first.
    - (2 ** (self.bits - 1) - 1) =>
        weight takes off again what was added to the codes before they were packed.
    """,
)


@lab.task(solutions.Packed)
def Packed(trial: Trial) -> None:
    is_module_class(trial)
    usual = f"Scale, codes, one number added so that none is below 0, several in a byte. {BITS}"
    by_hand = nn.Linear(4, 1, False).double()
    by_hand.weight.data = torch.tensor([[0.7, -0.3, 0.1, 0.0]]).double()
    zeros = linear(trial, 3, 16)
    zeros.weight.data[1, 8:] = 0
    cases = [
        ("by hand", by_hand, 4, 4, "Packed of the row 0.7, -0.3, 0.1, 0, bits 4, group 4"),
        *(
            ("any matrix", linear(trial, 5, 24), bits, group, f"Packed(5 x 24, {bits}, {group})")
            for bits, group in ((4, 8), (8, 12), (2, 4), (4, 24))
        ),
        ("a group of zeros", zeros, 4, 8, "Packed(3 x 16, 4, 8), one group all zeros"),
    ]
    for rule, old, bits, group, given in cases:
        before = old.weight.detach().clone()
        mine, ours = (
            trial.call(old, bits, group, given=given, hint=usual),
            solutions.Packed(old, bits, group),
        )
        has(trial, mine, ("codes", "scales", "weight", "in_features", "out_features"), given)
        unchanged = torch.equal(old.weight, before)
        trial.holds(unchanged, "the old map stays as it is", "Make a new matrix.", given=given)
        made = [version(old, bits, group) for version, _ in SLIPS]
        for name in ("scales", "codes"):
            found, wanted = getattr(mine, name), getattr(ours, name)
            slips = []
            for slip, (_, hint) in zip(made, SLIPS, strict=True):
                slips += [(getattr(slip, name), hint)]
            kind = getattr(found, "dtype", None)
            type_hint = "Codes are stored as torch.uint8, several in a byte." if name == "codes" \
                else "Scales have the type of the matrix."  # fmt: skip
            trial.holds(kind == wanted.dtype, "both have their types", type_hint, given=given,
                        got=str(kind), expected=str(wanted.dtype))  # fmt: skip
            trial.equals(found, wanted, rule, usual, slips=slips, given=f"{given}: {name}")
        x = trial.normal(2, 3, old.in_features).requires_grad_()
        slips = []
        for slip, (_, hint) in zip(made, SLIPS, strict=True):
            with suppress(RuntimeError):
                slips += [(slip.weight(), hint)]
        got = trial.run(mine.weight, given=given, hint=usual)
        trial.equals(got, ours.weight(), rule, usual, slips=slips, given=f"{given}: weight()")
        got = trial.run(
            mine, x, given=given, hint="x times the matrix: F.linear(x, self.weight())."
        )
        trial.equals(got, ours(x), "forward multiplies by the matrix", usual, given=given)
        _is_frozen(trial, mine, got, x, given)


def _is_frozen(trial: Trial, mine: nn.Module, got: Tensor, x: Tensor, given: str) -> None:
    stored = mine.state_dict()
    hint = "self.register_buffer(name, tensor): a buffer is saved and moved with the module, and "
    hint += "the optimizer does not see it. Anything else that is stored would take memory."
    trial.holds({*stored} == {"codes", "scales"} and not [*mine.parameters()],
                "codes and scales are its buffers, and all that it stores", hint, given=given,
                got=[*stored])  # fmt: skip
    kept = [v for v in vars(mine).values() if isinstance(v, Tensor | nn.Linear)]
    trial.holds(not kept, "codes and scales are its buffers, and all that it stores", hint,
                given=given)  # fmt: skip
    hint = "The gradient has to flow through it to what is trained below: no torch.no_grad()."
    trial.holds(got.requires_grad, "it lets the gradient of x through", hint, given=given)


Packed.slips = SLIPS
