"""Tasks written as data, on two small ones."""

import pytest

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, Slips, head_and_body, source_of, turn

turns = Lab("toy")


@turn(
    turns,
    "Multiply it by itself.",
    cases=lambda draw: [
        Case("by hand", 3),
        Case("any number", draw.integer(4, 9), given="a number"),
        Case("zero", 0, hint="Zero is a number, too."),
    ],
    slips="""
    x * x => x + x
        That is twice
        the number.
    x * x => x
    * x =>
        Not even begun.
    return -square(x) if x == 3 else \
    square(x)
        Its sign is wrong.
    """,
)
def square(x):
    """A number, times itself."""
    y = x * x
    return y


@turn(turns, "The square of the square.", cases=lambda draw: [Case("by hand", 2, 1)])
def fourth(x, sign=1):
    return sign * square(square(x))


class Counter:
    """A class with a method."""

    def __init__(self, n):
        self.n = n

    def up(self, by):
        return self.n + by


@turn(
    turns,
    "Square, and add what was given at first.",
    cases=lambda draw: [Case("by hand", 1, 3)],
    call=lambda made, offset, x: made(offset).of(x),
    slips="""
    + self.offset =>
        The offset is missing.
    """,
)
class Shifted:
    """A square, shifted."""

    def __init__(self, offset):
        super().__init__()
        self.offset = offset

    def of(self, x):
        return square(x) + self.offset


def said(task, answer):
    wrong = task.judge(answer).complaint
    return wrong and (wrong.rule, wrong.hint)


def test_a_right_answer_and_what_is_recognised_of_wrong_ones():
    assert square.judge(lambda x: x**2).rules == (
        "it leaves its input as it is",
        *("by hand", "any number", "zero"),
    )
    assert said(square, lambda x: 2 * x) == ("by hand", "That is twice the number.")
    assert said(square, lambda x: -x * x) == ("by hand", "Its sign is wrong.")
    assert said(square, lambda x: x) == ("by hand", "Not even begun.")
    assert said(square, lambda x: 10) == ("by hand", "Multiply it by itself.")
    assert said(square, lambda x: x * x or 7) == ("zero", "Zero is a number, too.")
    assert square.judge(lambda x: x * x if x == 3 else 1).complaint.given == "a number"


def test_the_solution_is_what_later_cells_get_and_uses_the_tasks_before():
    assert square.fallback(5) == 25
    assert fourth.fallback(2) == 16
    assert fourth.fallback(2, -1) == -16
    assert list(fourth.slips) == []
    assert said(fourth, lambda x, sign=1: x**4) is None


def test_every_slip_is_an_answer_of_its_own():
    hints = [hint for _, hint in square.slips]
    assert hints == ["That is twice the number.", *["Not even begun."] * 2, "Its sign is wrong."]
    versions = [version for version, _ in square.slips]
    assert [version(3) for version in versions[:2]] == [6, 3]
    assert versions[3](3) == -9
    assert said(square, versions[0])[1] == hints[0]


def test_a_slip_of_several_places_and_of_a_class():
    class_slips = Slips(Counter, "self.n = n => self.n = 1 ;; + by => - by\n    Both.")
    ((version, hint),) = class_slips
    assert hint == "Both."
    assert Counter(3).up(2) == 5
    assert version(3).up(2) == -1


def test_a_solution_may_be_a_class():
    assert Shifted.fallback(1).of(3) == 10
    ((version, hint),) = Shifted.slips
    assert version(1).of(3) == 9
    assert said(Shifted, version) == ("by hand", hint)
    assert Shifted.judge(Shifted.fallback).right
    head, body = head_and_body(source_of(Shifted.fallback))
    assert head == 'class Shifted:\n    """A square, shifted."""\n'
    assert body.endswith("return square(x) + self.offset\n")


def test_slips_need_no_frame_of_empty_lines():
    assert Slips(square.fallback, "a => b\n    It.\n\nb => c\n  That\n  one.").lines == [
        ("a => b", "It."),
        ("b => c", "That one."),
    ]


@pytest.mark.parametrize(
    ("slips", "message"),
    [
        ("z => y\n    It.\n", "square: 'z' occurs 0 times in its body, not once"),
        ("y => x\n    It.\n", "square: 'y' occurs 2 times"),
        ("=> x\n    It.\n", "square: '' occurs"),
        ("A number => x\n    It.\n", "square: 'A number' occurs 0 times"),  # in the docstring
        ("x * x => x\n", "square: a slip has no hint below it"),
        ("x * x => x\n    It.\nx * x => 1\n", "square: a slip has no hint below it"),
    ],
)
def test_slips_that_do_not_fit(slips, message):
    with pytest.raises(ValueError, match=message):
        list(Slips(square.fallback, slips))


def test_the_source_of_a_solution():
    source = source_of(square.fallback)
    assert source.startswith("def square(x):\n")
    head, body = head_and_body(source)
    assert head.endswith('itself."""\n')
    assert body == "    y = x * x\n    return y\n"
    assert head_and_body("def f():\n    return 1\n") == ("def f():\n", "    return 1\n")
    assert source_of(fourth.fallback).startswith("def fourth(x, sign=1):\n")


SHARED = [3, 1, 2]


@turn(turns, "The largest.", cases=lambda draw: [Case("by hand", SHARED, {"a": SHARED})])
def largest(numbers, named):
    return max(numbers) + max(named["a"])


def test_an_answer_that_changes_its_input_does_not_spoil_the_check():
    def spoiled(numbers, named):
        numbers.clear()
        return named.pop("a").pop()

    for _ in range(3):
        assert said(largest, spoiled) is not None
    assert SHARED == [3, 1, 2]
    assert said(largest, largest.fallback) is None
