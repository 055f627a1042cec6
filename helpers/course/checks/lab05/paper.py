"""Checks of lab 05, task 1: what a GPT with grouped queries and SwiGLU holds and costs.

Shape letters: V vocabulary, L blocks, D width, H heads, G pairs of keys and values, K = D / H,
T tokens of the text.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips, known_slip
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial

GROUPS = see(11, "Grouped-query attention")
COST = see(11, "What a block costs")


def numbers() -> dict[str, int]:
    """The sizes of task 1: such that each known slip gives a number of its own."""
    generator = lab.generator("sizes")

    def draw(*choices: int) -> int:
        return choices[int(torch.randint(len(choices), (1,), generator=generator))]

    while True:
        H, K = draw(4, 8, 12, 16), draw(32, 40, 48, 64, 80)
        sizes = {"V": 1000 * draw(2, 4, 8, 16, 32), "L": draw(4, 6, 8, 12, 16), "D": H * K, "H": H}
        sizes |= {"G": draw(*(g for g in (1, 2, 4) if 4 * g <= H)), "T": draw(256, 512, 1024, 2048)}
        right, slips = _answers(sizes), _slips(sizes)
        values = {name: [right[name], *(value for value, _ in slips[name])] for name in right}
        if all(len(set(found)) == len(found) for found in values.values()):
            return sizes


def gate_width(D: int, H: int, G: int) -> int:
    """M, as handed out: a multiple of 8, so that matrices have at most 12 D^2 weights a block."""
    return (12 * D * D - 2 * D * D - 2 * D * G * (D // H)) // (3 * D) // 8 * 8


def _by_hand() -> dict[str, int]:
    return _answers(numbers())


def _answers(sizes: dict[str, int]) -> dict[str, int]:
    V, L, D, H, G, T = sizes.values()
    K, width = D // H, gate_width(D, H, G)
    matrices = 2 * D * D + 2 * D * G * K + 3 * D * width
    return {
        "one block": matrices + D,
        "the whole": 3 * V * D + L * (matrices + D) + D,
        "cache bytes": 2 * L * T * G * K * 2,
        "FLOPs": 2 * (L * matrices + V * D) + L * 4 * T * D,
    }


def _slips(sizes: dict[str, int]) -> dict[str, Slips]:
    V, L, D, H, G, T = sizes.values()
    K, width, right = D // H, gate_width(D, H, G), _answers(sizes)
    block, cache = right["one block"], right["cache bytes"]
    matrices = block - D
    no_groups = f"Keys and values have G heads, not H: their matrices are D x G K. {GROUPS}"
    two = "A gated layer has three matrices of D x M: gate, up and down."
    reading = "Keys and values are kept for every block, both of them, G heads of width K."
    return {
        "one block": [
            (matrices, "The norm has a gain of D numbers, too."),
            (matrices + 2 * D, "A parallel block has one norm, and an RMSNorm has no shift."),
            (block + 2 * D * D - 2 * D * G * K, no_groups),
            (block - D * G * K, "Keys and values: two matrices of D x G K."),
            (block - D * width, two),
        ],
        "the whole": [
            (right["the whole"] - D, "A norm follows the last block."),
            (right["the whole"] - V * D, "Three matrices have a row for each of the V tokens."),
            (right["the whole"] - 2 * V * D, "Three matrices have a row for each of the V tokens."),
            (right["the whole"] - (L - 1) * block, "There are L blocks."),
            (right["the whole"] + T * D, "Rotary positions have no parameters."),
        ],
        "cache bytes": [
            (cache // 2, f"{reading} A number in bfloat16 takes two bytes."),
            (2 * cache, "A number in bfloat16 takes two bytes."),
            (cache * H // G, f"G heads are kept, not H. {GROUPS}"),
            (cache // L, "Every block keeps its own."),
            (cache // T, "The cache holds all T tokens."),
        ],
        "FLOPs": [
            (right["FLOPs"] // 2, "A weight is multiplied and added: two operations."),
            (right["FLOPs"] - 2 * V * D, "The output's matrix is used for every token, too."),
            (
                right["FLOPs"] + 2 * V * D,
                "To look an embedding up takes no multiplication; only the output does.",
            ),
            (
                right["FLOPs"] + 4 * V * D,
                "To look an embedding up takes no multiplication; only the output does.",
            ),
            (
                right["FLOPs"] - L * 4 * T * D,
                "The query also meets T keys, and T values are averaged, in every block.",
            ),
            (
                right["FLOPs"] - L * 2 * T * D,
                "Scores and weighted mean: 2 T K operations each, in each of H heads.",
            ),
            (
                right["FLOPs"] - L * 4 * T * D + L * 4 * T * G * K,
                "Heads that share their keys still compute H rows of scores each.",
            ),
            (
                2 * right["the whole"] + L * 4 * T * D,
                "Only what stands in a matrix product counts: no gains, and no embeddings.",
            ),
        ],
    }


@lab.task(
    _by_hand, uses=["check"], without=["_by_hand", "_answers", "_slips", "fallback", "gate_width"]
)
def by_hand(trial: Trial) -> None:
    usual = {
        "one block": "2 D^2 for queries and output, 2 D G K for keys and values, 3 D M for the "
        f"gated layer, and the one gain. {COST}",
        "the whole": "Three matrices of V x D, L blocks, and the last norm.",
        "cache bytes": "Keys and values of every block and every token, G heads of width K, two "
        f"bytes a number. {GROUPS}",
        "FLOPs": "2 for every weight in a matrix of the blocks and of the output, and 4 T D in "
        f"every block for scores and weighted mean. {COST}",
    }
    got, expected, slips = trial.call(), _by_hand(), _slips(numbers())
    given = ", ".join(f"{name} = {size}" for name, size in numbers().items())
    trial.named(got, expected)
    for name, value in expected.items():
        found = got[name]
        if isinstance(found, np.generic) or (isinstance(found, Tensor) and found.numel() == 1):
            found = found.item()
        right = isinstance(found, int | float) and found == value
        hint = known_slip(found, slips[name]) or usual[name]
        if found is None:
            hint = NOTHING
        elif isinstance(found, str):
            hint = "A number is wanted, not a text: no quotation marks."
        trial.holds(right, name, hint, given=given, got=found)
