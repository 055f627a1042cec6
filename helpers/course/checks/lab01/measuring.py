"""Checks of lab 01: bits per character, and text that a model writes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import torch

from helpers.course.checks.lab01.common import EMPTY, Distribution, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial


def course_bits(predict: Callable[[str], Distribution], text: str, n: int) -> float:
    total = 0.0
    for i, symbol in enumerate(text):
        p = predict(text[max(0, i - n + 1) : i]).get(symbol, 0.0)
        if p == 0:
            return math.inf
        total -= math.log2(p)
    return total / len(text)


_FROM_THE_END = (
    "The context of the second character is missing. At i = 1 the slice is text[-1:1], and a "
    "negative beginning counts from the end of the text."
)


@lab.task(course_bits)
def bits_per_character(trial: Trial) -> None:
    trial.equals(
        trial.call(lambda context: dict.fromkeys("abcdefgh", 1 / 8), "badcafe", 3),
        3.0,
        "eight equally likely characters cost 3 bits each",
        "Bits are logarithms to base 2, and the mean is over the characters. "
        + see(1, "Bits per what?"),
        slips=[(15 / 7, "The first n - 1 characters cost bits, too: their context is shorter.")],
        given="a model of eight equally likely characters, 'badcafe', n = 3",
    )
    seen: list[str] = []

    def predict(context: str) -> Distribution:
        seen.append(context)
        return {"a": 0.5, "b": 0.25, "c": 0.25}

    trial.equals(
        trial.call(predict, "abca", 3),
        1.5,
        "the cost of what stands there",
        "Ask for the probability of the character that the text has, not of the likeliest one.",
        given="P(a) = 1/2, P(b) = P(c) = 1/4, the text 'abca', n = 3",
    )
    trial.equals(
        [*map(repr, seen)],  # with quotes, so that an empty one is seen
        [*map(repr, ["", "a", "ab", "bc"])],
        "each character is predicted from the n - 1 before it",
        "What may the model see when it predicts character i? Count on your fingers, at i = 0 too.",
        slips=[([repr("abca"[i - 2 : i]) for i in range(4)], _FROM_THE_END)],
        given="the contexts that your function asked for, for 'abca' with n = 3",
    )
    seen.clear()
    trial.call(predict, "abc", 1, given="'abc' with n = 1")
    trial.equals(
        [*map(repr, seen)],
        ["''"] * 3,
        "with n = 1 the context is empty",
        "The last n - 1 characters are none here, and text[-0:] is the whole text.",
        given="the contexts that your function asked for, for 'abc' with n = 1",
    )
    hint = "A symbol that is no key has probability 0, and log 0 is an error in Python."
    trial.equals(
        trial.call(lambda context: {"a": 1.0}, "ab", 2, hint=hint, given="P(a) = 1, the text 'ab'"),
        math.inf,
        "an impossible character costs infinitely many bits",
        hint,
        given="P(a) = 1, the text 'ab'",
    )
    hint = "A product of 5,000 small numbers is 0 in floating point: add logarithms instead."
    given = "5,000 characters, each with P = 0.01"
    trial.equals(
        trial.call(lambda context: {"a": 0.01, "b": 0.99}, "a" * 5000, 2, hint=hint, given=given),
        math.log2(100),
        "a long text does not underflow",
        hint,
        given=given,
    )
    text = trial.text(40, "abc")
    p = (0.1 + torch.rand(3, generator=trial.generator)).tolist()
    model = {s: value / sum(p) for s, value in zip("abc", p, strict=True)}
    trial.equals(
        trial.call(lambda context: dict(model), text, 2),
        course_bits(lambda context: model, text, 2),
        "a random text",
        "The mean over all characters of -log2 P(character | context).",
        given=text,
    )


def _sample_text(predict, length: int, n: int, uniform: Callable[[], float]) -> str:
    text = ""
    for _ in range(length):
        p = predict(text[max(0, len(text) - n + 1) :])
        u, chosen = uniform() * sum(p.values()), None
        for symbol, share in p.items():
            chosen = symbol if share > 0 else chosen
            u -= share
            if u < 0:
                break
        text += chosen
    return text


@lab.task(_sample_text)
def sample_text(trial: Trial) -> None:
    def uniform() -> float:
        return float(torch.rand(1, generator=trial.generator))

    seen: list[str] = []

    def cycle(context: str) -> Distribution:
        seen.append(context)
        return {"": {"a": 1.0}, "a": {"b": 1.0}, "b": {"c": 1.0}, "c": {"a": 1.0}}[context[-1:]]

    got = trial.call(cycle, 7, 3, uniform, given="a model that goes a, b, c, a, ...; 7 characters")
    trial.equals(
        got,
        "abcabca",
        "a certain model is followed",
        "Draw from the model's distribution after the text so far, and add what was drawn to it.",
        given="a model that goes a, b, c, a, ...; 7 characters, n = 3",
    )
    trial.equals(
        [*map(repr, seen)],  # with quotes, so that an empty one is seen
        [*map(repr, ["", "a", "ab", "bc", "ca", "ab", "bc"])],
        "the model is asked with the last n - 1 characters",
        "Of a text shorter than n - 1 the context is all there is; text[-0:] is the whole text.",
        given="the contexts that your function asked for, n = 3",
    )
    seen.clear()
    trial.call(cycle, 6, 5, uniform, given="6 characters, n = 5")
    trial.equals(
        [*map(repr, seen)],
        [*map(repr, ["", "a", "ab", "abc", "abca", "bcab"])],
        "the model is asked with the last n - 1 characters",
        "Of a text shorter than n - 1 the context is all there is. A slice that begins at a "
        "negative number counts from the end: text[-2:] has the last two characters.",
        given="the contexts that your function asked for, n = 5",
    )
    seen.clear()
    trial.call(lambda context: seen.append(context) or {"a": 1.0}, 3, 1, uniform, given="n = 1")
    trial.equals(
        [*map(repr, seen)],
        ["''"] * 3,
        "with n = 1 the context is empty",
        "text[-0:] is the whole text.",
        given="the contexts that your function asked for, n = 1",
    )
    trial.equals(
        trial.call(cycle, 0, 3, uniform, given="length 0"), "", "length 0", EMPTY, given="length 0"
    )
    N, model, asked = 4000, {"a": 0.5, "b": 0.3, "c": 0.2}, Counter()

    def noted() -> float:
        asked["uniform"] += 1
        return uniform()

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
        one if asked["uniform"] > N else sampled,
        given="P(a) = 0.5, P(b) = 0.3, P(c) = 0.2",
        got={s: counts[s] / N for s in sorted(counts)},
    )
    texts, calls = [], []
    for _ in range(2):
        numbers, drawn = torch.Generator().manual_seed(N), []

        def counted(numbers: torch.Generator = numbers, drawn: list = drawn) -> float:
            drawn.append(float(torch.rand(1, generator=numbers)))
            return drawn[-1]

        given = "40 draws, twice, with the same numbers from uniform()"
        texts.append(trial.call(lambda context: dict(model), 40, 2, counted, given=given))
        calls.append(len(drawn))
    trial.holds(
        texts[0] == texts[1] and min(calls) >= 40,
        "the same random numbers give the same text",
        "Every draw takes its number from uniform(), and nothing else is random.",
        given=given,
        got=f"{calls[0]} and {calls[1]} calls of uniform()",
    )
