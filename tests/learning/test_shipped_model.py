"""The model that ships in data/checkpoints: its card is true, and it fits the corpus."""

import hashlib
from functools import partial

import pytest
import torch

from helpers.data import corpora
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import read_stories
from helpers.data.minimal_pairs import KINDS, minimal_pairs
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.plausibility import bits_per_byte, right_choices, text_log_probs
from helpers.inference.rules import Rules
from helpers.inference.sampling import sample
from helpers.learning import checkpoints

FOLDER = corpora.DATA_FOLDER / "checkpoints" / "lantern_stories_gpt"


@pytest.fixture(scope="module")
def shipped():
    model, card = checkpoints.load_model(FOLDER)
    return model, card, BPETokenizer.load(FOLDER / "tokenizer.json"), corpora.lantern_stories()


def test_it_is_small_and_its_card_is_complete(shipped):
    model, card, tokenizer, corpus = shipped
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 25e6
    wanted = {"text", "settings", "seed", "curve", "device", "bits_per_byte", "seconds", "torch"}
    assert wanted <= card.keys()
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert model.vocab_size == tokenizer.vocab_size
    tokens = tokenizer.encode(corpus.train, special=True).numpy().astype("<i4").tobytes()
    assert card["training_tokens_sha256"] == hashlib.sha256(tokens).hexdigest()


def stories_and_mark(tokenizer, corpus):
    mark = torch.tensor([tokenizer.special_ids[END_OF_TEXT]])
    return [d.text for d in corpus.test_documents if d.book.startswith("lantern_reader")], mark


def test_it_is_about_as_good_on_some_test_stories_as_the_card_says_of_all(shipped):
    model, card, tokenizer, corpus = shipped
    stories, mark = stories_and_mark(tokenizer, corpus)
    tokens = [torch.cat([mark, tokenizer.encode(text), mark]) for text in stories[:30]]
    found = bits_per_byte(text_log_probs(model, tokens), stories[:30])
    assert found == pytest.approx(card["bits_per_byte"]["test"], abs=0.08)


@pytest.mark.nightly
def test_it_is_as_good_on_the_test_stories_as_the_card_says(shipped):
    model, card, tokenizer, corpus = shipped
    stories, mark = stories_and_mark(tokenizer, corpus)
    tokens = [torch.cat([mark, tokenizer.encode(text), mark]) for text in stories]
    found = bits_per_byte(text_log_probs(model, tokens), stories)
    assert found == pytest.approx(card["bits_per_byte"]["test"], abs=2e-3)
    assert found < 1.15  # Kneser-Ney with these tokens is at 1.336 on the validation stories
    score, said = partial(text_log_probs, model), card["minimal_pairs"]["test"]
    for kind in KINDS:
        pairs = minimal_pairs(read_stories("test"), kind)
        share = right_choices(pairs, tokenizer, int(mark), score).double().mean().item()
        assert share == pytest.approx(said[kind], abs=0.015)
    assert said["pronoun"] > 0.95
    assert said["name"] > 0.8
    assert said["ending"] > 0.65


def test_it_writes_words_of_the_stories_and_comes_to_an_end(shipped):
    model, _, tokenizer, corpus = shipped
    end = tokenizer.special_ids[END_OF_TEXT]
    generator = torch.Generator().manual_seed(0)
    text = sample(CachedPredictor(model, end), 900, generator, rules=Rules(0.7))[0].tolist()
    assert end in text
    words = tokenizer.decode([token for token in text if token != end]).lower().split()[:-1]
    known = set(corpus.text.lower().replace(END_OF_TEXT, " ").split())
    assert len(words) > 300
    assert sum(word in known for word in words) > 0.9 * len(words)
