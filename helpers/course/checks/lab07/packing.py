"""Checks of lab 07, task 2: a matrix in few bits, with a scale for each group, packed."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import nn

from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.common import BITS, has, lab, linear
from helpers.course.checks.trial import Trial, with_hints
from helpers.course.checks.turn import Slips

_TYPE = "Scales, and what weight gives, have the type of W: torch.zeros(..., dtype=W.dtype), say."
SLIPS = Slips(
    solutions.Packed,
    """
    q = u.flatten(1) - self.m => q = u.flatten(1) - self.m - 1 ;; \
    .flatten(1) + self.m => .flatten(1) + self.m + 1
        What is stored is the code plus m = 2^(b-1) - 1, so that the smallest code becomes 0.
    << shifts).sum => << shifts.flip(0)).sum
        The first of the codes in a byte stands in its lowest bits: shift the second one up.
    amax(-1) / self.m => amax(-1) / (self.m + 1)
        The largest code is m = 2^(b-1) - 1: 7 in four bits, and not 8.
    W.abs().amax(-1) => W.amax(-1)
        The scale comes from the largest |w| of a group, which may be below zero.
    W.abs().amax(-1) => W.abs().amax((1, 2))[:, None].expand(-1, W.shape[1])
        Every group has a scale of its own, not every row.
    W.abs().amax(-1) => W.abs().amax((0, 2)).expand(len(W), -1)
        Every group has a scale of its own: a group is part of one row.
    .round().long() => .long()
        long() cuts towards zero: round first.
    (W / scales[..., None]).round().long().flatten(1) + self.m \
    => (W / scales[..., None] + self.m).long().flatten(1)
        Round first, and then add m: long() cuts.
    .flatten(1) + self.m => .flatten(1)
        What is stored is never below 0: m is added to the codes.
    torch.where(scales > 0, scales, 1.0) => scales.clamp(1e-8)
    scales = torch.where(scales > 0, scales, 1.0) =>
        Where all weights of a group are 0, s is 1.
    q = u.flatten(1) - self.m => q = u.flatten(1)
        weight takes off again what was added to the codes before they were packed.
    & 2**self.bits - 1 => & 15
        15 are the lowest four bits: with b bits it is 2**b - 1.
    u.flatten(1) - self.m => u.flatten(1).to(torch.uint8) - self.m
        Make whole numbers of the codes, .long(), before m is taken away.
    """,
)


def _map(trial: Trial, outputs: int, inputs: int, bits: int, group: int) -> nn.Linear:
    """A map in float32, as in a model, without weights halfway between two codes."""
    while True:
        made = linear(trial, outputs, inputs).float()
        W = made.weight.detach().unflatten(1, (-1, group))
        u = W / W.abs().amax(-1, keepdim=True) * (2 ** (bits - 1) - 1)
        if ((u % 1 - 0.5).abs() > 1e-4).all():
            return made


@lab.task(solutions.Packed)
def Packed(trial: Trial) -> None:
    trial.is_class_from("nn.Module", "forward", "state_dict")
    usual = f"Scale, codes, m added so that none is below 0, several in a byte. {BITS}"
    by_hand = nn.Linear(4, 1, False)
    by_hand.weight.data = torch.tensor([[0.7, -0.3, 0.1, 0.0]])
    zeros = _map(trial, 3, 16, 4, 8)
    zeros.weight.data[1, 8:] = 0
    cases = [
        ("by hand", by_hand, 4, 4, "Packed of the row 0.7, -0.3, 0.1, 0, bits 4, group 4"),
        *(
            ("any matrix", _map(trial, 5, 24, *b), *b, f"Packed(5 x 24, {b[0]}, {b[1]})")
            for b in ((4, 8), (8, 12), (2, 4), (4, 24))
        ),
        ("a group of zeros", zeros, 4, 8, "Packed(3 x 16, 4, 8), one group all zeros"),
    ]
    for rule, old, bits, group, given in cases:
        before = old.weight.detach().clone()
        mine = trial.call(old, bits, group, given=given, hint=usual)
        has(trial, mine, ("codes", "scales", "weight"), given)
        unchanged = torch.equal(old.weight, before)
        trial.holds(unchanged, "the old map stays as it is", "Make a new matrix.", given=given)
        ours = solutions.Packed(old, bits, group)
        made = [(version(old, bits, group), hint) for version, hint in SLIPS]
        for name in ("scales", "codes"):
            slips = [(getattr(slip, name), hint) for slip, hint in made]
            with with_hints({"torch.float": _TYPE}):
                trial.equals(getattr(mine, name), getattr(ours, name), rule, usual, slips=slips,
                             given=f"{given}: {name}")  # fmt: skip
        slips = []
        for slip, hint in made:
            with suppress(RuntimeError):
                slips += [(slip.weight(), hint)]
        got = trial.run(mine.weight, given=given, hint=usual)
        with with_hints({"torch.float": _TYPE}):
            trial.equals(got, ours.weight(), rule, usual, slips=slips, given=f"{given}: weight()")


Packed.slips = SLIPS
