"""The encoder pre-trained on the course's stories that notebook 15 and lab 06 use.

    python -m benchmarks.reader_encoder [--save FOLDER]

It hides tokens of the Reader's stories and trains an encoder to say what they were. Each
story is read whole and, in the same pass, cut in two at the end of a sentence, with [SEP] between,
so that the encoder knows pairs of texts, too. It goes on where it was interrupted (work/ holds its
checkpoints).
"""

from __future__ import annotations

import argparse
import random
import re
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.study import Row, Study, command, device
from helpers.data import reader_tasks
from helpers.data.batching import seeded
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import Story, read_stories
from helpers.data.masking import IGNORED, mask_tokens, masked_loss, pad_rows
from helpers.data.reader_tasks import CLS, MASK, PAD, SEP, joined
from helpers.device import best_device, describe
from helpers.evaluating import evaluating
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.encoder import (
    Encoder,
    MaskedLM,
)
from helpers.models.gpt import GPTConfig

STUDY = Study(__file__, lambda: {"machine": device()})
V = 2048
SHAPE = {"max_length": 512, "n_layers": 4, "n_heads": 4, "d_model": 128}
PRETRAINING = {
    "batch": 32,
    "steps": 2600,
    "learning_rate": 1e-2,
    "muon_rate": 0.03,
    "weight_decay": 0.1,
    "warmup": 50,
    "share": 0.15,
}


@cache
def stories(part: str) -> tuple[Story, ...]:
    return tuple(read_stories(part))


@cache
def tokenizer() -> BPETokenizer:
    return reader_tasks.tokenizer_of("\n\n".join(story.text for story in stories("train")), V)


def halves(text: str, draw: random.Random) -> tuple[str, str]:
    """A story cut in two behind one of its sentences, not the last."""
    ends = [match.end() for match in re.finditer(r'[.!?]["\']?\s', text)]
    cut = draw.choice(ends)
    return text[:cut].rstrip(), text[cut:]


def documents(part: str) -> list[Tensor]:
    """Every story whole, and every story in two pieces."""
    draw, found = random.Random(0), []
    for story in stories(part):
        found.append(joined(tokenizer(), story.text)[0])
        found.append(joined(tokenizer(), *halves(story.text, draw))[0])
    return found


class MaskedDocuments:
    """Numbered batches of documents and the segments that their [SEP]s mark; hidden anew each time.

    Each pass deals the documents out in a new order; a batch is as long as its longest document.
    """

    def __init__(self, part: str, batch: int, seed: int, share: float = 0.15) -> None:
        self.documents, self.size, self.seed, self.share = documents(part), batch, seed, share

    def batch(self, step: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
        number, place = divmod(step, len(self.documents) // self.size)
        order = torch.randperm(len(self.documents), generator=seeded(self.seed, number, 0))
        rows, marks = order[place * self.size :][: self.size], tokenizer().special_ids
        inputs, targets = mask_tokens(
            pad_rows([self.documents[i] for i in rows], marks[PAD]),
            mask=marks[MASK],
            vocab_size=V,
            generator=seeded(self.seed, step, 1),
            share=self.share,
            special=(marks[PAD], marks[CLS], marks[SEP]),
        )
        ends = inputs == marks[SEP]
        segments = (ends.cumsum(1) - ends.long()).clamp(max=1)
        return (inputs, segments.masked_fill(inputs == marks[PAD], 0)), targets


def fresh(seed: int) -> MaskedLM:
    torch.manual_seed(seed)
    config = GPTConfig.modern(V, **SHAPE)
    return MaskedLM(Encoder.modern(config, tokenizer().special_ids[PAD], segments=2))


def masked_quality(model: MaskedLM, part: str = "validation") -> dict[str, float]:
    """Nats and accuracy per chosen token, and per token that stands as [MASK]."""
    batches, mask = MaskedDocuments(part, 32, seed=7), tokenizer().special_ids[MASK]
    sums = torch.zeros(2, 3)
    with evaluating(model):
        for step in range(len(batches.documents) // 32):
            (inputs, segments), targets = batches.batch(step)
            log_p = model(inputs, segments).log_softmax(-1)
            for row, chosen in enumerate(
                (targets != IGNORED, (targets != IGNORED) & (inputs == mask))
            ):
                right = targets[chosen]
                sums[row, 0] -= log_p[chosen].gather(1, right[:, None]).sum()
                sums[row, 1] += (log_p[chosen].argmax(1) == right).sum()
                sums[row, 2] += len(right)
    (a, b, n), (c, d, m) = sums.tolist()
    found = {"nats": a / n, "right": b / n, "nats at [MASK]": c / m, "right at [MASK]": d / m}
    return {name: round(value, 4) for name, value in found.items()}


def pretrained(options: argparse.Namespace) -> Row:
    """The encoder that ships; --save writes its folder."""
    own = PRETRAINING
    model = fresh(options.seed)
    training = Training(
        model,
        MaskedDocuments("train", own["batch"], options.seed, own["share"]),
        own["steps"],
        warmup=own["warmup"],
        loss=masked_loss,
        optimizers=gpt_optimizers(
            model, own["learning_rate"], own["muon_rate"], own["weight_decay"]
        ),
        precision="auto",
    )
    folder = Path(options.checkpoints)
    notes = checkpoints.resume(folder, training, own)
    curve = list(notes["curve"]) if notes else []
    losses: list[float] = []
    points = {round(own["steps"] * (k / 16) ** 2) for k in range(1, 17)}
    for record in training:
        losses.append(record.loss)
        if record.step in points:
            curve.append({"step": record.step, "train": round(sum(losses) / len(losses), 4)})
            curve[-1] |= {"seconds": round(record.seconds, 1), **masked_quality(model)}
            losses = []
            print(curve[-1], flush=True)
        if record.step % 200 == 0:
            checkpoints.save(folder, training, own, {"curve": curve})
    found = {
        "settings": own | SHAPE | {"vocabulary": V},
        "seed": options.seed,
        "parameters": sum(p.numel() for p in model.parameters()),
        "curve": curve,
        "test": masked_quality(model, "test"),
    }
    if options.save:
        card = {
            "text": "lantern_reader",
            "tokenizer": f"bpe:{V}",
            "device": describe(best_device()),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            **found,
        }
        checkpoints.save_model(options.save, model, card, torch.bfloat16)
        tokenizer().save(Path(options.save) / "tokenizer.json")
    return found


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the pre-training")
    parser.add_argument("--checkpoints", default="work/reader_encoder", help="a folder")
    parser.add_argument("--save", help="a folder for the pre-trained encoder")
    options = parser.parse_args()
    STUDY.entry("pretraining", partial(pretrained, options))


if __name__ == "__main__":
    main()
