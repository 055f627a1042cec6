"""The model that ships in data/checkpoints: its card is true, and it fits the corpus."""

import hashlib

import pytest
import torch

from helpers.data import corpora
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score_model
from helpers.inference.rules import Rules
from helpers.inference.sampling import sample
from helpers.learning import checkpoints

FOLDER = corpora.DATA_FOLDER / "checkpoints" / "lantern_bay_gpt"


@pytest.fixture(scope="module")
def shipped():
    model, card = checkpoints.load_model(FOLDER)
    return model, card, CharTokenizer.load(FOLDER / "tokenizer.json"), corpora.lantern_bay()


def test_it_is_small_and_its_card_is_complete(shipped):
    model, card, tokenizer, corpus = shipped
    assert sum(path.stat().st_size for path in FOLDER.parent.rglob("*")) < 12e6
    wanted = {"text", "settings", "seed", "curve", "device", "bits_per_byte", "seconds", "torch"}
    assert wanted <= card.keys()
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert model.vocab_size == tokenizer.vocab_size == len(set(corpus.text))
    tokens = tokenizer.encode(corpus.train).numpy().astype("<i4").tobytes()
    assert card["training_tokens_sha256"] == hashlib.sha256(tokens).hexdigest()


def test_it_is_as_good_on_the_test_part_as_the_card_says(shipped):
    model, card, tokenizer, corpus = shipped
    tokens = tokenizer.encode(corpus.train[-1:] + corpus.test)
    found = score_model(model, tokens, card["scored_in_windows_of"], corpus.test).bits_per_byte
    assert found == pytest.approx(card["bits_per_byte"]["test"], abs=2e-3)
    assert card["bits_per_byte"]["test"] == pytest.approx(
        card["bits_per_byte"]["validation"], abs=0.05
    )


def test_it_writes_words_of_the_tales(shipped):
    model, _, tokenizer, corpus = shipped
    predictor = CachedPredictor(model, int(tokenizer.encode("\n")))
    text = sample(predictor, 600, torch.Generator().manual_seed(0), rules=Rules(0.7))
    words = tokenizer.decode(text[0]).lower().split()[:-1]
    known = set(corpus.text.lower().split())
    assert len(words) > 60
    assert sum(word in known for word in words) > 0.9 * len(words)
