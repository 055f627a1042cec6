"""Masked language modelling (BERT): hiding tokens, and the loss where they are to be found."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORED = -100  # the target that ``F.cross_entropy`` passes over
KINDS = (0.8, 0.1, 0.1)  # of the chosen tokens: masked, replaced at random, left as they are


def mask_tokens(
    tokens: Tensor,
    *,
    mask: int,
    vocab_size: int,
    generator: torch.Generator,
    share: float = 0.15,
    kinds: Sequence[float] = KINDS,
    special: Sequence[int] = (),
) -> tuple[Tensor, Tensor]:
    """Inputs and targets of masked language modelling, both of the shape of tokens.

    Every token that is not special is chosen with probability ``share``. A chosen token is the
    target at its position; in the inputs it is masked, replaced by a random token or left alone, in
    the shares ``kinds``. All other targets are ``IGNORED``. Devlin et al. (2019), section 3.1 and
    appendix A.1; they choose a fixed number of tokens of each text.

    Args:
        tokens: ids in any shape.
        mask: the id of [MASK].
        vocab_size: V; random tokens are drawn from the ids that are not special.
        kinds: three shares that sum to 1: masked, random, unchanged.
        special: ids that are never chosen and never drawn, such as [PAD] and [CLS]; [MASK] is one
            of them in any case.
    """
    masked, random, _ = kinds
    never = torch.tensor(sorted({mask, *special}))
    ordinary = torch.tensor([token for token in range(vocab_size) if token not in {mask, *special}])
    draw, what = (torch.rand(tokens.shape, generator=generator) for _ in range(2))
    drawn = ordinary[torch.randint(len(ordinary), tokens.shape, generator=generator)]
    chosen = (draw < share) & ~torch.isin(tokens, never)
    inputs = torch.where(chosen & (what < masked), mask, tokens)
    inputs = torch.where(chosen & (masked <= what) & (what < masked + random), drawn, inputs)
    return inputs, torch.where(chosen, tokens, IGNORED)


def masked_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in nats per chosen token: logits (B, T, V), targets (B, T) with ``IGNORED``.

    Zero where nothing was chosen.
    """
    chosen = targets != IGNORED
    total = F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    return total / chosen.sum().clamp(min=1)


def pad_rows(rows: Sequence[Tensor], pad: int) -> Tensor:
    """Ids of several texts as one tensor (B, T), filled up behind their ends with ``pad``."""
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=pad)
