"""The checks of every lab: all known wrong answers are caught in fitting words, right ones pass."""

from importlib import import_module

import pytest

from helpers.course.environment import find_root
from staff.authoring.labs import lab_sources
from tests.labs.mutation import caught, judge_mutant, judge_rewrite, lacking, slips

pytestmark = pytest.mark.marking

SOURCES = lab_sources(find_root())
ANSWERS = {lab: import_module(f"tests.labs.{lab}_mutants") for lab in SOURCES}
WRONG = [(lab, mutant) for lab, answers in ANSWERS.items() for mutant in answers.MUTANTS]
RIGHT = [(lab, rewrite) for lab, answers in ANSWERS.items() for rewrite in answers.REWRITES]


def name(value):
    return value if isinstance(value, str) else f"{value.task}-{value.name}".replace(" ", "-")


@pytest.mark.parametrize("lab", SOURCES)
def test_every_task_has_five_wrong_answers_and_two_other_right_ones(lab):
    wrong = [*slips(lab), *ANSWERS[lab].MUTANTS]
    assert lacking(SOURCES[lab], wrong, ANSWERS[lab].REWRITES) == []


@pytest.mark.parametrize(("lab", "mutant"), WRONG, ids=name)
def test_a_wrong_answer_is_caught(lab, mutant):
    verdict = judge_mutant(SOURCES[lab], mutant)
    assert caught(mutant, verdict), verdict.words(mutant.task)


@pytest.mark.parametrize(("lab", "rewrite"), RIGHT, ids=name)
def test_a_right_answer_passes(lab, rewrite):
    verdict = judge_rewrite(SOURCES[lab], rewrite)
    assert verdict.right, verdict.words(rewrite.task)
