"""Rules check themselves, and are what the filters are given."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from helpers.inference.rules import AS_PREDICTED, Rules


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(
            ({"temperature": t}, f"temperature is {t}; expected a number of 0 or more.")
            for t in (-0.5, math.nan, math.inf)
        ),
        *(
            ({"top_k": k}, f"top_k is {k}; expected a whole number of tokens to keep, 1 or more.")
            for k in (0, 2.5, 3.0)
        ),
        *(
            ({"top_p": p}, f"top_p is {p}; expected a probability above 0 and at most 1.")
            for p in (0.0, 1.01, -0.5, math.nan)
        ),
        *(
            ({"repetition": r}, f"repetition is {r}; expected a number above 0 (1 is no penalty).")
            for r in (0.0, -1, math.nan, math.inf)
        ),
    ],
)
def test_rules_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError) as told:  # noqa: PT011
        Rules(**settings)
    assert str(told.value) == message


def test_rules_at_the_ends_of_their_ranges():
    rules = Rules(temperature=0, top_k=1, top_p=1, repetition=1e-9)
    with pytest.raises(FrozenInstanceError):
        rules.top_k = 0
    assert Rules(top_k=np.int64(2)).top_k == 2
    assert Rules() == AS_PREDICTED == Rules(1.0, None, None, 1.0)
