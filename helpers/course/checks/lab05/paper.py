"""Checks of lab 05: the parameters on paper.

Shape letters: T places of a window, L blocks, D width, H heads, V vocabulary.
"""

from __future__ import annotations

import torch

from helpers.course.checks.comparing import Slips, known_slip
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial


def numbers() -> dict[str, int]:
    """The sizes of task 1."""
    generator = lab.generator("configuration")

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high, (1,), generator=generator))

    sizes = {"V": draw(30, 90), "T": 8 * draw(2, 9), "L": draw(2, 6)}
    H = 2 ** draw(1, 3)
    return {**sizes, "D": 4 * H * draw(1, 4), "H": H}


def _by_hand() -> dict[str, int]:
    V, T, L, D, _ = numbers().values()
    block = (4 * D * D + 4 * D) + (8 * D * D + 5 * D) + 4 * D
    tied = V * D + T * D + L * block + 2 * D
    return {
        "token embeddings": V * D,
        "positions": T * D,
        "one block": block,
        "all, tied": tied,
        "all, untied": tied + V * D,
    }


def _slips_by_hand() -> dict[str, Slips]:
    V, T, L, D, H = numbers().values()
    right = _by_hand()
    block, tied = right["one block"], right["all, tied"]
    per_head = (
        "Heads split the width: each of the H heads has D / H columns, so together they are as "
        "large as one. H does not occur in the count."
    )
    bias = "GPT-2's linear maps have biases: four of attention, two of the feed-forward layer."
    return {
        "token embeddings": [],
        "positions": [(V * D, "A position has a vector too, and there are T of them.")],
        "one block": [
            (12 * D * D, "Only the matrices are counted: biases and the two norms are missing."),
            (12 * D * D + 4 * D, bias),
            (12 * D * D + 8 * D, bias),
            (
                12 * D * D + 10 * D,
                "A bias is as long as what its map gives; the feed-forward layer's two differ.",
            ),
            (
                12 * D * D + 9 * D,
                "4 D are missing: are the biases of attention's four maps in it, and the two "
                "norms, with two vectors each?",
            ),
            (12 * D * D + 11 * D, "A LayerNorm has two vectors: a gain and a shift."),
            (block + 4 * D * D * (H - 1), per_head),
            (block + 3 * D * D * (H - 1), per_head),
        ],
        "all, tied": [
            (tied - 2 * D, "A norm follows the last block."),
            (tied + V * D, "Tied: the output's matrix is that of the token embeddings."),
            (tied - (L - 1) * block, "There are L blocks, and none shares its weights."),
            (tied - T * D, "The positions are learned: they are parameters too."),
        ],
        "all, untied": [
            (tied, "Untied: the output has a matrix of its own. How large is it?"),
            (tied + V * D + V, "The output of GPT-2 has no bias."),
        ],
    }


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_slips_by_hand", "fallback"])
def by_hand(trial: Trial) -> None:
    usual = {
        "token embeddings": "One vector of D numbers for each of the V tokens.",
        "positions": "One vector of D numbers for each of the T places.",
        "one block": "Attention has four linear maps, the feed-forward layer two, and there are "
        "two norms. What shape has each matrix, and how long is each bias? "
        + see(12, "Where the parameters are"),
        "all, tied": "Embeddings, positions, L blocks and one more norm at the end.",
        "all, untied": "As before, and a matrix of D x V for the output.",
    }
    got, expected, slips = trial.call(), _by_hand(), _slips_by_hand()
    given = ", ".join(f"{name} = {size}" for name, size in numbers().items())
    trial.named(got, expected)
    for name, value in expected.items():
        found = got[name]
        right = isinstance(found, int | float) and found == value
        hint = known_slip(found, slips[name]) or usual[name]
        if found is None:
            hint = NOTHING
        elif isinstance(found, str):
            hint = "A number is wanted, not a text: no quotation marks."
        trial.holds(right, name, hint, given=given, got=found)
