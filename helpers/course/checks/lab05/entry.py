"""Checks of lab 05, task 8: one's own entry, and the leaderboard."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from helpers.course.checks.comparing import same
from helpers.course.checks.lab import announce
from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.lab05.training import OTHER
from helpers.course.checks.trial import ERROR, NOTHING, Trial
from helpers.device import time_for

WINDOW = 256  # tokens of a window in which an entry is measured, as in the lab's chart
DRAWS = 100  # batches, to see what an entry trains on
GRACE = 15.0  # seconds for making a model and a last evaluation, beside the time for training,
# on a machine of speed 1


class _Parts:
    """What an entry hands to its loop, and where it moves modules, noted while it is at work.

    Attributes:
        moved: the devices that modules were moved to.
        given: the arguments of the loop by name; empty where ``entry`` has a loop of its own.
        early: whether an optimizer was made before a module was on the device.
    """

    NAMES = ("model", "optimizer", "next_batch", "evaluate", "seconds", "device")

    def __init__(self, answer: Any) -> None:
        self.moved: list[str] = []
        self.given: dict[str, Any] = {}
        self.early = False
        self.world = getattr(answer, "__globals__", {})

    @contextmanager
    def noted(self) -> Iterator[None]:
        move, loop, optimizer = nn.Module.to, self.world.get("train"), self.world.get("AdamW")

        def to(module: nn.Module, *arguments: Any, **named: Any) -> nn.Module:
            self.moved += map(str, [*arguments, *named.values()])
            return move(module, *arguments, **named)

        def train(*arguments: Any, **named: Any) -> Any:
            self.given = dict(zip(self.NAMES, arguments, strict=False)) | named
            return loop(*arguments, **named)

        def made(*arguments: Any, **named: Any) -> Any:
            self.early |= OTHER not in self.moved
            return optimizer(*arguments, **named)

        watching = {"train": (loop, train), "AdamW": (optimizer, made)}
        watching = {name: pair for name, pair in watching.items() if callable(pair[0])}
        self.world.update({name: mine for name, (_, mine) in watching.items()})
        try:
            with mock.patch.object(nn.Module, "to", to):
                yield
        finally:
            self.world.update({name: own for name, (own, _) in watching.items()})


def _reads_well(trial: Trial, parts: _Parts, n: int, end: int, seconds: float, given: str) -> None:
    """The model is on the device, and is measured on stories that it is not trained on."""
    trial.holds(
        OTHER in parts.moved,
        "the model goes to the device",
        "GPT(...).to(device), before the optimizer is made: on a CPU nobody notices that it is "
        "missing.",
        given=f"{given}, device = {OTHER!r}",
        got=sorted(set(parts.moved)),
    )
    trial.holds(
        not parts.early,
        "the optimizer is made after the model has moved",
        "AdamW makes its averages m and v where the parameters are. Made before .to(device), they "
        "stay on the CPU, and on a GPU the first step ends in an error.",
        given=f"{given}, device = {OTHER!r}",
    )
    if parts.given:
        on = parts.given.get("device", "the default")
        trial.holds(
            str(on) == OTHER,
            "train is told the device",
            "Hand `device` on to train, after `seconds`: it moves the batches there. Without it "
            "they go to the CPU, while on a GPU the model is elsewhere.",
            given=f"{given}, device = {OTHER!r}",
            got=f"train was given: {on}",
        )
        trial.holds(
            parts.given.get("seconds", 0.0) <= seconds,
            "train is given no more than these seconds",
            "Hand `seconds` on to train as they are: an entry that takes longer does not count.",
            given=given,
            got=parts.given.get("seconds"),
        )
    if not all(callable(parts.given.get(name)) for name in ("next_batch", "evaluate")):
        return

    def words(tokens: Tensor) -> set[int]:
        """Those that only one story has."""
        return set(tokens.unique().tolist()) - {0, end}

    watched: set[int] = set()

    def note(module: nn.Module, tokens: tuple) -> None:
        if isinstance(module, nn.Embedding):
            watched.update(words(tokens[0]))

    batches = []
    for _ in range(DRAWS):
        hint = "It is called as often as training needs: batches must not run out."
        batches.append(trial.run(parts.given["next_batch"], given="next_batch()", hint=hint))
        fine = isinstance(batches[-1], tuple | list) and isinstance(batches[-1][0], Tensor)
        hint = "next_batch() hands back a pair (inputs, targets)."
        trial.holds(fine, "it draws batches", hint, got=batches[-1])
    hook = nn.modules.module.register_module_forward_pre_hook(note)
    try:
        model = parts.given["model"]
        trial.run(lambda: parts.given["evaluate"](model), given="evaluate(model)")
    finally:
        hook.remove()
    trained = set().union(*(words(batch[0]) for batch in batches))
    trial.holds(
        not trained & watched,
        "what is held back is not trained on",
        "The stories that evaluate measures must be missing from those that next_batch draws from, "
        "or the best weights are those that know the training text best.",
        given=given,
        got=f"{len(trained & watched)} of {n} stories are in both",
    )
    some = batches[0][0]
    trial.holds(
        len(trained | watched) > 0.8 * n or not all(same(some, x) for x, _ in batches[1:]),
        "batches differ",
        "next_batch draws other windows in each call: draw the rows inside of it.",
        given=given,
        got=f"the same {len(trained)} of {n} stories in each of {DRAWS} batches",
    )


@lab.task(solutions.entry)
def entry(trial: Trial) -> None:
    n, seconds = 160, time_for(0.5)
    V, end = n + 2, n + 1
    stories = []
    for i in range(1, n + 1):  # the word 0 again and again, and now and then a word of its own
        stories.append(torch.zeros(trial.integer(10, 40), dtype=torch.long))
        stories[-1][:: trial.integer(5, 10)] = i
    given = f"{n} short stories of two words, V = {V}, end = {end}, {seconds:.2g} s"
    hint = f"{ERROR} It may use only what it is given: stories, V, end, seconds and device."
    parts = _Parts(trial.answer)
    with torch.random.fork_rng(devices=[]), parts.noted():
        began = time.monotonic()
        got = trial.call(stories, V, end, seconds, OTHER, given=given, hint=hint)
        took = time.monotonic() - began
    pair = isinstance(got, tuple | list) and len(got) == 2 and isinstance(got[0], nn.Module)
    hint = NOTHING if got is None else "return model, history."
    trial.holds(pair, "it hands back the model and the history", hint, given=given, got=type(got))
    model, history = got
    trial.holds(
        took < seconds + time_for(GRACE),
        "it comes to an end in time",
        "Hand `seconds` on to train, and evaluate on few windows.",
        given=given,
        got=f"{took:.0f} s",
    )
    tokens = torch.stack([trial.integers(0, V, 12) for _ in range(2)])
    with torch.no_grad():
        logits = trial.run(model, tokens, given="the trained model, tokens (2, 12)")
    fine = isinstance(logits, Tensor) and tuple(logits.shape) == (2, 12, V)
    hint = "The model's vocabulary is the V that is handed over."
    trial.holds(fine, "the model gives logits (B, T, V)", hint, got=logits)
    causal = "An entry that sees the future has no place on the board: look at its mask."
    trial.holds(not solutions.sees_the_future(model, tokens, V), "it sees no later token", causal)
    hint = "Put together: pack, GPT with its blocks, AdamW, train."
    trial.holds(isinstance(history, list | tuple) and len(history) > 0, "it has a history", hint)
    cost = solutions.mean_loss(model, *solutions.pack(stories, end, 64))
    trial.holds(
        cost < math.log(V) - 0.01,
        "it has learned from the stories",
        "Is the optimizer given the model's parameters, and is the model trained the one that "
        "comes back? So short a time is enough for a few steps.",
        given=given,
        got=f"{cost:.2f} nats a target",
        expected=f"below log V = {math.log(V):.2f}",
    )
    with torch.random.fork_rng(devices=[]):
        _reads_well(trial, parts, n, end, seconds, given)


def leaderboard(
    made: Any, model: nn.Module, stories: Sequence[Tensor], n_bytes: int, end: int, took: float,
    seconds: float,
) -> None:  # fmt: skip
    """Show the bits per byte of a trained entry, where it is one's own.

    Args:
        made: the function ``entry`` that made it.
        model: tokens (B, T) -> logits (B, T, V).
        stories: what it is measured on, none of which it has read.
        n_bytes: of all of them together.
        end: the token before and after each story.
        took: the seconds that making it took.
        seconds: those that were allowed.
    """
    if made is entry.fallback:
        print("○ The leaderboard waits for your own entry of task 8.")
        return
    inputs, targets = solutions.pack(stories, end, WINDOW)
    few = inputs[:2, :24]
    try:
        if took > seconds + time_for(GRACE):
            print(f"No number for the leaderboard: it took {took:.0f} s, not {seconds:g} s.")
        elif solutions.sees_the_future(model, few, int(model(few).shape[-1])):
            print("No number for the leaderboard: the model sees later tokens.")
        else:
            nats = solutions.mean_loss(model, inputs, targets) * int((targets >= 0).sum())
            announce(nats / math.log(2) / n_bytes, "bits per byte")
    except Exception as error:
        print(
            "No number for the leaderboard: the model does not read tokens (B, T) of windows of "
            f"up to {WINDOW} tokens ({type(error).__name__}: {error})."
        )
