"""What the checks of lab 03 share: the lab and sequences.

A sequence is a list of whole numbers: 0 to 4 open a parenthesis, 9 - i closes the one that i
opened. ``uniform()`` gives a random number from 0 up to, but not including, 1.
"""

from __future__ import annotations

import random
from collections.abc import Callable

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
