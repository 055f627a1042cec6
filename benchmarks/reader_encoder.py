"""An encoder pre-trained on the course's stories, and what it is good for: notebook 15's study.

    python -m benchmarks.reader_encoder pretrain [--save FOLDER]
    python -m benchmarks.reader_encoder tasks [--encoder FOLDER]

*pretrain* hides tokens of the Reader's stories and trains an encoder to say what they were. Each
story is read whole and, in the same pass, cut in two at the end of a sentence, with [SEP] between,
so that the encoder knows pairs of texts, too. It goes on where it was interrupted (work/ holds its
checkpoints). *tasks* trains a head and the encoder on each of the four tasks of
``helpers.data.reader_tasks``, the encoder pre-trained or from scratch, with few and many labels,
several seeds.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, device
from helpers.data import reader_tasks
from helpers.data.batching import seeded
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, MOODS, Story, read_stories
from helpers.data.masking import IGNORED, mask_tokens, masked_loss, pad_rows
from helpers.data.reader_tasks import CLS, MASK, PAD, SEP, TAGS, Batches, Example, joined
from helpers.device import best_device, describe
from helpers.evaluating import evaluating
from helpers.inference.answers import best_span, exact_match, token_f1
from helpers.inference.tagging import entity_scores
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.encoder import (
    Encoder,
    MaskedLM,
    SequenceClassifier,
    SpanReader,
    TokenTagger,
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
LABELLED = (64, 512, None)  # stories with labels; None for all
RATES = (1e-3, 3e-3)
TASKS = ("mood", "names", "inference", "answers")
STEPS = {64: 100, 512: 150, None: 400}  # by stories with labels
OF_TASK = {("names", 64): 120, ("names", 512): 120, ("names", None): 120, ("answers", None): 1200}
CONTROL = 3  # so many times the steps at the smaller rate, from scratch, all labels of mood
STARTS = ("pretrained", "scratch")
TUNING_SEED = 100
LONGEST = 24  # tokens of an answer


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


# Fine-tuning -------------------------------------------------------------------------------------


def examples(task: str, part: str, number: int | None = None, seed: int = 0) -> list[Example]:
    """The task's examples of a part, or of so many of its stories, drawn by seed."""
    some: Sequence[Story] = stories(part)
    if number is not None:
        some = random.Random(seed).sample(some, number)
    makers: dict[str, Callable] = {
        "mood": reader_tasks.moods,
        "names": reader_tasks.names,
        "inference": reader_tasks.inference,
        "answers": reader_tasks.answers,
    }
    return makers[task](some, tokenizer())


def head(task: str, encoder: Encoder, dropout: float = 0.1) -> nn.Module:
    if task == "names":
        return TokenTagger(encoder, len(TAGS), dropout)
    if task == "answers":
        return SpanReader(encoder, dropout)
    return SequenceClassifier(encoder, len(MOODS if task == "mood" else LABELS), dropout, mean=True)


def loss_of(task: str) -> Callable[[Tensor, Tensor], Tensor]:
    if task == "answers":
        return lambda logits, spans: F.cross_entropy(logits.flatten(0, 1), spans.flatten())
    return lambda logits, targets: F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORED
    )


def logits_of(model: nn.Module, of: list[Example]) -> list[Tensor]:
    """What the model gives for each example, in their order, with the padding of its batch."""
    pad, found = tokenizer().special_ids[PAD], []
    with evaluating(model):
        for first in range(0, len(of), 32):
            (tokens, segments), _ = reader_tasks.collated(of[first : first + 32], pad)
            found += model(tokens, segments).float()
    return found


def span_of(example: Example, logits: Tensor) -> tuple[int, int]:
    """First and last token of the best answer that is not too long."""
    allowed = (example.segments == 1) & (example.tokens != tokenizer().special_ids[SEP])
    i, j = best_span(logits[None, :, : len(allowed)], allowed[None], LONGEST)
    return int(i), int(j)


