"""What a model makes of whole stories: their bits per byte, and their minimal pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.data.minimal_pairs import MinimalPair
from helpers.evaluating import evaluating


class Tokenizer(Protocol):
    """What is needed of a tokenizer: the ids (N,) of a text."""

    def encode(self, text: str) -> Tensor:
        """The ids (N,) of a text."""
        ...


Scorer = Callable[[Sequence[Tensor]], Sequence[Tensor]]


def text_log_probs(model: nn.Module, texts: Sequence[Tensor], batch_size: int = 32) -> list[Tensor]:
    """Log-probabilities (N - 1,) in nats of each text's tokens after its first, text by text.

    Args:
        model: a causal language model, tokens (B, T) -> logits (B, T, V).
        texts: ids (N,) each, two or more, of any lengths. Short ones are padded behind their end,
            where a causal model does not look.
    """
    device = next(model.parameters()).device
    found: list[Tensor] = [torch.empty(0)] * len(texts)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    with evaluating(model):
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            tokens = nn.utils.rnn.pad_sequence([texts[i] for i in rows], batch_first=True)
            tokens = tokens.to(device)
            logits = model(tokens[:, :-1]).float()  # (B, T, V)
            targets = tokens[:, 1:]
            # Flat, since along another dimension than the last it takes three times as long.
            costs = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
            costs = costs.view_as(targets).cpu()
            for i, row in zip(rows, costs, strict=True):
                found[i] = -row[: len(texts[i]) - 1]
    return found


def bits_per_byte(log_probs: Sequence[Tensor], documents: Sequence[str]) -> float:
    """Bits per byte of documents, from the log-probabilities of their tokens and of their ends.

    Each end counts as three bytes, those of the two blank lines that stand between documents.
    """
    nats = -sum(float(row.double().sum()) for row in log_probs)
    return nats / math.log(2) / sum(len(text.encode("utf-8")) + 3 for text in documents)


def right_choices(
    pairs: Sequence[MinimalPair], tokenizer: Tokenizer, begin: int, scorer: Scorer
) -> Tensor:
    """For each minimal pair, whether the story as it stands is the likelier: 1, 0, or 0.5 (N,).

    Compared is the continuation's probability after its context. Where both are equally likely, as
    for an n-gram model that sees the same last tokens, the choice is left to a coin: 0.5.

    Args:
        scorer: texts -> the log-probabilities of their tokens after the first, such as
            ``partial(text_log_probs, model)``.
    """
    sides = [(pair.context, pair.right) for pair in pairs]
    sides += [(pair.wrong_context, pair.wrong) for pair in pairs]
    contexts = [torch.cat([torch.tensor([begin]), tokenizer.encode(side[0])]) for side in sides]
    texts = [
        torch.cat([context, tokenizer.encode(end)])
        for context, (_, end) in zip(contexts, sides, strict=True)
    ]
    of_end = [
        float(log_probs[len(context) - 1 :].sum())
        for context, log_probs in zip(contexts, scorer(texts), strict=True)
    ]
    right, wrong = torch.tensor(of_end).view(2, -1)
    return (right > wrong).double() + 0.5 * (right == wrong)
