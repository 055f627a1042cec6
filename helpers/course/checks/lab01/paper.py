"""Checks of lab 01: counts and perplexity on paper."""

from __future__ import annotations

from collections import Counter

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


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "fallback"])
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
        trial.holds(_close(got[name], value), name, hints[name], given=text, got=got[name])


def _close(got: object, expected: float) -> bool:
    return isinstance(got, int | float) and abs(got - expected) < DECIMALS
