"""The small contracts that tie the course's models together.

A *neural language model* is any callable ``model(tokens) -> logits`` with tokens (B, T) long and
logits (B, T, V); one forward pass scores every position of a text.

A *predictor* is anything that hands out next-token distributions one step at a time: an n-gram, a
known source, a hidden Markov model, a recurrent network, a GPT with its cache. One sampler, one
perplexity and one guessing game serve them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor


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


def next_log_probs(predictor: Predictor, context: Sequence[int] | Tensor) -> Tensor:
    """The distribution of the token after ``context``, a text from its beginning: (V,) in nats.

    The context may be empty: the distribution over first tokens.
    """
    context = torch.as_tensor(context, dtype=torch.long).flatten()
    if len(context) and not 0 <= int(context.min()) <= int(context.max()) < predictor.vocab_size:
        raise ValueError(
            f"The context holds token ids from {int(context.min())} to {int(context.max())}, but "
            f"this predictor knows 0 to {predictor.vocab_size - 1}: encode the text with the "
            "tokenizer that the predictor was made with."
        )
    state = predictor.start(1)
    log_probs, state = predictor.step(torch.tensor([predictor.bos]), state)
    for token in context:
        log_probs, state = predictor.step(token.view(1), state)
    return log_probs[0]
