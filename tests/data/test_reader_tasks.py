"""The tasks on the Reader: targets say what the stories' own records say."""

from __future__ import annotations

import pytest
import torch

from helpers.data import corpora
from helpers.data.lantern_reader import LABELS, PEOPLE, read_stories
from helpers.data.masking import IGNORED
from helpers.data.reader_tasks import (
    CLS,
    PAD,
    SEP,
    TAGS,
    Batches,
    Question,
    collated,
    inference,
    joined,
    name_spans,
    names,
    passages,
    said,
    spans,
    tokenizer_of,
)


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of(corpora.lantern_reader().train[:200_000], 600)


@pytest.fixture(scope="module")
def stories():
    return read_stories("validation")


def test_a_pair_is_marked_and_its_segments_are_told_apart(tokenizer):
    tokens, segments = joined(tokenizer, "A cat.", "A gull?")
    marks = tokenizer.special_ids
    assert tokens[0] == marks[CLS]
    assert (tokens == marks[SEP]).sum() == 2
    begin = int((segments == 0).sum())
    assert tokens[begin - 1] == tokens[-1] == marks[SEP]
    assert tokenizer.decode(tokens[1 : begin - 1]) == "A cat."
    assert tokenizer.decode(tokens[begin:-1]) == "A gull?"


def test_special_tokens_in_a_text_are_letters(tokenizer):
    tokens, _ = joined(tokenizer, "[SEP] and [MASK]")
    assert (tokens >= tokenizer.special_ids[PAD]).sum() == 2


@pytest.mark.parametrize("sentences", [1, 3, 100])
def test_a_passage_is_a_piece_of_its_story_and_holds_the_answer(tokenizer, stories, sentences):
    found = passages(stories, sentences)
    whole = [(q, story.text, answer) for story in stories for q, answer in story.questions]
    assert found == passages(stories, sentences)
    assert 0.9 * len(whole) < len(found) <= len(whole)
    for question, passage, answer in found:
        assert answer in passage
        assert any(q == question and passage in text for q, text, _ in whole)
    if sentences == 100:
        assert [tuple(question) for question in found] == whole
    if sentences == 3:
        places = [passage.index(answer) / len(passage) for _, passage, answer in found]
        assert 0.3 < sum(places) / len(places) < 0.5
        assert found != passages(stories, sentences, seed=1)
        for example, item in zip(spans(found, tokenizer), found, strict=True):
            words = said(tokenizer, example.tokens, *example.target.tolist())
            assert item.answer in words


def test_every_answer_comes_back_word_for_word(tokenizer, stories):
    asked = [Question(q, story.text, a) for story in stories for q, a in story.questions]
    found = spans(asked, tokenizer)
    assert len(found) == 2 * len(stories)
    truths = [answer for story in stories for _, answer in story.questions]
    for example, truth in zip(found, truths, strict=True):
        words = said(tokenizer, example.tokens, *example.target.tolist())
        # A token may hold letters beside the answer, such as the s of boats.
        assert truth in words
        assert len(words) <= len(truth) + 8
        assert example.segments[example.target].tolist() == [1, 1]
    exact = [
        said(tokenizer, e.tokens, *e.target.tolist()) == t
        for e, t in zip(found, truths, strict=True)
    ]
    assert sum(exact) > 0.97 * len(exact)


def test_the_tagged_tokens_are_the_names(tokenizer, stories):
    for story, example in zip(stories, names(stories, tokenizer), strict=True):
        tags = [TAGS[i] for i in example.target.tolist()]
        assert tags[0] == tags[-1] == "O"
        found = []
        for place, tag in enumerate(tags):
            if tag == "B":
                found.append([place])
            elif tag == "I":
                found[-1].append(place)
        words = [tokenizer.decode(example.tokens[places]).strip() for places in found]
        wanted = [story.text[first:after] for first, after in name_spans(story)]
        assert all(name in word for name, word in zip(wanted, words, strict=True))
        assert {PEOPLE[name] for name in story.people} == {name.split()[-1] for name in wanted}


def test_titles_belong_to_names():
    story = next(s for s in read_stories() if "Old Pell" in s.people and " Pell's" in s.text)
    spans = [story.text[a:b] for a, b in name_spans(story)]
    assert "Old Pell" in spans or "Pell" in spans
    assert not any(span.startswith("Old ") and span != "Old Pell" for span in spans)


def test_classes_are_those_of_the_records(tokenizer, stories):
    some = stories[:5]
    pairs = inference(some, tokenizer)
    assert [LABELS[int(e.target)] for e in pairs] == [*LABELS] * 5
    second = pairs[1].tokens[pairs[1].segments == 1][:-1]
    assert tokenizer.decode(second) == some[0].statements.no


def test_batches_are_padded_and_depend_on_seed_and_number_alone(tokenizer, stories):
    pad = tokenizer.special_ids[PAD]
    tagged = names(stories[:7], tokenizer)
    (tokens, segments), targets = collated(tagged, pad)
    assert tokens.shape == segments.shape == targets.shape
    assert torch.equal(targets == IGNORED, tokens == pad)
    first, again = (Batches(tagged, 3, pad, seed=1) for _ in range(2))
    assert torch.equal(first.batch(5)[1], again.batch(5)[1])
    seen = [
        tuple(t for t in row if t != pad) for k in (0, 1) for row in first.batch(k)[0][0].tolist()
    ]
    assert len(set(seen)) == 6
