"""What holds for the checks of every lab."""

from importlib import import_module

import pytest

from helpers.course.checks.trial import Complaint, Trial
from helpers.course.environment import find_root
from staff.authoring.labs import lab_sources
from tests.labs.mutation import solutions

SOURCES = lab_sources(find_root())
LABS = {name: import_module(f"helpers.course.checks.{name}").lab for name in SOURCES}
TASKS = [task for lab in LABS.values() for task in lab.tasks.values()]


def name(task):
    return f"{task.lab.name}-{task.name}"


@pytest.mark.parametrize("lab", LABS)
def test_the_tasks_stand_in_the_order_of_the_notebook(lab):
    assert list(LABS[lab].tasks) == list(solutions(SOURCES[lab]))


@pytest.mark.parametrize("task", [t for t in TASKS if t.name != "plan"], ids=name)  # it trains
@pytest.mark.parametrize("seed", [0, 7])
def test_the_courses_own_version_passes(task, seed):
    trial = Trial(task.fallback, seed)
    task.check(trial)
    assert trial.rules


@pytest.mark.parametrize("task", [task for task in TASKS if task.slips], ids=name)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_slip_gets_its_own_hint(task, seed):
    for version, hint in task.slips:
        with pytest.raises(Complaint) as complaint:
            task.check(Trial(version, seed))
        assert complaint.value.hint == hint
