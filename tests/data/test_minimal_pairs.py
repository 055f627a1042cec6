"""Minimal pairs differ in the one thing that they are about, and come out alike everywhere."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from helpers.data import corpora
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import read_stories
from helpers.data.minimal_pairs import KINDS, MEN, WOMEN, minimal_pairs

STORIES = read_stories("test")
TEXTS = {story.id: story.document for story in STORIES}


@pytest.fixture(scope="module", params=KINDS)
def pairs(request):
    return minimal_pairs(STORIES, request.param)


def test_there_are_enough_of_them_and_at_most_one_a_story(pairs):
    assert len(pairs) >= 100
    assert max(Counter(pair.story for pair in pairs).values()) == 1


def test_the_right_one_is_what_the_story_says(pairs):
    for pair in pairs:
        text = TEXTS[pair.story]
        assert text.startswith(pair.context + pair.right)
        assert pair.right[-1] in ".!?\"'"
        assert not text.startswith(pair.wrong_context + pair.wrong)


def test_context_and_continuation_have_the_tokens_of_the_whole(pairs):
    """The space before a changed word belongs to it, so it begins the continuation."""
    tokenizer = BPETokenizer.train(corpora.lantern_reader().validation, 600, [END_OF_TEXT])
    for pair in pairs:
        for context, end in ((pair.context, pair.right), (pair.wrong_context, pair.wrong)):
            parts = [*tokenizer.encode(context).tolist(), *tokenizer.encode(end).tolist()]
            assert parts == tokenizer.encode(context + end).tolist()


def words(text):
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("kind", ["pronoun", "name"])
def test_one_word_is_changed(kind):
    for pair in minimal_pairs(STORIES, kind):
        assert pair.wrong_context == pair.context
        right, wrong = words(pair.right), words(pair.wrong)
        assert len(right) == len(wrong)
        assert sum(a != b for a, b in zip(right, wrong, strict=True)) == 1
        at = next(i for i, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b)
        old, new = right[at], wrong[at]
        if kind == "pronoun":
            swaps = {"he": "she", "she": "he", "his": "her"}
            assert swaps[old.lower()] == new.lower()
            assert old[0].isupper() == new[0].isupper()
        else:
            sex = next(group for group in (WOMEN, MEN) if old in group)
            assert new in sex
            assert old in words(pair.context)
            assert new not in words(TEXTS[pair.story])


def test_pronouns_are_changed_where_one_sex_alone_is_present():
    women, men = {"she", "her", *map(str.lower, WOMEN)}, {"he", "him", "his", *map(str.lower, MEN)}
    found = set()
    for pair in minimal_pairs(STORIES, "pronoun"):
        said = {word.lower() for word in words(TEXTS[pair.story])}
        assert bool(said & women) != bool(said & men)
        found.add(bool(said & women))
    assert found == {True, False}


def test_an_ending_stands_after_its_own_story_and_after_another_one():
    pairs = minimal_pairs(STORIES, "ending")
    assert len(pairs) == len(STORIES)
    assert all(TEXTS[pair.story] == pair.context + pair.right for pair in pairs)
    assert all(pair.wrong == pair.right for pair in pairs)
    assert sorted(pair.context for pair in pairs) == sorted(pair.wrong_context for pair in pairs)
