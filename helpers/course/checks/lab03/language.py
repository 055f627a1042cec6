"""Checks of lab 03, first part: the network on paper, and the language of coloured parentheses.

A sequence is a list of whole numbers: 0 to 4 open a parenthesis, 9 - i closes the one that i
opened. ``uniform()`` gives a random number from 0 up to, but not including, 1.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.data.parentheses import is_balanced

lab = Lab("lab03")

Uniform = Callable[[], float]

DRAWS = 1500


def answered(got: object, given: object = "") -> None:
    """Something comes back.

    Raises:
        Complaint: it is None.
    """
    if got is None:
        raise Complaint("an answer comes back", NOTHING, str(given), "None")


def by_hand_numbers() -> dict[str, float | list[float]]:
    """The network of the task on paper, from the class's variant: one unit, three symbols."""
    generator = lab.generator("by hand")

    def tenths(low: int, high: int) -> float:
        return int(torch.randint(low, high + 1, (1,), generator=generator)) / 10

    while True:
        n = {
            "w_x": tenths(6, 15),
            "w_h": tenths(4, 9),
            "b": -tenths(1, 4),
            "x": [-tenths(5, 12), tenths(6, 15), tenths(6, 15)],
            "w_y": -tenths(4, 12),
            "b_y": tenths(3, 9),
        }
        found = _elman(n)
        if found["h_2"] >= 0.3 and found["h_3"] != found["h_2"] and found["logit"] < -0.15:
            return n


def _elman(n: Mapping) -> dict[str, float]:
    h, states = 0.0, {}
    for t, x in enumerate(n["x"], 1):
        states[f"h_{t}"] = h = max(0.0, n["w_x"] * x + n["w_h"] * h + n["b"])
    logit = n["w_y"] * h + n["b_y"]
    return {**states, "logit": logit, "P(balanced)": 1 / (1 + math.exp(-logit))}


def _by_hand() -> dict[str, float]:
    return _elman(by_hand_numbers())


@lab.task(_by_hand, uses=["check"], without=["_by_hand", "_elman", "fallback"])
def by_hand(trial: Trial) -> None:
    where = "Notebook 06, 'The lecture's network and its data'."
    hints = {
        "h_1": f"h_0 is 0. What does ReLU make of a negative number? {where}",
        "h_2": f"Step 2 has the same three weights; what is left of step 1 in it? {where}",
        "h_3": f"Step 3 reads its own x, and w_h times the state after step 2; then b. {where}",
        "logit": "The output is linear: w_y times the last state, plus b_y, and no ReLU. A logit "
        "may be negative.",
        "P(balanced)": "The logistic function of the logit z: 1 / (1 + e^-z), between 0 and 1.",
    }
    got, expected = trial.call(), _by_hand()
    given = ", ".join(f"{name} = {value}" for name, value in by_hand_numbers().items())
    trial.named(got, expected)
    numbers = {name: _number(value) for name, value in got.items()}
    for name, number in numbers.items():
        hint = f"What stands at {name!r} is no number; write it without quotation marks."
        trial.holds(number is not None, "five numbers", hint, got=repr(got[name]))
    for name, value in expected.items():
        close = abs(numbers[name] - value) < 6e-4
        trial.holds(close, name, hints[name], given=given, got=got[name])


def _number(value: object) -> float | None:
    try:
        return None if isinstance(value, str) else float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _balanced(sequence: list[int]) -> bool:
    return is_balanced(sequence)


@lab.task(_balanced)
def balanced(trial: Trial) -> None:
    where = "Notebook 06, 'The rule'."
    colour = f"What closes i is 9 - i, and nothing else does. {where}"
    early = f"What can a closing close where nothing is open? {where}"
    left = f"Is anything still open when the sequence ends? {where}"
    order = (
        "What was opened last is closed first: a stack gives back what was put on it last, and "
        f"counting is not enough. {where}"
    )
    for sequence, says, rule, hint in (
        ([0, 9], True, "a pair of one colour", colour),
        ([4, 5], True, "a pair of another colour", colour),
        ([0, 8], False, "a pair of two colours is not balanced", colour),
        ([4, 9], False, "a pair of two colours is not balanced", colour),
        ([2, 0, 9, 7, 0, 9], True, "the lecture's first example", order),
        ([9], False, "nothing closes what was not opened", early),
        ([9, 0], False, "nothing closes what was not opened", early),
        ([0, 9, 9], False, "nothing closes what was not opened", early),
        ([3], False, "nothing stays open", left),
        ([0, 0, 9], False, "nothing stays open", left),
        ([0, 1, 9, 8], False, "pairs do not cross", order),
        ([0, 1, 0, 9, 9, 8], False, "pairs do not cross", order),
        ([0, 8, 1, 9], False, "pairs do not cross", order),
        ([], True, "the empty sequence is balanced", "Nothing is open in it, and nothing closes."),
    ):
        got = trial.call(list(sequence), hint=early if hint is early else "")
        answered(got, sequence)
        if isinstance(got, str | list | tuple):
            hint = "What comes back is True or False, and neither a text nor what is left open."
        trial.equals(got, says, rule, hint, given=sequence)
    uniform = uniform_of(trial)
    for _ in range(60):
        sequence = course_draw_balanced(2 * trial.integer(1, 12), uniform)
        changed = list(sequence)
        changed[trial.integer(0, len(changed))] = trial.integer(0, 10)
        for given in (sequence, changed):
            got = trial.call(list(given))
            answered(got, given)
            trial.equals(got, is_balanced(given), "random sequences", order, given=given)


