"""Checks of lab 02, task 1: the bytes of UTF-8 on paper."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from helpers.course.checks.lab02.common import lab
from helpers.course.checks.trial import Trial

# None of these stands in the notebook, which shows the bytes of some signs.
_TWO_BYTES = "ñüßøčłžдþħж"
_THREE_BYTES = "灯船魚猫あ한ạ₹"
_FOUR_BYTES = "🐠🌊🏠🚀🐙🌙🎣🦀"
_BUILT = (  # one sign on the screen, from several code points
    "e\N{COMBINING ACUTE ACCENT}\N{COMBINING DOT BELOW}",
    "👩\N{ZERO WIDTH JOINER}🚀",
    "👨\N{ZERO WIDTH JOINER}🌾",
    "👩🏽\N{ZERO WIDTH JOINER}🔬",
    "🏴\N{ZERO WIDTH JOINER}☠\N{VARIATION SELECTOR-16}",
    "❤\N{VARIATION SELECTOR-16}\N{ZERO WIDTH JOINER}🔥",
)
DOES_IT_ALL = ["encode", "decode", "bytes", "bytearray", "_by_hand", "ours", "fallback"]


def numbers() -> dict[str, int | list[int]]:
    """The numbers of the task, from the class's variant.

    A and B are code points, C the bytes of one, D the code points of one sign.
    """
    generator = lab.generator("by hand")

    def one_of(choices: Sequence[str]) -> str:
        return choices[int(torch.randint(len(choices), (1,), generator=generator))]

    return {
        "A": ord(one_of(_TWO_BYTES)),
        "B": ord(one_of(_FOUR_BYTES)),
        "C": list(one_of(_THREE_BYTES).encode()),
        "D": [ord(character) for character in one_of(_BUILT)],
    }


def by_hand_text() -> str:
    """The same, as the student reads them."""
    given = numbers()
    a, b = (f"U+{given[name]:04X} ({chr(given[name])})" for name in "AB")
    c = " ".join(f"0x{byte:02X}" for byte in given["C"])
    d = " ".join(f"U+{point:04X}" for point in given["D"])
    shown = "".join(map(chr, given["D"]))
    return f"A is {a}.\nB is {b}.\nC has the bytes {c}.\nD is {d}, shown as {shown}"


def _by_hand() -> dict[str, int | list[int]]:
    """What the student works out, by Python's own encoder."""
    given = numbers()
    return {
        "bytes of A": list(chr(given["A"]).encode()),
        "bytes of B": list(chr(given["B"]).encode()),
        "code point of C": ord(bytes(given["C"]).decode()),
        "bytes in D": len("".join(map(chr, given["D"])).encode()),
    }


def hint_on_paper(name: str, got: object, expected: object) -> str:
    """What to think about, without the number; empty if the answer is right."""
    if isinstance(expected, int):
        if type(got) is int and got == expected:
            return ""
        if type(got) is not int:
            return "Give one whole number; U+00E9 is written 0xE9, without quotes."
        return {
            "code point of C": "Find the row by the first byte, strike out the fixed bits of every "
            "byte, and read the bits that are left as one binary number.",
            "bytes in D": "Every U+ number is a code point, also those that join or change others: "
            "find the row of each, and add up how many bytes they have.",
        }[name]
    if not isinstance(got, list | tuple) or not all(type(byte) is int for byte in got):
        return "Give a list of whole numbers; 0xC3, 195 and 0b11000011 are the same to Python."
    if len(got) != len(expected):
        return "In which row of the table is the code point? The row says how many bytes it has."
    if max(got) > 255 or min(got) < 0:
        return "A byte is 0 to 255: bits have 0b before them, hexadecimal digits 0x."
    if got[0] != expected[0]:
        return (
            "The first byte begins with the fixed bits of its row; the highest bits of the code "
            "point fill the rest, with zeros before them if they are too few."
        )
    if list(got) != expected:
        return (
            "Each further byte is 10 and six bits of the code point: cut its bits into sixes from "
            "the right."
        )
    return ""


@lab.task(_by_hand, uses=["check"], without=DOES_IT_ALL)
def by_hand(trial: Trial) -> None:
    got, expected = trial.call(), _by_hand()
    trial.named(got, expected)
    for name, value in expected.items():
        hint = hint_on_paper(name, got[name], value)
        trial.holds(not hint, name, hint, given=by_hand_text(), got=got[name])
