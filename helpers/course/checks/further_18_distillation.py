"""Your turn with distillation: the loss that mixes tokens and a teacher."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_18_distillation")


def pupils(draw):
    by_hand = torch.tensor([[0.75, 0.25]]).double().log(), torch.tensor([[0.5, 0.5]]).double().log()
    yield Case("by hand", *by_hand, torch.tensor([0]), 1.0, 1.0, given="as by hand, share = 1")
    for share, temperature in ((0.0, 1.0), (1.0, 1.0), (0.3, 2.0), (0.5, 0.5)):
        logits = [2 * draw.normal(4, 5) for _ in range(2)]
        given = f"random logits (4, 5), share = {share}, temperature = {temperature}"
        rule = "tokens alone" if not share else "the teacher alone" if share == 1 else "a mixture"
        tokens = draw.integers(0, 5, 4)
        yield Case(rule, *logits, tokens, share, temperature, given=given)


@turn(
    turns,
    "The cross-entropy with the tokens is taken from the pupil's logits as they are. For the "
    "second part divide both logits by the temperature, take log-probabilities p and q, and sum "
    "q.exp() * (q - p) over the vocabulary; mean over positions.",
    cases=pupils,
    slips="""
    share * temperature**2 * soft => share * soft
        The factor temperature^2 is missing: it keeps the gradients of both parts comparable.
    share * temperature**2 * soft => share * temperature * soft
        The factor is the *square* of the temperature.
    (q.exp() * (q - p)) => (p.exp() * (p - q))
        KL(q || p) weighs with the teacher's probabilities: q.exp() * (q - p).
    (1 - share) * hard + share * temperature**2 * soft => \
    share * hard + (1 - share) * temperature**2 * soft
        The share is the teacher's: with 0 the tokens are all.
    (1 - share) * hard + => hard +
        With a share of 1 nothing is learned from the tokens: their part has the weight 1 - share.
    x / temperature => x
        Both logits are divided by the temperature first.
    .sum(-1).mean() => .mean()
        Sum over the vocabulary, and take the mean over positions only.
    .sum(-1).mean() => .sum()
        The mean over positions is asked for, as in cross_entropy.
    F.cross_entropy(pupil, tokens) => F.cross_entropy(pupil / temperature, tokens)
        The tokens are predicted at temperature 1: only the second part is softened.
    """,
)
def distillation(pupil, teacher, tokens, share, temperature):
    """Loss of a pupil's logits (N, V), given a teacher's (N, V) and the tokens (N,), in nats."""
    hard = F.cross_entropy(pupil, tokens)
    p, q = (F.log_softmax(x / temperature, dim=-1) for x in (pupil, teacher))
    soft = (q.exp() * (q - p)).sum(-1).mean()
    return (1 - share) * hard + share * temperature**2 * soft