def course_draw_balanced(length: int, uniform: Uniform) -> list[int]:
    sequence: list[int] = []
    stack: list[int] = []
    for left in range(length, 0, -1):
        if not stack or (len(stack) < left and uniform() < 0.5):
            stack.append(int(5 * uniform()))
            sequence.append(stack[-1])
        else:
            sequence.append(9 - stack.pop())
    return sequence


@lab.task(course_draw_balanced, uses=["balanced"])
def draw_balanced(trial: Trial) -> None:
    uniform = uniform_of(trial)
    forced = (
        "Where nothing is open you must open; where as many are open as symbols are left you must "
        "close; elsewhere you may choose."
    )
    for length in (2, 0, 4, 10, 11 + trial.integer(0, 10) // 2 * 2 + 1, 40):
        got, given = trial.call(length, uniform, given=f"length {length}"), f"length {length}"
        answered(got, given)
        is_sequence(trial, got, given)
        hint = f"The length counts symbols, not pairs. {forced}"
        trial.equals(len(got), length, "the length is as asked for", hint, given=given)
        hint = f"Keep a stack of what is open, and close only its top. {forced}"
        trial.holds(is_balanced(got), "it is balanced", hint, given=given, got=got)
    twice = [trial.call(20, random.Random(5).random, given="length 20") for _ in range(2)]
    trial.holds(
        twice[0] == twice[1],
        "the same numbers from uniform() give the same sequence",
        "Use uniform() for every choice, and nothing else that is random: int(5 * uniform()) is "
        "one of 0, 1, 2, 3, 4.",
        got=f"{twice[0]} and then {twice[1]}",
    )
    for length in (6, 8):
        given = f"{DRAWS} draws of length {length}"
        drawn = [trial.call(length, uniform, given=given) for _ in range(DRAWS)]
        trial.holds(all(map(is_balanced, drawn)), "it is balanced", forced, given=given)
        shapes = {"".join("()"[symbol > 4] for symbol in sequence) for sequence in drawn}
        for wanted, hint in (
            ("(" * (length // 2) + ")" * (length // 2), "Can yours open several in a row?"),
            ("()" * (length // 2), "Can yours close all, and open again?"),
            *((shape, "Which choice is never made, and where?") for shape in _all_shapes(length)),
        ):
            trial.holds(
                wanted in shapes,
                "every shape can come",
                f"{hint} At each place where both are allowed, either must be possible.",
                given=given,
                got=f"{len(shapes)} shapes, and never {wanted}",
            )
    drawn = [trial.call(4, uniform, given="length 4") for _ in range(DRAWS)]
    colours = Counter(tuple(symbol for symbol in sequence if symbol <= 4) for sequence in drawn)
    which = "int(5 * uniform()) is one of 0, 1, 2, 3, 4, each as likely as the others."
    if sum(n for (a, b), n in colours.items() if a == b) > DRAWS / 2:
        which = "Draw a new colour for each opening."
    chi_square = sum((n := colours[a, b] - DRAWS / 25) * n for a in range(5) for b in range(5))
    trial.holds(
        chi_square / (DRAWS / 25) < 80,  # 24 degrees of freedom: less than one in a million
        "each opening takes one of five colours, all alike",
        which,
        given=f"{DRAWS} draws of length 4",
        got={f"opens {pair}": n for pair, n in colours.most_common(3)},
        expected=f"about {DRAWS // 25} of each of the 25 pairs of colours",
    )


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
        got=got,
    )


def _all_shapes(length: int) -> list[str]:
    """All balanced shapes, by brute force."""
    shapes = []
    for number in range(2**length):
        steps = [1 if number >> k & 1 else -1 for k in range(length)]
        heights = [sum(steps[: k + 1]) for k in range(length)]
        if min(heights) >= 0 and heights[-1] == 0:
            shapes.append("".join("(" if step > 0 else ")" for step in steps))
    return shapes
