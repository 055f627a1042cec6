"""Distillation: a small model learns from what a large one says, beside the tokens themselves."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from helpers.data.masking import masked_loss


def distillation_loss(
    logits: Tensor, teacher: Tensor, targets: Tensor, *, mix: float = 0.5, temperature: float = 1.0
) -> Tensor:
    """(1 - mix) cross-entropy with the tokens + mix T^2 KL(teacher || pupil), in nats per token.

    Both distributions of the second term are softened: softmax(logits / T). The factor T^2 keeps
    its gradient about as large as the first term's, whatever T is.

    Args:
        logits: the pupil's, (..., V).
        teacher: the teacher's, of the same shape; no gradient flows into them.
        targets: the tokens, (...).
        mix: share of the teacher, 0 to 1.
        temperature: T, above 0.

    Raises:
        ValueError: settings out of range, or logits of different shapes.

    Source: G. Hinton, O. Vinyals and J. Dean, Distilling the Knowledge in a Neural Network (2015).
    """
    if not 0 <= mix <= 1 or temperature <= 0:
        raise ValueError(
            f"mix is {mix} and temperature {temperature}; expected a share from 0 to 1 and a "
            "temperature above 0."
        )
    if logits.shape != teacher.shape:
        raise ValueError(
            f"The pupil's logits have the shape {tuple(logits.shape)}, the teacher's "
            f"{tuple(teacher.shape)}: they must speak of the same tokens."
        )
    logits, teacher = logits.flatten(0, -2), teacher.detach().flatten(0, -2)
    hard = masked_loss(logits, targets.flatten())
    said = (teacher / temperature).log_softmax(-1)
    heard = (logits / temperature).log_softmax(-1)
    soft = F.kl_div(heard, said, reduction="batchmean", log_target=True)
    return (1 - mix) * hard + mix * temperature**2 * soft
