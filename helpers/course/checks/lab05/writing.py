"""Checks of lab 05, task 9: writing with a cache, and measuring time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab05.common import fill, lab, seeded
from helpers.course.checks.lab05.model import Cache, course_gpt
from helpers.course.checks.trial import NOTHING, TENSOR, Trial


@torch.no_grad()
def _write(
    model: nn.Module, prompt: Tensor, length: int, generator: torch.Generator,
    temperature: float = 1.0, cached: bool = True, flaw: str = "",
) -> Tensor:  # fmt: skip
    text = prompt
    caches = [Cache() for _ in model.blocks] if cached else None
    read = text
    for _ in range(length):
        logits = model(read[None], None, caches)[0, 0 if flaw == "first" else -1]
        by = {"hot": 1 / temperature, "plain": 1.0}.get(flaw, temperature)
        p = (logits / by).softmax(-1).cpu()
        new = torch.multinomial(p, 1, generator=generator)
        new = p.argmax()[None] if flaw == "likeliest" else new
        text = torch.cat([text, new.to(text.device)])
        read = text[-1:] if cached else text
    return text


@lab.task(_write)
def write(trial: Trial) -> None:
    V, P, n = 11, 4, 20
    with seeded(trial):
        model = fill(course_gpt(V, 2, 16, 4, 2), trial, 0.6)
    model.output.weight.data.mul_(0.3)  # so that several tokens are likely
    prompt, seed = trial.integers(0, V, P), trial.integer(0, 1000)
    seen: list[int] = []
    model.embedding.register_forward_pre_hook(lambda _, given: seen.append(given[0].numel()))
    flaws = {
        "hot": "The logits are divided by the temperature, not multiplied.",
        "plain": "The temperature is not used: softmax(logits / temperature).",
        "likeliest": "Draw from the distribution: torch.multinomial(p, 1, generator=generator).",
        "first": "The next token comes from the logits of the last token that was read.",
    }
    usual = (
        "Read what is new, take the logits of its last place, draw with "
        "torch.multinomial(p, 1, generator=generator), put the token at the end."
    )

    def draw(temperature: float, cached: bool, start: Tensor, length: int) -> Any:
        given = f"a random GPT, a prompt of {len(start)}, {length} tokens to write, "
        given += f"temperature {temperature}, cached={cached}"
        generator = torch.Generator().manual_seed(seed)
        seen.clear()
        hint = (
            "The model is called as model(tokens, None, caches), tokens (1, T), with a list of one "
            "Cache() for each of model.blocks."
        )
        got = trial.call(
            model, start, length, generator, temperature, cached, given=given, hint=hint
        )
        whole = isinstance(got, Tensor) and got.dtype == torch.long
        hint = NOTHING if got is None else TENSOR
        trial.holds(whole, "it hands back the prompt and the new tokens", hint, got=got)
        trial.equals(
            tuple(got.shape), (len(start) + length,), "it hands back the prompt and the new tokens",
            "A tensor (P + length,): the prompt, and every token that was drawn.", given=given,
        )  # fmt: skip
        reads = list(seen)
        right = _write(model, start, length, torch.Generator().manual_seed(seed), temperature)
        slips = [
            (
                _write(
                    model, start, length, torch.Generator().manual_seed(seed), temperature,
                    cached, flaw,
                ),
                hint,
            )
            for flaw, hint in flaws.items()
        ]  # fmt: skip
        if cached and sum(reads) > len(start) + length:
            hint = (
                "With a cache the model reads the prompt once, and then each new token alone: what "
                "is read again stands twice in the cache."
            )
            rule = "with a cache every token is read once"
            trial.holds(False, rule, hint, given=given, got=f"tokens read: {reads}")
        trial.equals(
            got, right, "the text is the one that the model says", usual, slips=slips, given=given
        )
        return reads, given

    for temperature in (1.0, 0.4):
        reads, given = draw(temperature, True, prompt, n)
        wanted = [P, *[1] * (n - 1)]
        hint = (
            "The whole prompt is read in one call, each new token in one more, and the last one "
            "need not be read at all."
        )
        fine = reads in (wanted, [*wanted, 1])
        trial.holds(fine, "with a cache every token is read once", hint, given=given, got=reads)
        reads, given = draw(temperature, False, prompt, n)
        hint = "Without a cache the model reads the whole text for every new token."
        rule = "without a cache it reads the whole text again"
        trial.equals(reads[:n], list(range(P, P + n)), rule, hint, given=given)
    draw(1.0, True, prompt[:1], 5)
    given = "the same call twice, and another model's prompt between"
    hint = "Make the caches anew in every call: a default argument or a global keeps old texts."
    first, second = (draw(1.0, True, prompt, n)[0] for _ in range(2))
    trial.equals(first, second, "every text begins with empty caches", hint, given=given)
    grad = any(p.grad is not None for p in model.parameters())
    trial.holds(not grad, "no gradients", "with torch.no_grad():")
    kept: list[bool] = []
    model.output.register_forward_hook(lambda _, __, logits: kept.append(logits.requires_grad))
    trial.call(model, prompt, 3, torch.Generator().manual_seed(seed), given="3 tokens")
    hint = "with torch.no_grad(): or the graph of the whole text stays in memory."
    trial.holds(not any(kept), "nothing is kept for gradients", hint)


def _seconds_of(
    action: Callable[[], Any], repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    action()
    found = []
    for _ in range(repeats):
        began = clock()
        action()
        found.append(clock() - began)
    return min(found)


@lab.task(_seconds_of)
def seconds_of(trial: Trial) -> None:
    for repeats in (3, 1, 4):
        lasting = [float(x) for x in trial.integers(3, 9, repeats + 20).tolist()]
        lasting[0] = 50.0  # the first call warms up
        if repeats > 1:  # the shortest is neither the first call nor the last
            lasting[2 if repeats == 3 else 1] = 2.5
        now, calls = [1000.0], [0]

        def action(now=now, calls=calls, lasting=lasting) -> None:
            now[0] += lasting[calls[0]]
            calls[0] += 1

        given = f"repeats = {repeats}; the calls last {lasting[: repeats + 1]} s"
        got = trial.call(action, repeats, lambda now=now: now[0], given=given)
        timed = lasting[1 : repeats + 1]
        slips = [
            (min(lasting[:repeats]), "The first call is a warm-up and is not among the repeats."),
            (lasting[0], "The first call only warms up: time those after it."),
            (sum(timed), "The shortest of the repeats, not all of them together."),
            (sum(timed) / repeats, "The shortest, not the mean: others disturb, nobody helps."),
            (max(timed), "The shortest: what disturbs only makes it longer."),
            (timed[-1], "Time each of the repeats, and hand back the shortest."),
        ]
        usual = (
            "Call action once; then `repeats` times: read the clock, call it, read the clock "
            "again. The smallest difference comes back."
        )
        rule = "the shortest of the repeats after a warm-up"
        trial.equals(got, min(timed), rule, usual, slips=slips, given=given)
        rule = "one warm-up and the repeats"
        trial.equals(calls[0], repeats + 1, rule, usual, given=f"{given}: number of calls")
