"""What notebook 16 says over several seeds: a transformer on notebook 08's grammar, three tasks.

    python -m benchmarks.encoder_decoder_study [translation "two passes" reader]

Translation. Data, batches, steps, optimizer, schedule, validation and test sentences are those of
``attention_study.py``; only the model is another one. A rate is chosen for each kind of positions
as there; both kinds are trained with one equal rate, too. Positions are learned vectors at the
input of both sides, or rotary in their self-attentions (cross-attention has none then). The
alignment is measured for each head of each layer, for the mean over the heads of each layer, and
for one head, which is chosen on the validation sentences and measured on the test sentences. "Two
passes" is scheduled sampling for transformers.

Reader. One model reads "summarize: ", "question: ... story: " or "statement: ... story: " and
writes a summary, an answer or YES, NO or MAYBE. It is trained once, with Muon and AdamW (notebook
13), whose rates were not tuned. Beside it stand what it reaches when each story is replaced by
another, and baselines that read no story.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.attention_study import (
    BEYOND,
    SETTINGS,
    TUNING_SEED,
    about,
    alignment,
    exact,
    loss_on,
    optimize,
    padded,
    sentences,
    training_batches,
)
from benchmarks.lantern_reader import naive_bayes_on_words, right
from benchmarks.study import Numbered, Study, command, tuned
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, Story, read_stories
from helpers.data.masking import IGNORED, pad_rows
from helpers.inference.answers import exact_match, token_f1
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.encoder_decoder import EncoderDecoder
from helpers.models.positions import RotaryPositions

WIDTH, HEADS, LAYERS = 64, 4, 2
POSITIONS, STEPS, RATES, SEEDS = ("learned", "rotary"), 500, (2e-3, 4e-3, 8e-3), 3
EQUAL_RATE = 4e-3  # of both kinds of positions, beside the one that was chosen
OWN_WORDS, EOS_ID = (0.25, 0.5), 2
# The Reader's model and its training.
VOCABULARY, READER_WIDTH, READER_STEPS, READER_BATCH = 2048, 128, 1000, 16
READER_RATES = (3e-3, 0.02)  # of AdamW and of Muon, as in notebook 13; not tuned here
READER_LENGTH = 320
PAD, BOS, EOS = "[PAD]", "<s>", "</s>"


def rotary(model: EncoderDecoder) -> EncoderDecoder:
    """The same model with rotary positions in its self-attentions, and none at its input."""
    model.encoder.embedding.tokens.positions = model.embedding.positions = None
    for block in [*model.encoder.blocks, *model.blocks]:
        block.attention.positions = RotaryPositions(block.attention.d_head)
    return model


def translator(positions: str) -> EncoderDecoder:
    english, french, *_ = sentences()
    model = EncoderDecoder.build(
        french.vocab_size, english.vocab_size, WIDTH, HEADS, LAYERS, max_length=40
    )
    return rotary(model) if positions == "rotary" else model


@torch.no_grad()
def mixed(
    model: nn.Module, source: Tensor, target_in: Tensor, share: float, draw: torch.Generator
) -> Tensor:
    """The targets read, of which a share is replaced by what the model would have written there.

    The first of two passes: all positions at once, from the true words before. Mihaylova and
    Martins (2019), "Scheduled sampling for transformers"; here with the most probable words.
    """
    guesses = F.pad(model(source, target_in).argmax(-1), (1, 0))[:, :-1]
    replaced = (torch.rand(target_in.shape, generator=draw) < share) & (target_in > EOS_ID)
    return torch.where(replaced, guesses, target_in)


@torch.no_grad()
def greedy(model: EncoderDecoder, source: Tensor, eos: int, longest: int) -> Tensor:
    """What is written for sources (B, S), up to (B, longest); the encoder reads them once."""
    memory = model.encode(source)
    state, y = memory.state, torch.full((len(source), 1), model.bos)
    written, done = [], torch.zeros(len(source), 1, dtype=torch.bool)
    for _ in range(longest):
        logits, state = model.read(y, memory, state)
        y = logits[:, -1:].argmax(-1)
        written.append(y)
        done |= y == eos
        if bool(done.all()):
            break
    return torch.cat(written, 1)


@torch.no_grad()
def alignments(model: EncoderDecoder) -> dict:
    """``attention_study.alignment`` of every head, of each layer's mean, and of the chosen head."""
    data = sentences()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part, pairs in {"validation": data.validation, "test": data.test}.items():
        layers = model.weights(*padded(pairs)[:2])
        maps = {
            f"{layer}.{head}": weights[:, head]
            for layer, weights in enumerate(layers)
            for head in range(weights.shape[1])
        }
        maps |= {f"{layer}.mean": weights.mean(1) for layer, weights in enumerate(layers)}
        found[part] = {name: alignment(weights, pairs) for name, weights in maps.items()}
    single = [name for name in found["validation"] if not name.endswith("mean")]
    best = min(single, key=lambda name: found["validation"][name]["error rate"])
    return {"heads": found["test"], "chosen": best}


