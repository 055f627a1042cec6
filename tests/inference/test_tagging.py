"""BIO tags: the entities behind them, and tags that do not fit together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.inference.tagging import Entity, entities_of


def tags_of(entities, length):
    tags = ["O"] * length
    for first, after, kind in entities:
        tags[first:after] = [f"B-{kind}", *[f"I-{kind}"] * (after - first - 1)]
    return tags


def test_the_lectures_sentence():
    # Washington is the capital of the USA . It hosts the White House .
    length = 14
    entities = [Entity(0, 1, "place"), Entity(6, 7, "place"), Entity(11, 13, "place")]
    tags = tags_of(entities, length)
    assert tags[0] == tags[6] == tags[11] == "B-place"
    assert tags[12] == "I-place"
    assert tags.count("O") == length - 4
    assert entities_of(tags) == entities


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from(["person", "place"])),
        max_size=6,
    )
)
def test_there_and_back(parts):
    entities, end = [], 0
    for gap, length, kind in parts:
        entities.append(Entity(end + gap, end + gap + length, kind))
        end += gap + length
    assert entities_of(tags_of(entities, end + 2)) == entities


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        (["I-a", "I-a", "O"], [(0, 2, "a")]),
        (["B-a", "I-b", "I-b"], [(0, 1, "a"), (1, 3, "b")]),
        (["B-a", "B-a"], [(0, 1, "a"), (1, 2, "a")]),
        (["O", "I-a", "B-a"], [(1, 2, "a"), (2, 3, "a")]),
        ([], []),
    ],
)
def test_tags_that_do_not_fit_together(tags, wanted):
    assert entities_of(tags) == [Entity(*entity) for entity in wanted]
