"""The loss of distillation, against the formula written out."""

import math

import pytest
import torch
from torch.nn import functional as F

from helpers.learning.distillation import distillation_loss


def logits(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, 5, generator=generator, dtype=torch.float64)


TOKENS = torch.tensor([[0, 1, 2], [3, 4, 0]])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_equals_the_sums_by_hand(mix: float, temperature: float) -> None:
    pupil, teacher, soft, hard = logits(0), logits(1), 0.0, 0.0
    for b in range(2):
        for t in range(3):
            p = [math.exp(x / temperature) for x in teacher[b, t].tolist()]
            q = [math.exp(x / temperature) for x in pupil[b, t].tolist()]
            p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
            soft += sum(x * math.log(x / y) for x, y in zip(p, q, strict=True)) / 6
            e = [math.exp(x) for x in pupil[b, t].tolist()]
            hard -= math.log(e[int(TOKENS[b, t])] / sum(e)) / 6
    got = distillation_loss(pupil, teacher, TOKENS, mix=mix, temperature=temperature)
    assert float(got) == pytest.approx((1 - mix) * hard + mix * temperature**2 * soft)


def test_nothing_is_left_when_the_pupil_says_the_same() -> None:
    assert float(distillation_loss(logits(0), logits(0) + 3, TOKENS, mix=1.0)) < 1e-12


def test_gradient_is_the_difference_of_the_distributions() -> None:
    pupil, teacher = logits(0).requires_grad_(), logits(1).requires_grad_()
    distillation_loss(pupil, teacher, TOKENS, mix=1.0).backward()
    wanted = (F.softmax(pupil, -1) - F.softmax(teacher, -1)).detach() / 6
    assert torch.allclose(pupil.grad, wanted)
    assert teacher.grad is None


def test_errors() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        distillation_loss(logits(0), logits(1), TOKENS, mix=1.5)
    with pytest.raises(ValueError, match="same tokens"):
        distillation_loss(logits(0), logits(1)[:1], TOKENS)
