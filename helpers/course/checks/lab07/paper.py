"""Checks of lab 07, task 1: what a plan takes, on paper."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab07.common import BITS, LORA, MEMORY, SIX, lab
from helpers.course.checks.trial import Trial

EXACT = 1e-4  # of a value; a trained weight makes so little that a few per mille are a mistake


def numbers() -> dict[str, int]:
    """The numbers of the task on paper, from the class's variant."""
    generator = lab.generator("by hand")

    def one_of(*values: int) -> int:
        return values[int(torch.randint(len(values), (1,), generator=generator))]

    width = one_of(2048, 3072, 4096)
    return {
        "layers": one_of(24, 28, 32, 36),
        "width": width,
        "hidden": width * one_of(3, 4),
        "vocabulary": 1000 * one_of(48, 64, 100),
        "rank": one_of(4, 8, 16),
        "bits": 4,
        "group": one_of(32, 64),
    }


def plan_of(
    n: dict[str, int], *, parts: int = 2, both: bool = True, down: bool = True, scales: bool = True,
    state: int = 16, table: int = 2, output: bool = True, frozen: int = 4, lower: int = 2,
    unpacked: bool = False, update: int = 6, rest: float = 0.5,
) -> dict[str, float]:  # fmt: skip
    """The four numbers; what is named changes one step, as slips do."""
    d, f, L, r = n["width"], n["hidden"], n["layers"], n["rank"]
    block = 4 * d * d + 2 * d * f
    trained = L * r * (parts * (d + d * both) + down * (f + d * both))
    packed = n["bits"] / (1 if unpacked else 8) + 2 / n["group"] * scales
    head = d * n["vocabulary"] * output
    token = frozen * (L * block + head) + update * trained
    half = L // 2 * block * (lower + frozen) + frozen * head + update * trained * rest
    return {
        "trained": trained / 1e6,
        "GB": (L * block * packed + table * 2 * d * n["vocabulary"] + state * trained) / 1e9,
        "GFLOPs": token / 1e9,
        "upper half": half / 1e9,
    }


def _by_hand() -> dict[str, float]:
    return plan_of(numbers())


_SLIPS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "trained": [
        ({"both": False}, "Each update has two matrices: A with r rows, and B with r columns."),
        ({"parts": 3}, "Keys get no update: two of the three parts of the fused map do."),
        ({"parts": 1}, "Queries and values get an update each, with an A and a B of their own."),
        ({"down": False}, "The map down has an update, too: from hidden to width."),
    ],
    "GB": [
        ({"scales": False}, f"Every group has a scale of two bytes. {BITS}"),
        ({"state": 2}, f"A trained weight has a gradient and AdamW's numbers, too. {MEMORY}"),
        ({"state": 0}, f"The trained weights take memory, too, 16 bytes each. {MEMORY}"),
        ({"table": 0}, "Embeddings and output are not packed: two bytes a number."),
        ({"table": 1}, "Embeddings and output are two tables of two-byte numbers."),
        ({"unpacked": True}, "Eight bits are a byte."),
    ],
    "GFLOPs": [
        ({"frozen": 6}, "A frozen weight has no gradient of its own: 2 forward, and 2 for what "
         f"flows on through it. {SIX}"),
        ({"frozen": 2}, "A frozen weight lets the gradient through to what is trained below it, "
         f"which takes 2 more. {SIX}"),
        ({"output": False}, "The output multiplies, too; only the embeddings look up."),
        ({"update": 4}, f"A trained weight has a gradient of its own: 6 operations. {SIX}"),
    ],
    "upper half": [
        ({"lower": 4}, "Nothing is trained in or below the lower half: no gradient goes there."),
        ({"lower": 0}, "The lower half is still read forward, 2 operations a weight."),
        ({"rest": 1}, "Half of the blocks have LoRA: half as many weights are trained."),
    ],
}  # fmt: skip
_HINTS = {
    "trained": f"A map from k to d numbers gets r (k + d) new weights. {LORA}",
    "GB": "bits / 8 + 2 / group bytes for each weight of the blocks, 2 for each number of "
    "embeddings and output, 16 for each trained one; in 10^9 bytes.",
    "GFLOPs": "4 for each frozen weight that multiplies, the output's too, and 6 for each that is "
    "trained; in 10^9.",
    "upper half": "Lower half: 2 for each weight. Upper half and output: 4. The trained weights "
    "are half as many. In 10^9.",
}


_NEAR = "That is nearly right: hand it back unrounded, and look at what is small."


def slips_of(name: str) -> list[tuple[float, str]]:
    """What known slips make of one number, and ten powers that are off."""
    given = numbers()
    right = plan_of(given)[name]
    found = [(plan_of(given, **change)[name], hint) for change, hint in _SLIPS[name]]
    unit = "Look at the unit: million weights, 10^9 bytes, 10^9 operations."
    return [*found, *((right * 10.0**n, unit) for n in (-9, -6, -3, 3, 6, 9))]


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "plan_of", "fallback"], lent=False)
def by_hand(trial: Trial) -> None:
    got, expected = trial.call(given="by_hand()"), _by_hand()
    trial.named(got, expected)
    given = ", ".join(f"{name} {value}" for name, value in numbers().items())
    for name, value in expected.items():
        mine, number = got[name], "A number is asked for: no text, no list, not None."
        mine = mine.item() if isinstance(mine, Tensor) and mine.numel() == 1 else mine
        fine = isinstance(mine, int | float) and not isinstance(mine, bool)
        trial.holds(fine, "each of them is a number", number, given=name, got=repr(mine))
        off = abs(mine - value) / value
        usual = _NEAR if off < 5e-3 else _HINTS[name]
        hint = "" if off < EXACT else _hint(mine / value, name) or usual
        trial.holds(off < EXACT, name, hint, given=given, got=mine)


def _hint(ratio: float, name: str) -> str | None:
    """The hint of the slip that is as far off."""
    right = _by_hand()[name]
    return known_slip(ratio, [(slip / right, hint) for slip, hint in slips_of(name)], EXACT / 2)
