"""Checks of lab 08, task 2: log-probabilities of answers of unequal lengths, in one batch.

Shape letters: B texts, T tokens, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab08.common import lab, wide
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

END, V = 4, 6


class Reader(nn.Module):
    """A small causal model, in float64: what it says depends on all tokens that it has read."""

    def __init__(self, trial: Trial, never: int | None = None) -> None:
        super().__init__()
        self.embedding = nn.Parameter(trial.normal(V, 5))
        self.output = nn.Parameter(trial.normal(5, V))
        self.never, self.calls = never, 0

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> logits (B, T, V)"""
        self.calls += 1
        logits = self.embedding[tokens].cumsum(1).tanh() @ self.output
        if self.never is not None:
            logits = logits.index_fill(2, torch.tensor([self.never]), -math.inf)
        return logits


def _always(tokens: Tensor) -> Tensor:
    """A model that always says the same: 1/2 of the end mark, 1/10 of each other token."""
    p = torch.full((*tokens.shape, V), 0.1, dtype=torch.float64)
    return p.index_fill(2, torch.tensor([END]), 0.5).log()


def _with_gradient(answer: Callable, model: Reader, *arguments: Any) -> dict[str, Any]:
    """The log-probabilities, and how their sum changes with the model's output."""
    found = answer(model, *arguments)
    if not (isinstance(found, Tensor) and found.requires_grad):
        return {"log-probabilities": wide(found), "their gradient": None}
    weighted = (found * torch.linspace(1, 2, found.numel()).view(found.shape)).sum()
    gradient = torch.autograd.grad(weighted, model.output)[0]
    return {"log-probabilities": wide(found), "their gradient": gradient}


def _texts(trial: Trial, lengths: list[int], starts: list[int], filler: int | None) -> Tensor:
    """Random texts; the answer of row i has ``lengths[i]`` tokens, the end mark among them."""
    T = max(n + s for n, s in zip(lengths, starts, strict=True)) + 2
    texts = trial.integers(0, END, len(lengths), T)
    for row, n, start in zip(texts, lengths, starts, strict=True):
        row[start + n - 1] = END
        row[start + n :] = trial.integers(0, V, T - start - n) if filler is None else filler
    return texts


_BEHIND = (
    "What stands behind the first end mark of the answer does not belong to it, whatever it is; "
    "the end mark itself does."
)
_PROMPT = "A prompt may hold end marks, too: the one that counts is the first in the answer."


def _batches(trial: Trial) -> Iterator[Case]:
    texts = torch.tensor([[0, 1, 2, END, END], [1, 2, 3, 0, END]])
    hint = "The first answer has two words and an end mark, 2 log (1/10) + log (1/2); the second "
    hint += "one has a word less. Look at the tokens that you count."
    given = "a model that says 1/2 of token 4 and 1/10 of each other one, "
    given += f"texts {texts.tolist()}, starts [1, 3], end 4"
    yield Case("by hand", _always, texts, torch.tensor([1, 3]), END, given=given, hint=hint)
    model = Reader(trial)
    for rule, lengths, starts, filler, hint in (
        ("one answer", [4], [3], END, ""),
        ("answers of unequal lengths", [2, 5, 3], [3, 3, 3], END, _BEHIND),
        ("prompts of unequal lengths", [4, 2, 3], [1, 4, 2], END, ""),
        ("anything may stand behind the end", [1, 3, 2, 4], [2, 4, 1, 3], None, _BEHIND),
    ):
        x, given = _texts(trial, lengths, starts, filler), f"starts {starts}, end {END}"
        given = f"texts {x.tolist()}, {given}"
        yield Case(rule, model, x, torch.tensor(starts), END, given=given, hint=hint)
    x = _texts(trial, [3, 2], [3, 4], END)
    x[:, 0], x[1, 2] = END, END
    given = f"texts {x.tolist()}, starts [3, 4], end 4"
    yield Case("end marks in the prompt", model, x, torch.tensor([3, 4]), END, given=given,
               hint=_PROMPT)  # fmt: skip
    x = trial.integers(0, END, 2, 6)
    given = f"texts {x.tolist()}, starts [2, 3], end 4"
    hint = "An answer without an end mark goes on to the end of its row."
    yield Case("an answer that does not end", model, x, torch.tensor([2, 3]), END, given=given,
               hint=hint)  # fmt: skip
    x = _texts(trial, [2, 4], [2, 2], 5)
    given = f"a model that says 0 of token 5, texts {x.tolist()}, starts [2, 2], end 4"
    hint = "0 times minus infinity is not a number: choose what counts by torch.where or "
    hint += "masked_fill, and do not multiply."
    yield Case("log 0 where nothing counts", Reader(trial, never=5), x, torch.tensor([2, 2]), END,
               given=given, hint=hint)  # fmt: skip


