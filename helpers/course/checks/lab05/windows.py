"""Checks of lab 05, task 4: stories in windows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.course.checks.describing import describe
from helpers.course.checks.lab05.common import IGNORED, lab
from helpers.course.checks.trial import Trial

Windows = tuple[Tensor, Tensor]


def pack_windows(stories: Sequence[Tensor], end: int, T: int, flaw: str = "") -> Windows:
    """inputs and targets, (N, T) each; ``flaw`` names a known slip, which then is made."""
    inputs: list[Tensor] = []
    targets: list[Tensor] = []
    rooms: list[int] = []  # left in each window
    for story in stories:
        sides = [story.new_tensor([end]), story, story.new_tensor([end])]
        text = torch.cat(sides[flaw == "no beginning" : 2 if flaw == "no end" else 3])
        for i in range(0, len(text) - 1, T - 1 if flaw == "overlap" else T):
            x, y = text[:-1][i : i + T], text[1:][i : i + T]
            if flaw == "inputs as targets":
                y = x
            least = len(x) + (flaw == "strict")
            open_ones = range(len(rooms)) if flaw == "first fit" else range(len(rooms))[-1:]
            n = next((n for n in open_ones if rooms[n] >= least), len(rooms))
            if flaw == "one a window" or n == len(rooms):
                inputs.append(torch.full((T,), 0 if flaw == "zeros" else end))
                targets.append(torch.full((T,), end if flaw == "padding counts" else IGNORED))
                rooms.append(T)
                n = len(rooms) - 1
            first = T - rooms[n]
            inputs[n][first : first + len(x)] = x
            targets[n][first : first + len(y)] = y
            rooms[n] -= len(x)
            if flaw == "cut off":
                break
    return torch.stack(inputs), torch.stack(targets)


_HINTS = {
    "no beginning": "A story's first token is predicted too, from the token end before it.",
    "no end": "That a story is over is predicted too: its last target is end.",
    "overlap": "A long story goes on where its last piece ended, and no target comes twice.",
    "inputs as targets": "The target of a place is the token after it.",
    "one a window": "As many stories as fit share a window: a new one begins only where a piece "
    "is longer than the room that is left.",
    "strict": "A piece that just fills the window still fits.",
    "zeros": "What is left of a window is filled with end as inputs.",
    "padding counts": "A place that was only filled up predicts nothing: its target is -100.",
    "first fit": "Only the last window is open: an earlier one that has room stays as it is.",
    "cut off": "The rest of a story that is longer than T is not lost: it is a further piece.",
}


STREAM = (
    "A piece that does not fit as a whole begins a new window: no story is cut because a window "
    "ends. What is left of the old one stays empty."
)


def _stream(stories: Sequence[Tensor], end: int, T: int) -> Windows:
    """The slip of one endless text, cut wherever a window ends."""
    row = torch.cat([torch.cat([story.new_tensor([end]), story]) for story in stories])
    sides = row, torch.cat([row[1:], row.new_tensor([end])])
    filled = [torch.full((-len(row) % T,), value) for value in (end, IGNORED)]
    inputs, targets = (torch.cat(pair).view(-1, T) for pair in zip(sides, filled, strict=True))
    return inputs, targets


@lab.task(pack_windows)
def pack(trial: Trial) -> None:
    usual = (
        "For each story: end, the story, end. Inputs are all but the last of these, targets all "
        "but the first; cut both into pieces of T. A piece goes as a whole into the last window, "
        "behind what is there, or at the beginning of a new one."
    )

    def try_on(stories: list[Tensor], end: int, T: int, rule: str, given: str) -> None:
        got = trial.call(stories, end, T, given=given, hint=usual)
        two = isinstance(got, tuple | list) and len(got) == 2
        hint = "Hand back two tensors (N, T): return inputs, targets."
        trial.holds(two, "it hands back inputs and targets", hint, given=given, got=got)
        expected = pack_windows(stories, end, T)
        shapes = [getattr(part, "shape", None) for part in got]
        hint = "Inputs and targets are cut at the same places: they have one shape, (N, T)."
        trial.holds(shapes[0] == shapes[1], "one target for each input", hint, given=given,
                    got=[tuple(shape or ()) for shape in shapes])  # fmt: skip
        for name, i in (("targets", 1), ("inputs", 0)):
            slips = [
                (pack_windows(stories, end, T, flaw)[i], hint) for flaw, hint in _HINTS.items()
            ]
            where = f"{given}: {name}"
            slips.append((_stream(stories, end, T)[i], STREAM))
            trial.equals(got[i], expected[i], f"{rule}: {name}", usual, slips=slips, given=where)

    texts = [torch.tensor(story) for story in ([1, 2], [3, 4, 5], [6], [7, 8])]
    given = f"stories {describe([t.tolist() for t in texts])}, end = 9, T = 6"
    try_on(texts, 9, 6, "four stories in windows of six", given)
    texts = [torch.tensor(story) for story in ([1, 2, 3, 4, 5, 6, 7], [8], [1, 2, 3, 4])]
    given = f"stories {describe([t.tolist() for t in texts])}, end = 9, T = 5"
    try_on(texts, 9, 5, "a story that is longer than a window, and one that just fits", given)
    T, N = trial.integer(10, 20), 30
    texts = [trial.integers(0, 50, trial.integer(1, 40)) for _ in range(N)]
    try_on(texts, 50, T, "any stories", f"{N} random stories, end = 50, T = {T}")
