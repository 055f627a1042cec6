"""Several small trainings at the same time, a core for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import torch

T = TypeVar("T")


def side_by_side(train: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """What ``map(train, *arguments)`` gives, in its order, made in as many threads as cores.

    For networks so small that one of them is trained no sooner on several cores: each thread
    computes on one. The numbers are those of one after another on one core, as long as none draws
    from PyTorch's default generator or changes what another reads: make the networks beforehand,
    and let each training have a generator of its own. Gradients are recorded, and nothing is cast,
    whatever holds outside.

    What one of them raises is raised here, and an interrupt ends this at once; the others then go
    on in the background with what they have begun.

    Raises:
        ValueError: the arguments are not of one length.
    """
    rows = list(zip(*arguments, strict=True))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a new thread also has to be told, until it has asked for the number
    pool = ThreadPoolExecutor(os.cpu_count(), initializer=torch.set_num_threads, initargs=(1,))
    try:
        futures = [pool.submit(train, *row) for row in rows]
        left: set[Future[T]] = set(futures)
        while left:  # on Windows nothing interrupts a wait without an end
            done, left = wait(left, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # or what it raised
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        torch.set_num_threads(threads)