def _once(trial: Trial) -> None:
    model, x = Reader(trial), _texts(trial, [3, 2, 4], [2, 3, 1], END)
    trial.run(trial.answer, model, x, torch.tensor([2, 3, 1]), END, given="three texts")
    hint = "The model reads the whole batch at once: no loop over texts, and none over tokens."
    trial.holds(model.calls == 1, "the model is called once", hint, got=f"{model.calls} calls")


_SHIFT = (
    "The logits at position t are about token t + 1: the model reads texts[:, :-1], and what it is "
    "asked for is texts[:, 1:]. So the column of token t is t - 1."
)


@turn(
    lab,
    "The sum of the log-probabilities of the answer's tokens, from the first one to its end mark. "
    "Do the values agree, and the gradient not? Then something is detached.",
    cases=_batches,
    call=_with_gradient,
    also=_once,
    slips=f"""
    log_p.where(counts, 0) => log_p
        The tokens of the prompt were given, not written: they do not count, and neither does what
        stands behind the end.
    log_p.where(counts, 0) => log_p.where(answer, 0)
        {_BEHIND}
    ended = answer & ( => ended = (
        {_PROMPT}
    place >= starts[:, None] => place > starts[:, None]
    texts[:, 1:, None] => texts[:, :-1, None]
    model(texts[:, :-1]) => model(texts) ;; texts[:, 1:, None] => texts[..., None] ;; \
    arange(1, => arange(0, ;; (texts[:, 1:] == end) => (texts == end)
        {_SHIFT}
    .cumsum(1) - ended.long() => .cumsum(1)
        The end mark belongs to the answer: the policy has decided to stop there.
    .sum(1) => .sum(1) / counts.sum(1)
        The logarithm of a product is a sum: this is the mean over the tokens.
    .sum(1) => .sum()
        A number for each text: sum over its tokens alone.
    model(texts[:, :-1]).log_softmax(-1) => model(texts[:, :-1])
        The logits are no log-probabilities yet.
    .log_softmax(-1) => .softmax(-1)
        Log-probabilities are asked for: the probabilities are multiplied, not added.
    .log_softmax(-1) => .softmax(-1).log()
        The values are right. But the derivative of log at 0 is infinite, and 0 times infinity is no
        number: log_softmax takes the logarithm before anything has become 0.
    return log_p => return log_p.detach()
        The policy is trained through these numbers: their gradient must flow.
    """,
)
def answer_log_probs(model, texts, starts, end):
    """Texts (B, T), where each answer starts, (B,) -> log-probabilities of the answers, (B,)."""
    log_p = model(texts[:, :-1]).log_softmax(-1)
    log_p = log_p.gather(2, texts[:, 1:, None])[..., 0]  # (B, T - 1), of the tokens 1, 2, ...
    place = torch.arange(1, texts.shape[1])
    answer = place >= starts[:, None]
    ended = answer & (texts[:, 1:] == end)
    before = ended.cumsum(1) - ended.long()  # end marks of the answer in front of a token
    counts = answer & (before == 0)
    return log_p.where(counts, 0).sum(1)
