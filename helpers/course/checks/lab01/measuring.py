"""Checks of lab 01: bits per character, and text that a model writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from helpers.course.checks.lab01.common import UNDERFLOW, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

_ASKED = "the contexts that your function asked for"


def _call(answer: Callable[..., Any], contexts: bool, predict: Callable, *arguments: Any) -> Any:
    """What it gives; or the contexts that it asks for, in quotes so that an empty one is seen."""
    asked: list[str] = []

    def noted(context: str) -> dict[str, float]:
        asked.append(repr(context))
        return dict(predict(context))

    got = answer(noted, *arguments)
    return asked if contexts else got


def _costs(trial: Trial) -> Iterator[Case]:
    given = "a model of eight equally likely characters, 'badcafe', n = 3"
    even = dict.fromkeys("abcdefgh", 1 / 8)
    yield Case("eight equally likely characters cost 3 bits each", False, lambda context: even,
               "badcafe", 3, given=given,
               hint="Bits are logarithms to base 2, and the mean is over the characters. "
               + see(1, "Bits per what?"))  # fmt: skip
    three = {"a": 0.5, "b": 0.25, "c": 0.25}
    given = "P(a) = 1/2, P(b) = P(c) = 1/4, the text 'abca', n = 3"
    hint = "Ask for the probability of the character that the text has, not of the likeliest one."
    yield Case("the cost of what stands there", False, lambda context: three, "abca", 3,
               given=given, hint=hint)  # fmt: skip
    rule, given = "each character is predicted from the n - 1 before it", f"{_ASKED}, for 'abca'"
    hint = "What may the model see when it predicts character i? Count on your fingers, at i = 0 "
    yield Case(rule, True, lambda context: three, "abca", 3, given=f"{given} with n = 3",
               hint=f"{hint}too.")  # fmt: skip
    hint = "The last n - 1 characters are none here, and text[-0:] is the whole text."
    yield Case("with n = 1 the context is empty", True, lambda context: three, "abc", 1,
               given=f"{_ASKED}, for 'abc' with n = 1", hint=hint)  # fmt: skip
    hint = "A symbol that is no key has probability 0, and log 0 is an error in Python."
    yield Case("an impossible character costs infinitely many bits", False,
               lambda context: {"a": 1.0}, "ab", 2, given="P(a) = 1, the text 'ab'",
               hint=hint)  # fmt: skip
    yield Case("a long text does not underflow", False, lambda context: {"a": 0.01, "b": 0.99},
               "a" * 5000, 2, given="5,000 characters, each with P = 0.01",
               hint=UNDERFLOW)  # fmt: skip
    text, p = trial.text(40, "abc"), (0.1 + torch.rand(3, generator=trial.generator)).tolist()
    model = {s: value / sum(p) for s, value in zip("abc", p, strict=True)}
    yield Case("a random text", False, lambda context: model, text, 2, given=text)


@turn(
    lab,
    "The mean over all characters of -log2 P(character | context).",
    cases=_costs,
    call=_call,
    slips="""
    in enumerate(text): => in list(enumerate(text))[n - 1 :]:
        The first n - 1 characters cost bits, too: their context is shorter.
    max(0, i - n + 1) => i - n + 1
        The context of the second character is missing. At i = 1 the slice is text[-1:1], and a \
        negative beginning counts from the end of the text.
    """,
)
def bits_per_character(predict, text, n):
    bits = 0.0
    for i, symbol in enumerate(text):
        p = predict(text[max(0, i - n + 1) : i]).get(symbol, 0)
        if p == 0:
            return math.inf
        bits -= math.log2(p)
    return bits / len(text)


def _uniform_of(trial: Trial) -> Callable[[], float]:
    return lambda: float(torch.rand(1, generator=trial.generator))


def _texts(trial: Trial) -> Iterator[Case]:
    uniform, after = _uniform_of(trial), {"": "a", "a": "b", "b": "c", "c": "a"}

    def cycle(context: str) -> dict[str, float]:
        return {after[context[-1:]]: 1.0}

    given = "a model that goes a, b, c, a, ...; 7 characters, n = 3"
    yield Case("a certain model is followed", False, cycle, 7, 3, uniform, given=given)
    rule = "the model is asked with the last n - 1 characters"
    hint = "Of a text shorter than n - 1 the context is all there is"
    yield Case(rule, True, cycle, 7, 3, uniform, given=f"{_ASKED}, n = 3",
               hint=f"{hint}; text[-0:] is the whole text.")  # fmt: skip
    hint += ". A slice that begins at a negative number counts from the end: text[-2:] has the "
    yield Case(rule, True, cycle, 6, 5, uniform, given=f"{_ASKED}, n = 5",
               hint=f"{hint}last two characters.")  # fmt: skip
    yield Case("with n = 1 the context is empty", True, lambda context: {"a": 1.0}, 3, 1, uniform,
               given=f"{_ASKED}, n = 1", hint="text[-0:] is the whole text.")  # fmt: skip
    yield Case("length 0", False, cycle, 0, 3, uniform, given="length 0")


def _draws(trial: Trial) -> None:
    uniform, asked = _uniform_of(trial), []
    N, model = 4000, {"a": 0.5, "b": 0.3, "c": 0.2}

    def noted() -> float:
        asked.append(uniform())
        return asked[-1]

    counts = Counter(trial.call(lambda context: dict(model), N, 2, noted, given="4,000 draws"))
    one = "One u for each character: draw it before the loop over the symbols, not anew for each."
    sampled = (
        "A uniform number u picks the first symbol at which the running sum exceeds u. Taking the "
        "likeliest one is no sampling."
    )
    chi_square = sum((counts[s] - N * p) ** 2 / (N * p) for s, p in model.items())
    trial.holds(
        set(counts) <= set(model) and chi_square < 27.6,  # one in a million for two degrees
        "4,000 draws follow the distribution (chi-square)",
        one if len(asked) > N else sampled,
        given="P(a) = 0.5, P(b) = 0.3, P(c) = 0.2",
        got={s: counts[s] / N for s in sorted(counts)},
    )
    given, texts, calls = "40 draws, twice, with the same numbers from uniform()", [], []
    for _ in range(2):
        asked.clear()
        trial.generator.manual_seed(N)
        texts.append(trial.call(lambda context: dict(model), 40, 2, noted, given=given))
        calls.append(len(asked))
    trial.holds(
        texts[0] == texts[1] and min(calls) >= 40,
        "the same random numbers give the same text",
        "Every draw takes its number from uniform(), and nothing else is random.",
        given=given,
        got=f"{calls[0]} and {calls[1]} calls of uniform()",
    )


@turn(
    lab,
    "Draw from the model's distribution after the text so far, and add what was drawn to it.",
    cases=_texts,
    call=_call,
    also=_draws,
)
def sample_text(predict, length, n, uniform):
    text = ""
    for _ in range(length):
        p = predict(text[max(0, len(text) - n + 1) :])
        u, chosen = uniform() * sum(p.values()), ""
        for symbol, share in p.items():
            chosen = symbol if share > 0 else chosen
            u -= share
            if u < 0:
                break
        text += chosen
    return text
