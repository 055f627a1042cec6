"""What 17's further notebooks say of forgetting and ranks: the GPT learns tasks in four ways.

    python -m benchmarks.finetuning_study [PART ...]

Parts: base, methods, "other rates", "equal cost", exchanges, replay and ranks. On one thread.

The model is the GPT that ships, which has read the stories of the Reader's train part and the
tales, but none of the Reader's annotations. It is trained on three tasks in turn, one a step: a
word and then a sentence that holds it; a paragraph and a question, then the answer; a statement
*without* its story, then yes, no or maybe. The loss counts the answers alone. Everything is
measured on the test part, the forgetting in bits per byte of old texts.

Ways: *full* (all weights), *output* (the output matrix and the norm before it), *adapters* (two in
each block) and *LoRA* (on all six maps of each block), the last two with nearly the same number of
weights. The optimizer is AdamW. Its rate is chosen for each way on a seed of its own, by the mean
surprise of validation answers after shorter runs; weight decay and steps were not tuned.

"Other rates" has a third and three times the rate of each way. "Equal cost" gives the ways with
frozen weights as many steps as cost the arithmetic of the full one. "Exchanges" trains the models
of the first comparison again, and asks what the paragraph and the question are worth each. "Replay"
puts a batch of the old training text after every three steps. "Ranks" trains LoRA with other ranks,
once with the factor alpha / r and once with one that falls with the root of r only; both are the
usual factor at the rank above.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Numbered, Row, Study, command, machine, tuned
from helpers.data.batching import TextWindows, seeded
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.corpora import lantern_stories
from helpers.data.lantern_reader import Story, read_stories
from helpers.data.masking import IGNORED, pad_rows
from helpers.data.reader_instructions import (
    ANSWERS,
    Instruction,
    encoded,
    prompt_ids,
    to_answer,
    to_judge,
    to_write,
)
from helpers.device import mixed_precision
from helpers.inference.plausibility import bits_per_byte, text_log_probs
from helpers.learning.checkpoints import load_model
from helpers.learning.training import Training
from helpers.models.adapters import add_adapters, add_lora, merge_lora, train_only, trained
from helpers.models.gpt import GPT
from helpers.models.naive_bayes import NaiveBayes

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data" / "checkpoints" / "lantern_stories_gpt"
MAPS = ("query", "key", "value", "output", "up", "down")
RANK, ALPHA, WIDTH = 8, 16, 35
METHODS = ("full", "output", "adapters", "LoRA")
STEPS, TUNING_STEPS, WARMUP = 450, 120, 10
BATCH = {"word": 32, "question": 12, "statement": 32}
RATES = {
    "full": (3e-4, 1e-3, 3e-3),
    "output": (1e-3, 3e-3, 1e-2),
    "adapters": (1e-3, 3e-3, 1e-2),
    "LoRA": (1e-3, 3e-3, 1e-2),
}
SEEDS, TUNING_SEED = 3, 100
ASKED, OLD_STORIES = 240, 80  # of the test part
REPLAY = (8, 320)  # windows of a batch and their tokens
RANKS = (2, 8, 32)


@cache
def tokenizer() -> BPETokenizer:
    return BPETokenizer.load(FOLDER / "tokenizer.json")


@cache
def stories(part: str) -> tuple[Story, ...]:
    return read_stories(part)


def base() -> GPT:
    return load_model(FOLDER)[0]


def adapted(method: str, seed: int) -> GPT:
    """The base model, with what a method trains left unfrozen or added."""
    torch.manual_seed(seed)
    model = base()
    if method == "output":
        train_only(model, "norm", "output")
    elif method == "adapters":
        add_adapters(model, WIDTH)
    elif method == "LoRA":
        add_lora(model, RANK, ALPHA, MAPS)
    return model


def tasks(part: str) -> dict[str, list[Instruction]]:
    some = stories(part)
    return {
        "word": to_write(some),
        "question": to_answer(some),
        "statement": to_judge(some),
    }


def batches_of(rows: Sequence[Instruction], size: int, seed: int) -> Numbered:
    """Inputs and targets; inputs are filled up with the mark behind their ends."""

    def collate(some: list[Instruction]) -> tuple[Tensor, Tensor]:
        inputs, targets = zip(*(encoded(tokenizer(), row) for row in some), strict=True)
        end = tokenizer().special_ids[END_OF_TEXT]
        return pad_rows(inputs, end), pad_rows(targets, IGNORED)

    return Numbered(rows, size, seed, collate)


class InTurn:
    """Numbered batches of several kinds, one a step: 0, 1, 2, 0, 1, 2, ..."""

    def __init__(self, *kinds: Any) -> None:
        self.kinds = kinds

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        number, kind = divmod(step, len(self.kinds))
        return self.kinds[kind].batch(number)


def training_batches(seed: int) -> InTurn:
    return InTurn(*(batches_of(rows, BATCH[k], seed) for k, rows in tasks("train").items()))


def cost(method: str) -> float:
    """Operations of a step for each token, as a share of those of full fine-tuning.

    Of the weights of matrices that a token passes through: two operations forward, two for the
    gradient of what a matrix reads (where something below it is trained), two for its own.
    """
    model = adapted(method, 0)
    matrices = {n: p for n, p in model.named_parameters() if p.ndim == 2 and "embedding" not in n}
    everywhere = 2 * sum(p.numel() for p in matrices.values())
    own = 2 * sum(p.numel() for p in matrices.values() if p.requires_grad)
    through = everywhere if method != "output" else 2 * matrices["output.weight"].numel()
    whole = sum(p.numel() for n, p in base().named_parameters() if n in matrices or p.ndim == 2)
    whole -= base().embedding.weight.numel()
    return (everywhere + through + own) / (6 * whole)


def by_length(texts: Sequence[Tensor], size: int) -> list[list[int]]:
    """The numbers of the texts in batches, the shortest first."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    return [order[first : first + size] for first in range(0, len(order), size)]


