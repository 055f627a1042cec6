"""Checks of lab 01: counts and perplexity on paper."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from numbers import Real

import torch

from helpers.course.checks.lab01.common import course_counts, lab
from helpers.course.checks.trial import DECIMALS, Trial


def numbers() -> dict[str, str]:
    """The text of the task on paper, from the class's variant: four a or five, b and c.

    It ends in a, so that the last a has no follower, and a b follows one; smoothing and the last a
    change the answer, so that forgetting either is seen.
    """
    generator = lab.generator("by hand")
    while True:
        letters = list("aaaabbc" + "abc"[int(torch.randint(3, (1,), generator=generator))])
        order = torch.randperm(len(letters), generator=generator).tolist()
        text = "".join(letters[i] for i in order)
        after = course_counts(text, 2).get("a", Counter())
        likely, smoothed = after["b"] / after.total(), (after["b"] + 1) / (after.total() + 3)
        if text.endswith("a") and after["b"] > 0 and likely != smoothed:
            return {"text": text}


def by_hand_text() -> str:
    """The same, as the student reads it."""
    return numbers()["text"]


def _by_hand() -> dict[str, float]:
    text = by_hand_text()
    unigram = Counter(text)
    pairs = course_counts(text, 2).get("a", Counter())
    follows = sum(pairs.values())
    return {
        "P(a)": unigram["a"] / len(text),
        "P(b | a)": pairs["b"] / follows,
        "P(b | a), add-1": (pairs["b"] + 1) / (follows + 3),
        "perplexity of 'ab'": (unigram["a"] / len(text) * (pairs["b"] + 1) / (follows + 3)) ** -0.5,
    }


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "fallback"], lent=False)
def by_hand(trial: Trial) -> None:
    hints = {
        "P(a)": "How many of the characters are an a?",
        "P(b | a)": "Of the characters that follow an a, how many are b? The last one has no "
        "follower.",
        "P(b | a), add-1": "Add one to each of the three counts: what does their sum become?",
        "perplexity of 'ab'": "P(a) times the smoothed P(b | a); then the square root of 1 / that.",
    }
    got, expected = trial.call(), _by_hand()
    text = f"the text {by_hand_text()!r}, symbols a, b, c"
    trial.named(got, expected)
    for name, value in expected.items():
        off = _ROUNDED_ON_THE_WAY if name.startswith("perplexity") else DECIMALS
        number = _number(got[name])
        hint = _form(number, value) or hints[name]
        right = number is not None and abs(number - value) < off
        trial.holds(right, name, hint, given=text, got=repr(got[name]))


# A perplexity from numbers that were rounded before is off by up to 0.003; slips by far more.
_ROUNDED_ON_THE_WAY = 5e-3


def _number(got: object) -> float | None:
    """A number, also where it was written as Fraction(5, 8) or "5/8"."""
    if not isinstance(got, Real | str) or isinstance(got, bool):
        return None
    try:
        return float(Fraction(got) if isinstance(got, str) else got)
    except (ValueError, ArithmeticError):
        return None


def _form(number: float | None, expected: float) -> str:
    """A hint for who wrote the right number in another form."""
    if number is None:
        return "Write a number with three decimals, such as 0.333, or a fraction such as 1/3."
    if expected < 1 and abs(number / 100 - expected) < DECIMALS:
        return "A probability lies between 0 and 1: write it so, not in per cent."
    if abs(number - expected) < 6e-3:
        return "That is right to two decimals; asked for are three."
    return ""
