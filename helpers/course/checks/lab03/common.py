"""What the checks of lab 03 share: the lab, sequences, and errors with hints of their own.

A sequence is a list of whole numbers: 0 to 4 open a parenthesis, 9 - i closes the one that i
opened. ``uniform()`` gives a random number from 0 up to, but not including, 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.data import parentheses

lab = Lab("lab03", shows=[parentheses.text])

Uniform = Callable[[], float]


def answered(got: object, given: object = "") -> None:
    """Something comes back.

    Raises:
        Complaint: it is None.
    """
    if got is None:
        raise Complaint("an answer comes back", NOTHING, str(given), "None")


def uniform_of(trial: Trial) -> Uniform:
    """Random numbers from the trial's."""
    return random.Random(trial.integer(0, 2**31)).random


def is_sequence(trial: Trial, got: object, given: object) -> None:
    """It is a list of symbols."""
    whole = isinstance(got, list) and all(type(symbol) is int for symbol in got)
    trial.holds(
        whole and all(0 <= symbol <= 9 for symbol in got),
        "a list of whole numbers from 0 to 9",
        "0 to 4 open, and 9 - i closes what i opened; plain numbers, as int(...) makes them.",
        given=given,
        got=got if isinstance(got, list) else repr(got),
    )


@contextmanager
def with_hints(hints: Mapping[str, str]) -> Iterator[None]:
    """An error of the answer gets the first hint whose key is among the error's words."""
    try:
        yield
    except Complaint as wrong:
        wrong.hint = next((hint for words, hint in hints.items() if words in wrong.got), wrong.hint)
        raise
