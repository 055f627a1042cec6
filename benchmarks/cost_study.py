"""How the loss falls with parameters and tokens, with and without a known floor; distillation.

    python -m benchmarks.cost_study [rates source isoflop repeated reader taught pupils] [--seeds 3]

``rates``: with another seed, the learning rate for each size and number of steps on the source,
which all runs there then take; and for the Reader. ``source``: models of five sizes with four
amounts of text from a source whose entropy rate is known, each text read once. ``isoflop``: on the
same source, three budgets of 6 N D operations, each spent on six sizes, each with a rate of its own
that was chosen with another seed. ``repeated``: the same steps with less text, read several times.
``reader``: three sizes and three amounts of the Reader, in characters; one run each. ``taught``: a
small model of the source, from the tokens alone, with trained teachers, and with the truth as its
teacher, mixed with the tokens or alone. ``pupils``: a model of half the layers of the GPT that
ships, from the tokens alone, with that GPT as its teacher, and from the tokens alone in as many
operations as the teaching took.

Losses on the source are differences from the truth on the same tokens, in bits, so that the chance
of the test text cancels. On one thread.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.study import Row, Study, command, machine, tuned
from helpers.data import corpora
from helpers.data.bpe import BPETokenizer
from helpers.data.sources import pair_source
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score_model
from helpers.learning import checkpoints
from helpers.learning.distillation import distillation_loss
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training, language_model_loss
from helpers.models.gpt import GPT, GPTConfig

SHIPPED = Path(__file__).parents[1] / "data" / "checkpoints" / "lantern_stories_gpt"
V, LENGTH, BATCH, WARMUP = 64, 16, 64, 20  # of the source: tokens, of a window, windows, steps
WIDTHS, STEPS = (8, 16, 32, 64, 96), (60, 120, 240, 480)
TESTED = 4096  # windows of the source
RATES = {"learning_rate": 0.01, "muon_rate": 0.03}
FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)  # on both rates: the best for each size and number of steps
LADDER = (8, 12, 16, 24, 32, 48, 64, 96, 128)  # widths, of which each budget takes six
BUDGETS = {5e9: LADDER[:6], 2e10: LADDER[2:8], 8e10: LADDER[3:]}  # of 6 N D operations
REPEATED, REPEATED_WIDTH, REPEATED_STEPS = (60, 120, 240), 64, 480
READER = {"layers": 2, "length": 128, "batch": 16, "widths": (16, 32, 64)}
READER_STEPS, READER_FACTORS, READER_FACTOR = (75, 150, 300), (1.0, 2.0, 4.0, 8.0), 4.0
TAUGHT = {"width": 32, "text": 60, "fresh": 480, "steps": 480, "teacher": (96, 480)}
PUPIL = {"layers": 2, "heads": 4, "width": 128, "length": 128, "batch": 8, "steps": 150}
MIX, TEMPERATURE = 0.5, 2.0  # of the distillation loss
ALONE = (1.0, 1.0)  # the same two: the teacher's distribution as it is, and nothing else
TUNING_SEED = 1000


class Known:
    """The source, a text for training, and one for tests with the truth about it."""

    def __init__(self) -> None:
        self.source = pair_source()
        most = (max(STEPS) * BATCH + 1) * LENGTH + 1
        self.train = self.source.sample(most, torch.Generator().manual_seed(1))
        text = self.source.sample(TESTED * LENGTH + 1, torch.Generator().manual_seed(2))
        self.inputs = text[:-1].view(-1, LENGTH)
        self.targets = text[1:].view(-1, LENGTH)[:, 1:]  # behind two tokens or more
        self.truth = self.true_log_probs(self.inputs)[:, 1:].gather(-1, self.targets[..., None])

    def true_log_probs(self, tokens: Tensor) -> Tensor:
        """Of the next token at each position (B, T, V); the first knows one token only."""
        pairs = torch.cat([tokens[:, :1] * 0, tokens[:, :-1]], 1) * V + tokens
        table = self.source.transitions.view(V * V, V).log()[pairs]
        table[:, 0] = self.one_token()[tokens[:, 0]]
        return table.float()

    def one_token(self) -> Tensor:
        """Log-probabilities (V, V) of the token after a single one."""
        joint = (self.source.stationary[..., None] * self.source.transitions).sum(0)
        return (joint / joint.sum(-1, keepdim=True)).log()

    @torch.no_grad()
    def excess(self, model: nn.Module) -> float:
        """Bits per token above the truth."""
        found = [model(part)[:, 1:].log_softmax(-1) for part in self.inputs.split(512)]
        mine = torch.cat(found).gather(-1, self.targets[..., None])
        return float((self.truth - mine).mean()) / math.log(2)

    def bounds(self) -> dict[str, float]:
        """The entropy rate, and what is reached by frequencies and by pairs of tokens, in bits."""
        joint = self.source.stationary
        single, pair = joint.sum(0), (joint[..., None] * self.source.transitions).sum(0)
        one = float(torch.special.entr(single).sum())
        two = float(torch.special.entr(pair).sum()) - one
        nats = {"entropy rate": self.source.entropy_rate(), "one token": two, "no token": one}
        return {name: value / math.log(2) for name, value in nats.items()}


known = cache(Known)


def batches(text: Tensor, length: int, size: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows in a random order, each once in every pass."""
    generator, windows = torch.Generator().manual_seed(seed), (len(text) - 1) // length
    while True:
        order = torch.randperm(windows, generator=generator)
        for rows in order[: windows // size * size].view(-1, size):
            found = text[rows[:, None] * length + torch.arange(length + 1)]
            yield found[:, :-1], found[:, 1:]


def small_gpt(vocabulary: int, width: int, layers: int, heads: int, length: int) -> GPT:
    shape = {"n_layers": layers, "n_heads": heads, "d_model": width, "max_length": length}
    return GPT(GPTConfig.modern(vocabulary, **shape))


def sizes(model: nn.Module) -> dict[str, int]:
    """All parameters, and those of the blocks alone."""
    count = sum(p.numel() for p in model.parameters())
    return {"parameters": count, "in blocks": sum(p.numel() for p in model.blocks.parameters())}


def train(
    model: GPT, stream: Any, steps: int, factor: float = 1.0, loss: Callable | None = None
) -> GPT:
    optimizers = gpt_optimizers(model, **{name: factor * rate for name, rate in RATES.items()})
    how = {"warmup": WARMUP, "optimizers": optimizers, "loss": loss or language_model_loss}
    list(Training(model, stream, steps, **how))
    return model


def on_source(width: int, text: int, steps: int, seed: int, factor: float) -> GPT:
    """A GPT of one layer; ``text`` says how many batches of different windows there are."""
    torch.manual_seed(seed)
    model = small_gpt(V, width, 1, 1, LENGTH)
    return train(model, of_source(text, seed), steps, factor)


def of_source(text: int, seed: int) -> Iterator:
    """Batches from the first ``text`` times 64 windows."""
    return batches(known().train[: text * BATCH * LENGTH + 1], LENGTH, BATCH, seed)


def with_teacher(
    stream: Any, teacher: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Tensor, tuple[Tensor, Tensor]]]:
    """Targets that hold the tokens and the teacher's logits."""
    for tokens, targets in stream:
        with torch.no_grad():
            said = teacher(tokens)
        yield tokens, Targets(targets, said)


