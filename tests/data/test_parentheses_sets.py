"""Sets of parentheses and their batches: labels, lengths, order, shares of the kinds."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch
from scipy.stats import chisquare

from helpers.data.parentheses import depths, is_balanced, padding
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


def test_a_set_of_one():
    for make in SETS.values():
        assert len(make(1, generator(3))) == 1


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


def test_a_depth_for_all():
    labelled = honest_set(200, [10, 20], generator(1), depth=4)
    assert set(depths(labelled.tokens).amax(1).tolist()) == {4}


def test_bad_sets():
    for n, lengths, kinds in ((0, [6], None), (4, [], None), (4, [6], ()), (4, [6], ["typo"])):
        with pytest.raises(ValueError, match="expected one sequence"):
            near_miss_set(n, lengths, generator(), tuple(NEGATIVES) if kinds is None else kinds)
    with pytest.raises(ValueError, match="expected one sequence or more and even lengths"):
        lecture_set(10, generator(), max_length=21)


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


def test_batches_come_in_random_order_and_are_full():
    labelled = honest_set(3000, range(6, 25, 2), generator(1))
    passes = list(batches(labelled, 100, generator(2), passes=2))
    half = len(passes) // 2
    lengths = [tokens.shape[1] for tokens, _ in passes]
    assert sorted(lengths[:half]) == sorted(lengths[half:])
    assert lengths[:half] != lengths[half:] != sorted(lengths[half:])
    small = sum(len(labels) < 100 for _, labels in passes[:half])
    assert small <= 10
    assert not torch.equal(passes[0][0], passes[half][0])


def test_batches_without_end():
    labelled = honest_set(10, [6], generator(1))
    stream = batches(labelled, 4, generator(2), passes=None)
    assert sum(len(labels) for _, labels in itertools.islice(stream, 30)) == 100


def test_bad_batches():
    labelled = honest_set(10, [6], generator(1))
    with pytest.raises(ValueError, match="batch_size is 0"):
        next(batches(labelled, 0, generator()))
    with pytest.raises(ValueError, match="has 0 sequences"):
        next(batches(labelled.take(slice(0)), 4, generator()))
