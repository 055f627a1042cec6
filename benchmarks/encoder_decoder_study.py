"""What notebook 16 says over several seeds: a transformer on notebook 08's grammar, three tasks.

    python -m benchmarks.encoder_decoder_study translation   notebook 08's data, several seeds
    python -m benchmarks.encoder_decoder_study "two passes"  scheduled sampling, several seeds
    python -m benchmarks.encoder_decoder_study reader        one model, three prefixes, one run
    python -m benchmarks.encoder_decoder_study all           whatever is missing

On one thread; all together takes about 15 minutes of one processor. Each training adds a row to
benchmarks/results/encoder_decoder_study.json, which the notebook shows; rows that are there are not
computed again.

Translation. Data, batches, steps, optimizer, schedule, validation and test sentences are those of
``attention_study.py``; only the model is another one. A rate is chosen for each kind of positions
on a seed of its own, by the loss on validation sentences; where the best lies at the edge of those
tried, one beyond it is tried. Both kinds are trained with one equal rate, too. Positions are
learned vectors at the input of both sides, or rotary in their self-attentions (cross-attention has
none then). The alignment is measured for each head of each layer, for the mean over the heads of
each layer, and for one head, which is chosen on the validation sentences and measured on the test
sentences. "Two passes" is scheduled sampling for transformers.

Reader. One model reads "summarize: ", "question: ... story: " or "statement: ... story: " and
writes a summary, an answer or YES, NO or MAYBE. It is trained once, with Muon and AdamW (notebook
13), whose rates were not tuned. Beside what it reaches on the test stories stands what the same
model reaches when each story is replaced by another, and baselines that read no story.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.attention_study import (
    BEYOND,
    SETTINGS,
    TUNING_SEED,
    alignment,
    padded,
    sentences,
)
from benchmarks.study import Study, command, machine, tuned
from helpers.data.batching import seeded
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, Story, inference_test, read_stories
from helpers.data.masking import IGNORED, pad_rows
from helpers.data.translation import Pair, batches
from helpers.inference.answers import exact_match, token_f1
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.encoder_decoder import EncoderDecoder
from helpers.models.naive_bayes import NaiveBayes
from helpers.models.positions import RotaryPositions

WIDTH, HEADS, LAYERS = 64, 4, 2
POSITIONS, STEPS, RATES, SEEDS = ("learned", "rotary"), 500, (2e-3, 4e-3, 8e-3), 3
EQUAL_RATE = 4e-3  # of both kinds of positions, beside the one that was chosen
OWN_WORDS, EOS_ID = (0.25, 0.5), 2
# The Reader's model and its training.
VOCABULARY, READER_WIDTH, READER_STEPS, READER_BATCH = 2048, 128, 1000, 16
READER_RATES = (3e-3, 0.02)  # of AdamW and of Muon, as in notebook 13; not tuned here
READER_LENGTH, READER_POSITIONS = 320, "rotary"
WATCHED = 200  # steps between two measurements
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


def optimize(
    model: nn.Module,
    batch: Callable[[int], Any],
    rate: float,
    steps: int,
    after: Callable,
    own: float = 0.0,
) -> None:
    """Adam with warm-up and a linear decay, as in ``attention_study.train``.

    Args:
        own: share of its own words that the decoder reads at the end; it rises from 0 linearly.
    """
    draw = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    for step in range(steps):
        (source, target_in), target_out = batch(step)
        factor = min((step + 1) / SETTINGS["warm-up"], 1 - step / steps)
        optimizer.param_groups[0]["lr"] = rate * factor
        if own:
            target_in = mixed(model, source, target_in, own * step / steps, draw)
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clipped at"])
        optimizer.step()
        after(step + 1)


@torch.no_grad()
def loss_on(model: EncoderDecoder, pairs: list[Pair]) -> float:
    """Nats per English word, end mark included."""
    source, target_in, target_out = padded(pairs)
    return float(F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten()))


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


def exact(model: EncoderDecoder, pairs: list[Pair]) -> list[bool]:
    """Whether each greedy translation is the reference, word for word."""
    english, french, *_ = sentences()
    source = french.encode_batch([pair.french for pair in pairs])
    written = greedy(model, source, english.eos, BEYOND + 3)
    return [english.decode(row) == pair.english for row, pair in zip(written, pairs, strict=True)]


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
        found[part] = {
            name: alignment(lambda *_, weights=weights: (None, weights), pairs)  # type: ignore
            for name, weights in maps.items()
        }
    single = [name for name in found["validation"] if not name.endswith("mean")]
    best = min(single, key=lambda name: found["validation"][name]["error rate"])
    return {"heads": found["test"], "chosen": best}


def measured(positions: str, rate: float, seed: int, steps: int, own: float = 0.0) -> dict:
    """Train a translator once: the row of results."""
    torch.manual_seed(seed)
    english, french, training, *_ = data = sentences()
    model, draw = translator(positions), torch.Generator().manual_seed(seed)
    drawn = batches(training, english, french, SETTINGS["batch"], draw, to_french=False)
    began = time.process_time()
    optimize(model, lambda _: next(drawn), rate, steps, lambda _: None, own)
    seconds = time.process_time() - began
    model.eval()
    row = {"parameters": sum(p.numel() for p in model.parameters())}
    row |= {"seconds": round(seconds, 1), "validation": round(loss_on(model, data.validation), 4)}
    if seed == TUNING_SEED:
        return row
    hits, longer = exact(model, data.test), exact(model, data.longer)
    lengths: dict[int, list[bool]] = {}
    for pair, hit in zip([*data.test, *data.longer], [*hits, *longer], strict=True):
        lengths.setdefault((len(pair.english) + 1) // 2 * 2, []).append(hit)
    row |= {"exact": round(sum(hits) / len(hits), 4)}
    row |= {"exact, longer": round(sum(longer) / len(longer), 4)}
    row |= {"by length": {str(n): [sum(h), len(h)] for n, h in sorted(lengths.items())}}
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


class TaskBatches:
    """Numbered batches of tasks, in a new order each pass."""

    def __init__(self, tasks: Sequence[Task], batch_size: int, seed: int) -> None:
        words = tokenizer()
        self.rows = [(encoded(task.source), encoded(task.target)) for task in tasks]
        self.size, self.seed, self.marks = batch_size, seed, words.special_ids

    def batch(self, step: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
        number, place = divmod(step, len(self.rows) // self.size)
        order = torch.randperm(len(self.rows), generator=seeded(self.seed, number))
        rows = [self.rows[i] for i in order[place * self.size :][: self.size].tolist()]
        return self.padded(rows)

    def padded(self, rows: list[tuple[Tensor, Tensor]]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        bos, eos = (torch.tensor([self.marks[mark]]) for mark in (BOS, EOS))
        source = pad_rows([source for source, _ in rows], self.marks[PAD])
        target_in = pad_rows([torch.cat([bos, t]) for _, t in rows], self.marks[PAD])
        return (source, target_in), pad_rows([torch.cat([t, eos]) for _, t in rows], IGNORED)


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


def baselines(test: Sequence[Story], train: Sequence[Story]) -> dict[str, dict[str, float]]:
    """What can be had without a network: of test stories, by task."""
    summaries = [task for task in tasks_of(test) if task.kind == "summary"]
    questions = [task for task in tasks_of(test) if task.kind == "answer"]
    first = [sentences_of(story.text)[0] for story in test]
    others = [train[i % len(train)].summary for i in range(len(test))]
    usual: dict[str, Counter[str]] = {}
    for story in train:
        for question, answer in story.questions:
            usual.setdefault(question.split()[0], Counter())[answer] += 1
    every = sum(usual.values(), Counter())
    guesses = []
    for task in questions:
        word = task.source.removeprefix("question: ").split()[0]
        guesses.append(usual.get(word, every).most_common(1)[0][0])
    labels = {"test part": test, "inference_test": inference_test()}
    naive = NaiveBayes(
        [statement for story in train for statement in story.statements],
        [*range(len(LABELS))] * len(train),
    )
    found = {"first sentence": scores(summaries, first)}
    found |= {"a summary of another story": scores(summaries, others)}
    found |= {"the usual answer to such a question": scores(questions, guesses)}
    for name, stories in labels.items():
        said = naive.log_posteriors([s for story in stories for s in story.statements]).argmax(1)
        right = (said.reshape(-1, 3) == [[0, 1, 2]]).mean()
        found[f"statement only, {name}"] = {"label": round(float(right), 4)}
    return found


def sentences_of(text: str) -> list[str]:
    """A rough cut behind full stops, question marks and exclamation marks."""
    return re.findall(r"[^.!?]+[.!?]+[\"']*", text.replace("\n", " "))


def read_the_reader() -> dict:
    """Train one model on the three tasks: the row of results."""
    torch.manual_seed(0)
    train, validation, test = (read_stories(part) for part in ("train", "validation", "test"))
    words = tokenizer()
    marks, V = words.special_ids, words.vocab_size
    model = EncoderDecoder.build(
        V,
        V,
        READER_WIDTH,
        HEADS,
        LAYERS,
        max_length=READER_LENGTH,
        pad=marks[PAD],
        bos=marks[BOS],
        shared=True,
    )
    if READER_POSITIONS == "rotary":
        rotary(model)
    data = TaskBatches(tasks_of(train), READER_BATCH, seed=0)
    watched, curve, began = tasks_of(validation[:60]), [], time.process_time()
    held = TaskBatches(watched, len(watched), seed=0)
    (source, target_in), target_out = held.padded(held.rows)

    @torch.no_grad()
    def watch(step: int) -> None:
        if step % WATCHED and step != 50:
            return
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten())
        curve.append({"step": step, "loss": round(float(loss), 4)})
        curve[-1] |= scores(watched, written(model, watched))
        print(round(time.process_time() - began), curve[-1], flush=True)

    optimizers = gpt_optimizers(model, *READER_RATES)
    training = Training(
        model, data, READER_STEPS, warmup=SETTINGS["warm-up"], optimizers=optimizers
    )
    for record in training:
        watch(record.step)
    seconds = round(time.process_time() - began)
    tasks, told = tasks_of(test), [*test[1:], test[0]]
    texts = written(model, tasks)
    chosen = {story.id for story in inference_test()}
    hard = [i for i, task in enumerate(tasks) if test[i // 6].id in chosen and i % 6 > 2]
    row = {"part": "reader", "parameters": sum(p.numel() for p in model.parameters())}
    row |= {"width": READER_WIDTH, "layers": LAYERS, "heads": HEADS, "vocabulary": V}
    row |= {"positions": READER_POSITIONS, "batch": READER_BATCH, "rates": READER_RATES}
    row |= {"steps": READER_STEPS, "tasks in training": len(data.rows), "seed": 0}
    row |= {"seconds": seconds, "curve": curve, "test": scores(tasks, texts)}
    of_hard = scores([tasks[i] for i in hard], [texts[i] for i in hard])["label"]
    row["test"]["label, inference_test"] = of_hard
    row["another story"] = scores(tasks_of(test, told), written(model, tasks_of(test, told)))
    for kind in ("summary", "answer", "label"):
        every = Counter(t for task, t in zip(tasks, texts, strict=True) if task.kind == kind)
        row.setdefault("texts written", {})[kind] = {"different": len(every)} | {
            "of": every.total(),
            "most often": every.most_common(3),
        }
    row["baselines"] = baselines(test, train)
    row["examples"] = [
        {"id": test[i // 6].id, "source": tasks[i].source, "target": tasks[i].target}
        | {"text": texts[i]}
        for i in range(0, 6 * 4)
    ]
    return row


def settings() -> dict:
    shape = {"rates": RATES, "width": WIDTH, "heads": HEADS, "layers": LAYERS}
    about = {"torch": torch.__version__, "machine": machine()}
    return about | {"settings": SETTINGS | shape}


STUDY = Study(__file__, settings, separators=(",", ":"))
LONG = ("baselines", "examples", "texts written", "test", "curve", "another story")  # not printed


def translated(
    part: str, positions: str, rate: float, seed: int, steps: int, own: float = 0.0
) -> dict:
    asked = {"part": part, "positions": positions, "rate": rate, "seed": seed, "steps": steps}
    asked |= {"own words": own} if own else {}
    return STUDY.row(asked, lambda: measured(positions, rate, seed, steps, own), unsaid=LONG)


def best_rate(positions: str) -> float:
    """The rate with the smallest loss on the tuning seed, not at the edge of those tried."""

    def loss(rate: float) -> float:
        return translated("translation", positions, rate, TUNING_SEED, STEPS)["validation"]

    return tuned(RATES, loss)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("part", choices=["translation", "two passes", "reader", "all"])
    part = parser.parse_args().part
    torch.set_num_threads(1)
    if part in ("translation", "all"):
        for positions in POSITIONS:
            for rate in sorted({best_rate(positions), EQUAL_RATE}):
                for seed in range(SEEDS):
                    translated("translation", positions, rate, seed, STEPS)
    if part in ("two passes", "all"):
        for own in OWN_WORDS:
            for seed in range(SEEDS):
                translated("two passes", "learned", best_rate("learned"), seed, STEPS, own)
    if part in ("reader", "all"):
        STUDY.row({"part": "reader"}, read_the_reader, unsaid=LONG)


if __name__ == "__main__":
    main()
