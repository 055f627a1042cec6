"""Rules of decoding: how the next token is drawn, together in one value that checks itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral


@dataclass(frozen=True)
class Rules:
    """What is done to a next-token distribution before a token is drawn from it.

    ``helpers.inference.filters`` says what each rule does, and ``filters.token_probabilities`` in
    which order. As they stand here they change nothing.

    Attributes:
        temperature: p is made proportional to p ** (1 / temperature); 0 takes the likeliest token
            (ties go to the lower id).
        top_k: draw from the k likeliest tokens only; None for all.
        top_p: draw from the fewest tokens only that have the probability p together; None for all.
        repetition: penalty on tokens that stand in the text already; 1 is none.

    Raises:
        ValueError: a rule out of its range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    repetition: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature is {self.temperature}; expected a number of 0 or more.")
        k = self.top_k
        if k is not None and (not isinstance(k, int | Integral) or k < 1):
            raise ValueError(f"top_k is {k}; expected a whole number of tokens to keep, 1 or more.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(
                f"top_p is {self.top_p}; expected a probability above 0 and at most 1."
            )
        if not 0 < self.repetition < math.inf:
            raise ValueError(
                f"repetition is {self.repetition}; expected a number above 0 (1 is no penalty)."
            )


AS_PREDICTED = Rules()
