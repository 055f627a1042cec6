"""Positional schemes side by side: a task that needs order, and texts longer than in training.

    python -m benchmarks.positions_study [schemes wider changed windows] [--seeds 5]

*schemes*: causal transformers that differ in their positions alone are trained (1) on a source
whose next symbol depends on the one three places back, whose entropy is known exactly, and (2) on
the course's tales, character by character, in windows of 64; then they read texts up to eight times
as long. Each scheme's learning rate, and the sinusoid's size, are chosen on a seed of their own.

The other parts stand in results/positions_window_study.json. *windows*: models with these settings
read such texts, and the same texts once more with a mask that hides all keys further back than the
training length. What only knows distances then meets none that is new; absolute positions stay new.
*wider*: a learning rate beyond the grid, for the two schemes that do not reach the entropy.
*changed*: what ALiBi owes to its slopes and to the feed-forward layer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.study import Row, Study, command, machine
from helpers.data import corpora
from helpers.data.batching import windows
from helpers.data.sources import lagged_source
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score
from helpers.learning.training import Training
from helpers.models.attention import causal_mask
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.positions import (
    ALiBi,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.models.transformer import Transformer

SCHEMES = ("none", "learned", "sinusoidal", "RoPE", "ALiBi")
RATES = (3e-3, 1e-2, 3e-2)
SCALES = (0.03, 0.2, 1.0)  # of the sinusoid's table; the other schemes have none
TUNING_SEED = 1000
LAG, SYMBOLS, NOISE = 3, 8, 0.1
# What is trained: width, heads, layers, window, batch, steps, and how far texts are read.
TASKS = {
    "order, 1 layer": {"D": 32, "H": 4, "L": 1, "T": 32, "B": 32, "steps": 800, "read": 256},
    "order, 2 layers": {"D": 32, "H": 4, "L": 2, "T": 32, "B": 32, "steps": 800, "read": 256},
    "tales": {"D": 64, "H": 4, "L": 2, "T": 64, "B": 32, "steps": 1000, "read": 512},
}
JOBS = [
    *(("order, 1 layer", scheme, 5) for scheme in ("none", "sinusoidal", "RoPE", "ALiBi")),
    ("order, 2 layers", "RoPE", 5),
    ("tales", "RoPE", 3),
    ("tales", "sinusoidal", 3),
]  # task, scheme, seeds
FEWER_STEPS = {"tales": 400}  # fewer: both readings are of the same model
BEYOND = 0.1  # a learning rate above the largest of these
WIDER = [(task, scheme) for task in ("order, 1 layer", "order, 2 layers")
         for scheme in ("none", "ALiBi")]  # fmt: skip
STEEP = (2.0, 1.0, 0.5, 0.25)  # ALiBi's own slopes for four heads are 1/4, 1/16, 1/64, 1/256
CHANGES = [("ALiBi", "steep slopes"), ("ALiBi", "no feed-forward"), ("RoPE", "no feed-forward")]


def build(
    scheme: str, vocab_size: int, D: int, H: int, L: int, T: int, scale: float = 1.0
) -> Transformer:
    absolute = {
        "learned": lambda: LearnedPositions(T, D),
        "sinusoidal": lambda: SinusoidalPositions(D, scale=scale),
    }
    relative = {"RoPE": lambda: RotaryPositions(D // H), "ALiBi": lambda: ALiBi(H)}
    positions = absolute[scheme]() if scheme in absolute else None
    return Transformer(vocab_size, D, H, L, positions=positions, relative=relative.get(scheme))


def texts(task: str) -> tuple[dict[str, Tensor], int]:
    """Training, validation and test text, and the vocabulary size."""
    parts = ("train", "validation", "test")
    if task.startswith("order"):
        source = lagged_source(SYMBOLS, LAG, NOISE)
        lengths = {"train": 400_000, "validation": 200_000, "test": 200_000}
        seeds = {"train": 1, "validation": 4, "test": 2}
        return {
            part: source.sample(lengths[part], torch.Generator().manual_seed(seeds[part]))
            for part in parts
        }, SYMBOLS
    corpus = corpora.lantern_bay()
    tokenizer = CharTokenizer.train(corpus.text)
    return {part: tokenizer.encode(getattr(corpus, part)) for part in parts}, tokenizer.vocab_size


def buckets(T: int, read: int) -> list[tuple[int, int]]:
    """Stretches of positions, each twice as long as all before: (8, 16), ..., (read/2, read)."""
    ends = [8]
    while ends[-1] < read:
        ends.append(2 * ends[-1])
    return list(itertools.pairwise(ends))


@torch.no_grad()
def losses(model: nn.Module, text: Tensor, T: int, read: int, most: int, rows: int = 192):
    """Mean loss in nats by stretch of positions, in texts of ``most`` tokens from random places."""
    generator = torch.Generator().manual_seed(3)
    starts = torch.randint(len(text) - most - 1, (rows,), generator=generator)
    block = torch.stack([text[s : s + most + 1] for s in starts.tolist()])
    parts = [
        nn.functional.cross_entropy(
            model(some[:, :-1]).transpose(1, 2), some[:, 1:], reduction="none"
        )
        for some in block.split(32)
    ]
    loss = torch.cat(parts).mean(0)  # (most,)
    return [loss[a:b].mean().item() if b <= most else None for a, b in buckets(T, read)]


def loss_inside(model: nn.Module, text: Tensor, task: str) -> float:
    """Mean loss in nats over the stretches of positions that were trained."""
    T, read = TASKS[task]["T"], TASKS[task]["read"]
    known = [value for value in losses(model, text, T, read, T, rows=1024) if value is not None]
    return round(sum(known) / len(known), 5)


def fit(
    task: str,
    scheme: str,
    seed: int,
    rate: float,
    scale: float,
    steps: int | None = None,
    change: Callable[[Transformer], None] | None = None,
) -> tuple[Transformer, float, dict[str, Tensor]]:
    """A trained model, its seconds and the texts; ``change`` alters the model before training."""
    setting = TASKS[task]
    parts, vocab_size = texts(task)
    torch.manual_seed(seed)
    model = build(scheme, vocab_size, *(setting[key] for key in "DHLT"), scale=scale)
    if change is not None:
        change(model)
    draw = torch.Generator().manual_seed(seed)
    batches = windows(parts["train"], setting["B"], setting["T"], draw)
    options = {"learning_rate": rate, "warmup": 50, "weight_decay": 0.01}
    *_, last = Training(model, batches, steps or setting["steps"], **options)
    return model.eval(), last.seconds, parts


def run(job: Row) -> Row:
    """One training, and the losses by position; settings are chosen by the validation text."""
    torch.set_num_threads(1)
    task, scheme, seed = job["task"], job["scheme"], job["seed"]
    setting = TASKS[task]
    try:
        model, seconds, parts = fit(task, scheme, seed, job["rate"], job["scale"])
    except ValueError as diverged:
        return {"failed": str(diverged), "nats inside": float("inf")}
    most = setting["T"] if scheme == "learned" else setting["read"]
    text = parts["validation" if seed == TUNING_SEED else "test"]
    by_position = losses(model, text, setting["T"], setting["read"], most)
    return {
        "seconds": round(seconds, 1),
        "nats by position": [None if v is None else round(v, 5) for v in by_position],
        "nats inside": loss_inside(model, text, task),
    }


def chosen(tuning: list[Row], task: str, scheme: str) -> dict[str, float]:
    """The learning rate and scale with the least loss on the tuning seed."""
    tried = [t for t in tuning if (t["task"], t["scheme"]) == (task, scheme)]
    best = min(tried, key=lambda t: t["nats inside"])
    return {"rate": best["rate"], "scale": best["scale"]}


class Nothing(nn.Module):
    """In the place of a feed-forward layer: adds nothing to what passes by."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def steepen(model: Transformer) -> None:
    for block in model.blocks:
        block.attention.positions.slopes.copy_(torch.tensor(STEEP))


