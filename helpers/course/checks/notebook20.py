"""Your turn with preferences: a reward's loss, the best policy, a policy gradient, DPO's loss."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook20")
REWARD = see(20, "A reward from comparisons")
BEST = see(20, "The best policy can be written down")
GRADIENT = see(20, "Policy gradients: more of what earned more")
DPO = see(20, "DPO: no reward model, no writing")


def pairs(draw):
    yield Case("by hand", torch.tensor([2.0]), torch.tensor([0.0]), given="rewards 2 and 0")
    yield Case("two equal rewards", torch.tensor([1.5, 1.5]), torch.tensor([1.5, 1.5]))
    yield Case("any rewards", draw.normal(6), draw.normal(6))
    far = torch.tensor([-900.0, 3.0]), torch.tensor([900.0, 1.0])
    hint = "The logarithm of a sigmoid that is 0 overflows: take F.logsigmoid of the difference."
    yield Case("a large difference", *far, hint=hint)


@turn(
    turns,
    "The difference of the rewards, the better one first; its log-sigmoid; the mean over the "
    f"pairs; and a minus, since a loss is to become small. {REWARD}",
    cases=pairs,
    slips="""
    -F.logsigmoid => F.logsigmoid
        A loss is to become small where the preferred text has the larger reward: the sign is
        missing.
    better - worse => worse - better
        The other way round: the preferred text is to have the larger reward.
    F.logsigmoid(better - worse) => F.sigmoid(better - worse)
        That is minus the probability: the loss is minus its logarithm.
    .mean() => .sum()
        The mean over the pairs is asked for, and this is the sum.
    .mean() =>
        One number is asked for, the mean over the pairs.
    F.logsigmoid(better - worse).mean() => F.logsigmoid((better - worse).mean())
        The mean comes last: it is one of log-sigmoids, not of differences.
    """,
)
def preference_loss(better, worse):
    """Rewards (n,) of the preferred text and of the other of each pair -> mean loss, in nats."""
    return -F.logsigmoid(better - worse).mean()


def worlds(draw):
    by_hand = torch.tensor([0.6, 0.3, 0.1]).log(), torch.tensor([1.0, 2.0, 4.0]).log()
    yield Case(
        "by hand", *by_hand, 1.0, given="pi_ref = (0.6, 0.3, 0.1), r = log (1, 2, 4), beta = 1"
    )
    for n, beta in ((5, 0.5), (9, 2.0)):
        parts = draw.normal(n).log_softmax(0), draw.normal(n)
        yield Case("any texts", *parts, beta, given=f"{n} texts, beta = {beta:g}")
    parts = draw.normal(4).log_softmax(0), 3 + draw.normal(4)
    hint = "exp(r / beta) overflows where beta is small: stay with logarithms, and use logsumexp."
    yield Case("a small beta", *parts, 0.002, given="4 texts, beta = 0.002", hint=hint)


def with_a_number(answer, *arguments):
    """What the answer hands back; the greatest J may be a number as well as a tensor."""
    found = answer(*arguments)
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], torch.Tensor):
        return found[0], found[1].item() if found[1].numel() == 1 else found[1]
    return found


@turn(
    turns,
    "log pi_ref + r / beta, for all texts; log Z is its logsumexp. Subtract it; the greatest J is "
    f"beta log Z. {BEST}",
    cases=worlds,
    call=with_a_number,
    slips="""
    reward / beta => reward * beta
        The reward is divided by beta: a small beta tilts more.
    log_ref + reward / beta => beta * log_ref + reward
        log pi_ref is not multiplied by beta: the reward is divided by it.
    log_ref + reward / beta => reward / beta
        The reference is missing: pi* is the reference, tilted.
    tilted - log_z => tilted
        The probabilities have to sum to one: divide by Z, that is, subtract log Z.
    tilted - log_z => (tilted - log_z).exp()
        The logarithms of pi* are asked for.
    beta * log_z => log_z
        The greatest J is beta times log Z.
    beta * log_z => ((tilted - log_z).exp() * reward).sum()
        That is the mean reward of pi*. J also holds the price of leaving the reference.
    """,
)
def best_policy(log_ref, reward, beta):
    """log pi_ref and r of all texts, (N,) each -> log pi*, (N,), and the greatest J."""
    tilted = log_ref + reward / beta
    log_z = tilted.logsumexp(0)
    return tilted - log_z, beta * log_z


def advantages(returns):
    """Given in the notebook."""
    n = len(returns)
    return returns - (returns.sum() - returns) / (n - 1)


def written(draw):
    said = "the gradient of L by log_p is compared"
    alike, earned = torch.full((3,), -1.0), torch.tensor([5.0, 1.0, 3.0])
    given = f"rewards 5, 1, 3, policy = reference, each text as probable; {said}"
    yield Case("by hand", alike, alike, earned, 0.5, given=given)
    for n, beta in ((2, 2.0), (7, 0.3)):
        parts = (draw.normal(n).float() - 3, draw.normal(n).float() - 3, draw.normal(n).float())
        yield Case("any texts", *parts, beta, given=f"{n} texts, beta = {beta:g}; {said}")


def gradient_by_log_p(answer, log_p, *given):
    """The gradient of a loss by the policy's log-probabilities; what is no loss, as it is."""
    log_p = log_p.clone().requires_grad_()
    loss = answer(log_p, *given)
    if not isinstance(loss, torch.Tensor) or loss.dim():
        return loss
    return torch.autograd.grad(loss, log_p)[0]


