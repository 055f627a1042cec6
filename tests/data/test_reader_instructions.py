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
    to_tell,
    words_used,
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
    (told,) = to_tell([story])
    assert told == ("words", f"Words: {', '.join(story.words)}\n\n", story.document)
    first, second = to_answer([story])
    assert first.prompt == f"{story.text}\n\nQuestion: {story.questions[0][0]}\nAnswer:"
    assert (first.answer, second.answer) == tuple(f" {answer}" for _, answer in story.questions)
    judged, alone = to_judge([story]), to_judge([story], without_story=True)
    assert [row.answer for row in judged] == [f" {answer}" for answer in ANSWERS]
    for row, short, statement in zip(judged, alone, story.statements):
        assert row.prompt == f"{story.text}\n\nStatement: {statement}\nAnswer:"
        assert short.prompt == f"\n\nStatement: {statement}\nAnswer:"


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
    assert words_used(("hat", "run", "wet"), "She ran in a hat.") == pytest.approx(2 / 3)
    assert all(words_used(story.words, story.text) == 1 for story in stories)
