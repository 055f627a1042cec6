"""Ctrl-C at every single line of a step: nothing is lost and nothing is done twice."""

from __future__ import annotations

import copy
import signal
import sys
import threading

import pytest
import torch
from torch import nn

from helpers.data import batching
from helpers.learning import interruption, training
from helpers.learning.interruption import uninterrupted
from helpers.learning.training import Training

WATCHED = {module.__file__ for module in (training, interruption)}
WATCHED |= {batching.__file__, sys.modules["torch.optim.sgd"].__file__}


class Tripwire:
    """Sends Ctrl-C to this process before line number ``moment`` of the watched files."""

    def __init__(self, moment: int | None = None):
        self.moment, self.lines = moment, 0

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.call)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def call(self, frame, event, argument):
        return self.line if frame.f_code.co_filename in WATCHED else None

    def line(self, frame, event, argument):
        if event == "line":
            self.lines += 1
            if self.lines == self.moment:
                signal.raise_signal(signal.SIGINT)
        return self.line


@pytest.fixture(autouse=True)
def _python_handler():
    """Ctrl-C raises KeyboardInterrupt, whatever the runner of the tests made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(5, 4), nn.Dropout(0.5), nn.Linear(4, 5))


def make(model, validate=None, steps=3):
    """Steps of two batches each, from a generator, with dropout and momentum."""
    tokens = torch.arange(60) ** 2 % 5
    model = copy.deepcopy(model)
    batches = batching.windows(tokens, 2, 4, torch.Generator().manual_seed(1))
    sgd = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, foreach=False)
    torch.manual_seed(2)
    return Training(model, batches, steps, optimizers=[sgd], accumulate=2, validate=validate)


def test_at_every_line(model):
    reference = make(model, steps=2)
    with Tripwire() as wire:
        expected = list(reference)
    lost = 0
    for moment in range(1, wire.lines // 2 + 20):  # the first step and into the second
        run, found, interrupts = make(model, steps=2), [], 0
        while True:
            try:
                with Tripwire(moment if interrupts == 0 else None):
                    for record in run:
                        found.append((record.step, record.loss, record.tokens))
                break
            except KeyboardInterrupt:
                interrupts += 1
                assert len(found) <= run.step <= len(found) + 1
                assert run.tokens == 16 * run.step
        assert interrupts == 1
        wanted = [(r.step, r.loss, r.tokens) for r in expected]
        assert [record for record in wanted if record in found] == found
        lost += len(wanted) - len(found)
        for a, b in zip(run.model.parameters(), reference.model.parameters()):
            assert torch.equal(a, b), moment
    assert wire.lines > 150
    assert lost <= 6  # records, in the moment of handing them over


def test_a_stopped_loop_goes_on_with_the_next_step(model):
    run, steps = make(model), []
    for _ in range(5):
        for record in run:
            steps.append(record.step)
            break
    assert steps == [1, 2, 3]
    reference = make(model)
    assert len(list(reference)) == 3
    assert all(map(torch.equal, run.model.parameters(), reference.model.parameters()))


def test_a_broken_off_validation_is_made_up_for(model):
    calls = []

    def validate(model):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return 7.0

    run = make(model, validate)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert run.step == 3
    assert [(r.step, r.validation) for r in run] == [(3, 7.0)]
    assert list(run) == []


@pytest.mark.parametrize(("times", "finished"), [(1, True), (2, False)])
def test_one_ctrl_c_is_held_back_and_a_second_is_not(times, finished):
    done = []

    def block():
        with uninterrupted():
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert bool(done) is finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_thread_trains_too(model):
    """Where handlers cannot be set."""
    run, records = make(model), []
    thread = threading.Thread(target=lambda: records.extend(run))
    thread.start()
    thread.join()
    assert [record.step for record in records] == [1, 2, 3]
