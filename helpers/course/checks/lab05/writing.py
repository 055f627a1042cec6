"""Checks of lab 05, task 9: writing with a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import OnHost, fill, lab, on_host, seeded
from helpers.course.checks.lab05.model import course_gpt
from helpers.course.checks.trial import NOTHING, TENSOR, Trial
from helpers.course.checks.turn import Slips

SLIPS = Slips(
    solutions.write,
    """
    logits = model( => caches = [Cache() for _ in model.blocks] if cached else None; logits = model(
        The caches are made once for a text, before the loop: new ones in every step know nothing of
        what was read.
    logits / temperature => logits * temperature
        The logits are divided by the temperature, not multiplied.
    logits / temperature => logits
        The temperature is not used: softmax(logits / temperature).
    torch.multinomial(p.cpu(), 1, generator=generator) => p.argmax()[None]
        Draw from the distribution: torch.multinomial(p, 1, generator=generator).
    [Cache() for _ in model.blocks] => [Cache()] * len(model.blocks)
        One Cache() for each block: [Cache()] * L is one cache, L times.
    if cached else None =>
        With cached=False the model is called without caches.
    [0, -1] => [0, 0]
        The next token comes from the logits of the last token that was read.
    """,
)


@contextmanager
def _a_device_apart() -> Iterator[None]:
    """In here what .cpu() gives computes with nothing else until .to has moved it back.

    So on any machine a program meets what it meets on a GPU.
    """
    draw, move = torch.multinomial, Tensor.to

    def on_cpu(p: Tensor, *arguments: Any, **named: Any) -> Tensor:
        if not isinstance(p, OnHost):
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
        return draw(p, *arguments, **named)

    def to(x: Tensor, *arguments: Any, **named: Any) -> Tensor:
        by_name = [*arguments, *named.values()][:1] == ["cpu"]
        return on_host(x) if by_name and not isinstance(x, OnHost) else move(x, *arguments, **named)

    with (
        mock.patch.object(torch, "multinomial", on_cpu),
        mock.patch.object(Tensor, "to", to),
        mock.patch.object(Tensor, "cpu", on_host),
    ):
        yield


USUAL = (
    "Read what is new, take the logits of its last place, draw with "
    "torch.multinomial(p, 1, generator=generator), put the token at the end."
)
ONCE = "with a cache every token is read once"
UNUSED = (
    "Nothing was drawn with the generator that is handed over: torch.multinomial(p, 1, "
    "generator=generator)."
)


@lab.task(solutions.write)
def write(trial: Trial) -> None:
    V, P, n = 11, 4, 20
    with seeded(trial):
        model = fill(course_gpt(V, 2, 16, 4, 2), trial, 0.6)
    model.output.weight.data.mul_(0.3)  # so that several tokens are likely
    prompt, seed = trial.integers(0, V, P), trial.integer(0, 1000)
    seen: list[int] = []
    model.embedding.register_forward_pre_hook(lambda _, given: seen.append(given[0].numel()))

    def draw(temperature: float, cached: bool, start: Tensor, length: int) -> Any:
        given = f"a random GPT, a prompt of {len(start)}, {length} tokens to write, "
        given += f"temperature {temperature}, cached={cached}"
        generator = torch.Generator().manual_seed(seed)
        unused = generator.get_state()
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

        def written(by: Callable[..., Tensor]) -> Tensor:
            own = torch.Generator().manual_seed(seed)
            return by(model, start, length, own, temperature, cached)

        for fine, hint in (
            (sum(reads) <= len(start) + length,
             "With a cache the model reads the prompt once, and then each new token alone: what is "
             "read again stands twice in the cache."),
            (not reads or reads[0] >= len(start),
             "The first call reads the whole prompt, which fills the caches."),
        ):  # fmt: skip
            read = f"tokens read: {reads}"
            if cached:
                trial.holds(fine, ONCE, hint, given=given, got=read)
        drawn = not torch.equal(generator.get_state(), unused)
        usual = USUAL if drawn else UNUSED
        trial.equals(
            got, written(solutions.write), "the text is the one that the model says", usual,
            slips=((written(version), hint) for version, hint in SLIPS), given=given,
        )  # fmt: skip
        return reads, given

    for temperature in (1.0, 0.4, 3.0):  # of which one or the other makes a difference
        reads, given = draw(temperature, True, prompt, n)
        wanted = [P, *[1] * (n - 1)]
        hint = (
            "The whole prompt is read in one call, each new token in one more, and the last one "
            "need not be read at all."
        )
        fine = reads in (wanted, [*wanted, 1])
        trial.holds(fine, ONCE, hint, given=given, got=reads)
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
    given = "a model on another device than the generator, 3 tokens"
    hint = (
        "The generator lives on the CPU: hand multinomial p.cpu(), and bring the token that it "
        "draws back, new.to(text.device)."
    )
    with _a_device_apart():
        trial.call(model, prompt, 3, torch.Generator().manual_seed(seed), given=given, hint=hint)
    trial.holds(True, "on any device", hint)


write.slips = SLIPS
