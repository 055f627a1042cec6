"""The attentions of recurrent translation: against the formulas in loops."""

from __future__ import annotations

import pytest
import torch

from helpers.models.alignment_attention import AdditiveAttention, DotProductAttention
from helpers.models.attention import padding_mask
from tests.models.attention_cases import close, coins, numbers, same

B, D, K = 3, 8, 5


def alignment(kind):
    """One of the two, queries (B, 4, D), keys (B, 6, Dk), and its score of one s with one h."""
    torch.manual_seed(0)
    if kind is DotProductAttention:
        return kind(), numbers(B, 4, D), numbers(B, 6, D, seed=1), lambda s, h: s @ h
    attention = kind(D, K, 3).double()
    W, U, v = attention.query.weight, attention.key.weight, attention.score.weight[0]

    def score(s, h):
        return v @ torch.tanh(W @ s + U @ h + attention.query.bias)

    return attention, numbers(B, 4, D), numbers(B, 6, K, seed=1), score


ALIGNMENTS = pytest.mark.parametrize("kind", [DotProductAttention, AdditiveAttention])


@pytest.mark.parametrize("form", ["none", "padding", "each", "empty"])
@ALIGNMENTS
def test_alignments_equal_the_formula_in_loops(kind, form):
    attention, queries, keys, score = alignment(kind)
    mask = {
        "none": None,
        "padding": padding_mask(torch.tensor([6, 1, 3]), 6)[:, 0],
        "each": coins(B, 4, 6) | (torch.arange(6) == 2),
        "empty": padding_mask(torch.tensor([0, 6, 3]), 6)[:, 0],
    }[form]
    allowed = torch.ones(B, 4, 6) if mask is None else mask.expand(B, 4, 6).double()
    contexts, weights = attention(queries, keys, mask)
    rows, alphas = [], []
    for b in range(B):
        for t in range(4):
            e = torch.stack([score(queries[b, t], keys[b, i]).exp() for i in range(6)])
            e = e * allowed[b, t]
            alpha = e / e.sum() if allowed[b, t].any() else e
            alphas.append(alpha)
            rows.append(sum(alpha[i] * keys[b, i] for i in range(6)))
    inputs = [queries, keys, *attention.parameters()]
    same(weights, torch.stack(alphas).view(B, 4, 6), inputs)
    same(contexts, torch.stack(rows).view(B, 4, -1), inputs)


def test_a_projection_serves_many_calls():
    attention, queries, keys, _ = alignment(AdditiveAttention)
    projected = attention.project(keys)
    assert projected.shape == (B, 6, 3)
    contexts, weights = attention(queries, keys)
    close(attention(queries, numbers(B, 6, K, seed=7), projected=projected)[1], weights)
    steps = [attention(queries[:, t : t + 1], keys, projected=projected) for t in range(4)]
    same(torch.cat([step[0] for step in steps], 1), contexts, list(attention.parameters()))
    close(torch.cat([step[1] for step in steps], 1), weights)