def measured(positions: str, rate: float, seed: int, steps: int, own: float = 0.0) -> dict:
    """Train a translator once: the row of results.

    Args:
        own: share of its own words that the decoder reads at the end; it rises from 0 linearly.
    """
    torch.manual_seed(seed)
    model, data, draw = translator(positions), sentences(), torch.Generator().manual_seed(0)

    def change(step: int, source: Tensor, target_in: Tensor) -> Tensor:
        return mixed(model, source, target_in, own * step / steps, draw)

    seconds = optimize(model, training_batches(seed), rate, steps, change if own else None)
    model.eval()
    row = {"parameters": sum(p.numel() for p in model.parameters()), "seconds": seconds}
    row["validation"] = loss_on(model, data.validation)
    if seed == TUNING_SEED:
        return row
    row |= exact(lambda source: greedy(model, source, data.english.eos, BEYOND + 3))
    return row | {"alignment": alignments(model)}


class Task(NamedTuple):
    """One thing to read and to write, in words."""

    kind: str
    source: str
    target: str


def tasks_of(stories: Sequence[Story], told: Sequence[Story] | None = None) -> list[Task]:
    """Six of each story; ``told`` are other stories that stand in their places."""
    found = []
    for story, other in zip(stories, told or stories, strict=True):
        found.append(Task("summary", f"summarize: {other.text}", story.summary))
        for question, answer in story.questions:
            source = f"question: {question} story: {other.text}"
            found.append(Task("answer", source, answer))
        for label, statement in zip(LABELS, story.statements, strict=True):
            found.append(Task("label", f"statement: {statement} story: {other.text}", label))
    return found


@cache
def tokenizer() -> BPETokenizer:
    text = "\n".join(
        f" {words}"  # so that a name or a label is the same token wherever it stands
        for story in read_stories("train")
        for task in tasks_of([story])
        for words in [task.source.removesuffix(story.text), task.target]
    )
    text += "".join(f"\n {story.text}" for story in read_stories("train"))
    return BPETokenizer.train(text, VOCABULARY, special_tokens=(PAD, BOS, EOS))


def encoded(text: str) -> Tensor:
    return tokenizer().encode(f" {text}")


