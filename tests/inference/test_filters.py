"""Filters: equal to those of the transformers library, and to their definitions by brute force."""

from __future__ import annotations

import math

import pytest
import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from helpers.inference import filters
from helpers.inference.filters import token_probabilities
from helpers.inference.rules import Rules

NO_TEXT = torch.zeros(1, 0, dtype=torch.long)


def batch(B=40, V=12, seed=0, spread=3.0):
    generator = torch.Generator().manual_seed(seed)
    logits = spread * torch.randn(B, V, generator=generator, dtype=torch.float64)
    return logits.log_softmax(-1)


def by_library(*processors, scores, text=NO_TEXT):
    return LogitsProcessorList(processors)(text, scores.clone()).log_softmax(-1)


@pytest.mark.parametrize("temperature", [0.1, 0.7, 1.0, 2.5, 50.0])
def test_temperature_equals_the_library(temperature):
    log_p = batch()
    theirs = by_library(TemperatureLogitsWarper(temperature), scores=log_p)
    torch.testing.assert_close(filters.with_temperature(log_p, temperature), theirs)


def test_temperature_zero_is_the_limit_and_one_changes_nothing():
    log_p = batch()
    limit = filters.with_temperature(log_p, 1e-4)
    torch.testing.assert_close(filters.with_temperature(log_p, 0).exp(), limit.exp())
    torch.testing.assert_close(filters.with_temperature(log_p, 1), log_p)
    tied = torch.tensor([[0.2, 0.4, 0.4]]).log()
    assert filters.with_temperature(tied, 0).exp().tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("k", [1, 2, 5, 11, 12, 13, 1000])
def test_top_k_equals_the_library(k):
    log_p = batch()
    mine = filters.top_k(log_p, k)
    torch.testing.assert_close(mine, by_library(TopKLogitsWarper(k), scores=log_p))
    assert (mine > -math.inf).sum(1).tolist() == [min(k, 12)] * 40


@pytest.mark.parametrize("p", [1e-9, 0.05, 0.5, 0.9, 0.999, 1.0])
def test_top_p_equals_the_library(p):
    for spread in (0.1, 1.0, 3.0, 10.0):
        log_p = batch(spread=spread)
        mine = filters.top_p(log_p, p)
        torch.testing.assert_close(mine, by_library(TopPLogitsWarper(p), scores=log_p))
        if p == 1e-9:
            assert (mine > -math.inf).sum(1).tolist() == [1] * 40


def test_ties():
    """Top-k keeps all that tie with the k-th, as the library does; top-p as few as it may."""
    p = torch.tensor([[0.125, 0.25, 0.125, 0.25, 0.125, 0.125]], dtype=torch.float64)
    three = filters.top_k(p.log(), 3)
    torch.testing.assert_close(three, by_library(TopKLogitsWarper(3), scores=p.log()))
    torch.testing.assert_close(three.exp(), p)
    assert (filters.top_k(p.log(), 1).exp() > 0).tolist() == [[0, 1, 0, 1, 0, 0]]

    # Which of the tied tokens top-p keeps differs from the library: here the lower ids.
    equal = torch.zeros(1, 4, dtype=torch.float64)  # sums of 1/4 are exact
    for log_p, part, kept in (
        (p.log(), 0.2, [1]),
        (p.log(), 0.3, [1, 3]),
        (p.log(), 0.6, [0, 1, 3]),
        (p.log(), 0.7, [0, 1, 2, 3]),
        (equal, 0.25, [0]),
        (equal, 0.5, [0, 1]),
        (equal, 0.51, [0, 1, 2]),
    ):
        mine = filters.top_p(log_p, part)
        assert mine[0].exp().nonzero().flatten().tolist() == kept
        theirs = by_library(TopPLogitsWarper(part), scores=log_p)
        torch.testing.assert_close(mine.sort().values, theirs.sort().values)


def test_impossible_tokens_stay_impossible():
    p = torch.tensor([[0.0, 0.75, 0.0, 0.25]], dtype=torch.float64)
    text = torch.tensor([[0, 3]])
    for mine, wanted in (
        (filters.with_temperature(p.log(), 0.5), [0, 0.9, 0, 0.1]),
        (filters.top_k(p.log(), 3), [0, 0.75, 0, 0.25]),
        (filters.top_p(p.log(), 1), [0, 0.75, 0, 0.25]),
        (filters.top_p(p.log(), 0.8), [0, 0.75, 0, 0.25]),
        (filters.repetition_penalty(p.log(), text, 2), [0, 12 / 13, 0, 1 / 13]),
    ):
        assert mine.exp()[0].tolist() == pytest.approx(wanted)


@pytest.mark.parametrize("penalty", [0.5, 1.0, 1.2, 3.0])
def test_repetition_penalty_equals_the_library_on_log_probabilities(penalty):
    log_p = batch()
    text = torch.randint(12, (40, 9), generator=torch.Generator().manual_seed(1))
    theirs = by_library(RepetitionPenaltyLogitsProcessor(penalty), scores=log_p, text=text)
    torch.testing.assert_close(filters.repetition_penalty(log_p, text, penalty), theirs)


def test_repetition_penalty_by_hand():
    p = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    text = torch.tensor([[1, 1, 3, -1]])  # 3 is V: read, but never predicted
    mine = filters.repetition_penalty(p.log(), text, 2.0).exp()
    assert mine[0].tolist() == pytest.approx([8 / 13, 1 / 13, 4 / 13])
    empty = filters.repetition_penalty(p.log(), NO_TEXT, 2.0)
    torch.testing.assert_close(empty.exp(), p)


@pytest.mark.parametrize(
    ("temperature", "k", "p", "penalty"),
    [(0.6, 8, 0.7, 1.5), (1.7, 5, 0.9, 2.0), (3.0, 9, 0.5, 1.1)],
)
def test_all_together_in_the_order_of_the_library(temperature, k, p, penalty):
    log_p = batch()
    text = torch.randint(12, (40, 6), generator=torch.Generator().manual_seed(2))
    theirs = by_library(
        RepetitionPenaltyLogitsProcessor(penalty),
        TemperatureLogitsWarper(temperature),
        TopKLogitsWarper(k),
        TopPLogitsWarper(p),
        scores=log_p,
        text=text,
    )
    mine = token_probabilities(log_p, text, Rules(temperature, k, p, penalty))
    torch.testing.assert_close(mine, theirs.exp())
    late = filters.top_k(filters.repetition_penalty(log_p, text, penalty), k)
    late = filters.with_temperature(filters.top_p(late, p), temperature)
    assert ((late > -math.inf) != (mine > 0)).any(), "the order matters"


def test_settings_out_of_range_are_refused():
    log_p = batch(2, 3)
    for temperature in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="temperature is"):
            filters.with_temperature(log_p, temperature)
    with pytest.raises(ValueError, match="top_k is 0"):
        filters.top_k(log_p, 0)
    for p in (0, 1.01, -0.5, math.nan):
        with pytest.raises(ValueError, match="top_p is"):
            filters.top_p(log_p, p)
    text = torch.zeros(2, 1, dtype=torch.long)
    for penalty in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="repetition is"):
            filters.repetition_penalty(log_p, text, penalty)
