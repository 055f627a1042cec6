"""What the checks of lab 02 share: the lab, lists compared, random inputs, odd values."""

from __future__ import annotations

import random
from types import GeneratorType

from helpers.course.checks.comparing import differs
from helpers.course.checks.describing import describe
from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.display.tokens import token_strings

lab = Lab("lab02", shows=[token_strings])


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
