"""What an encoder with a masked-language-modelling head makes of gaps: fillings, and a loss."""

from __future__ import annotations

from torch import Tensor, nn

from helpers.evaluating import evaluating


def fill_masks(model: nn.Module, tokens: Tensor, mask: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities (M, V) in nats of the M masked positions of a text, and the positions (M,).

    Every gap is filled by itself, given the rest of the text; the gaps do not know of each other.

    Args:
        model: tokens (B, T) -> logits (B, T, V), such as ``MaskedLM``.
    """
    places = (tokens == mask).nonzero().flatten()
    device = next(model.parameters()).device
    with evaluating(model):
        logits = model(tokens[None].to(device))[0, places.to(device)]
    return logits.float().log_softmax(-1).cpu(), places
