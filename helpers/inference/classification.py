"""How often a classifier of sequences is wrong: in all and by kind."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from helpers.data.parentheses_negatives import KINDS
from helpers.data.parentheses_sets import LabelledSequences
from helpers.evaluating import evaluating

_CELL = 64 * 1024  # symbols read in one pass


def classify(model: nn.Module, tokens: Tensor) -> Tensor:
    """The class (N,) that a model gives to each row of tokens (N, L): the largest of its logits.

    Dropout is off; the model is left in the mode that it was in.
    """
    rows = max(1, _CELL // tokens.shape[1])
    with evaluating(model):
        return torch.cat([model(part).argmax(1) for part in tokens.split(rows)])


def error(model: nn.Module, labelled: LabelledSequences) -> float:
    """The share of sequences that get the wrong class."""
    return float((classify(model, labelled.tokens) != labelled.labels).double().mean())


def errors_by_kind(model: nn.Module, labelled: LabelledSequences) -> dict[str, float]:
    """The share of wrong answers for each kind in the set, in the order of ``KINDS``."""
    wrong = (classify(model, labelled.tokens) != labelled.labels).double()
    present = labelled.kinds.unique().tolist()
    return {KINDS[kind]: float(wrong[labelled.kinds == kind].mean()) for kind in present}
