"""Sets of parentheses and their batches: labels, lengths, order, shares of the kinds."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from scipy.stats import chisquare

from helpers.data.parentheses import is_balanced, padding
from helpers.data.parentheses_lecture import lecture_set
from helpers.data.parentheses_negatives import KINDS, NEGATIVES
from helpers.data.parentheses_sets import LabelledSequences, batches, honest_set, near_miss_set


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


SETS = {
    "honest": lambda n, g: honest_set(n, range(6, 25, 2), g),
    "honest, 2 colours": lambda n, g: honest_set(n, [8, 8, 20], g, colours=2),
    "near misses": lambda n, g: near_miss_set(n, range(6, 25, 2), g),
    "short": lambda n, g: near_miss_set(n, [2, 4], g, ["wrong_order", "one_token_moved"]),
    "lecture": lecture_set,
}


@pytest.fixture(params=SETS, scope="module")
def labelled(request) -> LabelledSequences:
    return SETS[request.param](1001, generator(1))


def test_labels_and_padding_are_right(labelled):
    pad = padding(labelled.colours)
    assert len(labelled) == 1001
    assert labelled.tokens.dtype == labelled.labels.dtype == labelled.kinds.dtype == torch.long
    for row, label, kind, length in zip(
        labelled.tokens, labelled.labels, labelled.kinds, labelled.lengths
    ):
        assert (row[:length] < pad).all()
        assert (row[length:] == pad).all()
        assert is_balanced(row, labelled.colours) == bool(label) == (int(kind) == 0)


def test_sets_are_seeded_and_in_random_order(labelled, request):
    make = SETS[request.node.callspec.params["labelled"]]
    assert torch.equal(make(1001, generator(1)).tokens, labelled.tokens)
    assert not torch.equal(make(1001, generator(2)).tokens, labelled.tokens)
    first, second = labelled.labels[:500].double().mean(), labelled.labels[500:].double().mean()
    assert abs(float(first - second)) < 4 * 0.5 / 250**0.5


@pytest.mark.parametrize("name", ["honest", "honest, 2 colours", "near misses", "short"])
def test_both_classes_have_the_same_lengths(name):
    labelled = SETS[name](2000, generator(4))
    lengths = [Counter(labelled.lengths[labelled.labels == y].tolist()) for y in (0, 1)]
    assert lengths[0] == lengths[1]
    assert sum(lengths[0].values()) == 1000


def test_kinds_and_lengths_are_equally_likely():
    labelled = near_miss_set(12_000, [6, 10, 14], generator(1))
    kinds = torch.bincount(labelled.kinds, minlength=len(KINDS))
    assert int(kinds[0]) == 6000
    assert chisquare(kinds[1:]).pvalue > 1e-3
    lengths = Counter(labelled.lengths[labelled.labels == 1].tolist())
    assert chisquare(list(lengths.values())).pvalue > 1e-3
    assert KINDS[1:] == tuple(NEGATIVES)


def test_take():
    labelled = honest_set(20, [6, 8], generator())
    part = labelled.take(torch.tensor([3, 1]))
    assert torch.equal(part.tokens, labelled.tokens[[3, 1]])
    assert torch.equal(part.lengths, labelled.lengths[[3, 1]])
    assert len(labelled.take(slice(5))) == 5


# Batches


def keyed(labelled: LabelledSequences) -> Counter:
    rows = zip(labelled.tokens, labelled.lengths, labelled.labels)
    return Counter((tuple(row[:n].tolist()), int(y)) for row, n, y in rows)


@pytest.mark.parametrize("batch_size", [1, 7, 64, 5000])
def test_a_pass_has_every_sequence_once_and_no_padding(labelled, batch_size):
    seen = Counter()
    for tokens, labels in batches(labelled, batch_size, generator(1)):
        assert len(tokens) == len(labels) <= batch_size
        assert (tokens < padding(labelled.colours)).all()
        seen.update(zip(map(tuple, tokens.tolist()), labels.tolist()))
    assert seen == keyed(labelled)
