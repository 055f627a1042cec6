"""What the checks of lab 06 share: the lab, devices, and loops that are counted.

Shape letters: B texts, T tokens, D width of a state, V vocabulary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from helpers.course.checks.devices import on_meta
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.watching import Operations
from helpers.data.bpe import BPETokenizer

lab = Lab("lab06", shows=[BPETokenizer.decode])

IGNORED = -100  # the target of a position that predicts nothing, as in F.cross_entropy
MASKING = see(15, "Masking")
GAME = see(15, "Why not let a GPT look both ways?")
PAIRS = see(15, "What an encoder reads")
LOSS = see(15, "Train it against a known floor")


class Lines:
    """Counts the lines of Python that run inside it, a pass through a loop as one."""

    def __init__(self) -> None:
        self.number = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count in this block; a tracer that was at work before is put back."""
        before = sys.gettrace()
        sys.settrace(self._note)
        try:
            yield
        finally:
            sys.settrace(before)

    def _note(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_globals.get("__name__", "").startswith("torch"):
            return None  # PyTorch's own lines are no loop of the answer's
        self.number += event == "line"
        return self._note


def without_loops(
    trial: Trial, make: Callable[[int], tuple], sizes: tuple[int, int], what: str, hint: str
) -> None:
    """Neither operations of PyTorch nor lines of Python grow with the size of the input.

    Args:
        make: the arguments for an input of a size.
        sizes: a small one and a large one.
        what: that grows, such as "tokens in a text".
    """
    found = []
    for size in sizes:
        arguments = make(size)
        lines = Lines()
        with Operations() as operations, lines.counted():
            trial.run(trial.answer, *arguments, given=f"{size} {what}")
        found.append((len(operations.results), lines.number))
    (few, short), (many, long) = found
    small, large = sizes
    trial.holds(
        many <= few + (large - small) // 4 and long <= short + (large - small) // 4,
        "it is written without a loop over the tokens",
        hint,
        given=f"{small} and {large} {what}",
        got=f"{few} and {many} operations of PyTorch, {short} and {long} lines of Python",
        expected="as many for both",
    )


def on_its_device(trial: Trial, compute: Callable[[], Any], given: str) -> None:
    """All that an answer makes lies on the device of its input; other errors are passed over."""
    try:
        torch.zeros(1, device="meta") + 1  # its first use imports much
        on_meta(compute)
    except Exception as error:
        hint = "A tensor that you make, such as torch.arange(T), is made with device=x.device, x "
        hint += "being one that is handed over. On a CPU nobody notices that it is missing."
        trial.holds("device" not in str(error), "it runs on a GPU, too", hint, given=given)
    trial.holds(True, "it runs on a GPU, too", "")
