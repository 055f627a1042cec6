"""Checks of lab 06, task 1: whole words are chosen."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from helpers.course.checks.lab06.common import MASKING, lab, on_its_device
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

_WORD = (
    "Which position does the word of each token begin at? torch.where(begins, places, 0) and "
    "cummax(-1).values tell it, and draw.gather(-1, first) reads the word's number there. Or go "
    "from token to token, and keep the number while no word begins."
)
_EARLIER = (
    "A word is chosen here by the number of a word before it. Take cummax of positions, and read "
    "`draw` there with gather."
)


def rows(trial: Trial, B: int, T: int) -> tuple[Tensor, Tensor, Tensor]:
    """begins, special, draw for B rows that end in padding."""
    begins = torch.rand(B, T, generator=trial.generator) < 0.5
    special = torch.zeros(B, T, dtype=torch.bool)
    special[:, 0] = True
    for row in range(1, B):
        special[row, T - trial.integer(1, max(2, T // 3)) :] = True
    begins[:, :2] = True
    return begins | special, special, torch.rand(B, T, generator=trial.generator)


def _texts(trial: Trial) -> Iterator[Case]:
    begins = torch.tensor([[True, True, False, True, True, False, False, True]])
    special = torch.tensor([[True, *[False] * 6, True]])
    draw = torch.tensor([[0.01, 0.10, 0.90, 0.50, 0.05, 0.12, 0.40, 0.02]])
    given = "[CLS] a a | b | c c c [SEP], three words; draw 0.01, 0.1 0.9, 0.5, 0.05 0.12 0.4, 0.02"
    yield Case("by hand", begins, special, draw, given=f"{given}; share left out")
    draw = torch.tensor([[0.1, 0.5, 0.4, 0.6, 0.4, 0.4, 0.4, 0.1]])
    given = "six words of one token; draw 0.5, 0.4, 0.6, 0.4, 0.4, 0.4; share 0.5"
    hint = "A number that is just `share` is no longer below it."
    every = torch.ones_like(special)
    yield Case("below, and not just at it", every, special, draw, 0.5, given=given, hint=hint)
    for B, T, share in ((4, 12, 0.5), (6, 9, 0.3), (30, 20, 0.15)):
        given = f"{B} rows of {T} tokens, share {share}"
        yield Case("any words", *rows(trial, B, T), share, given=given)


def _elsewhere(trial: Trial) -> None:
    far = [x.to("meta") for x in rows(trial, 3, 9)]
    on_its_device(trial, lambda: trial.answer(*far), "all on another device")


@turn(
    lab,
    _WORD,
    cases=_texts,
    also=_elsewhere,
    slips=f"""
    draw.gather(-1, first) => draw
        Here each token is chosen by its own number. A word is chosen, or not, by the number of its
        first token, and then all of its tokens are.
    & ~special => & ~special & begins
        All tokens of a chosen word are chosen, not its first one alone.
    & ~special =>
        [CLS], [SEP] and [PAD] are never chosen. {MASKING}
    < share => <= share
        A number that is just `share` is no longer below it.
    < share => > share
        A word is chosen if its number is below `share`: a small share chooses few.
    < share => < 0.15
        `share` is handed over: it is 0.15 only where it is left out.
    draw.gather(-1, first) => (draw * begins).cummax(-1).values
        {_EARLIER}
    """,
)
def choose_words(begins, special, draw, share=0.15):
    places = torch.arange(draw.shape[1], device=draw.device)
    first = torch.where(begins, places, 0).cummax(-1).values
    return (draw.gather(-1, first) < share) & ~special
