"""Learning from preferences: a reward from pairs, the best policy, group advantages, DPO's loss.

A policy is a distribution over answers; a reference is the policy that training began from.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def preference_loss(better: Tensor, worse: Tensor) -> Tensor:
    """The mean of -log sigmoid(r_better - r_worse) over pairs, in nats.

    Source: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs (1952).

    Args:
        better, worse: rewards (n,) of the preferred and of the other answer of each pair.
    """
    return -F.logsigmoid(better - worse).mean()


def best_policy(reference: Tensor, reward: Tensor, beta: float) -> tuple[Tensor, Tensor]:
    """The policy with the greatest expected reward minus beta KL(policy || reference).

    Args:
        reference: log-probabilities (N,) of all answers.
        reward: (N,).
        beta: above 0.

    Returns:
        Its log-probabilities, log pi* = log pi_ref + r / beta - log Z, and that value, beta log Z.
    """
    tilted = reference + reward / beta
    log_z = tilted.logsumexp(0)
    return tilted - log_z, beta * log_z


def dpo_loss(
    better: Tensor, worse: Tensor, better_ref: Tensor, worse_ref: Tensor, beta: float
) -> Tensor:
    """Direct preference optimization: the loss of pairs whose reward is beta log(pi / pi_ref).

    Source: R. Rafailov et al., Direct Preference Optimization (2023), equation 7.

    Args:
        better, worse: log-probabilities (n,) that the policy gives to both answers of each pair.
        better_ref, worse_ref: those of the reference.
        beta: above 0.
    """
    return preference_loss(beta * (better - better_ref), beta * (worse - worse_ref))
