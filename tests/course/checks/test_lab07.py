"""What the checks of lab 07 hold answers against: it agrees with the course and with the lab."""

import copy
import inspect

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from helpers.course.checks import lab07
from helpers.course.checks.lab07 import budget, given, paper, solutions
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.environment import find_root
from helpers.models.quantized import quantize
from staff.authoring.labs import lab_sources
from tests.labs.mutation import run_cells
from tests.labs.mutation import solutions as answers

pytestmark = pytest.mark.marking

TASKS = lab07.lab.tasks
SOURCE = lab_sources(find_root())["lab07"]


@pytest.mark.parametrize("variant", [*range(12), 123_456])
def test_the_numbers_on_paper_can_be_told_from_known_slips(variant):
    lab07.use_variant(variant)
    try:
        lab07.by_hand.check(Trial(lab07.by_hand.fallback))
        right = paper._by_hand()
        slips = {name: paper.slips_of(name) for name in right}
        given = paper.numbers()
    finally:
        lab07.use_variant(0)
    assert given["layers"] % 2 == 0
    for name, value in right.items():
        assert all(abs(value - wrong) > paper.EXACT * value for wrong, _ in slips[name])


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_a_packed_map_is_that_of_the_course_in_fewer_bytes(bits):
    linear = torch.nn.Linear(64, 12, bias=False)
    mine, theirs = solutions.Packed(linear, bits, 16), quantize(linear.weight, bits, 16)
    torch.testing.assert_close(mine.weight(), theirs.dequantized())
    assert mine.codes.numel() + 2 * mine.scales.numel() == theirs.bytes


def test_the_source_has_the_courses_solutions():
    found = answers(SOURCE)
    for name in ("Packed", "LoRA", "plain_state", "Repaired"):
        written = inspect.getsource(getattr(solutions, name))
        assert found[name].split() == written.split()


def test_costs_are_those_of_the_tensors_and_of_pytorchs_counter():
    for first in (0, 2):
        model = budget.planned(4, 2, first)
        stored, operations = lab07.cost(model, 8 * given.T)
        trained = [p for p in model.parameters() if p.requires_grad]
        packed = [b for name, b in model.named_buffers() if name.endswith("codes")]
        scales = [b for name, b in model.named_buffers() if name.endswith("scales")]
        kept = sum(b.numel() for b in packed) + sum(2 * b.numel() for b in scales)
        assert stored == (kept + sum(16 * p.numel() for p in trained)) / 1e6
        with FlopCounterMode(display=False) as counter:
            read, _ = given.requests_batch(0)
            model(read).sum().backward()
        assert 0.9 < counter.get_total_flops() / 1e9 / operations < 1.1


def test_nothing_is_changed_before_training_but_by_rounding():
    gpt, tasks = given.shipped()[0], given.examples("test", 20)
    assert abs(given.bits_of(budget.planned(8, 2, 0), tasks) - given.bits_of(gpt, tasks)) < 0.3
    merged = copy.deepcopy(gpt)
    merged.load_state_dict(solutions.plain_state(budget.planned(8, 2, 0)))
    read, targets = given.requests_batch(3)
    assert read.shape == targets.shape == (8, given.T)
    assert merged(read).isfinite().all()


def test_what_is_marked_has_a_margin(monkeypatch):
    result = budget.Tuned(given.shipped()[0], budget.MOST_BITS + 0.3, budget.MOST_LOST + 0.02, 0)
    monkeypatch.setattr(budget, "tuned", lambda **_: result)
    plan = TASKS["plan"]
    with pytest.raises(Complaint, match=r"at most 42\.2 bits"):
        plan.check(Trial(plan.fallback, 0))
    plan.check(Trial(plan.fallback, 5))


def test_without_a_plan_that_passes_there_are_numbers_of_one_that_tells_none(capsys, monkeypatch):
    monkeypatch.setattr(budget, "tuned", lambda **settings: settings)
    assert lab07.outcome(lambda: {"bits": 3}) == lab07.outcome(None) == budget.OTHER
    lab07.leaderboard(lambda: {"bits": 3})
    said = capsys.readouterr().out
    assert said.count("does not keep to the budget") == 2
    assert said.count("No number for the leaderboard") == 1
    other = budget.OTHER
    assert lab07.plan.judge(lambda: other).complaint.rule == "it keeps to 0.75 MB"
    positions = other["rows"] * other["steps"] * given.T
    assert budget.cost(budget.planned(4, 4, 0), positions)[1] > budget.GFLOPS


def test_requests_say_whom_and_how():
    task = given.examples("test", 1)[0]
    who, how = task.prompt.strip().split("\n")
    assert who.removeprefix("About: ") in task.answer or who.split()[-1] in task.answer
    assert how == ("Spoken: yes" if '"' in task.answer else "Spoken: no")


def test_the_notebook_runs_without_predictions():
    names = run_cells(SOURCE, until="plan")
    assert names["gpt"].blocks[0].attention.qkv.out_features == 384