def quality(task: str, model: nn.Module, part: str) -> dict[str, float]:
    """Accuracy; of names the F1 of whole names; of answers EM and F1."""
    of = examples(task, part)
    pairs = list(zip(of, logits_of(model, of), strict=True))
    if task == "names":
        names = ("O", "B-name", "I-name")
        said = [[names[i] for i in x.argmax(-1)[: len(e.tokens)].tolist()] for e, x in pairs]
        found = entity_scores(said, [[names[i] for i in e.target.tolist()] for e in of])._asdict()
    elif task == "answers":
        texts = [
            [reader_tasks.said(tokenizer(), e.tokens, *ends) for ends in (span_of(e, x), e.target)]
            for e, x in pairs
        ]
        found = {"right": mean(exact_match(said, [truth]) for said, truth in texts)}
        found["f1"] = mean(token_f1(said, [truth]) for said, truth in texts)
    else:
        found = {"right": mean(float(x.argmax(-1) == e.target) for e, x in pairs)}
    return {name: round(value, 4) for name, value in found.items()}


def trained(
    task: str, start: str, of: list[Example], steps: int, rate: float, seed: int, folder: str
) -> nn.Module:
    """A head and its encoder after so many steps."""
    torch.manual_seed(seed)
    known = start == "pretrained"
    encoder = checkpoints.load_encoder(folder)[0].encoder if known else fresh(seed).encoder
    model = head(task, encoder)
    training = Training(
        model,
        Batches(of, 8 if task == "names" else 16, tokenizer().special_ids[PAD], seed),
        steps,
        learning_rate=rate,
        weight_decay=0.01,
        warmup=steps // 10,
        loss=loss_of(task),
        precision="auto",
    )
    list(training)
    return model


def fine_tune(
    task: str,
    start: str,
    stories: int | None,
    rate: float,
    seed: int,
    part: str,
    longer: int,
    folder: str,
) -> Row:
    """Train one head with its encoder; what it scores on a part."""
    of = examples(task, "train", stories, seed)
    steps = longer * OF_TASK.get((task, stories), STEPS[stories])
    model = trained(task, start, of, steps, rate, seed, folder)
    return {"steps": steps, "examples": len(of), **quality(task, model, part)}


def pretrain(options: argparse.Namespace) -> None:
    STUDY.entry("pretraining", partial(pretrained, options))


def tasks(options: argparse.Namespace) -> None:
    """Every task, start and number of labelled stories; the rate is chosen on another seed."""

    def once(**asked: Any) -> Row:
        asked = {"part": "test", "longer": 1} | asked
        return STUDY.row(asked, partial(fine_tune, **asked, folder=options.encoder), "tasks")

    for task in TASKS:
        for start in STARTS:
            of = {"task": task, "start": start}
            tuning = of | {"stories": 512, "seed": TUNING_SEED, "part": "validation"}
            tried = [once(**tuning, rate=rate) for rate in RATES]
            best = max(tried, key=lambda row: row.get("f1", row.get("right")))["rate"]
            for number in LABELLED:
                for seed in range(options.seeds):
                    once(**of, stories=number, rate=best, seed=seed)
        if task == "mood":  # the rate above was chosen with 512: is it too high with all labels?
            rate, start = min(RATES), "scratch"
            once(task=task, start=start, stories=None, rate=rate, seed=0, longer=CONTROL)


def main() -> None:
    parser = command(__doc__, PARTS, seeds=3)
    parser.add_argument("--seed", type=int, default=0, help="of the pre-training")
    parser.add_argument("--checkpoints", default="work/reader_encoder", help="a folder")
    parser.add_argument("--save", help="a folder for the pre-trained encoder")
    parser.add_argument("--encoder", default="data/checkpoints/lantern_reader_encoder")
    options = parser.parse_args()
    for part in options.parts:
        PARTS[part](options)


PARTS = {"pretrain": pretrain, "tasks": tasks}

if __name__ == "__main__":
    main()
