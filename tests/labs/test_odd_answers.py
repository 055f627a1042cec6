"""Whatever an answer is or hands back, in a lab or a lesson, a check complains and never raises."""

from importlib import import_module

import numpy as np
import pytest
import torch

from helpers.course.environment import find_root
from staff.authoring.labs import lab_sources
from tests.lessons.your_turn import lessons

pytestmark = pytest.mark.marking

CHECKS = "helpers.course.checks"
LABS = [import_module(f"{CHECKS}.{name}").lab for name in lab_sources(find_root())]
LABS += [import_module(f"{CHECKS}.{lesson}").turns for lesson in lessons(find_root())]
TASKS = [task for lab in LABS for task in lab.tasks.values()]


class Odd:
    """Of a student's own; it cannot even be shown or compared."""

    def __repr__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


VALUES = [
    *(None, 5, -0.5, float("nan"), "a", b"ab", [], {}, (), set(), object(), print, Odd, Odd()),
    *([None], [[]], ["a"], [1, "a"], [(1, 2)], {"a": 1}, {(1, 2): "a"}, {1: None}, (None, None)),
    *(np.zeros(2), [np.zeros(2)], {"a": np.zeros(2)}, (np.zeros(2), np.zeros(2))),
    *(torch.zeros(0), torch.zeros(3, 2), torch.tensor(True), [torch.zeros(2)]),
    *((torch.zeros(2), None), (torch.zeros(1), torch.zeros(1)), {"a": torch.zeros(2)}),
]


def a_class(value):
    class Answer(torch.nn.Module):
        def __init__(self, *arguments, **named):
            super().__init__()

        def forward(self, *arguments, **named):
            return value

    return Answer


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.lab.name}-{task.name}")
def test_odd_answers(task):
    odd = [*VALUES[1:], *(lambda *_, value=value, **__: value for value in VALUES)]
    odd += [a_class(value) for value in VALUES[:12]]
    for answer in odd:
        verdict = task.judge(answer)
        assert verdict.complaint is not None
        assert 0 < len(verdict.words(task.name)) < 3000
