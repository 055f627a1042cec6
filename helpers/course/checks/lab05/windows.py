"""Checks of lab 05, task 3: stories in windows."""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.course.checks.describing import describe
from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips

SLIPS = Slips(
    solutions.pack,
    """
    (1, 1) => (0, 1)
        A story's first token is predicted too, from the token end before it.
    (1, 1) => (1, 0)
        That a story is over is predicted too: its last target is end.
    zip(text[:-1].split(T), text[1:].split(T)) => \
    [(text[:-1][i : i + T], text[1:][i : i + T]) for i in range(0, len(text) - 1, T - 1)]
        A long story goes on where its last piece ended, and no target comes twice.
    text[1:].split(T) => text[:-1].split(T)
        The target of a position is the token after it.
    if len(x) > room: => if True:
        As many stories as fit share a window: a new one begins only where a piece is longer than
        the room that is left.
    len(x) > room => len(x) >= room
        A piece that just fills the window still fits.
    torch.full((T,), end) => torch.zeros(T, dtype=torch.long)
        What is left of a window is filled with end as inputs.
    -100 => end
        A position that was only filled up predicts nothing: its target is -100.
    room = [], [], 0 => room = [], [], [] ;; room = T => room.append(T) ;; \
    if len(x) > room => if (n := next((n for n, left in enumerate(room) if left >= len(x)), \
    len(room))) == len(room) ;; \
    T - room => T - room[n] ;; inputs[-1] => inputs[n] ;; targets[-1] => targets[n] ;; \
    room -= len(x) => room[n] -= len(x)
        Only the last window is open: an earlier one that has room stays as it is.
    room -= len(x) => room -= len(x); break
        The rest of a story that is longer than T is not lost: it is a further piece.
    zip(text[:-1].split(T), text[1:].split(T)) => \
    [(part[:-1], part[1:]) for part in text.split(T + 1) if len(part) > 1]
        A target is lost wherever a story is cut: first inputs and targets, then pieces of T of
        both.
    [first : first + len(x)] = y => [first : first + len(x)] = F.pad(x[1:], (0, 1), value=end)
        Where a story is cut, the target of a piece's last position is the first token of the next
        piece, not end.
    in stories: => in [torch.cat([F.pad(story, (1, 0), value=end) for story in stories])[1:]]:
        A piece that does not fit as a whole begins a new window: no story is cut because a window
        ends. What is left of the old one stays empty.
    """,
)


@lab.task(solutions.pack)
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
        shapes = [getattr(part, "shape", None) for part in got]
        hint = "Inputs and targets are cut at the same places: they have one shape, (N, T)."
        trial.holds(shapes[0] == shapes[1], "one target for each input", hint, given=given,
                    got=[tuple(shape or ()) for shape in shapes])  # fmt: skip
        expected = solutions.pack(stories, end, T)
        for name, i in (("targets", 1), ("inputs", 0)):
            slips = ((version(stories, end, T)[i], hint) for version, hint in SLIPS)
            where = f"{given}: {name}"
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


pack.slips = SLIPS
