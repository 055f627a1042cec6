"""The stretch task of lab 02: a few tokens of the student's own."""

from __future__ import annotations

import time
from collections.abc import Callable

from helpers.course.checks.lab import on_leaderboard
from helpers.course.checks.trial import Complaint, Trial


@on_leaderboard("tokens per character")
def leaderboard(
    make: Callable, train: str, text: str, n_tokens: int = 300, seconds: float = 20
) -> float:
    """Tokens per character with a few tokens of the student's own.

    Args:
        make: train -> (tokens, encode): a list of bytes, and a function text -> ids in that list.
        train: the text whose parts the tokens must be, single bytes apart.
        text: what it is measured on.
        n_tokens: how many tokens it may have beside the 256 single bytes.
        seconds: of processor time, for making and encoding.
    """
    began, trial = time.process_time(), Trial(make)
    made = trial.call(train, given="the corpus", seconds=2 * seconds)
    _check_tokens(made, train.encode(), n_tokens)
    tokens, encode = list(made[0]), made[1]
    ids = list(trial.run(encode, text, given="the held-out text", seconds=2 * seconds))
    if time.process_time() - began > seconds:
        raise Complaint(
            f"at most {seconds:g} s of processor time",
            "Count on a part of the text, or keep the counts up to date instead of anew.",
        )
    known = all(type(i) is int and 0 <= i < len(tokens) for i in ids)
    if not known or b"".join(tokens[i] for i in ids) != text.encode():
        raise Complaint(
            "the tokens of the ids, joined, are the text",
            "Every id is a place in your list of tokens; try it on a text of three characters.",
        )
    return len(ids) / len(text)


def _check_tokens(made: object, train: bytes, n_tokens: int) -> None:
    """A Complaint unless there are tokens as the task wants them, and a function."""
    form = isinstance(made, tuple | list) and len(made) == 2 and callable(made[1])
    if not form or not all(type(token) is bytes for token in made[0]):
        raise Complaint(
            "a list of bytes and a function",
            "Hand back (tokens, encode): encode(text) gives places in the list tokens.",
        )
    long = {token for token in made[0] if len(token) > 1}
    if len(long) > n_tokens or b"" in made[0]:
        raise Complaint(
            f"at most {n_tokens} tokens beside the single bytes, none of them empty",
            f"Yours are {len(long)}: which of them are used least?",
        )
    if not all(token in train for token in long):
        raise Complaint(
            "every token of more than one byte stands in the training text",
            "Choose tokens by what they do on the training text.",
        )