@turn(
    turns,
    "R = r - beta * (log pi - log pi_ref) for each text, A = advantages(R), and minus the mean of "
    f"A log pi, in which A is a constant. {GRADIENT}",
    cases=written,
    call=gradient_by_log_p,
    tolerance=1e-5,
    uses={"advantages"},
    errors={
        "does not require grad": "Only the advantages are constants: the loss needs the gradient "
        "of log_p.",
    },
    slips="""
    log_p.detach() => log_p
        A was computed from log_p, and its derivative has got into the gradient: A is a constant,
        so detach it.
    -(advantages => (advantages
        The sign: an optimizer goes downhill, and would make less probable what earned more.
    advantages(returns) => returns
        That is what a text earned: take its advantage.
    advantages(returns) => advantages(reward)
        The KL term is missing: the advantage is one of R, not of r alone.
    reward - beta * => reward + beta *
        The distance from the reference has a price: subtract beta times log (pi / pi_ref).
    log_p.detach() - log_p_ref => log_p.detach()
        The reference is missing: the price is one of log (pi / pi_ref).
    .mean() => .sum()
        The mean over the texts is asked for, and this is the sum.
    advantages(returns) * log_p => advantages(returns) * log_p.exp()
        The gradient is one of log pi: the texts were drawn from pi already.
    return -(advantages(reward) * log_p).mean() + beta * (log_p - log_p_ref).mean()
        The mean of log (pi / pi_ref) over drawn texts has the gradient 0 on average: the KL term
        belongs into what a text earned.
    """,
)
def policy_loss(log_p, log_p_ref, reward, beta):
    """Of n written texts, log pi, log pi_ref and r, (n,) each -> L, for the policy gradient."""
    returns = reward - beta * (log_p.detach() - log_p_ref)
    return -(advantages(returns) * log_p).mean()


def four_log_probs(draw):
    two, zero = torch.tensor([2.0]), torch.tensor([0.0])
    yield Case("by hand", two, zero, zero, zero, 0.5, given="ratios of 2 and 0, beta = 0.5")
    for n, beta in ((4, 0.1), (6, 2.0)):
        parts = [-5 * draw.normal(n).abs() for _ in range(4)]
        yield Case("any pairs", *parts, beta, given=f"{n} pairs, beta = {beta:g}")
    same = -draw.normal(3).abs(), -draw.normal(3).abs()
    yield Case("policy and reference alike", *same, *same, 0.5)


@turn(
    turns,
    "The reward of a text is beta times the logarithm of pi / pi_ref, a difference of "
    f"log-probabilities; put those of both texts into preference_loss. {DPO}",
    cases=four_log_probs,
    slips="""
    preference_loss(beta * (better - better_ref), beta * (worse - worse_ref)) => \
    preference_loss(beta * better, beta * worse)
        The reference is missing: a reward is beta times the logarithm of pi / pi_ref.
    beta * (better - better_ref), beta * (worse - worse_ref) => \
    better - better_ref, worse - worse_ref
        The factor beta is missing.
    beta * (better - better_ref), beta * (worse - worse_ref) => \
    (better - better_ref) / beta, (worse - worse_ref) / beta
        The reward is beta times the log-ratio, not divided by beta.
    beta * (better - better_ref), beta * (worse - worse_ref) => \
    beta * (worse - worse_ref), beta * (better - better_ref)
        The sign is turned round: the preferred text comes first, and the policy's log-probability
        before the reference's.
    beta * (better - better_ref), beta * (worse - worse_ref) => \
    beta * (better - worse_ref), beta * (worse - better_ref)
        Subtract from each text's log-probability what the reference said of the same text.
    preference_loss(beta * (better - better_ref), beta * (worse - worse_ref)) => \
    beta * preference_loss(better - better_ref, worse - worse_ref)
        beta stands inside of the sigmoid: it is a part of the rewards.
    """,
)
def dpo_loss(better, worse, better_ref, worse_ref, beta):
    """Log-probabilities (n,) of both texts of each pair, of policy and reference -> mean loss."""
    return preference_loss(beta * (better - better_ref), beta * (worse - worse_ref))
