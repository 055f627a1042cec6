"""Checks of lab 03, second part: honest negatives, windows that find them, and shortcuts.

A labelled set is a list of pairs (sequence, whether it is balanced); for sequences see
``common``.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from helpers.course.checks.lab03.common import Uniform, is_sequence, lab, uniform_of
from helpers.course.checks.lab03.language import course_draw_balanced
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn
from helpers.data.parentheses import is_balanced

LabelledSet = list[tuple[list[int], bool]]


def _exchangeable(sequence: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of closings of different colours that have a closing on either side."""
    inner = [p for p in range(1, len(sequence) - 1) if min(sequence[p - 1 : p + 2]) > 4]
    return [(p, q) for p in inner for q in inner if p < q and sequence[p] != sequence[q]]


def _unbalance(sequence: list[int], uniform: Uniform) -> list[int] | None:
    pairs = _exchangeable(sequence)
    if not pairs:
        return None
    p, q = pairs[int(uniform() * len(pairs))]
    changed = list(sequence)
    changed[p], changed[q] = changed[q], changed[p]
    return changed


@lab.task(_unbalance)
def unbalance(trial: Trial) -> None:
    where = see(6, "Negatives that leave one way")
    inner = (
        "An exchange of a closing right behind an opening, or of the last symbol, is found by a "
        "rule that looks at neighbours or at the ends only: both closings need a closing directly "
        "before them and one directly behind. The task is stricter than the lesson, where the "
        "last symbol may take part: read the task's first step again."
    )
    none = (
        "What should come back where no two closings fit, because there are too few or all have "
        "one colour?"
    )
    alike = "Two closings of one colour exchanged leave the sequence as it was."
    uniform = uniform_of(trial)

    def examine(sequence: list[int], again: int = 1) -> set[tuple[int, ...]]:
        found = set()
        for _ in range(again):
            got = trial.call(list(sequence), uniform, given=str(sequence))
            trial.holds(
                got is not None,
                "an exchange is found where there is one",
                "Too little is allowed: every two inner closings of different colours fit, also "
                "far apart, in different runs of closings, and of colour 5. Give up only if there "
                "is no such pair. (None also comes back where return is forgotten.)",
                given=sequence,
                got="None",
            )
            is_sequence(trial, got, sequence)
            trial.holds(
                sorted(got) == sorted(sequence),
                "length and the number of each symbol stay as they were",
                "Nothing gets a new colour, nothing is added: two symbols change places.",
                given=sequence,
                got=got,
            )
            places = [p for p, (old, new) in enumerate(zip(sequence, got, strict=True))
                      if old != new]  # fmt: skip
            trial.holds(got != sequence, "something changes", alike, given=sequence, got=got)
            trial.holds(
                len(places) == 2 and min(sequence[p] for p in places) > 4,
                "two closings change places, and all else stays",
                f"Openings keep their places, and all closings but two. {where}",
                given=sequence,
                got=got,
            )
            at_inner = all(0 < p < len(got) - 1 and min(got[p - 1 : p + 2]) > 4 for p in places)
            trial.holds(at_inner, "both have a closing on either side", inner, given=sequence,
                        got=got)  # fmt: skip
            found.add(tuple(got))
        return found

    examine([0, 1, 2, 3, 6, 7, 8, 9])
    examine([0, 1, 1, 1, 8, 8, 8, 9, 2, 0, 4, 5, 9, 7], again=60)
    for sequence in ([0, 9], [], [0, 1, 8, 9], [0, 1, 2, 7, 8, 9], [1, 1, 1, 1, 8, 8, 8, 8]):
        got = trial.call(list(sequence), uniform, given=str(sequence), hint=none)
        rule = "None where there is nothing to exchange"
        trial.holds(got is None, rule, none, given=sequence, got=got, expected="None")
    for sequence in (list(range(10)), [0, 1, 1, 1, 8, 8, 8, 9, 2, 0, 4, 5, 9, 7]):
        found = len(examine(sequence, again=200))
        trial.holds(
            found == len(_exchangeable(sequence)),
            "every exchange can come",
            "Choose by uniform() among all pairs that fit, also in different runs of closings.",
            given=sequence,
            got=f"{found} results in 200 draws",
            expected=f"{len(_exchangeable(sequence))} results",
        )
    for _ in range(60):
        sequence = course_draw_balanced(2 * trial.integer(4, 12), uniform)
        if _exchangeable(sequence):
            (changed,) = examine(sequence)
            trial.holds(not is_balanced(changed), "it is no longer balanced", alike, got=changed)
        else:
            got = trial.call(list(sequence), uniform, given=str(sequence), hint=none)
            trial.holds(got is None, rule, none, given=sequence, got=got, expected="None")
    again = [random.Random(5).random, random.Random(5).random]
    twice = [[trial.call(list(range(10)), same) for _ in range(10)] for same in again]
    trial.holds(
        twice[0] == twice[1],
        "the same numbers from uniform() give the same exchange",
        "Use uniform() for every choice, and nothing else that is random.",
        given=list(range(10)),
    )


