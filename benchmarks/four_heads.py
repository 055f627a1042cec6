"""What the heads of a small pre-trained encoder learn: the further notebook 15_heads.

    python -m benchmarks.four_heads [names statements answers] [--encoder FOLDER]

*names* trains a tagger on stories that name none of five people and asks it for names in stories
where they occur, pre-trained and from scratch. *statements* reads the statements of 256 stories
four times, beside their stories, and keeps the labels that are given to others beside their story
and beside another one. *answers* trains two vectors on all questions, each about five sentences,
and keeps the answers to each question, and to another one of the same opening.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from statistics import mean

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, device
from helpers.data import reader_tasks
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, PEOPLE, Story, read_stories
from helpers.data.masking import IGNORED
from helpers.data.reader_tasks import PAD, SEP, TAGS, Batches, Example
from helpers.evaluating import evaluating
from helpers.inference.answers import best_span
from helpers.inference.tagging import entities_of
from helpers.learning import checkpoints
from helpers.learning.training import Training
from helpers.models.encoder import (
    Encoder,
    MaskedLM,
    SequenceClassifier,
    SpanReader,
    TokenTagger,
)
from helpers.models.gpt import GPTConfig

STUDY = Study(__file__, lambda: {"machine": device()}, separators=(",", ":"))
FOLDER = "data/checkpoints/lantern_reader_encoder"
HIDDEN = ("Button", "Moss", "Mayor Plum", "Silver", "Wren")
NAMES = {"stories": 256, "steps": 120}
RATES = (1e-3, 3e-3)
RATE, BATCH = 1e-3, 16  # of statements and answers
STATEMENTS = {"stories": 256, "passes": 4}
ANSWERS = {"sentences": 5, "passes": 2}  # a question is asked about so many sentences of its story
LONGEST = 24  # tokens of an answer


@cache
def tokenizer() -> BPETokenizer:
    return BPETokenizer.load(f"{FOLDER}/tokenizer.json")


@cache
def stories(part: str) -> tuple[Story, ...]:
    return read_stories(part)


def encoder(start: str, folder: str) -> Encoder:
    """The pre-trained one, or one of the same shape with random weights."""
    if start == "pretrained":
        return checkpoints.load_encoder(folder)[0].encoder
    config = GPTConfig.modern(2048, max_length=512, n_layers=4, n_heads=4, d_model=128)
    return MaskedLM(Encoder.modern(config, tokenizer().special_ids[PAD], segments=2)).encoder


class OfLikeLength(Batches):
    """Batches of examples of about the same length, which waste little on padding."""

    def batch(self, step: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
        number, place = divmod(step, len(self.examples) // self.batch_size)
        return reader_tasks.collated(
            [self.examples[i] for i in self._pass(number)[place]], self.pad
        )

    @cache  # noqa: B019
    def _pass(self, number: int) -> list[list[int]]:
        draw, size = random.Random(self.seed * 1000 + number), self.batch_size
        order = draw.sample(range(len(self.examples)), len(self.examples))
        heaps = [order[k : k + 32 * size] for k in range(0, len(order), 32 * size)]
        rows = [i for some in heaps for i in sorted(some, key=self._length)]
        batches = [rows[k : k + size] for k in range(0, len(rows) - size + 1, size)]
        return draw.sample(batches, len(batches))

    def _length(self, number: int) -> int:
        return len(self.examples[number].tokens)


def alike(of: Sequence[Example], seed: int) -> OfLikeLength:
    return OfLikeLength(of, BATCH, tokenizer().special_ids[PAD], seed)


def class_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=IGNORED)


def span_loss(logits: Tensor, spans: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), spans.flatten())


def trained(
    model: nn.Module,
    batches: Batches,
    steps: int,
    rate: float,
    loss: Callable[[Tensor, Tensor], Tensor] = class_loss,
) -> list[float]:
    """Train a head with its encoder; the losses, a mean for each twentieth of the steps."""
    training = Training(
        model,
        batches,
        steps,
        learning_rate=rate,
        weight_decay=0.01,
        warmup=steps // 10,
        loss=loss,
        precision="auto",
    )
    losses = [record.loss for record in training]
    size = max(1, steps // 20)
    return [round(mean(losses[k : k + size]), 4) for k in range(0, size * (steps // size), size)]


def logits_of(model: nn.Module, of: Sequence[Example]) -> list[Tensor]:
    """What the model gives for each example, in their order, with the padding of its batch."""
    found: list[Tensor] = []
    with evaluating(model):
        for first in range(0, len(of), 32):
            batch = reader_tasks.collated(of[first : first + 32], tokenizer().special_ids[PAD])
            found += model(*batch[0]).float()
    return found


# Names -------------------------------------------------------------------------------------------


def found_names(model: nn.Module, some: list[Story]) -> list[set[tuple[int, int]]]:
    """Of every story the spans (first letter, after the last) that the tagger calls a name."""
    rows, of = [], reader_tasks.names(some, tokenizer())
    for example, logits in zip(of, logits_of(model, of), strict=True):
        inside = example.tokens[1:-1].tolist()
        tags = [("O", "B-x", "I-x")[i] for i in logits[1 : len(inside) + 1].argmax(-1).tolist()]
        parts = [tokenizer().token_bytes(token).decode() for token in inside]
        after = list(itertools.accumulate(map(len, parts)))
        begin = [end - len(part.lstrip()) for part, end in zip(parts, after, strict=True)]
        rows.append({(begin[e.first], after[e.after - 1]) for e in entities_of(tags)})
    return rows


def name_scores(rows: list[set[tuple[int, int]]], some: list[Story]) -> Row:
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
    }


def names(start: str, rate: float, seed: int, folder: str) -> Row:
    """The scores of one tagger on the test part."""
    known = [story for story in stories("train") if not set(HIDDEN) & set(story.people)]
    labelled = random.Random(seed).sample(known, NAMES["stories"])
    asked = [story for story in stories("test") if set(HIDDEN) & set(story.people)]
    torch.manual_seed(seed)
    model = TokenTagger(encoder(start, folder), len(TAGS), 0.1)
    batches = Batches(
        reader_tasks.names(labelled, tokenizer()), 8, tokenizer().special_ids[PAD], seed
    )
    trained(model, batches, NAMES["steps"], rate)
    return NAMES | name_scores(found_names(model, asked), asked)


# Statements --------------------------------------------------------------------------------------


def statements(seed: int, folder: str) -> Row:
    """Labels of the test part's statements, beside their story and beside the next one's."""
    torch.manual_seed(seed)
    some = random.Random(seed).sample(stories("train"), STATEMENTS["stories"])
    of = reader_tasks.inference(some, tokenizer())
    model = SequenceClassifier(encoder("pretrained", folder), len(LABELS), 0.1, mean=True)
    steps = STATEMENTS["passes"] * len(of) // BATCH
    found: Row = STATEMENTS | {
        "steps": steps,
        "losses": trained(model, alike(of, seed), steps, RATE),
    }
    own = list(stories("test"))
    for name, others in (("own story", own), ("another story", [*own[1:], own[0]])):
        pairs = []
        for story, other in zip(own, others, strict=True):
            for label, statement in enumerate(story.statements):
                texts = reader_tasks.joined(tokenizer(), other.text, statement)
                pairs.append(Example(*texts, torch.tensor(label)))
        found[name] = "".join(str(int(logits.argmax())) for logits in logits_of(model, pairs))
    return found


# Answers -----------------------------------------------------------------------------------------


def opening(question: str) -> str:
    return " ".join(question.lower().split()[:2])


def exchanged(questions: Sequence[str]) -> list[int]:
    """For each question the next one, round the end, with the same opening; its own if alone."""
    of: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        of[opening(question)].append(number)
    other = {}
    for alike in of.values():
        other |= dict(zip(alike, alike[1:] + alike[:1], strict=True))
    return [other[number] for number in range(len(questions))]


def answers(seed: int, folder: str) -> Row:
    """Spans for the test part's questions, and for another question of the same opening."""
    torch.manual_seed(seed)
    of = reader_tasks.spans(
        reader_tasks.passages(stories("train"), ANSWERS["sentences"]), tokenizer()
    )
    model = SpanReader(encoder("pretrained", folder), 0.1)
    steps = ANSWERS["passes"] * len(of) // BATCH
    found: Row = ANSWERS | {"examples": len(of), "steps": steps, "longest": LONGEST}
    found["losses"] = trained(model, alike(of, seed), steps, RATE, span_loss)
    asked = reader_tasks.passages(stories("test"), ANSWERS["sentences"])
    asked = asked[::2] + asked[1::2]  # so that the next question is about another story
    other = exchanged([one.question for one in asked])
    sep = tokenizer().special_ids[SEP]
    for name in ("own", "exchanged"):
        rows = []
        for number, one in enumerate(asked):
            question = one.question if name == "own" else asked[other[number]].question
            texts = reader_tasks.joined(tokenizer(), question, one.passage)
            rows.append(Example(*texts, torch.zeros(2)))
        said, alone = [], []
        for example, logits in zip(rows, logits_of(model, rows), strict=True):
            allowed = (example.segments == 1) & (example.tokens != sep)
            logits = logits[:, : len(allowed)]
            i, j = best_span(logits[None], allowed[None], LONGEST)
            first = int((example.segments == 0).sum())
            said.append([int(i) - first, int(j) - first])  # counted from the story's first token
            ends = logits.masked_fill(~allowed, -torch.inf).argmax(-1) - first
            alone.append(ends.tolist())
        found[name] = said
        if name == "own":
            found["each end by itself"] = alone
    return found


def main() -> None:
    parser = command(__doc__, ["names", "statements", "answers"], seeds=3)
    parser.add_argument("--encoder", default=FOLDER)
    options = parser.parse_args()
    if "names" in options.parts:
        starts = ("pretrained", "scratch")
        for start, rate, seed in itertools.product(starts, RATES, range(options.seeds)):
            asked: Row = {"start": start, "rate": rate, "seed": seed}
            STUDY.row(asked, partial(names, **asked, folder=options.encoder), "names")
    for part, make in {"statements": statements, "answers": answers}.items():
        if part in options.parts:
            STUDY.row({"seed": 0}, partial(make, 0, options.encoder), part)


if __name__ == "__main__":
    main()
