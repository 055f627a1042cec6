"""Checks of lab 05: writing, token by token."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.course.checks.lab05.cache import (
    CACHE,
    SIZES,
    count_reads,
    course_read_token,
    random_model,
)
from helpers.course.checks.lab05.common import lab, seeded
from helpers.course.checks.lab05.filters import RULES, distribution
from helpers.course.checks.lab05.gpt import CourseGPT
from helpers.course.checks.trial import NOTHING, TENSOR, Trial


def _write(
    model: nn.Module,
    prompt: Tensor,
    length: int,
    generator: torch.Generator,
    temperature: float = 1.0,
    narrow: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    text, cache = prompt, []
    for i in range(len(prompt) + length - 1):
        logits, cache = course_read_token(model, text[i : i + 1], cache)
        if i >= len(prompt) - 1:
            p = (logits[0] / temperature).softmax(-1)
            p = p if narrow is None else narrow(p)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
    return text


@lab.task(_write)
def write(trial: Trial) -> None:
    model, V = random_model(trial, 0.6), SIZES["V"]
    prompt, length = trial.integers(0, V, 4), 6
    given = "a random GPT, a prompt of 4 tokens, 6 tokens to write, of which the likeliest is taken"
    seen = count_reads(model.blocks[0].attention.key)
    probabilities: list[Tensor] = []

    def likeliest(p: Tensor) -> Tensor:
        probabilities.append(p)
        return (p == p.max()).to(p.dtype)

    hint = (
        "read_token reads one token of each of B texts, a tensor (B,). Here B = 1: the P tokens of "
        "the prompt come one after the other."
    )
    got = trial.call(
        model, prompt, length, trial.generator, narrow=likeliest, given=given, hint=hint
    )
    reads = sum(seen)
    right = isinstance(got, Tensor) and tuple(got.shape) == (10,) and got.dtype == torch.long
    hint = "Begin with the prompt, and put every drawn token at its end: torch.cat."
    if isinstance(got, Tensor) and got.is_floating_point():
        hint = "Tokens are whole numbers, as in the prompt."
    elif not isinstance(got, Tensor):
        hint = NOTHING if got is None else TENSOR
    trial.holds(
        right and torch.equal(got[:4], prompt),
        "it hands back the prompt and the drawn tokens, (P + length,)",
        hint,
        given=given,
        got=got,
    )
    _write_looks_back(trial, model, got, probabilities, given)
    trial.holds(
        reads <= 10,
        "no token is read twice",
        "Hand read_token the cache that it gave you last, and only the new token: to begin again "
        f"for every token costs ever more. {CACHE}",
        given=given,
        got=f"{reads} tokens read for a text of 10",
    )
    trial.holds(
        not any(p.requires_grad for p in probabilities),
        "nothing is kept for gradients",
        "with torch.no_grad(): or the graph of the whole text stays in memory.",
        given=given,
    )
    given = "the same model and prompt, length 0"
    trial.equals(
        trial.call(model, prompt, 0, trial.generator, given=given),
        prompt,
        "with length 0 the prompt comes back",
        "Draw no more often than asked.",
        given=given,
    )
    _write_draws(trial)


def _write_looks_back(
    trial: Trial, model: nn.Module, text: Tensor, probabilities: list[Tensor], given: str
) -> None:
    """Every distribution is the model's after all tokens before, and what was cut is not drawn."""
    trial.holds(
        len(probabilities) == 6,
        "narrow is asked once for every token that is drawn",
        "p = narrow(p), where a function was given.",
        given=given,
        got=f"asked {len(probabilities)} times for 6 tokens",
    )
    for i, p in enumerate(probabilities, start=4):
        with torch.no_grad():
            logits = model(text[None, :i])[0, -1]
        slips = [(logits, "narrow takes probabilities, not logits.")]
        usual = (
            "Read the prompt token by token, each with the cache of those before it; the first "
            "draw comes after its last token, and what was drawn is read next."
        )
        trial.equals(
            p.detach(),
            logits.softmax(-1),
            "every token is drawn after all tokens before it",
            usual,
            slips=slips,
            given=f"{given}; what narrow is handed for token number {i}",
        )
        trial.equals(
            int(text[i]),
            int(p.argmax()),
            "the draw is from what narrow hands back",
            "Draw from what narrow gives back, not from what it was handed.",
            given=f"{given}; token number {i}",
        )


def _write_draws(trial: Trial) -> None:
    """A model whose next token does not depend on the text: P = 1/2, 1/4, 3/16, 1/16."""
    N, p = 300, distribution([8, 4, 3, 1]) / 16
    with seeded(trial):
        model = CourseGPT(4, N + 1, 1, 4, 1, tied=False).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.norm.bias.copy_(distribution([1, 0, 0, 0]))
        model.output.weight[:, 0] = p.log()
    seen: list[Tensor] = []

    def narrow(q: Tensor) -> Tensor:
        seen.append(q.detach().clone())
        return torch.where(q > q.min(), q, 0) / (1 - q.min())

    start = torch.tensor([0])
    given = "P = 8/16, 4/16, 3/16, 1/16 at every place, temperature 0.5"
    trial.call(model, start, 1, trial.generator, 0.5, narrow, given=given)
    sharp = p.square() / p.square().sum()
    trial.holds(len(seen) > 0, "narrow is asked before a token is drawn", RULES, given=given)
    slips = [
        (p.sqrt() / p.sqrt().sum(), "Divide the logits by the temperature: below 1 it sharpens."),
        (p, "The temperature comes first: what narrow is handed has it already."),
        (p.log() / 0.5, "narrow takes probabilities, not logits."),
        (2 * p, "The temperature divides the logits, before the softmax."),
    ]
    usual = f"softmax(logits / temperature), a distribution (V,). {RULES}"
    rule = "narrow is handed softmax(logits / temperature)"
    trial.equals(seen[0], sharp, rule, usual, slips=slips, given=given)
    first, none = trial.integer(0, 1000), "narrow may be None: then nothing is narrowed."
    places = "P = 8/16, 4/16, 3/16, 1/16 at every place, {} tokens"

    def drawn(length: int, seed: int) -> Tensor:
        generator, given = torch.Generator().manual_seed(seed), places.format(length)
        return trial.call(model, start, length, generator, given=given, hint=none)

    one, two, other = (drawn(40, seed) for seed in (first, first, first + 1))
    given = places.format(40)
    hint = "Draw with the generator that you are handed, and with nothing else that is random."
    trial.equals(two, one, "the same seed writes the same text", hint, given=given)
    hint = "Another seed, another text: draw with the generator as it is handed over."
    rule = "another seed writes another text"
    if len(set(one[1:].tolist())) > 1:  # the likeliest token alone is told below
        trial.holds(not torch.equal(other, one), rule, hint, given=given)
    given = places.format(N)
    counts = torch.bincount(drawn(N, first)[1:], minlength=4).double()
    chi_square = float(((counts - N * p).square() / (N * p)).sum())
    trial.holds(
        chi_square < 30.7,  # one in a million for three degrees of freedom
        f"{N} draws follow the distribution (chi-square)",
        "Draw from the distribution: the likeliest token every time is no sampling.",
        given=given,
        got=(counts / N).tolist(),
        expected=p.tolist(),
    )
    cut = trial.call(model, start, 200, trial.generator, 1.0, narrow, given=given)
    trial.holds(
        not bool((cut[1:] == 3).any()),
        "what narrow has cut is never drawn",
        "Draw from what narrow gives back.",
        given="narrow takes away the token 3",
        got=f"token 3 was drawn {int((cut[1:] == 3).sum())} times in 200",
    )