_PAIR = (
    "An opening and the closing that the stack brings together with it are a pair. Where its two "
    f"colours differ, a window finds it that holds both ends. {see(6, 'The rule')}"
)
_PASSED = "A closing that comes while nothing is open has no partner, and is passed over."


def _for_windows(trial: Trial) -> Iterator[Case]:
    for sequence, rule, hint in (
        ([0, 8], "one pair of two colours", ""),
        ([4, 1, 8, 0, 9, 6], "the widest pair is wrong", ""),
        ([0, 1, 2, 3, 6, 8, 7, 9], "the example", ""),
        ([0, 1, 2, 3, 6, 7, 8, 9], "a balanced sequence", "Which two colours differ in it?"),
        ([0, 1, 8, 8, 3, 5], "the narrower pair comes later", ""),
        ([], "the empty sequence", "There is no pair in it."),
        ([9, 1, 7], "a closing with no partner", _PASSED),
        ([1, 0, 3, 7], "openings with no partner", "What stays open has no partner."),
    ):
        yield Case(rule, sequence, given=str(sequence), hint=hint and f"{hint} {_PAIR}")
    uniform = uniform_of(trial)
    for _ in range(60):
        sequence = course_draw_balanced(2 * trial.integer(4, 12), uniform)
        changed = _unbalance(sequence, uniform) or sequence
        yield Case("exchanges", changed, given=str(changed))
    for _ in range(30):
        drawn = trial.integers(0, 10, 8).tolist()
        yield Case("random strings", drawn, given=str(drawn), hint=f"{_PASSED} {_PAIR}")


@turn(
    lab,
    _PAIR,
    cases=_for_windows,
    none_counts=True,
    slips="""
    t - p + 1 => t - p
        The window holds both ends: ( and ] side by side are two symbols.
    min(widths, default=None) => widths[0] if widths else None
        The wrong pair that closes first need not be the narrowest one.
    min(widths, default=None) => max(widths, default=None)
        One wrong pair is enough: a window finds the sequence wrong as soon as it holds the \
        narrowest one.
    openings.pop() => openings.pop(0)
        A closing belongs to the opening that was opened *last*.
    default=None => default=0
        No window finds anything here, so None comes back.
    """,
)
def smallest_window(sequence):
    openings, widths = [], []
    for t, symbol in enumerate(sequence):
        if symbol <= 4:
            openings.append(t)
        elif openings:
            p = openings.pop()
            if sequence[p] + symbol != 9:
                widths.append(t - p + 1)
    return min(widths, default=None)


