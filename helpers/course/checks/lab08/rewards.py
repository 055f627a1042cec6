"""Checks of lab 08, tasks 3 to 5: a reward from pairs, advantages of a batch, DPO's gradient.

Shape letters: N texts, d features, B answers, n pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional as F

from helpers.course.checks.lab08.common import DPO, GRADIENT, REWARD, lab, wide
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

GRADIENTS = ("backward", "autograd", "grad", "requires_grad", "requires_grad_", "vjp", "func")

_NEAR = (
    "Is yours off by less than 0.01? Then the formula is right, and it has not come to rest: at a "
    "fixed rate Adam goes round the minimum. Let the rate fall, or take Newton's steps."
)


def _pairs(trial: Trial) -> Iterator[Case]:
    x = torch.tensor([[1.0], [0.0]]).double()
    better, worse = torch.tensor([0, 0, 0, 1]), torch.tensor([1, 1, 1, 0])
    hint = f"The first text wins three of four pairs: sigma(w) = 3/4, so w = log 3. {_NEAR}"
    given = "features 1 and 0, the first text wins three of four pairs, price 0"
    yield Case("by hand", x, better, worse, 0.0, given=given, hint=hint)
    yield Case("the price keeps it finite", x, 0 * better, 0 * worse + 1, 0.1,
               given="features 1 and 0, the first text wins all four pairs, price 0.1")  # fmt: skip
    one = torch.eye(4).double()
    better = torch.tensor([0, 1, 2, 0, 3, 0, 1, 3])
    worse = torch.tensor([1, 2, 3, 2, 0, 3, 0, 1])
    given = f"a feature for each of 4 texts, better {better.tolist()}, worse {worse.tolist()}, "
    yield Case("a reward for each text", one, better, worse, 0.05, given=given + "price 0.05")
    both = torch.cat([better, worse]), torch.cat([worse, better])
    hint = "Where each pair occurs in both orders, no text is better than another."
    yield Case("a tie", one, *both, 0.05, given="each pair in both orders, price 0.05", hint=hint)
    for d, price in ((2, 0.05), (3, 0.4)):
        x = trial.normal(9, d)
        a, b = trial.integers(0, 9, 40), trial.integers(1, 9, 40)
        given = f"9 texts with {d} features, 40 pairs, price {price}"
        yield Case("any texts and pairs", x, a, (a + b) % 9, price, given=given)
    x, alike = trial.normal(6, 2), torch.ones(6, 1).double()
    a, b = trial.integers(0, 6, 30), trial.integers(1, 6, 30)
    hint = "A feature that all texts have alike shifts all rewards by the same amount, and only "
    hint += f"differences count: with a price its weight is 0. {REWARD}"
    yield Case("a feature that all have alike gets 0", torch.cat([x, alike], 1), a, (a + b) % 6,
               0.05, given="6 texts, the last feature is 1 for all", hint=hint)  # fmt: skip


@turn(
    lab,
    "Near the right weights the gradient of the loss is 0. Compute it at yours: is the sum over "
    f"pairs a mean, is the price in it, with its sign? {_NEAR} {REWARD}",
    cases=_pairs,
    tolerance=1e-4,
    errors={
        "dtype": "Make new tensors of the type of x: x.new_zeros(d), torch.eye(d, dtype=...).",
        "singular": "w has run away, until p (1 - p) is 0. Is the sign of g right, is it 1 - p and "
        "not p, is the step subtracted, and do 1/n and the price stand in both g and H?",
    },
    slips="""
    x[better] - x[worse] => x[worse] - x[better]
        The other way round: the preferred text is to have the larger reward.
    + price * w => - price * w
    + price * w =>
        The price is a part of the loss: its gradient is price times w, and it is added.
    len(D) + price * torch => 1 + price * torch ;; len(D) + price * w => 1 + price * w
        The mean over the pairs, not the sum: with the sum the price is n times too small.
    + price * w => + 2 * price * w ;; + price * torch => + 2 * price * torch
        Half of the squares: the gradient of price / 2 times w^2 is price times w.
    range(30) => range(1)
        That is one step. Repeat it until nothing moves any more.
    """,
)
def fit_reward(x, better, worse, price):
    """Features (N, d), pairs as rows of it, (n,) each, price of large weights -> weights (d,)."""
    D = x[better] - x[worse]  # (n, d)
    w = x.new_zeros(x.shape[1])
    for _ in range(30):
        p = torch.sigmoid(D @ w)
        g = -D.T @ (1 - p) / len(D) + price * w
        H = D.T @ (D * (p * (1 - p))[:, None]) / len(D) + price * torch.eye(len(w), dtype=x.dtype)
        w = w - torch.linalg.solve(H, g)
    return w


def _groups(trial: Trial) -> Iterator[Case]:
    yield Case("by hand", torch.tensor([5.0, 2.0, 1.0, 3.0, 4.0]), torch.tensor([0, 1, 0, 0, 1]))
    hint = "A group of one has no others: its answer is neither better nor worse than them, 0."
    yield Case("a lone answer gets 0", torch.tensor([2.0, 7.0, 4.0]), torch.tensor([3, 0, 3]),
               hint=hint)  # fmt: skip
    yield Case("all alike", torch.full((4,), 2.5), torch.tensor([1, 0, 1, 0]))
    hint = "Numbers of prompts may have gaps, and come in any order."
    numbers = torch.tensor([40, 7, 7, 40, 40, 12, 7, 12, 7])
    yield Case("any numbers of prompts", trial.normal(9), numbers, hint=hint)
    prompts = trial.integers(0, 4, 12)
    yield Case("any groups", trial.normal(12) + 5, prompts)


def _expected_gradient(trial: Trial) -> None:
    """Summed over all groups of a policy with three answers, it is the gradient of J."""
    logits, beta = trial.normal(3), 0.5
    log_p, log_ref, r = logits.log_softmax(0), trial.normal(3).log_softmax(0), trial.normal(3)
    R = r - beta * (log_p - log_ref)
    p = log_p.exp()
    exact = p * (R - p @ R)  # by the logits
    for n in (2, 3):
        groups = torch.tensor(list(itertools.product(range(3), repeat=n)))  # (3^n, n)
        prompts = torch.arange(len(groups)).repeat_interleave(n)
        A = trial.call(R[groups.flatten()], prompts, given=f"all {len(groups)} groups of {n}")
        slopes = torch.eye(3).double()[groups] - p  # of log p, by the logits, (3^n, n, 3)
        each = (A.view(-1, n, 1) * slopes).mean(1)
        found = log_p[groups].sum(1).exp() @ each
        hint = f"Only a baseline without the answer itself leaves the mean as it is. {GRADIENT}"
        trial.equals(found, exact, "the expected gradient, by enumeration, is that of J", hint)


@turn(
    lab,
    "Each answer is compared with the others to its own prompt: their sum is that of the group "
    f"less its own, and they are one fewer. {GRADIENT}",
    cases=_groups,
    call=lambda answer, *arguments: wide(answer(*arguments)),
    also=_expected_gradient,
    slips=f"""
    same = prompts[:, None] == prompts => same = torch.ones(len(returns), len(returns)) == 1
        Only answers to the same prompt are compared: another prompt may be an easier one.
    (sums - returns) / others.clamp(min=1) => sums / size
        That is the mean of the whole group, the answer itself included. {GRADIENT}
    others = size - 1 => others = size
        The others are one fewer than the group.
    .where(others > 0, 0) => .where((others > 0) & (prompts < len(prompts.unique())), 0)
        Are some of them left at 0? Numbers of prompts may have gaps: `prompts.unique()` has all.
    .where(others > 0, 0) =>
        A group of one has no others: its answer is neither better nor worse than them, 0.
    returns - (sums - returns) / others.clamp(min=1) => (returns - sums / size) / \
    (((same * (returns - (sums / size)[:, None]) ** 2).sum(1) / size).sqrt() + 1e-6)
        That is GRPO's: here nothing is divided by a standard deviation.
    returns - (sums - returns) => (sums - returns)
        That is the baseline: subtract it from what the answer earned.
    """,
)
def group_advantages(returns, prompts):
    """Returns (B,), the prompt of each answer, (B,) -> each less the mean of the others, (B,)."""
    same = prompts[:, None] == prompts  # (B, B)
    size, sums = same.sum(1), (same * returns).sum(1)
    others = size - 1
    advantages = returns - (sums - returns) / others.clamp(min=1)
    return advantages.where(others > 0, 0)


def _four(trial: Trial) -> Iterator[Case]:
    two, zero = torch.tensor([2.0]), torch.tensor([0.0])
    hint = "m = 1 and sigma(1) = 0.731; the loss is -log 0.731, the gradient 0.5 (0.731 - 1)."
    yield Case("by hand", two, zero, zero, zero, 0.5, 0.0, hint=hint,
               given="log-ratios of 2 and 0, beta = 0.5, nobody errs")  # fmt: skip
    same = -4 * trial.normal(3).abs(), -4 * trial.normal(3).abs()
    hint = "m = 0: the loss is log 2 whoever errs, and the gradient beta (1/2 - (1 - e)) / n."
    yield Case("policy and reference alike", *same, *same, 0.5, 0.2, hint=hint,
               given="policy = reference, 3 pairs, beta = 0.5, e = 0.2")  # fmt: skip
    margin = torch.tensor([math.log(4) / 0.5]).double()
    hint = "At sigma(m) = 1 - e the policy is as sure as the person, and nothing pulls any more."
    yield Case("as sure as the person: no gradient", margin, *3 * [0 * margin], 0.5, 0.2, hint=hint,
               given="sigma(m) = 0.8, beta = 0.5, e = 0.2")  # fmt: skip
    for n, beta, e in ((4, 0.1, 0.0), (6, 2.0, 0.1), (5, 0.5, 0.3)):
        parts = [-5 * trial.normal(n).abs() for _ in range(4)]
        given = f"{n} pairs, beta = {beta:g}, e = {e:g}"
        yield Case("any pairs", *parts, beta, e, given=given)
    far = torch.tensor([-3000.0, 10.0]), torch.tensor([-10.0, -3000.0])
    hint = "log of a sigmoid that is 0 overflows: F.logsigmoid of m and of -m."
    yield Case("large margins", *far, *2 * [torch.zeros(2)], 1.0, 0.1, hint=hint,
               given="log-ratios of -3000 and -10, 10 and -3000, beta = 1, e = 0.1")  # fmt: skip


def _not_traced(answer: Callable, *arguments: Any) -> Any:
    """What an answer gives where PyTorch takes no derivatives; the loss may be a plain number."""
    with torch.inference_mode():
        found = answer(*arguments)
    if not isinstance(found, tuple | list) or not found:
        return found
    loss = torch.tensor(found[0]) if isinstance(found[0], float) else found[0]
    return tuple(map(wide, (loss, *found[1:])))


@turn(
    lab,
    "Differentiate (1 - e) log(1 + exp(-m)) + e log(1 + exp(m)) by m; then m by the two "
    f"log-probabilities; and mind the mean over n pairs. {DPO}",
    cases=_four,
    call=_not_traced,
    errors={"not require grad": "PyTorch's own gradients are not allowed: write them yourself."},
    without=GRADIENTS,
    slips="""
    better - better_ref - worse + worse_ref => better - worse
        The reference is missing: a reward is beta times the logarithm of pi / pi_ref.
    beta * (better - better_ref => (better - better_ref
        m holds the factor beta.
    (1 - mistaken) * F.logsigmoid(m) + mistaken * F.logsigmoid(-m) => F.logsigmoid(m)
        A share e of the pairs stands the wrong way round: their loss is -log sigma(-m).
    - (1 - mistaken)) / len(m) => - 1) / len(m)
        The mistaken pairs pull the other way. Where sigma(m) = 1 - e the two balance.
    / len(m) =>
        The loss is a mean over n pairs: its derivative by one of them is divided by n.
    slope = beta * ( => slope = (
        m changes beta times as fast as a log-probability.
    loss.mean(), slope, -slope => loss.mean(), slope, slope
        The other text of a pair is pulled the other way.
    loss.mean(), slope, -slope => loss.mean(), -slope, slope
        The sign: a step goes against the gradient, and is to make the preferred text likelier.
    loss.mean(), slope, -slope => loss, slope, -slope
        The mean loss is asked for, one number.
    """,
)
def dpo_gradients(better, worse, better_ref, worse_ref, beta, mistaken):
    """Log-probabilities (n,) of both texts -> mean loss, its derivatives by better and by worse."""
    m = beta * (better - better_ref - worse + worse_ref)
    loss = -((1 - mistaken) * F.logsigmoid(m) + mistaken * F.logsigmoid(-m))
    slope = beta * (torch.sigmoid(m) - (1 - mistaken)) / len(m)
    return loss.mean(), slope, -slope
