"""next_log_probs follows from start and step."""

from __future__ import annotations

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.models.ngram import MaximumLikelihood


def test_the_empty_context_asks_for_the_first_token():
    model = MaximumLikelihood(3, end=0).fit(torch.tensor([1, 0, 1, 0, 2, 0]), 3)
    assert next_log_probs(model, []).exp().tolist() == pytest.approx([0, 2 / 3, 1 / 3])


def test_a_context_outside_the_vocabulary_is_refused():
    model = MaximumLikelihood(2).fit(torch.tensor([0, 1]), 2)
    with pytest.raises(ValueError, match="from 1 to 5"):
        next_log_probs(model, [1, 5])
