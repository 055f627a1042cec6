"""What the checks of lab 08 hold answers against: it agrees with the course and with the lab."""

import copy
import inspect

import pytest
import torch

from helpers.course.checks import lab08
from helpers.course.checks.lab08 import given, loop, paper
from helpers.course.checks.trial import DECIMALS, Trial
from helpers.course.environment import find_root
from helpers.learning.preferences import best_policy, dpo_loss
from staff.authoring.cells import read_notebook
from staff.authoring.labs import lab_sources
from tests.labs.mutation import solutions as answers

pytestmark = pytest.mark.marking

TASKS = lab08.lab.tasks
SOURCE = lab_sources(find_root())["lab08"]


@pytest.mark.parametrize("variant", [*range(12), 123_456])
def test_the_numbers_on_paper_can_be_told_from_known_slips(variant):
    lab08.use_variant(variant)
    try:
        lab08.three_answers.check(Trial(lab08.three_answers.fallback))
        right, given_numbers = paper._three(), paper.numbers()
        slips = {name: paper.slips_of(name) for name in right}
    finally:
        lab08.use_variant(0)
    p, r = (torch.tensor(given_numbers[name]).double() for name in ("reference", "reward"))
    log_p, most = best_policy(p.log(), r, given_numbers["beta"])
    assert right["best"] == pytest.approx(float(log_p[2].exp()))
    assert right["J"] == pytest.approx(float(most))
    assert right["always c"] < right["J"]
    assert 0 < right["best of 2"] < 0.6932 - 0.5  # log n - (n - 1) / n
    for name, value in right.items():
        assert all(abs(value - wrong) > 2 * DECIMALS for wrong, _ in slips[name])


@pytest.mark.parametrize(
    "name", ["answer_log_probs", "fit_reward", "group_advantages", "dpo_gradients", "Repaired"]
)
def test_the_source_has_the_courses_solutions(name):
    written = inspect.getsource(TASKS[name].fallback)
    start = written.index("class " if name == "Repaired" else "def ")
    assert answers(SOURCE)[name].split() == written[start:].split()


def test_what_is_handed_out_is_the_broken_loop_of_the_checks():
    (cell,) = (c for c in read_notebook(SOURCE).cells if c.source.startswith("class Broken"))
    assert cell.source.split() == inspect.getsource(loop.Broken).split()


def test_dpos_gradient_is_that_of_its_definition():
    draw = torch.Generator().manual_seed(0)
    four = [torch.randn(5, generator=draw, dtype=torch.float64) for _ in range(4)]
    better, worse = (x.requires_grad_() for x in four[:2])
    right = dpo_loss(better, worse, *four[2:], 0.3)
    turned = dpo_loss(worse, better, four[3], four[2], 0.3)
    loss = 0.9 * right + 0.1 * turned
    slopes = torch.autograd.grad(loss, [better, worse])
    got = TASKS["dpo_gradients"].fallback(*(x.detach() for x in four), 0.3, 0.1)
    torch.testing.assert_close(got, (loss.detach(), *slopes))


def test_the_listed_answers_are_all_that_a_policy_writes():
    policy, draw = given.reference(), torch.Generator().manual_seed(0)
    log_p = given.listed(policy)
    assert len(log_p) == 781 == len(given.answers().unique(dim=0))
    assert float(log_p.exp().sum()) == pytest.approx(1)
    written = given.draw(policy, 4000, draw)
    counts = (written[:, None] == given.answers()).all(2).sum(0)
    assert counts.sum() == 4000
    assert float((counts / 4000 - log_p.exp()).abs().max()) < 0.01
    texts = given.answers()[::7]
    by_task_2 = TASKS["answer_log_probs"].fallback(policy, texts, torch.ones(len(texts)), 0)
    torch.testing.assert_close(by_task_2.detach(), log_p[::7])


@pytest.mark.parametrize("seed", range(3))
def test_the_mended_loop_has_a_margin_and_each_fault_costs(seed):
    old, ways = given.reference(), {}
    start, most = given.judge(old, old, given.manners, 0.25).J, given.most(old, given.manners, 0.25)
    Repaired, Broken = TASKS["Repaired"].fallback, loop.Broken

    class Moving(Repaired):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.reference = self.policy

    kinds = {
        "broken": Broken,
        "moving": Moving,
        "gain": type("Gain", (Repaired,), {"returns": Broken.returns}),
        "tail": type("Tail", (Repaired,), {"log_probs": Broken.log_probs}),
        "mended": Repaired,
    }
    for name, kind in kinds.items():
        made = kind(copy.deepcopy(old), given.manners, 0.25, loop.RATE, 1, 0)
        loop.train(made, loop.STEPS, torch.Generator().manual_seed(seed))
        J = given.judge(made.policy, old, given.manners, 0.25).J
        ways[name] = (J - start) / (most - start)
    assert ways.pop("mended") > 0.98
    assert max(ways.values()) < loop.ENOUGH


def test_the_reader_gives_nothing_for_stammering_and_signs():
    tokenizer = given.shipped()[1]

    def worth(sentence):
        text = torch.cat([given.prompt(), tokenizer.encode(sentence)])
        return float(given.worth(text[None]))

    assert worth('"The cat!" said Nell.') == 4
    assert worth("The cat saw the boat.") == 2.5
    assert worth("The boat boat was there.") == worth('",",",",') == worth('"""""') == 0