def without_feed_forward(model: Transformer) -> None:
    for block in model.blocks:
        block.feed_forward = Nothing()


def changed(scheme: str, change: str, seed: int, rate: float, scale: float) -> dict:
    """One training of a model with one layer and one thing changed; the loss inside."""
    task = "order, 1 layer"
    alter = steepen if change == "steep slopes" else without_feed_forward
    model, _, parts = fit(task, scheme, seed, rate, scale, change=alter)
    inside = loss_inside(model, parts["test"], task)
    return {"task": task, "rate": rate, "nats inside": inside}


class Windowed(nn.Module):
    """A trained model that sees the last ``width`` keys only, that of the query included."""

    def __init__(self, model: Transformer, width: int) -> None:
        super().__init__()
        self.model, self.width = model, width

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> logits (B, T, V)."""
        earlier = causal_mask(tokens.shape[1])
        near = earlier & ~earlier.tril(-self.width)
        x = self.model.embedding(tokens)
        for block in self.model.blocks:
            x = block(x, mask=near)
        E = self.model.embedding.weight[: self.model.vocab_size]
        return nn.functional.linear(self.model.norm(x), E)


def read_both_ways(task: str, scheme: str, seed: int, rate: float, scale: float) -> dict:
    """One training; the losses by stretch of positions, with all keys and with a window."""
    setting = TASKS[task]
    model, _, parts = fit(task, scheme, seed, rate, scale, FEWER_STEPS.get(task))
    arguments = (parts["test"], setting["T"], setting["read"], setting["read"])
    plain = losses(model, *arguments)
    near = losses(Windowed(model, setting["T"]), *arguments)
    found = {"all keys": [round(v, 5) for v in plain], "window": [round(v, 5) for v in near]}
    return {"rate": rate, "scale": scale, **found}


def baselines() -> dict:
    """What is known without training: a Kneser-Ney model of the tales."""
    parts, vocab_size = texts("tales")
    ngram = ModifiedKneserNey(6).fit(parts["train"], vocab_size)
    return {"Kneser-Ney, n = 6, tales": score(ngram, parts["test"]).nats_per_token}


def about() -> dict:
    stretches = {task: buckets(s["T"], s["read"]) for task, s in TASKS.items()}
    return {"machine": machine("one thread a run"), "tasks": TASKS, "buckets": stretches}


STUDY = Study(__file__, about, indent=None)
BEYOND_STUDY = Study(__file__, about, "positions_window_study", indent=None)


def schemes(seeds: int) -> None:
    pairs = [{"task": task, "scheme": scheme} for task in TASKS for scheme in SCHEMES]
    jobs = [
        {**pair, "seed": TUNING_SEED, "rate": rate, "scale": scale}
        for pair in pairs
        for rate in RATES
        for scale in (SCALES if pair["scheme"] == "sinusoidal" else SCALES[-1:])
    ]
    tuning = STUDY.side_by_side(jobs, run, "tuning")
    jobs = [{**pair, "seed": s, **chosen(tuning, **pair)} for s in range(seeds) for pair in pairs]
    STUDY.side_by_side(jobs, run, "runs")
    STUDY.entry("baselines", baselines)


def main() -> None:
    options = command(__doc__, ["schemes", "wider", "changed", "windows"], seeds=5).parse_args()
    torch.set_num_threads(1)
    if "schemes" in options.parts:
        schemes(options.seeds)
    best = partial(chosen, STUDY.rows("tuning"))
    if "wider" in options.parts:
        for task, scheme in WIDER:
            asked = {"task": task, "scheme": scheme, "seed": TUNING_SEED}
            asked |= {"rate": BEYOND, "scale": 1.0}
            BEYOND_STUDY.row(asked, partial(run, asked), "wider")
    if "changed" in options.parts:
        for seed, (scheme, change) in itertools.product(range(options.seeds), CHANGES):
            asked = {"scheme": scheme, "change": change, "seed": seed}
            settings = best("order, 1 layer", scheme)
            BEYOND_STUDY.row(asked, partial(changed, **asked, **settings), "changed")
    if "windows" in options.parts:
        for task, scheme, seeds in JOBS:
            for seed in range(min(seeds, options.seeds)):
                asked = {"task": task, "scheme": scheme, "seed": seed}
                settings = best(task, scheme)
                BEYOND_STUDY.row(asked, partial(read_both_ways, **asked, **settings), "runs")


if __name__ == "__main__":
    main()
