"""Where the slips of a lab's task are patches of its solution, each of them gets its own hint."""

from importlib import import_module

import pytest

from helpers.course.checks.trial import Complaint, Trial
from helpers.course.environment import find_root
from staff.authoring.labs import lab_sources

LABS = [import_module(f"helpers.course.checks.{name}").lab for name in lab_sources(find_root())]
TASKS = [task for lab in LABS for task in lab.tasks.values() if task.slips]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.lab.name}-{task.name}")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_slip_gets_its_own_hint(task, seed):
    for version, hint in task.slips:
        with pytest.raises(Complaint) as complaint:
            task.check(Trial(version, seed))
        assert complaint.value.hint == hint