@torch.no_grad()
def surprises(model: nn.Module, rows: Sequence[Instruction]) -> Tensor:
    """Bits of each answer and its end, given its prompt, (N,)."""
    pairs = [encoded(tokenizer(), row) for row in rows]
    found = torch.zeros(len(rows))
    for now in by_length([inputs for inputs, _ in pairs], 48):
        inputs = pad_rows([pairs[i][0] for i in now], 0)
        targets = pad_rows([pairs[i][1] for i in now], IGNORED)
        costs = F.cross_entropy(model(inputs).transpose(1, 2), targets, reduction="none")
        found[now] = costs.sum(1) / torch.log(torch.tensor(2.0))
    return found


def exchanged(rows: Sequence[Instruction], by: int) -> list[Instruction]:
    """The same answers behind the prompts of others, some rows further on."""
    return [row._replace(prompt=rows[(i + by) % len(rows)].prompt) for i, row in enumerate(rows)]


@torch.no_grad()
def labels_right(model: nn.Module, rows: Sequence[Instruction]) -> Tensor:
    """Whether, of yes, no and maybe, the right answer's first token is the likeliest, (N,)."""
    first = torch.tensor([int(tokenizer().encode(f" {answer}")[0]) for answer in ANSWERS])
    prompts = [prompt_ids(tokenizer(), row.prompt) for row in rows]
    guesses = torch.zeros(len(rows), dtype=torch.long)
    for now in by_length(prompts, 48):
        ends = torch.tensor([len(prompts[i]) - 1 for i in now])
        logits = model(pad_rows([prompts[i] for i in now], 0))
        guesses[now] = logits[torch.arange(len(now)), ends][:, first].argmax(1)
    wanted = torch.tensor([ANSWERS.index(row.answer.strip()) for row in rows])
    return (guesses == wanted).double()


@cache
def old_stories() -> list[str]:
    documents = lantern_stories().test_documents
    texts = [d.text for d in documents if d.book.startswith("lantern_reader")]
    return texts[:OLD_STORIES]


