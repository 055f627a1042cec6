"""Wrong answers inside a lesson are caught, for the right reason; right ones pass."""

import re

import pytest

from helpers.course.checks.turn import source_of
from helpers.course.environment import find_root
from tests.labs.mutation import ENDLESS, SEEDS, TIME_LIMIT, caught, patch, time_limit
from tests.lessons import your_turn
from tests.lessons.your_turn import (
    GENERIC,
    Slip,
    answers,
    handed_over,
    judge,
    judge_mutant,
    judge_rewrite,
    judge_slip,
    lacking,
    lessons,
    slips,
    turns,
)

LESSONS = lessons(find_root())
TURNS = [(lesson, task) for lesson, path in LESSONS.items() for task in turns(path)]
WRONG = [(lesson, mutant) for lesson in LESSONS for mutant in answers(lesson).MUTANTS]
RIGHT = [(lesson, rewrite) for lesson in LESSONS for rewrite in answers(lesson).REWRITES]

AS_DATA = sorted({(lesson, slip.task) for lesson in LESSONS for slip in slips(lesson)})


def name(value):
    return value if isinstance(value, str) else f"{value.task}-{value.name}".replace(" ", "-")


@pytest.fixture(
    params=[
        pytest.param(SEEDS[:1], id="seed0"),
        pytest.param(SEEDS, id="seeds", marks=pytest.mark.nightly),
    ]
)
def seeds(request, monkeypatch):
    """Answers are tried on the inputs that a student's notebook draws, and on others at night."""
    monkeypatch.setattr(your_turn, "SEEDS", request.param)


def test_there_are_lessons_in_which_the_student_writes():
    assert "notebook02" in LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_task_has_three_wrong_answers_and_another_right_one(lesson):
    assert lacking(LESSONS[lesson], answers(lesson)) == []


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize(("lesson", "mutant"), WRONG, ids=name)
def test_a_wrong_answer_is_caught_in_words_of_its_own(lesson, mutant):
    verdict = judge_mutant(LESSONS[lesson], mutant)
    assert caught(mutant, verdict), verdict.words(mutant.task)
    assert verdict.complaint.hint not in GENERIC, verdict.words(mutant.task)


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize(("lesson", "task"), AS_DATA)
def test_every_slip_is_told_in_its_own_words_on_every_input(lesson, task):
    for slip in slips(lesson):
        if slip.task == task:
            verdict = judge_slip(slip)
            assert verdict.complaint, f"missed: {slip.name}"
            assert verdict.complaint.hint == slip.says, f"{slip.name}: {verdict.words(task)}"


@pytest.mark.parametrize(("lesson", "task"), AS_DATA)
def test_the_printed_solution_is_the_one_that_slips_are_made_from(lesson, task):
    check = next(slip.check for slip in slips(lesson) if slip.task == task)
    assert source_of(check.fallback) == turns(LESSONS[lesson])[task].solution + "\n"


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize(("lesson", "rewrite"), RIGHT, ids=name)
def test_a_right_answer_passes(lesson, rewrite):
    verdict = judge_rewrite(LESSONS[lesson], rewrite)
    assert verdict.right, verdict.words(rewrite.task)


@pytest.mark.usefixtures("seeds")
@pytest.mark.parametrize(("lesson", "task"), TURNS)
def test_the_printed_solution_passes(lesson, task, capsys):
    path = LESSONS[lesson]
    solution = turns(path)[task].solution
    for verdict in judge(path, task, solution):
        assert verdict.right, verdict.words(task)
    check, answer = handed_over(path, task, solution)
    assert check(answer) is answer
    assert capsys.readouterr().out.startswith(f"✓ {task}: ")


@pytest.mark.parametrize(("lesson", "task"), TURNS)
def test_the_printed_solution_has_the_form_of_the_blank(lesson, task):
    turn = turns(LESSONS[lesson])[task]
    head = turn.blank[: turn.blank.index("...")].rstrip()  # the first line and the docstring
    assert turn.solution.startswith(head)


# What the machinery does is the same for every task: one in each lesson stands for all, and nbval
# leaves all of them empty.
SAMPLE = list({lesson: (lesson, task) for lesson, task in reversed(TURNS)}.values())


@pytest.mark.parametrize(("lesson", "task"), SAMPLE)
def test_a_blank_is_not_attempted_and_a_wrong_answer_told_and_both_are_replaced(
    lesson, task, capsys
):
    path, turn = LESSONS[lesson], turns(LESSONS[lesson])[task]
    check, answer = handed_over(path, task, turn.blank)
    assert check(answer) is check.fallback
    assert capsys.readouterr().out.startswith(f"○ {task}: not attempted yet.")
    wrong = next(w for w in [*slips(lesson), *answers(lesson).MUTANTS] if w.task == task)
    if isinstance(wrong, Slip):
        answer = wrong.version
    else:
        check, answer = handed_over(path, task, patch(turn.solution, wrong))
    assert check(answer) is check.fallback
    said = capsys.readouterr().out
    assert said.startswith(f"✗ {task}: this does not hold: ")
    assert wrong.says in said
    assert said.endswith("Later cells use the course's own version.\n")


@pytest.mark.parametrize(("lesson", "task"), SAMPLE[:1])
def test_an_endless_loop_ends(lesson, task, capsys):
    path, turn = LESSONS[lesson], turns(LESSONS[lesson])[task]
    body = r"\1while True:\n\1    pass"
    endless = re.sub(r"^( +)\.\.\.$", body, turn.blank, count=1, flags=re.MULTILINE)
    assert endless != turn.blank
    check, answer = handed_over(path, task, endless)
    with time_limit(TIME_LIMIT / 30):
        assert check(answer) is check.fallback
    assert f"this does not hold: {ENDLESS}" in capsys.readouterr().out