class Targets(tuple):
    """(tokens, the teacher's logits); counted as the tokens that they are."""

    def __new__(cls, tokens: Tensor, logits: Tensor) -> Targets:
        return super().__new__(cls, (tokens, logits))

    def numel(self) -> int:
        return self[0].numel()

    def to(self, *where: Any, **how: Any) -> Targets:
        return Targets(*(part.to(*where, **how) for part in self))


def mixed(
    logits: Tensor, targets: Targets, mix: float = MIX, temperature: float = TEMPERATURE
) -> Tensor:
    tokens, teacher = targets
    return distillation_loss(logits, teacher, tokens, mix=mix, temperature=temperature)


def rate_row(width: int, steps: int, factor: float) -> Row:
    def make() -> Row:
        return {"excess": known().excess(on_source(width, steps, steps, TUNING_SEED, factor))}

    asked = {"width": width, "factor": factor, "steps": steps, "seed": TUNING_SEED}
    return STUDY.row(asked, make, "rates")


@cache
def factor_of(width: int, steps: int) -> float:
    """The best of the rates for a size and a number of steps."""
    return min(FACTORS, key=lambda factor: rate_row(width, steps, factor)["excess"])


def rates(seeds: int) -> None:
    for steps, width in itertools.product(STEPS, WIDTHS):
        factor_of(width, steps)
    ends = (READER["widths"][0], READER["widths"][-1])
    for width, factor in itertools.product(ends, READER_FACTORS):
        key = {"width": width, "steps": READER_STEPS[1], "seed": TUNING_SEED, "factor": factor}
        STUDY.row(key, partial(on_reader, **key), "reader rates")


