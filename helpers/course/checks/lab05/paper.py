"""Checks of lab 05, task 1: what a GPT with grouped queries and SwiGLU holds and costs.

Shape letters: V vocabulary, L blocks, D width, H heads, G pairs of keys and values, K = D / H,
T tokens of the text.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.lab05.solutions import hidden_width
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial
from helpers.course.checks.turn import Slips

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
        values = [
            [right, *(value for value, _ in _known(name, sizes))]
            for name, right in _answers(**sizes).items()
        ]
        if all(len(set(found)) == len(found) for found in values):
            return sizes


def _answers(V: int, L: int, D: int, H: int, G: int, T: int) -> dict[str, int]:
    """The four numbers for any sizes."""
    K, M = D // H, hidden_width(D, H, G)
    matrices = 2 * D * D + 2 * D * G * K + 3 * D * M
    return {
        "one block": matrices + D,
        "the whole": 2 * V * D + L * (matrices + D) + D + D * V,
        "cache bytes": L * T * 2 * G * K * 2,
        "FLOPs": 2 * (L * matrices + D * V) + L * H * (2 * T * K + 2 * T * K),
    }


_SLIPS = {
    name: Slips(_answers, text)
    for name, text in {
        "one block": f"""
        "one block": matrices + D => "one block": matrices
            The norm has a gain of D numbers, too.
        "one block": matrices + D => "one block": matrices + 2 * D
            A parallel block has one norm, and an RMSNorm has no shift.
        2 * D * G * K + => 2 * D * D +
            Keys and values have G heads, not H: their matrices are D x G K. {GROUPS}
        2 * D * G * K + => D * G * K +
            Keys and values: two matrices of D x G K.
        3 * D * M => 2 * D * M
            A gated layer has three matrices of D x M: gate, up and down.
        """,
        "the whole": """
        + D + D * V => + D * V
            A norm follows the last block.
        2 * V * D + L * ( => V * D + L * (
        2 * V * D + L * ( => L * (
            Three matrices have a row for each of the V tokens.
        L * (matrices + D) => matrices + D
            There are L blocks.
        + D + D * V => + D + D * V + T * D
            Rotary positions have no parameters.
        """,
        "cache bytes": f"""
        L * T * 2 * G => L * T * G
            Keys and values are kept for every block, both of them, G heads of width K. A number
            in bfloat16 takes two bytes.
        G * K * 2, => G * K * 4,
            A number in bfloat16 takes two bytes.
        L * T * 2 * G * K => L * T * 2 * H * K
            G heads are kept, not H. {GROUPS}
        L * T * 2 * G => T * 2 * G
            Every block keeps its own.
        L * T * 2 * G => L * 2 * G
            The cache holds all T tokens.
        """,
        "FLOPs": """
        2 * (L * matrices + D * V) + L * H * (2 * T * K + 2 * T * K) => \
        L * matrices + D * V + L * H * 2 * T * K
            A weight is multiplied and added: two operations.
        L * matrices + D * V) => L * matrices)
            The output's matrix is used for every token, too.
        L * matrices + D * V) => L * matrices + 2 * D * V)
        L * matrices + D * V) => L * matrices + 3 * D * V)
            To look an embedding up takes no multiplication; only the output does.
        + L * H * (2 * T * K + 2 * T * K) =>
            The query also meets T keys, and T values are averaged, in every block.
        (2 * T * K + 2 * T * K) => (2 * T * K)
            Scores and weighted mean: 2 T K operations each, in each of H heads.
        L * H * (2 => L * G * (2
            Heads that share their keys still compute H rows of scores each.
        2 * (L * matrices + D * V) => 2 * (3 * D * V + L * (matrices + D) + D)
            Only what stands in a matrix product counts: no gains, and no embeddings.
        """,
    }.items()
}


def _known(name: str, sizes: dict[str, int]) -> Iterator[tuple[int, str]]:
    """What the slips give for one of the four numbers, and the hint of each."""
    return ((version(**sizes)[name], hint) for version, hint in _SLIPS[name])


def _by_hand() -> dict[str, int]:
    return _answers(**numbers())


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_answers", "_SLIPS", "fallback"])
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
    got, expected = trial.call(), _by_hand()
    given = ", ".join(f"{name} = {size}" for name, size in numbers().items())
    trial.named(got, expected)
    for name, value in expected.items():
        found = got[name]
        if isinstance(found, np.generic) or (isinstance(found, Tensor) and found.numel() == 1):
            found = found.item()
        right = isinstance(found, int | float) and found == value
        hint = known_slip(found, _known(name, numbers())) or usual[name]
        if found is None:
            hint = NOTHING
        elif isinstance(found, str):
            hint = "A number is wanted, not a text: no quotation marks."
        trial.holds(right, name, hint, given=given, got=found)
