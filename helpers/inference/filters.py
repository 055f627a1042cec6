"""Filters: what is done to a next-token distribution before a token is drawn from it.

Temperature, top-k, top-p (nucleus) and the penalty for repetition.

Each takes log-probabilities in nats and returns log-probabilities that sum to 1 again; a token that
a filter rules out has -inf. ``token_probabilities`` applies those that ``Rules`` name, in order.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.inference.rules import AS_PREDICTED, Rules


def with_temperature(log_p: Tensor, temperature: float) -> Tensor:
    """p'_i proportional to p_i ** (1 / temperature): below 1 sharper, above 1 flatter.

    Large temperatures lead to equal chances for all tokens that are possible at all, small ones to
    the likeliest token. The name is that of Boltzmann's distribution in physics (Ackley et al.
    1985, "A learning algorithm for Boltzmann machines").

    Args:
        log_p: log-probabilities (..., V).
        temperature: 0 or more; 0 is the limit, all probability on the likeliest token (of several
            the one with the lowest id).

    Raises:
        ValueError: a temperature that is negative or no number.
    """
    Rules(temperature=temperature)  # refuses what is out of range, as below
    if temperature == 0:
        certain = torch.full_like(log_p, -math.inf)
        return certain.scatter_(-1, log_p.argmax(-1, keepdim=True), 0.0)
    return (log_p / temperature).log_softmax(-1)


def top_k(log_p: Tensor, k: int) -> Tensor:
    """Keep the k likeliest tokens: p'_i proportional to p_i if p_i >= the k-th largest p, else 0.

    Tokens as likely as the k-th stay too, so ties may keep more than k. From V on, k changes
    nothing. Fan et al. (2018), "Hierarchical neural story generation".

    Args:
        log_p: log-probabilities (..., V).
        k: 1 or more.

    Raises:
        ValueError: a k below 1.
    """
    Rules(top_k=k)
    smallest = log_p.topk(min(k, log_p.shape[-1]), dim=-1).values[..., -1:]
    return log_p.masked_fill(log_p < smallest, -math.inf).log_softmax(-1)


def top_p(log_p: Tensor, p: float) -> Tensor:
    """Keep the fewest tokens, the likeliest first, that have the probability p together.

    With p_(1) >= p_(2) >= ..., the tokens (1) ... (n) stay, n the smallest number for which
    p_(1) + ... + p_(n) >= p. So n is small where the model is sure and large where it is not, which
    a fixed k cannot be. The likeliest token always stays, and 1 changes nothing. Of tokens that are
    equally likely, the lower ids come first. "Nucleus sampling": Holtzman et al. (2020), "The
    curious case of neural text degeneration", section 3.1.

    Args:
        log_p: log-probabilities (..., V).
        p: above 0, at most 1.

    Raises:
        ValueError: a p outside that range.
    """
    Rules(top_p=p)
    if p == 1:  # rounding errors in the sums below would drop the unlikeliest tokens
        return log_p.log_softmax(-1)
    ranked, ids = log_p.sort(dim=-1, descending=True, stable=True)
    likelier = F.pad(ranked.softmax(-1).cumsum(-1)[..., :-1], (1, 0))  # p_(1) + ... + p_(n-1)
    late = likelier >= p
    return log_p.masked_fill(late.scatter(-1, ids, late), -math.inf).log_softmax(-1)


def repetition_penalty(log_p: Tensor, read: Tensor, penalty: float) -> Tensor:
    """p'_i proportional to p_i ** penalty if token i stands in the text so far, otherwise to p_i.

    Keskar et al. (2019), "CTRL", section 4.1, divide the score x_i of such a token by the penalty;
    as usual, negative scores are multiplied instead, so that they fall as well. A model's scores
    (logits) are known only up to a constant, and the rule depends on that constant: here x_i is
    log p_i, which all predictors have. So a token that is nearly certain, log p_i close to 0, is
    hardly discouraged, and penalties that work on logits (1.2 in the paper) do less here.

    Args:
        log_p: log-probabilities (B, V), at most 0.
        read: the text so far (B, n); how often a token stands there does not matter. Ids outside
            0 .. V-1 are left out.
        penalty: above 0; above 1 discourages repetition, 1 changes nothing.

    Raises:
        ValueError: a penalty that is not positive.
    """
    Rules(repetition=penalty)
    V = log_p.shape[1]
    ids = torch.where((read >= 0) & (read < V), read, V).to(log_p.device)
    seen = torch.zeros(len(log_p), V + 1, dtype=torch.bool, device=log_p.device)
    seen = seen.scatter_(1, ids, True)[:, :V]
    return torch.where(seen, log_p * penalty, log_p).log_softmax(-1)


def token_probabilities(log_p: Tensor, text: Tensor, rules: Rules = AS_PREDICTED) -> Tensor:
    """The distribution that a token is drawn from, given what the predictor says: (B, V).

    The filters work in this order, each on what the one before it left: repetition, temperature,
    top-k, top-p. It is the order of the ``transformers`` library; with another one, top-p would
    keep other tokens.

    Args:
        log_p: the predictor's log-probabilities (B, V) in nats.
        text: (B, n) the tokens so far, prompts included and ``bos`` not.
        rules: which filters, and how strong.
    """
    if rules.repetition != 1:
        log_p = repetition_penalty(log_p, text, rules.repetition)
    certain = rules.temperature == 0
    # What follows normalises.
    log_p = with_temperature(log_p, 0) if certain else log_p / rules.temperature
    if rules.top_k is not None:
        log_p = top_k(log_p, rules.top_k)
    if rules.top_p is not None:
        log_p = top_p(log_p, rules.top_p)
    return log_p.softmax(-1)
