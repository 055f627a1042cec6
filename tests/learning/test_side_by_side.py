"""Trainings side by side: their numbers, their errors, and that they are at the same time."""

import os
import signal
import threading
import time

import pytest
import torch

from helpers.learning.side_by_side import side_by_side
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig


def small_gpt(seed):
    torch.manual_seed(seed)
    return GPT(GPTConfig.modern(12, max_length=8, n_layers=1, n_heads=2, d_model=16))


def losses(model, seed):
    """The losses of a short training, and how the thread computed them."""
    generator = torch.Generator().manual_seed(seed)
    texts = (torch.randint(12, (8, 9), generator=generator) for _ in range(30))
    training = Training(model, ((t[:, :-1], t[:, 1:]) for t in texts), 30, learning_rate=0.01)
    found = [record.loss for record in training]
    return found, torch.get_num_threads(), torch.is_autocast_enabled("cpu")


def test_the_numbers_are_those_of_one_after_another():
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            found = side_by_side(losses, map(small_gpt, range(5)), range(5))
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        assert found == [losses(small_gpt(seed), seed) for seed in range(5)]
        assert all(some[1:] == (1, False) for some in found)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("cores", [2, 3])
def test_there_are_as_many_at_a_time_as_cores(cores, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    meet, lock, now, most = threading.Barrier(cores), threading.Lock(), [], []

    def training(k):
        with lock:
            now.append(k)
        meet.wait(60)  # raises unless so many are there at once
        most.append(len(now))
        meet.wait(60)
        with lock:
            now.remove(k)
        return k

    assert side_by_side(training, range(2 * cores)) == list(range(2 * cores))
    assert set(most) == {cores}


def test_what_one_raises_is_raised_before_the_others_are_done():
    go_on = threading.Event()

    def training(n):
        return 1 / n if n == 0 else go_on.wait(60)

    since = time.monotonic()
    try:
        with pytest.raises(ZeroDivisionError):
            side_by_side(training, (1, 0))
        assert os.cpu_count() == 1 or time.monotonic() - since < 40
    finally:
        go_on.set()


def test_arguments_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        side_by_side(lambda a, b: a, (1, 2), (3,))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="has no such signals")
def test_an_interrupt_ends_it_at_once_and_nothing_more_begins():
    go_on, begun, threads = threading.Event(), [], set()

    def training(k):
        begun.append(k)
        threads.add(threading.current_thread())
        go_on.wait(60)

    def interrupt():
        while not begun:
            if time.monotonic() > since + 30:
                return
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    since = time.monotonic()
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            side_by_side(training, range(200))
        assert time.monotonic() - since < 40
    finally:
        signal.signal(signal.SIGINT, before)
        go_on.set()
    for thread in list(threads):
        thread.join(60)
    assert len(begun) <= os.cpu_count()
