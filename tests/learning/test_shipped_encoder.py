"""The encoder that ships in data/checkpoints: its card is true, and it fits the corpus."""

import pytest
import torch
from torch.nn import functional as F

from helpers.data.batching import seeded
from helpers.data.bpe import BPETokenizer
from helpers.data.corpora import DATA_FOLDER
from helpers.data.lantern_reader import read_stories
from helpers.data.masking import IGNORED, mask_tokens, pad_rows
from helpers.data.reader_tasks import CLS, MASK, PAD, SEP, SPECIAL, joined, tokenizer_of
from helpers.learning.checkpoints import load_encoder

FOLDER = DATA_FOLDER / "checkpoints" / "lantern_reader_encoder"


@pytest.fixture(scope="module")
def shipped():
    model, card = load_encoder(FOLDER)
    return model, card, BPETokenizer.load(FOLDER / "tokenizer.json")


def test_it_is_small_and_its_card_is_complete(shipped):
    model, card, tokenizer = shipped
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 10e6
    assert {"text", "settings", "seed", "curve", "device", "test", "torch"} <= card.keys()
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert model.encoder.vocab_size == tokenizer.vocab_size
    assert set(SPECIAL) <= set(tokenizer.special_ids)
    assert model.encoder.pad == tokenizer.special_ids[PAD]


def test_its_tokens_are_those_of_the_training_stories(shipped):
    again = tokenizer_of("\n\n".join(story.text for story in read_stories("train")), 2048)
    text = read_stories("test")[0].text
    assert torch.equal(shipped[2].encode(text), again.encode(text))


def test_it_fills_gaps_of_the_test_stories_as_well_as_the_card_says(shipped):
    model, card, tokenizer = shipped
    marks = tokenizer.special_ids
    nats, hits = [], []
    with torch.no_grad():
        for step in range(6):
            stories = read_stories("test")[32 * step :][:32]
            inputs, targets = mask_tokens(
                pad_rows([joined(tokenizer, story.text)[0] for story in stories], marks[PAD]),
                mask=marks[MASK],
                vocab_size=tokenizer.vocab_size,
                generator=seeded(step),
                special=(marks[PAD], marks[CLS], marks[SEP]),
            )
            logits, chosen = model(inputs), targets != IGNORED
            nats.append(F.cross_entropy(logits[chosen], targets[chosen], reduction="none"))
            hits.append(logits[chosen].argmax(-1) == targets[chosen])
    nats, hits = torch.cat(nats), torch.cat(hits).double()
    assert len(nats) > 5000
    # Other tokens are hidden than on the card: four standard errors apart at most.
    assert abs(float(nats.mean()) - card["test"]["nats"]) < 4 * float(nats.std()) / len(nats) ** 0.5
    assert abs(float(hits.mean()) - card["test"]["right"]) < 4 * (0.25 / len(nats)) ** 0.5
