"""Checks of lab 05: top-k and top-p."""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.course.checks.lab05.common import lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.inference import filters

RULES = see(14, "One distribution, four rules")


def _top_k(p: Tensor, k: int) -> Tensor:
    return filters.top_k(p.log(), k).exp()


@lab.task(_top_k)
def top_k(trial: Trial) -> None:
    p = distribution([0.4, 0.1, 0.3, 0.2])
    given, got = "p = [0.4, 0.1, 0.3, 0.2], k = 2", trial.call(p, 2)
    slips = [
        (distribution([0.4, 0, 0.3, 0]), "What is left no longer sums to 1: divide by its sum."),
        (distribution([0.4, 0.1, 0, 0]) / 0.5, "The k likeliest, not the k first."),
        (
            distribution([0.4, 0.3, 0, 0]) / 0.7,
            "Every token keeps its place: what stands in place 2 is the probability of token 2.",
        ),
        (distribution([0.4, 0.3]) / 0.7, "The others stay in the tensor, with probability 0."),
        (torch.tensor([0, 2]), "These are the tokens' numbers; wanted are their probabilities."),
        (distribution([1, 0, 0, 0]), "Here k = 2: the k-th likeliest token itself stays."),
        (distribution([4, 0, 3, 2]) / 9, "Here k = 2: that keeps one token more."),
        (distribution([0.5, 0, 0.5, 0]), "The kept tokens are not made equal: 0.4 to 0.3 stays."),
    ]
    usual = f"The k largest keep their share of what they hold together, the rest is 0. {RULES}"
    trial.equals(got, _top_k(p, 2), "two of four by hand", usual, slips=slips, given=given)
    tied = distribution([0.1, 0.3, 0.3, 0.3])
    got = trial.call(tied, 2)
    hint = (
        "Nothing tells equally likely tokens apart: compare with the k-th largest probability, and "
        "keep all that are as large."
    )
    given = "p = [0.1, 0.3, 0.3, 0.3], k = 2"
    trial.equals(got, _top_k(tied, 2), "tokens as likely as the k-th stay too", hint, given=given)
    hint = "With k = V or more there is nothing to cut: min(k, V)."
    for k in (4, 9):
        rule, given = "from k = V on nothing changes", f"p = [0.4, 0.1, 0.3, 0.2], k = {k}"
        trial.equals(trial.call(p, k, hint=hint), p, rule, hint, given=given)
    p = (2 * trial.normal(30)).softmax(0)
    for k in (1, trial.integer(2, 25)):
        rule = "any distribution, any k"
        trial.equals(trial.call(p, k), _top_k(p, k), rule, usual, given=f"30 tokens, k = {k}")


def _top_p(p: Tensor, share: float) -> Tensor:
    return filters.top_p(p.log(), share).exp()


@lab.task(_top_p)
def top_p(trial: Trial) -> None:
    p, none = distribution([0.125, 0.5, 0.25, 0.125]), "The likeliest token stays in any case."
    given, got = "p = [1/8, 1/2, 1/4, 1/8], share = 0.7", trial.call(p, 0.7)
    slips = [
        (
            distribution([0, 1.0, 0, 0]),
            "The token that takes the sum over the line stays: 1/2 alone does not reach the share.",
        ),
        (distribution([0, 0.5, 0.25, 0]), "What is left does not sum to 1: divide by its sum."),
        (
            distribution([1.0, 0, 0, 0]),
            "Every token keeps its place: undo the sorting when you write the result.",
        ),
        (
            distribution([0.5, 0.25, 0, 0]) / 0.75,
            "Every token keeps its place: undo the sorting when you write the result.",
        ),
        (distribution([1, 4, 2, 0]) / 7, "Sort first: the likeliest come first, not the first."),
        (distribution([0, 1, 1, 0]) / 2, "The kept tokens are not made equal: 1/2 to 1/4 stays."),
        (
            distribution([1, 0, 2, 0]) / 3,
            "order[i] is the token in place i of the sorted row: write to that token.",
        ),
    ]
    usual = (
        "Sort downwards, add up; a token stays if the sum of the likelier ones is still below the "
        f"share. {RULES}"
    )
    rule = "by hand: the fewest that reach 0.7"
    trial.equals(got, _top_p(p, 0.7), rule, usual, slips=slips, given=given)
    exact = "0.5 + 0.25 is 0.75 already: no third token is needed."
    for share, rule, hint in (
        (0.75, "a share that is reached exactly needs no further token", exact),
        (0.05, "the likeliest token always stays", none),
    ):
        given = f"p = [1/8, 1/2, 1/4, 1/8], share = {share}"
        trial.equals(trial.call(p, share, hint=hint), _top_p(p, share), rule, hint, given=given)
    hint = "With share = 1 nothing may be lost, and a running sum is rounded: treat it by itself."
    p, given = distribution([0.5, 0.25, 0.25, 1e-20]), "p = [1/2, 1/4, 1/4, 1e-20], share = 1"
    trial.equals(trial.call(p, 1.0) > 0, p > 0, "share = 1 keeps every token", hint, given=given)
    flat, hint = distribution([0.25] * 4), "A stable sort keeps the lower id first."
    rule = "of equally likely tokens the lower ids come first"
    given = "p = [1/4, 1/4, 1/4, 1/4], share = 0.5"
    trial.equals(trial.call(flat, 0.5), _top_p(flat, 0.5), rule, hint, given=given)
    for share in (0.3, 0.9, trial.integer(10, 95) / 100):
        p = (2 * trial.normal(30)).softmax(0)
        rule, given = "any distribution, any share", f"30 tokens, share = {share}"
        trial.equals(trial.call(p, share), _top_p(p, share), rule, usual, given=given)


def distribution(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)
