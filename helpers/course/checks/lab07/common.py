"""What the checks of lab 07 share: the lab, and modules with weights of the check's own.

Shape letters: O outputs and I inputs of a map, r rank, b bits, g numbers in a group.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import BPETokenizer

lab = Lab("lab07", shows=[BPETokenizer.decode])

GROUP = 32  # of the GPT that is trained
LORA = see(17, "LoRA: add a thin product")
MERGE = see(17, "Merge it, and it costs nothing")
START = see(17, "How LoRA has to begin")
SIX = see(18, "Six operations for each parameter and token")
BITS = see(18, "Weights in eight and in four bits")
MEMORY = see(18, "What a run takes: memory, money, energy")


def linear(trial: Trial, outputs: int, inputs: int, bias: bool = False) -> nn.Linear:
    """A map in float64 with weights that depend on the trial alone."""
    made = nn.Linear(inputs, outputs, bias).double()
    with torch.no_grad():
        for p in made.parameters():
            p.copy_(trial.normal(*p.shape))
    return made


def has(trial: Trial, made: Any, names: tuple[str, ...], given: str) -> None:
    """A module has these attributes."""
    missing = [name for name in names if not hasattr(made, name)]
    hint = "Call super().__init__() first, and keep the names of the docstring."
    fine = isinstance(made, nn.Module) and not missing
    trial.holds(fine, f"it is a module with {', '.join(names)}", hint, given=given, got=missing)
