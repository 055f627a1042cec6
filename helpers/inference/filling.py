"""What an encoder with a masked-language-modelling head makes of gaps: fillings, and a loss."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from helpers.data.masking import IGNORED
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


def masked_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in nats per chosen token: logits (B, T, V), targets (B, T) with ``IGNORED``.

    Zero where nothing was chosen.
    """
    chosen = targets != IGNORED
    total = F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    return total / chosen.sum().clamp(min=1)