_FIT = (
    "For each value of the feature, which class had it more often in the training set? Say "
    "that of every test sequence with this value, and count how often it is right. "
    + see(6, "Write your own shortcut")
)
_COIN = "A coin is right half of the time, whatever the class is: count 1/2 for each."
_UNSEEN = f"Do not leave these out of the count, and do not guess one class. {_COIN}"
_FIXED = f"The rule is fixed on the training set, and only there. {_FIT}"
_YES, _NO = ([0, 9], True), ([0, 9], False)  # of length 2; the others of 4 and 6
_GOOD, _BAD, _LONG = ([0, 8, 0, 8], True), ([0, 8, 0, 8], False), [1, 8, 0, 9, 2, 7]
_BY_HAND = [
    ("the majority of each value", _FIT, [_YES, _YES, _NO, _BAD], [_YES, _BAD]),
    ("what is measured is the test set", _FIT,
     [_YES, _YES, _YES, _NO, _BAD, _BAD], [_YES, _NO, _NO, _GOOD, _BAD, _BAD]),
    ("training may mislead", _FIT, [_YES, _YES, _BAD], [_NO, _NO, _NO, _YES, _BAD]),
    ("a tie in training is a coin", _COIN, [_YES, _NO], [_YES, _YES, _YES, _NO]),
    ("a value that training did not have is a coin", _UNSEEN,
     [_YES, _YES, _BAD], [_YES, (_LONG, True), (_LONG, True), (_LONG, False)]),
]  # fmt: skip


def _labelled(trial: Trial) -> LabelledSet:
    uniform = uniform_of(trial)
    return [(course_draw_balanced(8, uniform), uniform() < 0.5) for _ in range(400)]


def _sets(trial: Trial) -> Iterator[Case]:
    for rule, hint, train, test in _BY_HAND:
        given = f"training: {_tally(train)}; test: {_tally(test)}"
        yield Case(rule, len, train, test, given=given, hint=hint)
    given = "two sets of 400 random sequences"
    yield Case("random sets, first and last symbol", lambda sequence: (sequence[0], sequence[-1]),
               _labelled(trial), _labelled(trial), given=given)  # fmt: skip


def _tally(labelled: LabelledSet) -> str:
    """How many sequences of each length and class there are, in words."""
    counts = Counter((len(sequence), label) for sequence, label in labelled)
    return ", ".join(f"{n} {'' if label else 'un'}balanced of feature {value}"
                     for (value, label), n in counts.items())  # fmt: skip


def _looks_rarely(trial: Trial) -> None:
    """Calls of feature and comparisons of its values grow as the sets do, not as their product."""
    calls, comparisons = 0, 0

    class Value(int):
        def __eq__(self, other: object) -> bool:
            nonlocal comparisons
            comparisons += 1
            return int(self) == other

        __hash__ = int.__hash__

    def feature(sequence: list[int]) -> Value:
        nonlocal calls
        calls += 1
        return Value(sequence[0])

    train, test = _labelled(trial), _labelled(trial)
    n, given = len(train) + len(test), f"two sets of {len(train)} sequences"
    trial.call(feature, train, test, given=given)
    trial.holds(
        calls <= 4 * n and comparisons <= 40 * n,
        "it looks at each sequence a few times at most",
        "Count in the training set once, before you go through the test set: a loop inside of the "
        "other would take minutes on the sets below.",
        given=given,
        got=f"{calls:,} calls of feature, and {comparisons:,} comparisons of its values",
    )


@turn(
    lab,
    _FIT,
    cases=_sets,
    also=_looks_rarely,
    slips=f"""
    if vote == 0 => if feature(sequence) not in votes else label if vote == 0
        {_COIN}
    return right / len(test) => return 100 * right / len(test)
        A share goes from 0 to 1.
    return right / len(test) => return max(right, len(test) - right) / len(test)
        A rule may be wrong more often than a coin. {_FIXED}
    in test: => in (test := train):
        Count on the test set. {_FIXED}
    in train: => in test:
        {_FIXED}
    """,
)
def shortcut_accuracy(feature, train, test):
    votes: Counter = Counter()
    for sequence, label in train:
        votes[feature(sequence)] += 1 if label else -1
    right = 0.0
    for sequence, label in test:
        vote = votes[feature(sequence)]
        right += 0.5 if vote == 0 else (vote > 0) == label
    return right / len(test)