def measured(width: int, text: int, steps: int, seed: int) -> Row:
    factor = factor_of(width, steps)
    model = on_source(width, text, steps, seed, factor)
    row = {"tokens": text * BATCH * LENGTH, "excess": known().excess(model)}
    return row | sizes(model) | {"factor": factor}


def source(seeds: int) -> None:
    for seed, width, steps in itertools.product(range(seeds), WIDTHS, STEPS):
        key = {"width": width, "steps": steps, "seed": seed}
        STUDY.row(key, partial(measured, **key, text=steps), "source")


@cache
def long_text(steps: int) -> Tensor:
    return known().source.sample(steps * BATCH * LENGTH + 1, torch.Generator().manual_seed(3))


def steps_for(budget: float, width: int) -> tuple[int, int]:
    """Steps that spend a budget of 6 N D, and N, without the input embedding: it only looks up."""
    model = small_gpt(V, width, 1, 1, LENGTH)
    multiplied = sizes(model)["parameters"] - model.embedding.weight.numel()
    return round(budget / (6 * multiplied * BATCH * LENGTH)), multiplied


def at_budget(budget: float, width: int, seed: int, factor: float) -> Row:
    """A GPT of this width, trained on fresh text until the budget is spent."""
    steps, multiplied = steps_for(budget, width)
    longest = max(steps_for(most, widths[0])[0] for most, widths in BUDGETS.items())
    torch.manual_seed(seed)
    model = small_gpt(V, width, 1, 1, LENGTH)
    text = long_text(longest)[: steps * BATCH * LENGTH + 1]
    train(model, batches(text, LENGTH, BATCH, seed), steps, factor)
    counts = {"steps": steps, "tokens": steps * BATCH * LENGTH, "multiplied": multiplied}
    return counts | sizes(model) | {"excess": known().excess(model)}


def isoflop(seeds: int) -> None:
    for budget, widths in BUDGETS.items():
        for width in widths:

            def row(factor: float, seed: int, part: str, cell: tuple = (budget, width)) -> float:
                key = {"budget": cell[0], "width": cell[1], "seed": seed, "factor": factor}
                return STUDY.row(key, partial(at_budget, **key), part)["excess"]

            rate = partial(row, seed=TUNING_SEED, part="isoflop rates")
            factor = tuned((2.0, 4.0), rate)
            for seed in range(seeds):
                row(factor, seed, "isoflop")


def repeated(seeds: int) -> None:
    for seed, text in itertools.product(range(seeds), REPEATED):
        key = {"text": text, "steps": REPEATED_STEPS, "seed": seed}
        STUDY.row(key, partial(measured, REPEATED_WIDTH, **key), "repeated")


@cache
def reader_text() -> tuple[int, Tensor, Tensor]:
    """Characters, and the Reader in them: for training and the first of the held-out ones."""
    corpus = corpora.lantern_reader()
    letters = CharTokenizer.train(corpus.text)
    parts = letters.encode(corpus.train), letters.encode(corpus.validation)[:200_000]
    return letters.vocab_size, *parts


