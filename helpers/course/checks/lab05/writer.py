"""Checks of lab 05, task 6: a writer with four planted faults.

Shape letters: V vocabulary, P tokens of a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.describing import describe
from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import fill, lab, seeded
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial, with_hints
from helpers.course.checks.turn import Case, Slips

V, P, LENGTH = 11, 5, 20
RULES = see(14, "One distribution, three rules")
# By what each of the four faults shows; its cure is for the student to find.
_SHOWS = {
    "a lower temperature is surer": "At a temperature of 0.5 the likeliest token is less likely "
    "than at 2.",
    "top-p keeps the likeliest": "With a share of 0.5 a token is lost that is likelier than "
    "another one that stays.",
    "the first token follows the whole prompt": "What is drawn first does not follow the model's "
    "probabilities after the whole prompt.",
    "every text begins anew": "The same writer, the same prompt and the same random numbers give "
    "another text the second time.",
}
_ORDER = "First the temperature, then the softmax, then the share of the likeliest. " + RULES
_OTHER = "The faults are gone and something else has changed: mend the faults alone."
_CROSSES = (
    "The share counts from the likeliest token on, and the token that crosses it is kept, too: "
    "else nothing may be left to draw from."
)
_SLIPS = Slips(
    solutions.Repaired,
    f"""
    p = (logits / self.temperature).softmax(-1) => p = logits.softmax(-1) ;; \
    return p / p.sum() => p = p ** (1 / self.temperature) ; return p / p.sum()
        {_ORDER}
    logits / self.temperature => logits
        The temperature is not used: softmax(logits / temperature).
    ranked.cumsum(0) - ranked < self.share => ranked.cumsum(0) < self.share
        {_CROSSES}
    p = p.scatter(0, order[~kept], 0.0) =>
        The share is not used: what is beyond it gets the probability 0.
    return p / p.sum() => return p
        What is kept is divided by its sum, so that it sums to 1 again.
    torch.multinomial(p, 1, generator=generator) => p.argmax()[None]
        Draw from the distribution: torch.multinomial(p, 1, generator=generator).
    logits = self.model( => self.caches = [Cache() for _ in self.model.blocks] ; \
    logits = self.model(
        The caches are made once for a text, before the loop: new ones in every step know nothing \
        of what was read.
    new[None], None, self.caches => text[None], None, None
        Without caches it would be right, and slow: read with a cache, the prompt in one call and \
        then each new token once.
    """,
)
_ERRORS = {
    "probability tensor": _CROSSES,
}


def course_gpt(L: int, D: int, H: int, G: int, vocabulary: int = V) -> solutions.MyGPT:
    """A GPT of the course's own blocks."""
    return solutions.parallel_gpt(vocabulary, D, H, G, L)


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _sharpened(answer: Callable, logits: Tensor, temperature: float, share: float) -> Any:
    return answer(course_gpt(1, 8, 2, 1), temperature, share).probabilities(logits)


def _written(
    answer: Callable, model: nn.Module, prompt: Tensor, temperature: float, share: float, seed: int
) -> dict[str, Any]:
    """The text, and how many tokens the model read in each call."""
    reads: list[int] = []
    hook = model.embedding.register_forward_pre_hook(
        lambda _, given: reads.append(given[0].numel())
    )
    try:
        text = answer(model, temperature, share).write(prompt, LENGTH, _generator(seed))
    finally:
        hook.remove()
    return {"text": text, "tokens read": reads[:LENGTH]}


def _logits(trial: Trial) -> Iterator[Case]:
    by_hand = torch.tensor([1.0, 4.0, 3.0, 2.0]).double().log()
    given = "logits log(1), log(4), log(3), log(2), temperature {}, share {}"
    for rule, temperature, share in (
        ("by hand, without temperature and share", 1.0, 1.0),
        ("by hand, temperature 0.5", 0.5, 1.0),
        ("by hand, a share of 0.6", 1.0, 0.6),
        ("by hand, a share of less than the likeliest has", 1.0, 0.1),
    ):
        words = given.format(temperature, share)
        yield Case(rule, by_hand, temperature, share, given=words)
    for _ in range(4):
        logits, share = 2 * trial.normal(V), trial.integer(20, 95) / 100
        temperature = trial.integer(5, 20) / 10
        words = f"{describe(logits)}, temperature {temperature}, share {share}"
        yield Case("any logits", logits, temperature, share, given=words)


def _prompts(trial: Trial) -> Iterator[Case]:
    model = _model(trial)
    for temperature, share in ((1.0, 1.0), (0.6, 0.8)):
        prompt = trial.integers(0, V, P)
        given = f"a random GPT, a prompt of {P} tokens, {LENGTH} to write, temperature "
        given += f"{temperature}, share {share}"
        arguments = model, prompt, temperature, share, trial.integer(0, 1000)
        yield Case("it writes what the model says, and reads it once", *arguments, given=given)


def _model(trial: Trial) -> nn.Module:
    with seeded(trial):
        model = fill(course_gpt(2, 16, 4, 2), trial, 0.6)
    model.output.weight.data.mul_(0.3)  # so that several tokens are likely
    return model


@lab.task(solutions.Repaired)
def Repaired(trial: Trial) -> None:
    trial.is_class_from("Broken", "probabilities", "write")
    with with_hints(_ERRORS):
        _has_no_fault(trial)
        for cases, call, hint in (
            (_logits, _sharpened, _ORDER),
            (_prompts, _written, _OTHER),
        ):
            for case in cases(trial):
                trial.agrees(
                    solutions.Repaired, *case.arguments, rule=case.rule, hint=hint, slips=_SLIPS,
                    given=case.given, call=call,
                )  # fmt: skip
        _keeps_no_graph(trial)


Repaired.slips = _SLIPS


def _has_no_fault(trial: Trial) -> None:
    """Complains about the planted faults that are still in, all at once."""
    model, tests = _model(trial), [2 * trial.normal(V) for _ in range(6)]

    def probabilities(logits: Tensor, temperature: float, share: float) -> Tensor:
        given = f"{describe(logits)}, temperature {temperature}, share {share}"
        got = trial.run(_sharpened, trial.answer, logits, temperature, share, given=given)
        fits = isinstance(got, Tensor) and got.shape == logits.shape
        hint = "A probability for each token comes back, a tensor (V,)."
        trial.holds(fits, "probabilities (V,)", hint, given=given, got=got)
        return got

    def text(writer: Any, prompt: Tensor, length: int = LENGTH) -> list[int]:
        given = f"a random GPT, a prompt of {len(prompt)} tokens, {length} to write"
        got = trial.run(writer.write, prompt, length, _generator(3), given=given)
        fits = isinstance(got, Tensor) and got.shape == (len(prompt) + length,)
        hint = "The prompt and the new tokens come back, in one tensor (P + length,)."
        trial.holds(fits, "the prompt and the new tokens", hint, given=given, got=got)
        return got.tolist()

    flat = any(probabilities(x, 0.5, 1).max() < probabilities(x, 2.0, 1).max() for x in tests)
    halves = [(x, probabilities(x, 1.0, 0.5) > 0) for x in tests]
    ranked = all(
        kept.all() or not kept.any() or x[kept].min() > x[~kept].max() for x, kept in halves
    )
    sharp = _model(trial)
    sharp.output.weight.data.mul_(1000)  # one token is certain, at any temperature near 1
    with torch.no_grad():
        prompts = []
        while len(prompts) < 4:
            drawn = trial.integers(0, V, P)
            first, *_, last = sharp(drawn[None])[0].argmax(-1).tolist()
            if first != last:
                prompts.append((drawn, last))

    def writer_of(model: nn.Module) -> Any:
        """A writer whose faults in ``probabilities`` do not count."""
        writer = trial.run(trial.answer, model)
        writer.probabilities = lambda logits: logits.softmax(-1)
        return writer

    firsts = [text(writer_of(sharp), prompt, 1)[-1] for prompt, _ in prompts]
    whole = firsts == [last for _, last in prompts]
    writers = [writer_of(model) for _ in prompts]
    again = all(
        text(writer, prompt) == text(writer, prompt)
        for writer, (prompt, _) in zip(writers, prompts, strict=True)
    )
    given = "a small random GPT"
    trial.has_no_fault(_SHOWS, (not flat, ranked, whole, again), given)


def _keeps_no_graph(trial: Trial) -> None:
    model, kept = _model(trial), []
    model.output.register_forward_hook(lambda _, __, logits: kept.append(logits.requires_grad))
    trial.run(
        trial.answer(model).write, trial.integers(0, V, P), 3, _generator(0), given="3 tokens"
    )
    hint = "Broken.write stands under @torch.no_grad(): keep that line, too."
    trial.holds(not any(kept), "nothing is kept for gradients", hint)
