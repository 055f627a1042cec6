"""What a trial notices of an answer, and how it says so."""

import operator
import re
import signal

import pytest
import torch

from helpers.course.checks.trial import (
    ERROR,
    LEFT_ALONE,
    NAME,
    NOTHING,
    TENSOR,
    TYPE,
    Complaint,
    NotAttempted,
    Trial,
)
from helpers.device import SPEED


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
def test_an_endless_loop_ends_even_if_it_catches_every_exception(monkeypatch):
    monkeypatch.setenv(SPEED, "1")

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


def test_the_first_wrong_place_is_named():
    wrong = complaint(
        lambda: Trial(None).equals({"a": [1, 2]}, {"a": [1, 3]}, "rule", "hint", given="g")
    )
    assert (wrong.given, wrong.got, wrong.expected) == ("g (at 'a', at 1)", "2", "3")
    large = torch.zeros(40)
    large[7] = 5
    wrong = complaint(lambda: Trial(None).equals(large, torch.zeros(40), "rule", "hint"))
    assert "(7,)" in wrong.given


SLIPS = [(5, "Not the sum."), (6, "Not the product.")]


@pytest.mark.parametrize(
    ("got", "hint"),
    [(5, "Not the sum."), (6.0, "Not the product."), (7, "usual"), ("5", "usual"), (None, NOTHING)],
)
def test_a_known_slip_gets_its_own_hint(got, hint):
    assert complaint(lambda: Trial(None).equals(got, 8, "r", "usual", slips=SLIPS)).hint == hint


def test_a_slip_is_compared_with_all_that_the_answer_gave():
    zeros, slips = torch.zeros(40), [(torch.ones(40), "All are one too large.")]
    wrong = complaint(lambda: Trial(None).equals(torch.ones(40), zeros, "r", "usual", slips=slips))
    assert wrong.hint == "All are one too large."
    assert (wrong.got, wrong.expected) == ("1.0", "0.0")


def test_what_is_no_tensor_is_told_so_where_slips_are_known():
    zeros = torch.zeros(2)
    wrong = complaint(lambda: Trial(None).equals([0, 0], zeros, "r", "usual", slips=[(zeros, "")]))
    assert wrong.hint == TENSOR
    wrong = complaint(lambda: Trial(None).equals([0, 0], zeros, "r", "usual"))
    assert wrong.hint == "usual"


def test_the_slips_of_a_right_answer_are_not_made():
    def slips():
        raise AssertionError
        yield

    Trial(None).equals(1, 1, "rule", "usual", slips=slips())


def agree(answer, *arguments, slips=(), **look):
    Trial(answer).agrees(
        operator.truediv, *arguments, rule="a quotient", hint="usual", slips=slips, **look
    )


QUOTIENT_SLIPS = [
    (lambda a, b: 1 / (b - 2), "It never fits where b is 2."),  # and raises there
    (lambda a, b: b / a, "Upside down."),
    (lambda a, b: [a, b], "Not both."),
]


def test_an_answer_agrees_with_a_reference():
    trial = Trial(lambda a, b: a / b + 1e-9)
    trial.agrees(operator.truediv, 6, 2, rule="a quotient", hint="usual")
    assert trial.rules == [LEFT_ALONE, "a quotient"]
    assert trial.value == pytest.approx(3)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda a, b: b / a, "Upside down."),
        (lambda a, b: [a, b], "Not both."),
        (lambda a, b: a * b, "usual"),
        (lambda a, b: None, NOTHING),
        (lambda a, b: "3", TYPE),
        (lambda a, b: [1], TYPE),
    ],
)
def test_what_does_not_agree_gets_the_hint_of_its_slip(answer, hint):
    wrong = complaint(lambda: agree(answer, 6, 2, slips=QUOTIENT_SLIPS))
    assert wrong.hint == hint
    assert wrong.rule.split(":")[0] == "a quotient"
    assert wrong.given == "6, 2"


def early(a, b):
    a = c + b  # noqa: F821
    c = a
    return c


def test_an_error_gets_the_usual_hint_of_the_rule():
    wrong = complaint(lambda: agree(lambda a, b: a[b], 6, 2, slips=QUOTIENT_SLIPS))
    assert (wrong.rule, wrong.hint) == ("it runs without an error", "usual")
    wrong = complaint(lambda: agree(lambda a, b: unknown, 6, 2))  # noqa: F821
    assert wrong.hint == NAME
    wrong = complaint(lambda: agree(early, 6, 2))
    assert wrong.hint == ERROR


def test_the_input_of_an_agreement_may_be_given_in_words():
    assert complaint(lambda: agree(lambda a, b: 0, 6, 2, given="six halves")).given == "six halves"


def test_an_agreement_within_a_tolerance():
    agree(lambda a, b: 3.05, 6, 2, tolerance=0.1)
    assert complaint(lambda: agree(lambda a, b: 3.05, 6, 2)).hint == "usual"


def test_what_is_compared_may_be_more_than_what_a_call_gives():
    look = {"call": lambda answer, a, b: round(answer(a, b)), "slips": QUOTIENT_SLIPS}
    agree(lambda a, b: a / b + 0.3, 6, 2, **look)
    assert complaint(lambda: agree(lambda a, b: b / a, 7, 2, **look)).hint == "Upside down."


def test_slips_are_called_only_where_the_answer_is_wrong():
    called = []
    slips = [(lambda a, b: called.append(a), "never")]
    agree(lambda a, b: a / b, 6, 2, slips=slips)
    assert called == []
    complaint(lambda: agree(lambda a, b: 0, 6, 2, slips=slips))
    assert called == [6]


def test_the_reference_gets_the_arguments_as_they_were():
    trial = Trial(lambda row: row.pop())
    wrong = complaint(lambda: trial.agrees(max, [1, 2], rule="the largest", hint="usual"))
    assert wrong.rule == LEFT_ALONE


def test_none_may_be_an_answer_like_others():
    def judge(got, expected, slips=()):
        look = {"slips": slips, "none_counts": True}
        return complaint(lambda: Trial(None).equals(got, expected, "r", "usual", **look))

    Trial(None).equals(None, None, "r", "usual", none_counts=True)
    wrong = judge(None, 3)
    assert (wrong.rule, wrong.hint, wrong.got) == ("r", "usual", "None")
    assert judge(None, 3, [(None, "Something is there.")]).hint == "Something is there."
    agreed = Trial(lambda x: None)
    wrong = complaint(lambda: agreed.agrees(abs, -3, rule="r", hint="usual", none_counts=True))
    assert wrong.hint == "usual"
