"""n-gram models against enumeration, hand counts, NLTK and KenLM."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import nltk.lm
import numpy as np
import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.data.sources import lagged_source
from helpers.data.tokenizers import WordTokenizer
from helpers.inference.evaluation import score
from helpers.models import gram_counts
from helpers.models.gram_counts import NGramCounts
from helpers.models.ngram import (
    AddK,
    JelinekMercer,
    KneserNey,
    MaximumLikelihood,
    ModifiedKneserNey,
)

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = [MaximumLikelihood, AddK, JelinekMercer, KneserNey, ModifiedKneserNey]


def random_tokens(size: int, vocab_size: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    # Squared uniforms: a skewed vocabulary, so that counts of 1, 2, 3 and 4 all occur.
    return (torch.rand(size, generator=generator) ** 2 * vocab_size).long()


@pytest.mark.parametrize("end", [None, 0])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("model", DISTRIBUTIONS)
def test_every_context_sums_to_one(model, n, end):
    V = 4
    fitted = model(n, end=end).fit(random_tokens(60, V), V)
    for length in range(n + 1):
        for context in itertools.product(range(V), repeat=length):
            total = float(next_log_probs(fitted, context).exp().sum())
            assert total == pytest.approx(1, abs=1e-12), (context, total)


@pytest.mark.parametrize("end", [None, 0])
@pytest.mark.parametrize("model", DISTRIBUTIONS)
def test_scoring_a_text_equals_stepping_through_it(model, end):
    V = 5
    fitted = model(3, end=end).fit(random_tokens(300, V), V)
    text = random_tokens(40, V, seed=1)
    stepped = torch.stack([next_log_probs(fitted, text[:t])[text[t]] for t in range(len(text))])
    torch.testing.assert_close(fitted.log_probs(text), stepped)


@pytest.mark.parametrize("text", [[0, 1], [0, 1, 1, 0, 1, 1, 0]])
@pytest.mark.parametrize("model", DISTRIBUTIONS)
def test_an_order_that_no_sentence_reaches_scores_as_it_steps(model, text):
    fitted = model(5, end=1).fit(torch.tensor([0, 1]), 2)
    text = torch.tensor(text)
    stepped = torch.stack([next_log_probs(fitted, text[:t])[text[t]] for t in range(len(text))])
    found = fitted.log_probs(text)
    assert found.isfinite().all() or model is MaximumLikelihood
    torch.testing.assert_close(found, stepped)
    assert score(fitted, text).tokens == len(text)


def test_add_k_by_hand():
    model = AddK(2, k=0.5).fit(torch.tensor([0, 1, 0, 1, 0, 2]), 4)
    p = next_log_probs(model, [0]).exp()
    assert p.tolist() == pytest.approx([0.5 / 5, 2.5 / 5, 1.5 / 5, 0.5 / 5])
    assert next_log_probs(model, [3]).exp().tolist() == pytest.approx([0.25] * 4)  # never seen


def test_no_gram_reaches_across_the_end_of_a_sentence():
    counts = NGramCounts(torch.tensor([1, 2, 0, 1, 3, 0]), 3, 4, end=0)
    model = MaximumLikelihood(3, end=0).fit_counts(counts)
    assert next_log_probs(model, [1, 2, 0]).tolist() == next_log_probs(model, []).tolist()
    assert next_log_probs(model, []).exp().tolist() == [0, 1, 0, 0]
    assert counts.sizes == [4, 5, 4]  # trigrams: ^12 120 ^13 130


@pytest.mark.parametrize("order", [2, 3, 5])
def test_modified_kneser_ney_equals_kenlm(order):
    """KenLM (Heafield et al. 2013) is an independent implementation; it computes in float32."""
    stored = json.loads(Path(__file__).with_name("kenlm_scores.json").read_text())
    text = (ROOT / "data/lantern_bay/01_the_sea_and_the_boats.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip()]
    train, held_out = "\n".join(lines[:500]), "\n".join(lines[500:530])
    tokenizer = WordTokenizer.train(train)
    model = ModifiedKneserNey(order, end=tokenizer.end)
    model.fit(tokenizer.encode(train), tokenizer.vocab_size)
    ours = model.log_probs(tokenizer.encode(held_out)).numpy() / math.log(10)
    assert np.abs(ours - np.array(stored["log10"][str(order)])).max() < 1e-6


@pytest.mark.parametrize("order", [2, 3, 4])
def test_kneser_ney_equals_nltk(order):
    """NLTK has one fixed discount and leaves the unigrams alone; ours does with discounts given.

    The two treat the beginning of a text differently, so contexts from inside it are compared.
    """
    V, discount = 8, 0.3
    tokens = random_tokens(400, V, seed=2)
    ours = KneserNey(order, discounts=[0.0] + [discount] * (order - 1)).fit(tokens, V)
    words = ["<s>", *map(str, tokens.tolist())]
    theirs = nltk.lm.KneserNeyInterpolated(order, discount=discount)
    theirs.fit([nltk.everygrams(words, max_len=order)], vocabulary_text=map(str, range(V)))
    compared = 0
    for context in itertools.product(range(V), repeat=order - 1):
        if any(tuple(tokens[i : i + order - 1].tolist()) == context for i in range(len(tokens))):
            p = next_log_probs(ours, (0, *context)).exp()
            for word in range(V):
                expected = theirs.score(str(word), [str(c) for c in context])
                assert float(p[word]) == pytest.approx(expected, abs=1e-6)
                compared += 1
    assert compared > V * 7


def test_tuned_weights_are_better_than_any_neighbour():
    V = 6  # a third of the tokens are new, a third follow from one token, a third from two
    tokens = random_tokens(1500, V).tolist()
    kinds = torch.randint(3, (1500,), generator=torch.Generator().manual_seed(5)).tolist()
    for i in range(2, 1500):
        tokens[i] = [tokens[i], tokens[i - 1] + 1, tokens[i - 1] * tokens[i - 2]][kinds[i]] % V
    tokens, held_out = torch.tensor(tokens[:1000]), torch.tensor(tokens[1000:])
    model = JelinekMercer(3).fit(tokens, V).tune(held_out, iterations=300)
    best = float(model.log_probs(held_out).sum())
    for k, change in itertools.product(range(3), (-0.03, 0.03)):
        weights = list(model.weights)
        weights[k] = min(max(weights[k] + change, 0), 0.999)
        other = JelinekMercer(3, weights).fit(tokens, V)
        assert float(other.log_probs(held_out).sum()) < best


def test_rows_of_a_text_looked_up_before_are_those_of_a_first_look(monkeypatch):
    monkeypatch.setattr(gram_counts, "REMEMBERED", 300)
    draw = torch.Generator().manual_seed(0)
    tokens = torch.randint(4, (60,), generator=draw)
    counts = NGramCounts(tokens, 4, 4)
    # The last is too long to be kept.
    texts = [torch.randint(4, (size,), generator=draw) for size in (12, 20, 60)]
    for n in (2, 4, 3, 1):
        for text in texts:
            fresh = NGramCounts(tokens, 4, 4).rows(text, n)
            for found, wanted in zip(counts.rows(text, n), fresh, strict=True):
                assert [row.tolist() for row in found] == [row.tolist() for row in wanted]
    assert all(len(text) <= 300 for text in counts._found)


def test_longer_counts_serve_shorter_models():
    tokens, text = random_tokens(300, 5), random_tokens(50, 5, seed=4)
    counts = NGramCounts(tokens, 4, 5)
    for n in (1, 2, 3):
        shared = ModifiedKneserNey(n).fit_counts(counts).log_probs(text)
        torch.testing.assert_close(shared, ModifiedKneserNey(n).fit(tokens, 5).log_probs(text))


def test_counts_unlike_those_of_text_leave_something_to_the_unseen():
    """Where the three discounts cannot be estimated, one takes their place, as in KneserNey."""
    source = lagged_source(8, 4, 0.1)
    text = source.sample(30_000, torch.Generator().manual_seed(0))
    fresh = source.sample(20_000, torch.Generator().manual_seed(1))
    for n in (5, 6):
        log_p = ModifiedKneserNey(n).fit(text, 8).log_probs(fresh)
        assert torch.isfinite(log_p).all()
        assert -log_p.mean() < math.log(8)


def test_bad_input():
    with pytest.raises(ValueError, match="n is 0; expected a whole number"):
        MaximumLikelihood(0).fit(torch.tensor([0]), 1)
    with pytest.raises(ValueError, match="empty"):
        KneserNey(2).fit(torch.tensor([], dtype=torch.long), 3)
    with pytest.raises(ValueError, match="ids from 0 to 7"):
        KneserNey(2).fit(torch.tensor([0, 7]), 3)
    with pytest.raises(ValueError, match="positive"):
        AddK(2, k=0)
    with pytest.raises(ValueError, match="one per order"):
        JelinekMercer(3, [0.5])
    with pytest.raises(ValueError, match="one per order"):
        KneserNey(2, discounts=[2.0, 0.1])
    with pytest.raises(ValueError, match="reach n = 2"):
        KneserNey(3).fit_counts(NGramCounts(torch.tensor([0, 1]), 2, 2))
