"""What the heads of notebook 15 say, one answer at a time: names never labelled, spans, labels.

    python -m benchmarks.encoder_heads [unlabelled answers labels] [--encoder FOLDER]

*unlabelled* trains the tagger on stories that name none of five people, Button, Moss, Plum, Silver
and Wren, and asks it for names in stories where these five occur: pre-trained and from scratch,
two rates, three seeds. *answers* and *labels* train one span reader and one inference model on all
labels, as ``reader_encoder.py`` does (pre-trained, one run), and keep what they say of the test
part: the spans, the spans whose two ends are chosen each by itself, the logits of the first forty
questions; the labels, and the labels when every statement stands beside another story than its own.
"""

from __future__ import annotations

import itertools
import random
from functools import partial

import torch
from torch import nn

import benchmarks.reader_encoder as study
from benchmarks.study import Row, Study, command, device
from helpers.data import reader_tasks
from helpers.data.lantern_reader import PEOPLE, Story
from helpers.data.reader_tasks import SEP, Example
from helpers.inference.tagging import entities_of

HIDDEN = ("Button", "Moss", "Mayor Plum", "Silver", "Wren")
STORIES, STEPS = 256, 120  # of the tagger
RATES = (1e-3, 3e-3)
KEPT = 40  # questions whose logits are kept


def found_names(model: nn.Module, some: list[Story]) -> list[set[tuple[int, int]]]:
    """Of every story the spans (first letter, after the last) that the tagger calls a name."""
    tokenizer, rows = study.tokenizer(), []
    of = reader_tasks.names(some, tokenizer)
    for example, logits in zip(of, study.logits_of(model, of), strict=True):
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


def unlabelled(start: str, rate: float, seed: int, encoder: str) -> Row:
    """The scores of one tagger on the test part."""
    known = [story for story in study.stories("train") if not set(HIDDEN) & set(story.people)]
    labelled = random.Random(seed).sample(known, STORIES)
    asked = [story for story in study.stories("test") if set(HIDDEN) & set(story.people)]
    of = reader_tasks.names(labelled, study.tokenizer())
    model = study.trained("names", start, of, STEPS, rate, seed, encoder)
    return {"stories": STORIES, "steps": STEPS} | scores(found_names(model, asked), asked)


def trained(task: str, encoder: str) -> tuple[nn.Module, Row]:
    """A pre-trained model with all labels, and the larger study's rate and steps."""
    rows = [
        row
        for row in study.STUDY.rows("tasks")
        if (row["task"], row["start"], row["part"]) == (task, "pretrained", "validation")
    ]
    best = max(rows, key=lambda row: row.get("f1", row.get("right")))
    settings = {"rate": best["rate"], "seed": 0}
    settings["steps"] = study.OF_TASK.get((task, None), study.STEPS[None])
    of = study.examples(task, "train")
    return study.trained(task, "pretrained", of, **settings, folder=encoder), settings


def answers(encoder: str) -> Row:
    """Spans of the test part's questions."""
    model, settings = trained("answers", encoder)
    spans, alone, kept = [], [], []
    asked, sep = study.examples("answers", "test"), study.tokenizer().special_ids[SEP]
    for example, logits in zip(asked, study.logits_of(model, asked), strict=True):
        allowed = (example.segments == 1) & (example.tokens != sep)
        logits = logits[:, : len(allowed)]
        spans.append(study.span_of(example, logits))
        alone.append(logits.masked_fill(~allowed, -torch.inf).argmax(-1).tolist())
        if len(kept) < KEPT:
            kept.append([[round(x, 1) for x in row] for row in logits[:, allowed].tolist()])
    return settings | {"longest": study.LONGEST, "spans": spans, "alone": alone, "logits": kept}


def labels(encoder: str) -> Row:
    """Labels of the test part's statements, beside their story and beside the next one's."""
    model, found = trained("inference", encoder)
    own = list(study.stories("test"))
    for name, others in (("own story", own), ("another story", [*own[1:], own[0]])):
        pairs = []
        for story, other in zip(own, others, strict=True):
            for label, statement in enumerate(story.statements):
                texts = reader_tasks.joined(study.tokenizer(), other.text, statement)
                pairs.append(Example(*texts, torch.tensor(label)))
        found[name] = [int(logits.argmax()) for logits in study.logits_of(model, pairs)]
    return found


def main() -> None:
    parser = command(__doc__, ["unlabelled", "answers", "labels"], seeds=3)
    parser.add_argument("--encoder", default="data/checkpoints/lantern_reader_encoder")
    options = parser.parse_args()
    results = Study(__file__, lambda: {"machine": device()}, separators=(",", ":"))
    if "unlabelled" in options.parts:
        for start, rate, seed in itertools.product(study.STARTS, RATES, range(options.seeds)):
            asked = {"start": start, "rate": rate, "seed": seed}
            make = partial(unlabelled, **asked, encoder=options.encoder)
            results.row(asked, make, "unlabelled")
    for part, make in {"answers": answers, "labels": labels}.items():
        if part in options.parts:
            results.entry(part, partial(make, options.encoder))


if __name__ == "__main__":
    main()