def remembered(model: nn.Module) -> dict[str, float]:
    """Bits per byte of the old stories."""
    mark, texts = torch.tensor([tokenizer().special_ids[END_OF_TEXT]]), old_stories()
    tokens = [torch.cat([mark, tokenizer().encode(text), mark]) for text in texts]
    return {"stories": round(bits_per_byte(text_log_probs(model, tokens, 12), texts), 4)}


def measured(model: GPT) -> Row:
    """All that is measured of a model that has been fine-tuned, on the test part."""
    model = merge_lora(model).eval()
    rows, found = tasks("test"), {}
    words, questions = rows["word"][:ASKED], rows["question"][:ASKED]
    found["statement"] = share(labels_right(model, rows["statement"]))
    for kind, some in {"word": words, "question": questions}.items():
        own, wrong = surprises(model, some), surprises(model, exchanged(some, 7))
        found[f"{kind}, bits"] = round(float(own.mean()), 3)
        found[f"{kind}, gained"] = round(float((wrong - own).mean()), 3)
    return found | {"old": remembered(model)}


def share(values: Any) -> float:
    values = [float(value) for value in values]
    return round(sum(values) / len(values), 4)


def fit(model: GPT, batches: Any, steps: int, rate: float) -> float:
    """Train; the seconds."""
    began = time.process_time()
    list(Training(model, batches, steps, rate, warmup=WARMUP, precision="auto"))
    return round(time.process_time() - began, 1)


def validation(model: GPT) -> float:
    """Mean surprise of validation answers in bits, the three tasks alike."""
    model, found = merge_lora(model).eval(), []
    for some in tasks("validation").values():
        some = [some[i] for i in torch.randperm(len(some), generator=seeded(1))[:120].tolist()]
        tokens = sum(int((encoded(tokenizer(), row)[1] != IGNORED).sum()) for row in some)
        found.append(float(surprises(model, some).sum()) / tokens)
    return round(sum(found) / len(found), 4)


def run(
    method: str,
    rate: float,
    seed: int,
    steps: int = STEPS,
    batches: Any = None,
    measure: Callable[[GPT], Row] = measured,
) -> Row:
    """Train in one of the ways, on the three tasks if no batches are given, and measure."""
    model = adapted(method, seed)
    row: Row = {"trained": sum(p.numel() for _, p in trained(model))}
    row["seconds"] = fit(model, batches or training_batches(seed), steps, rate)
    row["validation"] = validation(model)
    return row if seed == TUNING_SEED else row | measure(model)


def about() -> Row:
    settings = {
        "rank": RANK,
        "width": WIDTH,
        "steps": STEPS,
        "batch": BATCH,
        "cost": {method: round(cost(method), 4) for method in METHODS},
        "replay": REPLAY,
    }
    precision = mixed_precision(torch.device("cpu"))
    return {"machine": machine(), "precision": precision, "settings": settings}


STUDY = Study(__file__, about, "finetuning")


def kept(part: str, method: str, make: Callable[[], Row], **keys: Any) -> Row:
    """A row of results: the one that is there, or a new one, which is written at once."""
    return STUDY.row({"part": part, "method": method, **keys}, make)


def best_rate(method: str) -> float:
    """The rate with the lowest surprise of validation answers; no best at an edge."""

    def of(rate: float) -> float:
        keys = {"rate": rate, "seed": TUNING_SEED, "steps": TUNING_STEPS}
        return kept("tuning", method, partial(run, method, **keys), **keys)["validation"]

    return tuned(RATES[method], of, factor=3.0, digits=1, more=3)


def of_base() -> None:
    kept("base", "none", lambda: measured(base()))
    number = BATCH["statement"] * STEPS // 3  # as many as a model reads
    for seed in range(SEEDS):
        asked = {"part": "naive Bayes", "statements": number, "seed": seed}
        STUDY.row(asked, partial(naive_bayes, number, seed))


def naive_bayes(number: int, seed: int) -> Row:
    """The share of statements judged right after a number of training statements drawn."""
    texts = [statement for story in stories("train") for statement in story.statements]
    some = torch.randperm(len(texts), generator=seeded(seed))[:number].tolist()
    naive = NaiveBayes([texts[i] for i in some], [i % 3 for i in some])
    guesses = naive.classify([s for story in stories("test") for s in story.statements])
    return {"statement": share(guess == i % 3 for i, guess in enumerate(guesses))}


