"""The small contracts that tie the course's models together.

A *neural language model* is any callable ``model(tokens) -> logits`` with tokens (B, T) long and
logits (B, T, V); one forward pass scores every position of a text.

A *predictor* is anything that hands out next-token distributions one step at a time: an n-gram, a
known source, a hidden Markov model, a recurrent network, a GPT with its cache. One sampler, one
perplexity and one guessing game serve them all. ``Predictor`` says what it must have. What it may
have besides is stated after that, and whoever wants to use it asks here: ``reads_at_once``,
``scores_texts``, ``back``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

import torch
from torch import Tensor

from helpers.token_ids import check_range


class Predictor(Protocol):
    """Next-token distributions, one token at a time, for a batch of texts.

    Attributes:
        vocab_size: V; tokens that can be predicted are 0 .. V-1.
        bos: the token that stands before every text. It is always the first one that ``step``
            reads, so the first distribution is the one over first tokens. Where ``bos`` equals V
            it can be read but is never predicted.
    """

    vocab_size: int
    bos: int

    def start(self, batch_size: int) -> Any:
        """The state before anything is read, for ``batch_size`` texts."""
        ...

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read one token per text: tokens (B,) long -> log-probabilities (B, V) in nats, new state.

        The state that was given stays valid, so a search may continue from it more than once.
        """
        ...


class ReadsAtOnce(Predictor, Protocol):
    """A predictor that reads many tokens in one pass."""

    def read(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Tokens (B, T) long -> log-probabilities (B, T, V) in nats and new state, as T steps."""
        ...


class ScoresTexts(Predictor, Protocol):
    """A predictor that scores a whole text faster than step by step."""

    def log_probs(self, tokens: Tensor) -> Tensor:
        """Log-probability (T,) in nats of each token of a text, given all before it, as T steps."""
        ...


class Rewinds(Protocol):
    """A state that still knows earlier ones."""

    def back(self, n: int) -> Any | None:
        """The state n tokens earlier, or None where that is no longer known."""
        ...


def reads_at_once(predictor: Predictor) -> TypeGuard[ReadsAtOnce]:
    """Whether it reads many tokens in one pass."""
    return hasattr(predictor, "read")


def scores_texts(predictor: Predictor) -> TypeGuard[ScoresTexts]:
    """Whether it scores a whole text by itself."""
    return hasattr(predictor, "log_probs")


def back(state: Rewinds | Any, n: int) -> Any | None:
    """The state n tokens earlier, or None where this one no longer knows it or never did."""
    if n == 0:
        return state
    return state.back(n) if hasattr(state, "back") else None


def read_tokens(predictor: Predictor, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
    """Read many tokens per text: (log-probabilities (B, T, V) in nats, new state) for (B, T).

    Row t is the distribution after tokens[:, t], as ``step`` would give it. A predictor that
    ``ReadsAtOnce`` reads them in one pass; any other one step by step.

    Raises:
        ValueError: tokens of another shape, or none; log-probabilities that are no numbers.
    """
    tokens = _check_tokens(tokens)
    if reads_at_once(predictor):
        log_probs, state = predictor.read(tokens, state)
        return _check_numbers(log_probs), state
    rows = []
    for column in tokens.unbind(1):
        log_probs, state = predictor.step(column, state)
        rows.append(log_probs)
    return _check_numbers(torch.stack(rows, 1)), state  # (B, T, V)


def read_prompt(predictor: Predictor, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
    """``read_tokens`` for those who need the last distribution only: (B, V) in nats, new state."""
    tokens = _check_tokens(tokens)
    if reads_at_once(predictor):
        log_probs, state = predictor.read(tokens, state)
        return _check_numbers(log_probs[:, -1]), state
    for column in tokens.unbind(1):
        log_probs, state = predictor.step(column, state)
    return _check_numbers(log_probs), state


def next_log_probs(predictor: Predictor, context: Sequence[int] | Tensor) -> Tensor:
    """The distribution of the token after ``context``, a text from its beginning: (V,) in nats.

    The context may be empty: the distribution over first tokens.
    """
    context = torch.as_tensor(context, dtype=torch.long).flatten()
    check_range(
        context,
        predictor.vocab_size,
        "The context holds token ids from {low} to {high}, but this predictor knows 0 to {last}: "
        "encode the text with the tokenizer that the predictor was made with.",
    )
    tokens = torch.cat([torch.tensor([predictor.bos]), context])[None]  # (1, 1 + T)
    return read_prompt(predictor, tokens, predictor.start(1))[0][0]


def _check_numbers(log_probs: Tensor) -> Tensor:
    if log_probs.isnan().any():
        raise ValueError(
            "The predictor gives NaN for a log-probability: some of its model's weights are no "
            "finite numbers, so load them again, or train again with a lower learning rate."
        )
    return log_probs


def _check_tokens(tokens: Tensor) -> Tensor:
    tokens = torch.as_tensor(tokens, dtype=torch.long)
    if tokens.dim() != 2 or tokens.numel() == 0:
        raise ValueError(
            f"The tokens have the shape {tuple(tokens.shape)}; expected (B, T), one text and one "
            "token or more."
        )
    return tokens