def on_reader(width: int, steps: int, seed: int, factor: float) -> dict[str, float]:
    """A GPT that reads the Reader once, in characters."""
    characters, text, held_out = reader_text()
    torch.manual_seed(seed)
    length, size = READER["length"], READER["batch"]
    model = small_gpt(characters, width, READER["layers"], width // 16, length)
    tokens = text[: steps * size * length + 1]
    train(model, batches(tokens, length, size, seed), steps, factor)
    bits = score_model(model, held_out, length).bits_per_token
    return {"tokens": len(tokens) - 1, "bits": bits, **sizes(model)}


def reader(seeds: int) -> None:
    for width, steps in itertools.product(READER["widths"], READER_STEPS):
        key = {"width": width, "steps": steps, "seed": 0}
        STUDY.row(key, partial(on_reader, **key, factor=READER_FACTOR), "reader")


@cache
def teacher(text: int) -> tuple[GPT, float]:
    """A larger model of the source, and its excess."""
    width, steps = TAUGHT["teacher"]
    model = on_source(width, text, steps, TUNING_SEED, factor_of(width, steps)).eval()
    return model, known().excess(model)


def taught_row(
    name: str, text: int, read: int | None, seed: int, mix: float, temperature: float
) -> Row:
    """A pupil of the source; ``read`` is its teacher's text."""
    width, steps = TAUGHT["width"], TAUGHT["steps"]
    factor = factor_of(width, steps)
    if name == "tokens":
        return {"excess": known().excess(on_source(width, text, steps, seed, factor))}
    torch.manual_seed(seed)
    model = small_gpt(V, width, 1, 1, LENGTH)
    tells = teacher(read)[0] if read else known().true_log_probs
    loss = partial(mixed, mix=mix, temperature=temperature)
    train(model, with_teacher(of_source(text, seed), tells), steps, factor, loss)
    row = {"excess": known().excess(model)}
    return row | ({"its teacher": teacher(read)[1]} if read else {})


def taught(seeds: int) -> None:
    short, fresh = TAUGHT["text"], TAUGHT["fresh"]
    told = [("teacher", short, short), ("teacher", short, fresh), ("teacher", fresh, fresh)]
    told += [("truth", short, None), ("truth", fresh, None)]  # name, its text, its teacher's
    ways = [("tokens", short, None, (0.0, 1.0)), ("tokens", fresh, None, (0.0, 1.0))]
    ways += [(*way, how) for how in ((MIX, TEMPERATURE), ALONE) for way in told]
    for seed, (name, text, read, (mix, temperature)) in itertools.product(range(seeds), ways):
        key = {"name": name, "text": text, "its teacher's text": read, "seed": seed}
        key |= {"mix": mix, "temperature": temperature}
        make = partial(taught_row, name, text, read, seed, mix, temperature)
        STUDY.row(key, make, "taught")


def pupils(seeds: int) -> None:
    teacher = checkpoints.load_model(SHIPPED)[0].float().eval()
    tokenizer = BPETokenizer.load(SHIPPED / "tokenizer.json")
    corpus = corpora.lantern_stories()
    text = tokenizer.encode(corpus.train, special=True)
    held_out = tokenizer.encode(corpus.validation, special=True)[:20_001]
    raw = corpora.without_marks(tokenizer.decode(held_out[1:]))
    shape = PUPIL["width"], PUPIL["layers"], PUPIL["heads"], PUPIL["length"]

    def bits(model: nn.Module) -> float:
        return score_model(model, held_out, PUPIL["length"], raw).bits_per_byte

    def pupil(name: str, steps: int, seed: int) -> Row:
        torch.manual_seed(seed)
        model = small_gpt(tokenizer.vocab_size, *shape)
        stream = batches(text, PUPIL["length"], PUPIL["batch"], seed)
        if name == "tokens":
            train(model, stream, steps)
        else:
            train(model, with_teacher(stream, teacher), steps, loss=mixed)
        theirs = {
            "its teacher": bits(teacher),
            "teacher's parameters": sizes(teacher)["parameters"],
        }
        return {"bits": bits(model), **sizes(model), **theirs}

    small, large = (
        sizes(model)["parameters"] - model.embedding.weight.numel()
        for model in (small_gpt(tokenizer.vocab_size, *shape), teacher)
    )
    more = round(PUPIL["steps"] * (6 * small + 2 * large) / (6 * small))  # of the same operations
    ways = (("tokens", PUPIL["steps"]), ("teacher", PUPIL["steps"]), ("tokens", more))
    for seed, (name, steps) in itertools.product(range(seeds), ways):
        key = {"name": name, "steps": steps, "seed": seed}
        STUDY.row(key, partial(pupil, **key), "pupils")


def about() -> Row:
    return {"machine": machine(), "settings": {"pupil": PUPIL}, "bounds": known().bounds()}


STUDY = Study(__file__, about)
PARTS = {
    "rates": rates, "source": source, "isoflop": isoflop, "repeated": repeated, "reader": reader,
    "taught": taught, "pupils": pupils,
}  # fmt: skip


def main() -> None:
    options = command(__doc__, PARTS, seeds=3).parse_args()
    torch.set_num_threads(1)
    for part in options.parts:
        PARTS[part](options.seeds)


if __name__ == "__main__":
    main()
