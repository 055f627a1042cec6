"""For the checks of lab 02: the numbers on paper (UTF-8 by hand), random inputs, odd values."""

from __future__ import annotations

import random
from collections.abc import Sequence
from types import GeneratorType

import torch

from helpers.course.checks.trial import NOTHING, Complaint, Trial, describe, differs

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


def on_paper(generator: torch.Generator) -> dict[str, object]:
    """A and B are code points, C the bytes of one, D the code points of one sign."""

    def one_of(choices: Sequence[str]) -> str:
        return choices[int(torch.randint(len(choices), (1,), generator=generator))]

    return {
        "A": ord(one_of(_TWO_BYTES)),
        "B": ord(one_of(_FOUR_BYTES)),
        "C": list(one_of(_THREE_BYTES).encode()),
        "D": [ord(character) for character in one_of(_BUILT)],
    }


def on_paper_answers(given: dict[str, object]) -> dict[str, object]:
    """What the student works out, by Python's own encoder."""
    return {
        "bytes of A": list(chr(given["A"]).encode()),
        "bytes of B": list(chr(given["B"]).encode()),
        "code point of C": ord(bytes(given["C"]).decode()),
        "code points in D": len(given["D"]),
        "bytes in D": len("".join(map(chr, given["D"])).encode()),
    }


def on_paper_hint(name: str, got: object, expected: object) -> str:
    """What to think about, without the number; empty if the answer is right."""
    if isinstance(expected, int):
        if type(got) is int and got == expected:
            return ""
        if type(got) is not int:
            return "Give one whole number; U+00E9 is written 0xE9, without quotes."
        return {
            "code point of C": "Find the row by the first byte, strike out the fixed bits of every "
            "byte, and read the bits that are left as one binary number.",
            "code points in D": "Every U+ number is one, also those that join or change others.",
            "bytes in D": "Find the row of each code point, and add up how many bytes they have.",
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


def expect_kind(
    value: object, kind: type | tuple[type, ...], words: str, given: str = "", hint: str = ""
) -> None:
    """A Complaint unless a value is of a kind, in words such as "a list"."""
    if value is None:
        raise Complaint("it hands something back", NOTHING, given, "None", words)
    if isinstance(value, GeneratorType):
        why = "yield hands out values one at a time: collect them, and return them together."
        raise Complaint(f"it hands back {words}", why, given, "a generator", words)
    if not isinstance(value, kind):
        got = f"{type(value).__name__}: {describe(value)}"
        why = hint or f"What the function hands back is {words}, nothing else."
        raise Complaint(f"it hands back {words}", why, given, got, words)


def alike(
    trial: Trial, got: object, expected: list, rule: str, hint: str, given: str, whole: int = 24
) -> None:
    """Lists are the same; a short one is shown whole, so that it can be compared by eye."""
    expect_kind(got, (list, tuple), "a list", given)
    got = list(got)
    if len(expected) > whole:
        trial.equals(got, expected, rule, hint, given=given)
        return
    same = differs(got, expected) is None
    trial.holds(same, rule, hint, given=given, got=got, expected=expected)


def random_words(trial: Trial, number: int, length: int) -> dict[tuple[int, ...], int]:
    """Words of few different ids, so that there are many ties and doubled ids."""
    sizes = trial.integers(1, length + 1, number).tolist()
    return {tuple(trial.integers(1, 5, n).tolist()): trial.integer(1, 6) for n in sizes}


def random_text(trial: Trial, n_words: int) -> str:
    """Words of a few syllables, with punctuation, digits and letters of two bytes."""
    ends = ["", "", "", "", ",", ".", ". ", "\n", "!", " 12", "'s"]
    syllables = ["ta", "ro", "ne", "li", "sé", "mo", "aa", "sh", "ing", "o", "K"]
    chance = random.Random(trial.integer(0, 2**31))
    return " ".join(
        "".join(chance.choices(syllables, k=chance.randint(1, 4))) + chance.choice(ends)
        for _ in range(n_words)
    )


def any_text(trial: Trial, length: int) -> str:
    """Characters from all of Unicode, without the surrogates, which are none."""
    chance = random.Random(trial.integer(0, 2**31))
    tops = chance.choices([0x80, 0x800, 0xD800, 0x110000], k=length)
    points = (chance.randrange(top) for top in tops)
    return "".join(chr(point) for point in points if not 0xD800 <= point < 0xE000)
