"""What an encoder with a masked-language-modelling head makes of a text: filled gaps, a score."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from helpers.evaluating import evaluating


def fill_masks(model: nn.Module, tokens: Tensor, mask: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities (M, V) in nats of the M masked positions of a text, and the positions (M,).

    Every gap is filled by itself, given the rest of the text; the gaps do not know of each other.

    Args:
        model: tokens (B, T) -> logits (B, T, V), such as ``MaskedLM``.
        tokens: ids (T,) of one text.
        mask: the id of [MASK].

    Raises:
        ValueError: a text without a gap.
    """
    places = (tokens == mask).nonzero().flatten()
    if tokens.dim() != 1 or not len(places):
        raise ValueError(
            f"The text has the shape {tuple(tokens.shape)} and {len(places)} gaps; expected ids "
            f"(T,) with the id {mask} of [MASK] at least once."
        )
    device = next(model.parameters()).device
    with evaluating(model):
        logits = model(tokens[None].to(device))[0, places.to(device)]
    return logits.float().log_softmax(-1).cpu(), places


def pseudo_log_likelihood(
    model: nn.Module, tokens: Tensor, mask: int, skipped: Sequence[int] = (), batch_size: int = 64
) -> Tensor:
    """Of each token of a text its log-probability given all the others, in nats: (T,).

    The token alone is masked, so a text costs T passes. Their sum is the pseudo-log-likelihood, and
    exp(-mean) the pseudo-perplexity: no probability of the text, and comparable only between models
    with one vocabulary. Salazar et al. (2020), "Masked language model scoring".

    Args:
        model: tokens (B, T) -> logits (B, T, V).
        tokens: ids (T,).
        mask: the id of [MASK].
        skipped: ids that are not scored, such as [CLS]; zero stands at their positions.
        batch_size: how many copies of the text are read at once.
    """
    device = next(model.parameters()).device
    places = [i for i, token in enumerate(tokens.tolist()) if token not in set(skipped)]
    found = torch.zeros(len(tokens))
    with evaluating(model):
        for first in range(0, len(places), batch_size):
            some = torch.tensor(places[first : first + batch_size])
            rows = tokens.repeat(len(some), 1)
            rows[torch.arange(len(some)), some] = mask
            logits = model(rows.to(device))[torch.arange(len(some)), some.to(device)].float()
            log_p = logits.log_softmax(-1).cpu()
            found[some] = log_p[torch.arange(len(some)), tokens[some]]
    return found
