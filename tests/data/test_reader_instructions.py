"""Instructions of the Reader: what they hold, what is predicted, and words in some form."""

from __future__ import annotations

import pytest
import torch

from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import named_people, read_stories
from helpers.data.masking import IGNORED
from helpers.data.reader_instructions import (
    ANSWERS,
    Instruction,
    encoded,
    occurs,
    prompt_ids,
    to_answer,
    to_judge,
    to_mention,
)


@pytest.fixture(scope="module")
def stories():
    return read_stories("validation")[:20]


@pytest.fixture(scope="module")
def tokenizer():
    text = "Words: a, b\n\nQuestion: Who is it?\nAnswer: yes no maybe the old boat"
    return BPETokenizer.train(text * 3, 300, special_tokens=(END_OF_TEXT,))


def test_the_instructions_of_a_story(stories):
    story = stories[0]
    first, second = to_answer([story])
    (question, answer), _ = story.questions
    paragraph = first.prompt.removesuffix(f"\n\nQuestion: {question}\nAnswer:")
    assert paragraph in story.text.split("\n")
    assert answer in paragraph
    assert (first.answer, second.answer) == tuple(f" {answer}" for _, answer in story.questions)
    judged = to_judge([story])
    assert [row.answer for row in judged] == [f" {answer}" for answer in ANSWERS]
    for row, statement in zip(judged, story.statements, strict=True):
        assert row.prompt == f"\n\nStatement: {statement}\nAnswer:"


def test_a_sentence_about_somebody_names_nobody_else(stories):
    found = to_mention(stories)
    assert len(stories) < len(found) <= 2 * len(stories)
    assert len(to_mention(stories, each=1)) < len(found)
    for row in found:
        name = row.prompt.removeprefix("About: ").removesuffix("\n\n")
        assert named_people(row.answer) == (name,)
        assert any(row.answer in story.text for story in stories if name in story.people)


def test_only_the_answer_is_predicted(tokenizer):
    end = tokenizer.special_ids[END_OF_TEXT]
    inputs, targets = encoded(tokenizer, Instruction("words", "Words: a\n\n", "the boat"))
    prompt = prompt_ids(tokenizer, "Words: a\n\n")
    assert int(prompt[0]) == int(inputs[0]) == end
    assert tokenizer.decode(prompt[1:]) == "Words: a\n\n"
    P = len(prompt)
    assert targets[: P - 1].tolist() == [IGNORED] * (P - 1)
    assert tokenizer.decode(targets[P - 1 : -1]) == "the boat"
    assert int(targets[-1]) == end
    assert torch.equal(inputs[P:], targets[P - 1 : -1])


def test_a_given_word_counts_in_its_forms(stories):
    assert occurs("carry", "He carried it.")
    assert occurs("bend", "It bent.")
    assert not occurs("cart", "He carried it.")
    assert not occurs("row", "An arrow.")
    assert all(occurs(word, story.text) for story in stories for word in story.words)
