"""What the heads of notebook 15 say, one answer at a time: names never labelled, spans, labels.

    python -m benchmarks.encoder_heads unlabelled said --encoder FOLDER

*unlabelled* trains the tagger on stories that name none of five people, Button, Moss, Plum, Silver
and Wren, and asks it for names in stories where these five occur: pre-trained and from scratch,
two rates, three seeds. *said* trains one span reader and one inference model on all labels, as
``reader_encoder.py`` does (pre-trained, one run), and keeps what they say of the test part: the
spans, the spans whose two ends are chosen each by itself, the logits of the first forty questions;
the labels, and the labels when every statement stands beside another story than its own.

Writes benchmarks/results/encoder_heads.json.
"""

from __future__ import annotations

import argparse
import itertools
import random
from typing import Any

import torch
from torch import Tensor, nn

import benchmarks.reader_encoder as study
from benchmarks.study import Study, command, device
from helpers.data import reader_tasks
from helpers.data.lantern_reader import PEOPLE, Story
from helpers.data.reader_tasks import PAD, SEP, Batches, Example
from helpers.evaluating import evaluating
from helpers.inference.answers import best_span
from helpers.inference.tagging import entities_of
from helpers.learning import checkpoints
from helpers.learning.training import Training

HIDDEN = ("Button", "Moss", "Mayor Plum", "Silver", "Wren")
STORIES, STEPS, BATCH = 256, 120, 8  # of the tagger
RATES = (1e-3, 3e-3)
LONGEST = 24  # tokens of an answer
KEPT = 40  # questions whose logits are kept


def trained(
    task: str, start: str, of: list[Example], steps: int, batch: int, rate: float, seed: int,
    folder: str,
) -> nn.Module:  # fmt: skip
    """A head and its encoder after so many steps."""
    torch.manual_seed(seed)
    known = start == "pretrained"
    encoder = checkpoints.load_encoder(folder)[0].encoder if known else study.fresh(seed).encoder
    model = study.head(task, encoder)
    training = Training(
        model,
        Batches(of, batch, study.tokenizer().special_ids[PAD], seed),
        steps,
        learning_rate=rate,
        weight_decay=0.01,
        warmup=steps // 10,
        loss=study.loss_of(task),
        precision="auto",
    )
    for _ in training:
        pass
    return model


def logits_of(model: nn.Module, of: list[Example]) -> list[Tensor]:
    """What the model gives for each example, without padding, in their order."""
    pad, found = study.tokenizer().special_ids[PAD], []
    with evaluating(model):
        for first in range(0, len(of), 32):
            some = of[first : first + 32]
            (tokens, segments), _ = reader_tasks.collated(some, pad)
            found += model(tokens, segments).float()
    return found


def labelled_without(names: tuple[str, ...], number: int, seed: int) -> list[Story]:
    """Stories of the train part that name none of these, drawn by seed."""
    some = [s for s in study.stories("train") if not set(names) & set(s.people)]
    return random.Random(seed).sample(some, number)


def strangers(part: str) -> list[Story]:
    """Stories of a part that name one of the five."""
    return [story for story in study.stories(part) if set(HIDDEN) & set(story.people)]


def found_names(model: nn.Module, some: list[Story]) -> list[set[tuple[int, int]]]:
    """Of every story the spans (first letter, after the last) that the tagger calls a name."""
    tokenizer, rows = study.tokenizer(), []
    of = reader_tasks.names(some, tokenizer)
    for example, logits in zip(of, logits_of(model, of), strict=True):
        inside = example.tokens[1:-1].tolist()
        tags = [("O", "B-x", "I-x")[i] for i in logits[1 : len(inside) + 1].argmax(-1).tolist()]
        parts = [tokenizer.token_bytes(token).decode() for token in inside]
        after = list(itertools.accumulate(map(len, parts)))
        begin = [end - len(part.lstrip()) for part, end in zip(parts, after, strict=True)]
        rows.append({(begin[e.first], after[e.after - 1]) for e in entities_of(tags)})
    return rows


