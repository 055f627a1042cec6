"""Checks of lab 03, first part: the language of coloured parentheses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from helpers.course.checks.lab03.common import (
    Uniform,
    answered,
    is_sequence,
    lab,
    uniform_of,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial, with_hints
from helpers.course.checks.turn import Case, turn
from helpers.data.parentheses import is_balanced

DRAWS = 1500


_WHERE = see(6, "The rule")
_COLOUR = f"0 to 4 open. What closes i is 9 - i, and nothing else does. {_WHERE}"
_EARLY = f"What can a closing close where nothing is open? {_WHERE}"
_LEFT = (
    "Is anything still open when the sequence ends? That is seen behind the last symbol, at "
    f"the position that the next symbol would have. {_WHERE}"
)
_ORDER = (
    "What was opened last is closed first: a stack gives back what was put on it last, and "
    f"counting is not enough. {_WHERE}"
)


def _sequences(trial: Trial) -> Iterator[Case]:
    for sequence, rule, hint in (
        ([0, 9], "a pair of one colour", _COLOUR),
        ([4, 9], "a pair of two colours", _COLOUR),
        ([4, 5], "a pair of another colour", _COLOUR),
        ([0, 8], "a pair of two colours", _COLOUR),
        ([2, 0, 9, 7, 0, 9], "the lecture's first example", _ORDER),
        ([9], "nothing closes what was not opened", _EARLY),
        ([9, 0], "nothing closes what was not opened", _EARLY),
        ([0, 9, 9], "nothing closes what was not opened", _EARLY),
        ([0, 0, 9], "nothing stays open", _LEFT),
        ([3], "nothing stays open", _LEFT),
        ([0, 8, 1, 9], "the first of two errors", _COLOUR),
        ([0, 1, 9, 8], "pairs do not cross", _ORDER),
        ([0, 1, 0, 9, 9, 8], "pairs do not cross", _ORDER),
        ([], "the empty sequence is balanced", "Nothing is open in it, and nothing closes."),
    ):
        yield Case(rule, sequence, given=str(sequence), hint=hint)
    uniform = uniform_of(trial)
    for _ in range(60):
        sequence = course_draw_balanced(2 * trial.integer(1, 12), uniform)
        changed = list(sequence)
        changed[trial.integer(0, len(changed))] = trial.integer(0, 10)
        for given in (sequence, changed):
            yield Case("random sequences", given, given=str(given))


@turn(
    lab,
    _ORDER,
    cases=_sequences,
    none_counts=True,
    slips=f"""
    else None => else 0
    else None => else -1
        Nothing is wrong here, so None comes back; 0 would be the first position.
    return position => return position + 1
        Positions count from 0, as indices do.
    stack.append(symbol) => stack.append((symbol, position)) ;; stack.pop() => stack.pop()[0] ;; \
    len(sequence) if => stack[-1][1] if
        Not the opening that is left without its closing is asked for, but the symbol at which one \
        notices it: up to there everything could still become right. {_WHERE}
    return position => last = position ;; \
    return len(sequence) => return last if "last" in locals() else len(sequence)
        The first error counts, and reading ends there.
    else None => else True
    else None => else False
        Where is the first error? True or False does not tell.
    """,
)
def first_error(sequence):
    stack = []
    for position, symbol in enumerate(sequence):
        if symbol <= 4:
            stack.append(symbol)
        elif not stack or stack.pop() != 9 - symbol:
            return position
    return len(sequence) if stack else None


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


@lab.task(course_draw_balanced, uses=["first_error"])
def draw_balanced(trial: Trial) -> None:
    uniform = uniform_of(trial)

    def draw(length: int, given: str) -> list[list[int]]:
        """Many sequences, watched as one call."""
        many = [length] * DRAWS
        return trial.run(lambda: [trial.answer(n, uniform) for n in many], given=given)

    forced = (
        "Where nothing is open you must open; where as many are open as symbols are left you must "
        "close; elsewhere you may choose."
    )
    errors = dict.fromkeys(
        ("builtin_function", "'method'", "'function'"),
        "uniform is a function: uniform() calls it and gives a number.",
    )
    for length in (2, 0, 4, 10, 11 + trial.integer(0, 10) // 2 * 2 + 1, 40):
        given = f"length {length}"
        with with_hints(errors):
            got = trial.call(length, uniform, given=given)
        answered(got, given)
        is_sequence(trial, got, given)
        hint = "The length counts symbols, not pairs."
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
        drawn = draw(length, given)
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
                f"{hint} At each place where both are allowed, either must be possible, and "
                f"neither so rare that a shape does not come in {DRAWS:,} draws.",
                given=given,
                got=f"{len(shapes)} shapes, and never {wanted}",
            )
    drawn = draw(4, "length 4")
    colours = Counter(tuple(symbol for symbol in sequence if symbol <= 4) for sequence in drawn)
    which = (
        "int(5 * uniform()) is one of 0, 1, 2, 3, 4, each as likely as the others. Take a fresh "
        "uniform() for every choice: a number that has decided between opening and closing is no "
        "longer any number from 0 to 1."
    )
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


def _all_shapes(length: int) -> list[str]:
    """All balanced shapes, by brute force."""
    shapes = []
    for number in range(2**length):
        steps = [1 if number >> k & 1 else -1 for k in range(length)]
        heights = [sum(steps[: k + 1]) for k in range(length)]
        if min(heights) >= 0 and heights[-1] == 0:
            shapes.append("".join("(" if step > 0 else ")" for step in steps))
    return shapes