def methods(part: str = "methods", factors: Sequence[float] = (1,)) -> None:
    for seed, method, factor in itertools.product(range(SEEDS), METHODS, factors):
        keys = {"rate": float(f"{factor * best_rate(method):.0e}"), "seed": seed, "steps": STEPS}
        kept(part, method, partial(run, method, **keys), **keys)


def other_rates() -> None:
    methods("other rates", (1 / 3, 3))


def equal_cost() -> None:
    for seed, method in itertools.product(range(SEEDS), METHODS[1:]):
        keys = {"rate": best_rate(method), "seed": seed, "steps": round(STEPS / cost(method))}
        kept("equal cost", method, partial(run, method, **keys), **keys)


def replay() -> None:
    """Three batches of tasks and one of old text, in turn."""
    text = tokenizer().encode(lantern_stories().train, special=True)
    for seed, method in itertools.product(range(SEEDS), METHODS):
        keys = {"rate": best_rate(method), "seed": seed}
        new = training_batches(seed)
        mixture = InTurn(*new.kinds, TextWindows(text, *REPLAY, seed))
        make = partial(run, method, **keys, steps=STEPS * 4 // 3, batches=mixture)
        kept("replay", method, make, **keys)


def ranks() -> None:
    rate = best_rate("LoRA")
    for seed, rank, power in itertools.product(range(SEEDS), RANKS, (1.0, 0.5)):
        if rank != RANK or power == 1.0:
            keys = {"rank": rank, "power": power, "rate": rate, "seed": seed}
            STUDY.row({"part": "ranks"} | keys, partial(of_rank, **keys))


def of_rank(rank: int, power: float, rate: float, seed: int) -> Row:
    torch.manual_seed(seed)
    model, factor = base(), ALPHA / RANK * (RANK / rank) ** power
    layers = add_lora(model, rank, factor * rank, MAPS)
    found: Row = {"factor": round(factor, 4)}
    found["seconds"] = fit(model, training_batches(seed), STEPS, rate)
    with torch.no_grad():
        changes = [x.update().norm() / x.base.weight.norm() for x in layers]
    found["size"] = round(float(torch.stack(changes).mean()), 4)
    return found | {"old": remembered(merge_lora(model).eval())} | exchanges_measured(model)


def exchanges() -> None:
    kept("exchanges", "none", lambda: exchanges_measured(base()))
    for seed, method in itertools.product(range(SEEDS), METHODS):
        keys = {"rate": best_rate(method), "seed": seed}
        make = partial(run, method, **keys, measure=exchanges_measured)
        kept("exchanges", method, make, **keys)


def exchanges_measured(model: GPT) -> Row:
    """Bits that the true answer costs more when one half of its prompt is another's."""
    model = merge_lora(model).eval()
    own = tasks("test")["question"][:ASKED]
    between = "\n\nQuestion: "
    halves = [row.prompt.split(between) for row in own]
    further = halves[7:] + halves[:7]
    wrong = {
        "paragraph": [(other[0], mine[1]) for mine, other in zip(halves, further, strict=True)],
        "question": [(mine[0], other[1]) for mine, other in zip(halves, further, strict=True)],
        "both": further,
    }
    bits, found = surprises(model, own), {}
    for name, prompts in wrong.items():
        pairs = zip(own, prompts, strict=True)
        rows = [row._replace(prompt=between.join(prompt)) for row, prompt in pairs]
        found[name] = round(float((surprises(model, rows) - bits).mean()), 3)
    return found


PARTS: dict[str, Callable[[], None]] = {
    "base": of_base,
    "methods": methods,
    "other rates": other_rates,
    "equal cost": equal_cost,
    "exchanges": exchanges,
    "replay": replay,
    "ranks": ranks,
}

if __name__ == "__main__":
    options = command(__doc__, PARTS).parse_args()
    torch.set_num_threads(1)
    for name in options.parts:
        PARTS[name]()
