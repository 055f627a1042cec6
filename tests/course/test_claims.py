"""Claims are awake in a run of the tests, and asleep for everybody else."""

import pytest

from helpers.course.claims import CHECKED, VARIABLE, claims_are_checked


def test_the_tests_check_claims(monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, "1")
    assert claims_are_checked() is True
    assert capsys.readouterr().out == f"{CHECKED}\n"


@pytest.mark.parametrize("value", [None, "", "0", "true"])
def test_a_student_s_run_does_not(monkeypatch, capsys, value):
    if value is None:
        monkeypatch.delenv(VARIABLE)
    else:
        monkeypatch.setenv(VARIABLE, value)
    assert claims_are_checked() is False
    assert capsys.readouterr().out == ""