def batches_of(tasks: Sequence[Task]) -> Numbered:
    rows, marks = [(encoded(t.source), encoded(t.target)) for t in tasks], tokenizer().special_ids

    def collate(some: list[tuple[Tensor, Tensor]]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        bos, eos = (torch.tensor([marks[mark]]) for mark in (BOS, EOS))
        source = pad_rows([source for source, _ in some], marks[PAD])
        target_in = pad_rows([torch.cat([bos, target]) for _, target in some], marks[PAD])
        return (source, target_in), pad_rows([torch.cat([t, eos]) for _, t in some], IGNORED)

    return Numbered(rows, READER_BATCH, 0, collate)


def written(model: EncoderDecoder, tasks: Sequence[Task]) -> list[str]:
    """What the model writes for each task, greedily."""
    words = tokenizer()
    marks, found = words.special_ids, [""] * len(tasks)
    for kind, longest in {"summary": 48, "answer": 14, "label": 4}.items():
        places = [i for i, task in enumerate(tasks) if task.kind == kind]
        for begin in range(0, len(places), 64):
            now = places[begin : begin + 64]
            source = pad_rows([encoded(tasks[i].source) for i in now], marks[PAD])
            for i, row in zip(now, greedy(model, source, marks[EOS], longest), strict=True):
                ids = row.tolist()
                ids = ids[: ids.index(marks[EOS])] if marks[EOS] in ids else ids
                kept = [token for token in ids if token not in marks.values()]
                found[i] = words.decode(torch.tensor(kept, dtype=torch.long)).strip()
    return found


def rouge_1(found: str, wanted: str) -> float:
    """F1 of the single words that two texts share, in lower case and without punctuation."""
    a, b = (Counter(re.findall(r"[a-z']+", text.lower())) for text in (found, wanted))
    common = sum((a & b).values())
    return 2 * common / max(1, sum(a.values()) + sum(b.values()))


def scores(tasks: Sequence[Task], texts: Sequence[str]) -> dict[str, float]:
    """ROUGE-1 of summaries, exact match and F1 of answers, share of right labels."""
    by: dict[str, list[float]] = {"ROUGE-1": [], "exact": [], "F1": [], "label": []}
    for task, text in zip(tasks, texts, strict=True):
        if task.kind == "summary":
            by["ROUGE-1"].append(rouge_1(text, task.target))
        elif task.kind == "answer":
            by["exact"].append(exact_match(text, [task.target]))
            by["F1"].append(token_f1(text, [task.target]))
        else:
            by["label"].append(float(text == task.target))
    return {name: round(sum(found) / len(found), 4) for name, found in by.items() if found}


def usual_answers(questions: Sequence[str]) -> list[str]:
    """To each question the commonest answer in training to one with the same first word."""
    usual: dict[str, Counter[str]] = {}
    for story in read_stories("train"):
        for question, answer in story.questions:
            usual.setdefault(question.split()[0], Counter())[answer] += 1
    every = sum(usual.values(), Counter())
    counts = [usual.get(question.split()[0], every) for question in questions]
    return [count.most_common(1)[0][0] for count in counts]


def baselines(test: Sequence[Story], train: Sequence[Story]) -> dict[str, dict[str, float]]:
    """What can be had without a network: of test stories, by task."""
    summaries, answers = (
        [task for task in tasks_of(test) if task.kind == kind] for kind in ("summary", "answer")
    )
    guesses = usual_answers([task.source.removeprefix("question: ") for task in answers])
    label = round(float(right(naive_bayes_on_words(train, test)).mean()), 4)
    return {
        "first sentence": scores(summaries, [first_sentence(story.text) for story in test]),
        "the usual answer to such a question": scores(answers, guesses),
        "statement only, test part": {"label": label},
    }


def first_sentence(text: str) -> str:
    """A rough cut behind a full stop, question mark or exclamation mark."""
    return re.findall(r"[^.!?]+[.!?]+[\"']*", text.replace("\n", " "))[0]


def read_the_reader() -> dict:
    """Train one model on the three tasks: the row of results."""
    torch.manual_seed(0)
    train, test = read_stories("train"), read_stories("test")
    words = tokenizer()
    marks, V = words.special_ids, words.vocab_size
    shape = {"width": READER_WIDTH, "heads": HEADS, "layers": LAYERS}
    ends = {"pad": marks[PAD], "bos": marks[BOS], "max_length": READER_LENGTH}
    model = rotary(EncoderDecoder.build(V, V, *shape.values(), **ends, shared=True))
    data, began = batches_of(tasks_of(train)), time.process_time()
    optimizers = gpt_optimizers(model, *READER_RATES)
    list(Training(model, data, READER_STEPS, warmup=SETTINGS["warm-up"], optimizers=optimizers))
    row = {"parameters": sum(p.numel() for p in model.parameters()), **shape, "vocabulary": V}
    row |= {"positions": "rotary", "batch": READER_BATCH, "rates": READER_RATES}
    row |= {"steps": READER_STEPS, "tasks in training": len(data.rows), "seed": 0}
    row["seconds"] = round(time.process_time() - began)
    tasks, others = tasks_of(test), tasks_of(test, [*test[1:], test[0]])
    texts = written(model, tasks)
    row |= {"test": scores(tasks, texts), "another story": scores(others, written(model, others))}
    for kind in ("summary", "answer", "label"):
        every = Counter(t for task, t in zip(tasks, texts, strict=True) if task.kind == kind)
        row.setdefault("texts written", {})[kind] = {"different": len(every)} | {
            "of": every.total(),
            "most often": every.most_common(3),
        }
    return row | {"baselines": baselines(test, train)}


LONG = ("baselines", "texts written", "alignment", "by length")
STUDY = Study(__file__, about, unsaid=LONG, separators=(",", ":"))


def translated(
    part: str, positions: str, rate: float, seed: int, steps: int, own: float = 0.0
) -> dict:
    asked = {"part": part, "positions": positions, "rate": rate, "seed": seed, "steps": steps}
    asked |= {"own words": own} if own else {}
    return STUDY.row(asked, lambda: measured(positions, rate, seed, steps, own))


def best_rate(positions: str) -> float:
    """The rate with the smallest loss on the tuning seed, not at the edge of those tried."""

    def loss(rate: float) -> float:
        return translated("translation", positions, rate, TUNING_SEED, STEPS)["validation"]

    return tuned(RATES, loss)


def main() -> None:
    parts = command(__doc__, ["translation", "two passes", "reader"]).parse_args().parts
    torch.set_num_threads(1)
    if "translation" in parts:
        for positions in POSITIONS:
            for rate in sorted({best_rate(positions), EQUAL_RATE}):
                for seed in range(SEEDS):
                    translated("translation", positions, rate, seed, STEPS)
    if "two passes" in parts:
        for own in OWN_WORDS:
            for seed in range(SEEDS):
                translated("two passes", "learned", best_rate("learned"), seed, STEPS, own)
    if "reader" in parts:
        STUDY.row({"part": "reader"}, read_the_reader)


if __name__ == "__main__":
    main()
