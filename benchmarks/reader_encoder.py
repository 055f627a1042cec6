"""An encoder pre-trained on the course's stories, and what it is good for: notebook 15's study.

    python -m benchmarks.reader_encoder pretrain [--save FOLDER]
    python -m benchmarks.reader_encoder tasks --encoder FOLDER

*pretrain* hides tokens of the Reader's stories and trains an encoder to say what they were. Each
story is read whole and, in the same pass, cut in two at the end of a sentence, with [SEP] between,
so that the encoder knows pairs of texts, too. It goes on where it was interrupted (work/ holds its
checkpoints). *tasks* trains a head and the encoder on each of the four tasks of
``helpers.data.reader_tasks``, the encoder pre-trained or from scratch, with few and many labels,
several seeds; a run that stands in the results already is not made again.

Writes benchmarks/results/reader_encoder.json.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command, device
from helpers.data import reader_tasks
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, MOODS, Story, read_stories
from helpers.data.masking import IGNORED, MaskedDocuments, masked_loss
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


class WithSegments:
    """Batches of documents together with the segments that their [SEP]s mark."""

    def __init__(self, batches: MaskedDocuments, sep: int, pad: int) -> None:
        self.batches, self.sep, self.pad = batches, sep, pad

    def batch(self, step: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
        inputs, targets = self.batches.batch(step)
        ends = inputs == self.sep
        segments = (ends.cumsum(1) - ends.long()).clamp(max=1)
        return (inputs, segments.masked_fill(inputs == self.pad, 0)), targets


def masked(part: str, batch: int, seed: int, share: float = 0.15) -> WithSegments:
    marks = tokenizer().special_ids
    of = MaskedDocuments(
        documents(part),
        batch,
        pad=marks[PAD],
        mask=marks[MASK],
        vocab_size=V,
        share=share,
        special=(marks[CLS], marks[SEP]),
        seed=seed,
    )
    return WithSegments(of, marks[SEP], marks[PAD])


def fresh(seed: int) -> MaskedLM:
    torch.manual_seed(seed)
    config = GPTConfig.modern(V, **SHAPE)
    return MaskedLM(Encoder.modern(config, tokenizer().special_ids[PAD], segments=2))


def masked_quality(model: MaskedLM, part: str = "validation") -> dict[str, float]:
    """Nats and accuracy per chosen token, and per token that stands as [MASK]."""
    batches, mask = masked(part, 32, seed=7), tokenizer().special_ids[MASK]
    sums = torch.zeros(2, 3)
    with evaluating(model):
        for step in range(len(batches.batches.documents) // 32):
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


def pretrain(options: argparse.Namespace) -> None:
    """The encoder that ships; --save writes its folder."""
    own = PRETRAINING
    model = fresh(options.seed)
    training = Training(
        model,
        masked("train", own["batch"], options.seed, own["share"]),
        own["steps"],
        warmup=own["warmup"],
        loss=masked_loss,
        optimizers=gpt_optimizers(
            model, own["learning_rate"], own["muon_rate"], own["weight_decay"]
        ),
        precision="auto",
    )
    folder = Path(options.folder)
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
    STUDY.write(pretraining=found)


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


def quality(task: str, model: nn.Module, part: str) -> dict[str, float]:
    """Accuracy; of names the F1 of whole names; of answers EM and F1."""
    of, pad = examples(task, part), tokenizer().special_ids[PAD]
    right: list[float] = []
    f1: list[float] = []
    rows: tuple[list[list[str]], list[list[str]]] = ([], [])
    with evaluating(model):
        for first in range(0, len(of), 32):
            some = of[first : first + 32]
            (tokens, segments), targets = reader_tasks.collated(some, pad)
            logits = model(tokens, segments).float()
            if task == "names":
                for tags, example in zip(logits.argmax(-1), some, strict=True):
                    names = ("O", "B-name", "I-name")
                    n = len(example.tokens)
                    rows[0].append([names[i] for i in tags[:n].tolist()])
                    rows[1].append([names[i] for i in example.target.tolist()])
            elif task == "answers":
                mark = tokenizer().special_ids[SEP]
                allowed = (segments == 1) & (tokens != mark)
                starts, ends = best_span(logits, allowed, 24)
                for example, i, j in zip(some, starts.tolist(), ends.tolist(), strict=True):
                    a, b = example.target.tolist()
                    said = reader_tasks.said(tokenizer(), example.tokens, i, j)
                    truth = reader_tasks.said(tokenizer(), example.tokens, a, b)
                    right.append(exact_match(said, [truth]))
                    f1.append(token_f1(said, [truth]))
            else:
                right += (logits.argmax(-1) == targets).float().tolist()
    if task == "names":
        return {name: round(v, 4) for name, v in entity_scores(*rows)._asdict().items()}
    found = {"right": sum(right) / len(right)}
    if f1:
        found["f1"] = sum(f1) / len(f1)
    return {name: round(value, 4) for name, value in found.items()}


def fine_tune(
    task: str,
    start: str,
    number: int | None,
    rate: float,
    seed: int,
    folder: str,
    part: str = "test",
    longer: int = 1,
) -> dict[str, Any]:
    """Train one head with its encoder; what it scores on a part."""
    torch.manual_seed(seed)
    encoder = (
        checkpoints.load_encoder(folder)[0].encoder
        if start == "pretrained"
        else fresh(seed).encoder
    )
    model = head(task, encoder)
    of = examples(task, "train", number, seed)
    steps = longer * OF_TASK.get((task, number), STEPS[number])
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
    for _ in training:
        pass
    row = {"task": task, "start": start, "stories": number, "rate": rate, "seed": seed}
    row |= {"longer": longer, "part": part, "steps": steps, "examples": len(of)}
    row |= quality(task, model, part)
    print(row, flush=True)
    return row


def tasks(options: argparse.Namespace) -> None:
    """Every task, start and number of labelled stories; the rate is chosen on another seed."""
    keys = ("task", "start", "stories", "rate", "seed", "part", "longer")

    def once(*key: Any) -> dict[str, Any]:
        task, start, number, rate, seed, part, longer = key
        return STUDY.row(
            dict(zip(keys, key, strict=True)),
            lambda: fine_tune(task, start, number, rate, seed, options.encoder, part, longer),
            "tasks",
        )

    for task in options.only or TASKS:
        for start in options.starts or STARTS:
            tried = [once(task, start, 512, rate, TUNING_SEED, "validation", 1) for rate in RATES]
            best = max(tried, key=lambda row: row.get("f1", row.get("right")))["rate"]
            for number in LABELLED:
                for seed in range(options.seeds):
                    once(task, start, number, best, seed, "test", 1)
        if task == "mood":  # the rate above was chosen with 512: is it too high with all labels?
            once(task, "scratch", None, min(RATES), 0, "test", CONTROL)


def main() -> None:
    parser = command(__doc__, seeds=3)
    parser.add_argument("part", choices=("pretrain", "tasks"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default="work/reader_encoder", help="for checkpoints")
    parser.add_argument("--save", help="a folder for the pre-trained encoder")
    parser.add_argument("--encoder", default="data/checkpoints/lantern_reader_encoder")
    parser.add_argument("--only", nargs="+", choices=TASKS)
    parser.add_argument("--starts", nargs="+", choices=STARTS)
    options = parser.parse_args()
    {"pretrain": pretrain, "tasks": tasks}[options.part](options)


if __name__ == "__main__":
    main()
