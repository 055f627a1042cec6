"""What a trial notices of an answer, and how it says so."""

import math
import re
import signal

import numpy as np
import pytest
import torch

from helpers.course.checks.trial import (
    Complaint,
    NotAttempted,
    Trial,
    describe,
    differs,
    same,
)


def complaint(action):
    with pytest.raises(Complaint) as caught:
        action()
    return caught.value


def test_an_answer_is_called_with_the_arguments_and_its_value_is_handed_on():
    assert Trial(lambda a, b=0: a + b).call(2, b=3) == 5


def test_a_blank_is_not_attempted():
    def answer():
        raise NotImplementedError

    with pytest.raises(NotAttempted):
        Trial(answer).call()


def test_an_error_is_told_with_the_input_its_kind_and_its_line():
    def answer(x):
        return x["missing"]

    wrong = complaint(lambda: Trial(answer).call({"a": 1}))
    assert "KeyError: 'missing'" in wrong.got
    assert 'return x["missing"]' in wrong.got
    assert wrong.given == "{'a': 1}"


def test_the_line_of_an_error_is_the_student_s_not_the_library_s():
    def answer():
        return re.findall(r"\p{L}", "a")

    assert 're.findall(r"' in complaint(Trial(answer).call).got


@pytest.mark.parametrize("error", [SystemExit(3), RecursionError("deep"), ValueError("no")])
def test_whatever_an_answer_raises_is_caught(error):
    def answer():
        raise error

    assert type(error).__name__ in complaint(Trial(answer).call).got


def test_an_interruption_by_the_student_is_not_swallowed():
    def answer():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Trial(answer).call()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarms")
def test_an_endless_loop_ends_even_if_it_catches_every_exception():
    def answer():
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass

    wrong = complaint(lambda: Trial(answer).call(seconds=0.2))
    assert "within 0.2 s" in wrong.rule
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        ([1, 2], lambda x: x.append(3)),
        ({"a": {"b": 1}}, lambda x: x.setdefault("z", {})),
        (torch.zeros(3), lambda x: x.add_(1)),
    ],
)
def test_a_changed_argument_is_noticed(argument, change):
    wrong = complaint(lambda: Trial(change).call(argument))
    assert "leaves its input" in wrong.rule


def test_properties_that_hold_are_kept_once():
    trial = Trial(None)
    for _ in range(2):
        trial.holds(True, "it is so", "")
    assert trial.rules == ["it is so"]


def test_random_inputs_depend_on_the_seed_alone():
    first, second, other = Trial(None, 1), Trial(None, 1), Trial(None, 2)
    assert first.text(50, "abc") == second.text(50, "abc") != other.text(50, "abc")
    assert torch.equal(first.normal(4), second.normal(4))


@pytest.mark.parametrize(
    ("got", "expected", "kind"),
    [
        (1.0 + 1e-8, 1.0, None),
        (torch.tensor(2.0), 2, None),
        (2, 2.0, None),
        (math.inf, math.inf, None),
        (math.nan, math.nan, None),
        (1.1, 1.0, ""),
        (math.inf, 1.0, ""),
        (math.nan, 1.0, ""),
        (1e9, math.inf, ""),
        (True, 1.0, "type"),
        ("1", 1.0, "type"),
        (None, 1.0, "type"),
        ([1, 2], [1, 2], None),
        ((1, 2), [1, 2], None),
        ([1], [1, 2], "length"),
        ([1, 3], [1, 2], ""),
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1}, {"a": 1.0, "b": 2}, "keys"),
        ({"a": 1, "c": 0}, {"a": 1.0}, "keys"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ""),
        ([("a", 1)], {"a": 1}, "type"),
        (torch.zeros(2), torch.zeros(2), None),
        (torch.zeros(2), torch.zeros(2, 1), "shape"),
        (torch.zeros(2), torch.zeros(2).double(), "type"),
        (torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0]), ""),
        (torch.tensor([-math.inf]), torch.tensor([-math.inf]), None),
        (torch.tensor([-math.inf]), torch.tensor([0.0]), ""),
        ([0.0], torch.zeros(1), "type"),
        ("ab", "ab", None),
        ("ab", "ac", ""),
        (np.float64(2.0), 2, None),
        (np.bool_(True), True, None),
        (np.zeros((3, 2)), 0.0, "type"),
        (np.zeros((3, 2)), [0.0], "type"),
        ([np.zeros(2)], [0.0], "type"),
        (np.zeros((3, 2)), "ab", ""),
        (np.zeros((3, 2)), None, ""),
        (torch.zeros(2), False, ""),
        (b"ab", b"ab", None),
    ],
)
def test_values_are_compared(got, expected, kind):
    found = differs(got, expected)
    assert found is None if kind is None else found[3] == kind


def test_the_first_wrong_place_is_named():
    wrong = complaint(
        lambda: Trial(None).equals({"a": [1, 2]}, {"a": [1, 3]}, "rule", "hint", given="g")
    )
    assert (wrong.given, wrong.got, wrong.expected) == ("g (at 'a', at 1)", "2", "3")
    large = torch.zeros(40)
    large[7] = 5
    wrong = complaint(lambda: Trial(None).equals(large, torch.zeros(40), "rule", "hint"))
    assert "(7,)" in wrong.given


def test_same_is_exact():
    assert same(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert not same(torch.zeros(1), torch.zeros(1).double())
    assert not same([1, [2]], [1, [3]])
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})


@pytest.mark.parametrize(
    "value", ["x" * 5000, list(range(5000)), torch.zeros(100, 100), {str(i): i for i in range(999)}]
)
def test_descriptions_are_short(value):
    if not isinstance(value, str):  # text is written by the checks themselves
        assert len(describe(value)) < 300