def scores(rows: list[set[tuple[int, int]]], some: list[Story]) -> dict[str, float]:
    """Precision; recall of the five hidden names and of all others."""
    right, wanted = {True: 0, False: 0}, {True: 0, False: 0}
    words = {PEOPLE[name] for name in HIDDEN}
    for story, mine in zip(some, rows, strict=True):
        for first, after in reader_tasks.name_spans(story):
            hidden = story.text[first:after].split()[-1] in words
            wanted[hidden] += 1
            right[hidden] += (first, after) in mine
    return {
        "precision": round(sum(right.values()) / max(sum(map(len, rows)), 1), 4),
        "recall, never labelled": round(right[True] / wanted[True], 4),
        "recall, labelled": round(right[False] / wanted[False], 4),
        "names, never labelled": wanted[True],
        "names, labelled": wanted[False],
    }


def unlabelled(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows: start, rate, seed, and the scores on the test part."""
    rows, asked = [], strangers("test")
    for start, rate, seed in itertools.product(
        ("pretrained", "scratch"), RATES, range(options.seeds)
    ):
        of = reader_tasks.names(labelled_without(HIDDEN, STORIES, seed), study.tokenizer())
        model = trained("names", start, of, STEPS, BATCH, rate, seed, options.encoder)
        row = {"start": start, "rate": rate, "seed": seed, "stories": STORIES, "steps": STEPS}
        rows.append(row | scores(found_names(model, asked), asked))
        print(rows[-1], flush=True)
    return rows


def rates_of(task: str) -> float:
    """The rate that the larger study chose for the pre-trained encoder."""
    rows = [
        row
        for row in study.STUDY.rows("tasks")
        if (row["task"], row["start"], row["part"]) == (task, "pretrained", "validation")
    ]
    return max(rows, key=lambda row: row.get("f1", row.get("right")))["rate"] if rows else 1e-3


def steps_of(task: str) -> int:
    """The steps of the larger study, with all labels."""
    return study.OF_TASK.get((task, None), study.STEPS[None])


def answers(options: argparse.Namespace) -> dict[str, Any]:
    """Spans of the test part's questions."""
    rate = rates_of("answers")
    of = study.examples("answers", "train")
    steps = steps_of("answers")
    model = trained("answers", "pretrained", of, steps, 16, rate, 0, options.encoder)
    sep, spans, alone, kept = study.tokenizer().special_ids[SEP], [], [], []
    asked = study.examples("answers", "test")
    for example, logits in zip(asked, logits_of(model, asked), strict=True):
        n = len(example.tokens)
        allowed = (example.segments == 1) & (example.tokens != sep)
        i, j = best_span(logits[None, :, :n], allowed[None], LONGEST)
        spans.append([int(i), int(j)])
        inside = logits[:, :n].masked_fill(~allowed, -torch.inf)
        alone.append(inside.argmax(-1).tolist())
        if len(kept) < KEPT:
            numbers = logits[:, :n][:, allowed]
            kept.append([[round(x, 1) for x in row] for row in numbers.tolist()])
    settings = {"rate": rate, "steps": steps, "seed": 0, "longest": LONGEST}
    return settings | {"spans": spans, "alone": alone, "logits": kept}


def labels(options: argparse.Namespace) -> dict[str, Any]:
    """Labels of the test part's statements, beside their story and beside the next one's."""
    rate = rates_of("inference")
    of = study.examples("inference", "train")
    steps = steps_of("inference")
    model = trained("inference", "pretrained", of, steps, 16, rate, 0, options.encoder)
    own = list(study.stories("test"))
    found: dict[str, Any] = {"rate": rate, "steps": steps, "seed": 0}
    for name, others in (("own story", own), ("another story", [*own[1:], own[0]])):
        pairs = []
        for story, other in zip(own, others, strict=True):
            for label, statement in enumerate(story.statements):
                texts = reader_tasks.joined(study.tokenizer(), other.text, statement)
                pairs.append(Example(*texts, torch.tensor(label)))
        found[name] = [int(logits.argmax()) for logits in logits_of(model, pairs)]
    return found


def main() -> None:
    parser = command(__doc__, seeds=3)
    parts = {"unlabelled": unlabelled, "answers": answers, "labels": labels}
    parser.add_argument("parts", nargs="+", choices=[*parts, "said"])
    parser.add_argument("--encoder", default="data/checkpoints/lantern_reader_encoder")
    options = parser.parse_args()
    wanted = [
        p for part in options.parts for p in (("answers", "labels") if part == "said" else (part,))
    ]
    results = Study(__file__, lambda: {"machine": device()}, separators=(",", ":"))
    for part in wanted:
        results.write(**{part: parts[part](options)})


if __name__ == "__main__":
    main()
