"""When two values are alike, and where they differ first."""

import math

import numpy as np
import pytest
import torch

from helpers.course.checks.comparing import differs, same, snapshot


@pytest.mark.parametrize(
    ("got", "expected", "kind"),
    [
        (1.0 + 1e-8, 1.0, None),
        (torch.tensor(2.0), 2, None),
        (2, 2.0, None),
        (math.inf, math.inf, None),
        (math.nan, math.nan, None),
        (1.1, 1.0, ""),
        (math.inf, 1.0, ""),
        (math.nan, 1.0, ""),
        (1e9, math.inf, ""),
        (True, 1.0, "type"),
        ("1", 1.0, "type"),
        (None, 1.0, "type"),
        ([1, 2], [1, 2], None),
        ((1, 2), [1, 2], None),
        ([1], [1, 2], "length"),
        ([1, 3], [1, 2], ""),
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1}, {"a": 1.0, "b": 2}, "keys"),
        ({"a": 1, "c": 0}, {"a": 1.0}, "keys"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ""),
        ([("a", 1)], {"a": 1}, "type"),
        (torch.zeros(2), torch.zeros(2), None),
        (torch.zeros(2), torch.zeros(2, 1), "shape"),
        (torch.zeros(2), torch.zeros(2).double(), "type"),
        (torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0]), ""),
        (torch.tensor([-math.inf]), torch.tensor([-math.inf]), None),
        (torch.tensor([-math.inf]), torch.tensor([0.0]), ""),
        ([0.0], torch.zeros(1), "type"),
        ("ab", "ab", None),
        ("ab", "ac", ""),
        (np.float64(2.0), 2, None),
        (np.bool_(True), True, None),
        (np.zeros((3, 2)), 0.0, "type"),
        (np.zeros((3, 2)), [0.0], "type"),
        ([np.zeros(2)], [0.0], "type"),
        (np.zeros((3, 2)), "ab", ""),
        (np.zeros((3, 2)), None, ""),
        (torch.zeros(2), False, ""),
        (b"ab", b"ab", None),
        (b"ab", b"ac", ""),
        (b"ab", [b"a", b"b"], "type"),
        ((b"a", b"b"), [b"a", b"b"], None),
        ([torch.zeros(2), b"a"], [b"b", b"a"], ""),
    ],
)
def test_values_are_compared(got, expected, kind):
    found = differs(got, expected)
    assert found is None if kind is None else found[3] == kind


def test_tokens_are_shown_as_bytes_and_pairs_of_them_whole():
    assert differs([(b" ", b"t")], [(b"h", b"e")]) == ("at 0", (b" ", b"t"), (b"h", b"e"), "")
    assert differs({1: b"ab"}, {1: b"ac"}) == ("at 1", b"ab", b"ac", "")


def test_same_is_exact():
    assert same(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert not same(torch.zeros(1), torch.zeros(1).double())
    assert not same([1, [2]], [1, [3]])
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1, 2], lambda x: x.append(3)),
        ({"a": [{1}]}, lambda x: x["a"][0].add(2)),
        ((torch.zeros(3), 1), lambda x: x[0].add_(1)),
        ([torch.zeros(3, requires_grad=True) * 2], lambda x: x[0].detach().add_(1)),
    ],
)
def test_a_snapshot_shows_what_has_changed(value, change):
    before = snapshot(value)
    assert same(before, value)
    change(value)
    assert not same(before, value)


def test_a_snapshot_copies_no_model():
    model = torch.nn.Linear(1, 1)
    assert snapshot({"model": model})["model"] is model
