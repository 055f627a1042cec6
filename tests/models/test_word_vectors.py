"""Skip-gram against naive loops and known distributions; word vectors against known geometry."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from benchmarks.word_vectors import auc_of, same_kind_pairs
from helpers.data.corpora import lantern_bay
from helpers.data.tokenizers import WordTokenizer
from helpers.learning.training import Training
from helpers.models.word_vectors import (
    SkipGram,
    WordVectors,
    counted_vectors,
    keep_probabilities,
    negative_sampling_loss,
    noise_distribution,
    skip_gram_batches,
    skip_gram_pairs,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_loss_and_gradients_equal_a_loop_over_pairs():
    V, D, B, K = 9, 4, 6, 3
    torch.manual_seed(0)
    model = SkipGram(V, D).double()
    torch.nn.init.normal_(model.context.weight)
    words = torch.randint(V, (B, 2 + K), generator=generator())
    labels = torch.zeros(B, 1 + K, dtype=torch.float64)
    labels[:, 0] = 1
    loss = negative_sampling_loss(model(words), labels)
    centre, context = model.centre.weight, model.context.weight
    total = 0.0
    for c, o, *noise in words.tolist():
        total = total - torch.sigmoid(context[o] @ centre[c]).log()
        for n in noise:
            total = total - torch.sigmoid(-context[n] @ centre[c]).log()
    torch.testing.assert_close(loss, total / B)
    found = torch.autograd.grad(loss, list(model.parameters()))
    for a, b in zip(found, torch.autograd.grad(total / B, list(model.parameters()))):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 30])
@pytest.mark.parametrize("window", [1, 2, 5])
def test_pairs_equal_a_loop_over_positions(size, window):
    tokens = torch.randint(100, (size,), generator=generator(1))
    radius = torch.randint(1, window + 1, (size,), generator=generator(7)).tolist()
    expected = Counter(
        (int(tokens[i]), int(tokens[j]))
        for i in range(size)
        for j in range(max(0, i - radius[i]), min(size, i + radius[i] + 1))
        if i != j
    )
    found = skip_gram_pairs(tokens, window, generator(7))
    assert Counter(map(tuple, found.tolist())) == expected


def test_sub_sampling_and_noise_by_hand():
    counts = torch.tensor([0, 1, 16, 9983])  # frequencies 0, 0.0001, 0.0016, 0.9983
    keep = keep_probabilities(counts, 1e-4)
    assert keep.tolist() == pytest.approx([1, 1, 0.25, math.sqrt(1e-4 / 0.9983)])
    noise = noise_distribution(torch.tensor([0, 1, 16, 81]))
    assert noise.tolist() == pytest.approx([0, 1 / 36, 8 / 36, 27 / 36])


def test_batches_are_true_pairs_beside_noise_of_the_right_distribution():
    V, K = 6, 10
    tokens = (torch.rand(3000, generator=generator()) ** 2 * V).long()
    batches = skip_gram_batches(tokens, V, 500, generator(1), window=1, negatives=K, threshold=1)
    drawn = [next(batches) for _ in range(8)]
    neighbours = set(zip(tokens.tolist(), tokens[1:].tolist()))
    for words, labels in drawn:
        assert words.shape == (500, 2 + K)
        assert labels.tolist() == [[1.0] + [0.0] * K] * 500
        assert all((a, b) in neighbours or (b, a) in neighbours for a, b, *_ in words.tolist())
    noise = torch.cat([words[:, 2:].flatten() for words, _ in drawn])
    expected = noise_distribution(torch.bincount(tokens, minlength=V)) * len(noise)
    found = torch.bincount(noise, minlength=V)
    assert float(((found - expected) ** 2 / expected).sum()) < 20.5  # 0.1 % at 5 degrees


def test_sub_sampling_thins_frequent_words_as_it_says():
    tokens = torch.tensor([0] * 900 + [1] * 100).repeat(20)[
        torch.randperm(20_000, generator=generator())
    ]
    batches = skip_gram_batches(tokens, 2, 1000, generator(1), window=1, threshold=0.225)
    centres = torch.cat([next(batches)[0][:, 0] for _ in range(20)])
    kept = 0.9 * math.sqrt(0.225 / 0.9)  # 0.45 of all words against 0.1 that all stay
    assert float((centres == 0).float().mean()) == pytest.approx(kept / (kept + 0.1), abs=0.02)


@pytest.fixture(scope="module")
def tales():
    """Words, ids without <unk> and ends of lines, counts, and the tests of same-kind pairs."""
    text = lantern_bay().train.lower()
    tokenizer = WordTokenizer.train(text, min_count=5)
    ids = tokenizer.encode(text)
    words, ids = tokenizer.words[2:], ids[ids > tokenizer.end] - 2
    counts = dict(zip(words, torch.bincount(ids).tolist()))
    spelled = {word: count for word, count in counts.items() if word[0].isalpha()}
    return words, ids, counts, same_kind_pairs(spelled, generator(100))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_short_training_on_the_tales_tells_kinds_apart(tales, seed):
    """3000 steps do better; frequency alone and random vectors say nothing."""
    words, ids, counts, tests = tales
    torch.manual_seed(seed)
    model = SkipGram(len(words), 32)
    batches = skip_gram_batches(ids, len(words), 1024, generator(seed), window=2, threshold=1e-2)

    def mean_auc(similarity):
        return sum(auc_of(similarity, *pairs) for pairs in tests.values()) / len(tests)

    before = mean_auc(WordVectors(words, model.centre.weight).similarity)
    list(Training(model, batches, 500, 2e-2, weight_decay=0.3, loss=negative_sampling_loss))
    assert mean_auc(WordVectors(words, model.centre.weight).similarity) > 0.75
    assert 0.4 < before < 0.6
    assert 0.45 < mean_auc(lambda a, b: -abs(math.log(counts[a] / counts[b]))) < 0.55


def test_counted_vectors_factor_the_ppmi_matrix():
    """With all directions kept, U S U^T would give PPMI back; here by its definition in loops."""
    V, tokens = 5, (torch.rand(400, generator=generator()) ** 2 * 5).long()
    n = torch.zeros(V, V, dtype=torch.float64)
    for i in range(len(tokens)):
        for j in (i - 2, i - 1, i + 1, i + 2):
            if 0 <= j < len(tokens):
                n[tokens[i], tokens[j]] += 1 if abs(i - j) == 1 else 0.5
    p, context = n / n.sum(), n.sum(0) ** 0.75 / (n.sum(0) ** 0.75).sum()
    ppmi = (p / (p.sum(1)[:, None] * context)).log().clamp(min=0)
    vectors = counted_vectors(tokens, V, V, window=2).double()
    singular = torch.linalg.svdvals(ppmi)
    torch.testing.assert_close(vectors.norm(dim=0) ** 2, singular, atol=1e-5, rtol=1e-4)
    left = torch.linalg.svd(ppmi)[0] * singular.sqrt()
    torch.testing.assert_close(vectors @ vectors.T, left @ left.T, atol=1e-5, rtol=1e-4)


@pytest.fixture
def square():
    """boy, girl, man and woman at the corners of a square; a bystander far from them."""
    corners = [[1.0, 0, 0.2], [0, 1, 0.2], [1, 0, 0.9], [0, 1, 0.9], [-1, -1, -1]]
    return WordVectors(["boy", "girl", "man", "woman", "stone"], torch.tensor(corners))


def test_neighbours_similarity_and_analogy(square):
    assert square.analogy("boy", "girl", "man", 1)[0][0] == "woman"
    assert [word for word, _ in square.neighbours("boy", 9)] == ["man", "woman", "girl", "stone"]
    cosine = torch.cosine_similarity(square["boy"], square["man"], dim=0)
    assert square.similarity("boy", "man") == pytest.approx(float(cosine))
    assert square.neighbours("boy", 1)[0][1] == pytest.approx(float(cosine))
    assert {word for word, _ in square.analogy("boy", "girl", "man", 9)} == {"woman", "stone"}


def test_what_went_wrong_is_said(square):
    with pytest.raises(ValueError, match=r"'womn'.*did you mean 'woman'"):
        square.neighbours("womn")
    with pytest.raises(ValueError, match=r"'xyzzy'.*try another"):
        square["xyzzy"]
    with pytest.raises(ValueError, match="1 different words among 2"):
        WordVectors(["a", "a"], torch.ones(2, 1))
    with pytest.raises(ValueError, match="outside 0"):
        next(skip_gram_batches(torch.tensor([0, 7]), 5, 1, generator()))
    with pytest.raises(ValueError, match="gives 2 a pass"):
        next(skip_gram_batches(torch.tensor([0, 1]), 5, 10, generator(), threshold=1))
