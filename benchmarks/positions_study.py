"""Positional schemes side by side: a task that needs order, and texts longer than in training.

    python -m benchmarks.positions_study [--seeds 5] [--processes 2] [--tune]

Causal transformers that differ in their positions alone are trained (1) on a source whose next
symbol depends on the one three places back, whose entropy is known exactly, and (2) on the course's
tales, character by character, in windows of 64; then they read texts up to eight times as long.
Writes benchmarks/results/positions_study.json, which notebook 10 shows. `--tune` first chooses each
scheme's learning rate, and the sinusoid's size, on a seed of its own. About twenty minutes on two
cores.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch
from torch import Tensor, nn

from benchmarks.study import Study, command, machine
from helpers.data import corpora
from helpers.data.batching import windows
from helpers.data.sources import lagged_source
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score
from helpers.learning.training import Training
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.positions import (
    ALiBi,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.models.transformer import Transformer

STUDY = Study(__file__, lambda: {"machine": machine("one thread a run")}, indent=None)
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
    batches = windows(
        parts["train"], setting["B"], setting["T"], torch.Generator().manual_seed(seed)
    )
    options = {"learning_rate": rate, "warmup": 50, "weight_decay": 0.01}
    seconds = 0.0
    for record in Training(model, batches, steps or setting["steps"], **options):
        seconds = record.seconds
    return model.eval(), seconds, parts


def run(job: tuple[str, str, int, float, float]) -> dict:
    """One training, and the losses by position; settings are chosen by the validation text."""
    torch.set_num_threads(1)
    task, scheme, seed, rate, scale = job
    setting = TASKS[task]
    said = {"task": task, "scheme": scheme, "seed": seed, "rate": rate, "scale": scale}
    try:
        model, seconds, parts = fit(task, scheme, seed, rate, scale)
    except ValueError as diverged:
        return {**said, "failed": str(diverged), "nats inside": float("inf")}
    most = setting["T"] if scheme == "learned" else setting["read"]
    text = parts["validation" if seed == TUNING_SEED else "test"]
    by_position = losses(model, text, setting["T"], setting["read"], most)
    inside = losses(model, text, setting["T"], setting["read"], setting["T"], rows=1024)
    return {
        **said,
        "seconds": round(seconds, 1),
        "nats by position": [None if v is None else round(v, 5) for v in by_position],
        "nats inside": round(sum(v for v in inside if v is not None) / inside.index(None), 5),
    }


def chosen(tuning: list[dict], task: str, scheme: str) -> tuple[float, float]:
    """The learning rate and scale with the least loss on the tuning seed."""
    tried = [t for t in tuning if (t["task"], t["scheme"]) == (task, scheme)]
    best = min(tried, key=lambda t: t["nats inside"])
    return best["rate"], best["scale"]


def baselines() -> dict:
    """What is known without training: exact entropies, and a Kneser-Ney model of the tales."""
    parts, vocab_size = texts("tales")
    ngram = ModifiedKneserNey(6).fit(parts["train"], vocab_size)
    return {
        "entropy of the source": lagged_source(SYMBOLS, LAG, NOISE).entropy_rate(),
        "uniform": math.log(SYMBOLS),
        "Kneser-Ney, n = 6, tales": score(ngram, parts["test"]).nats_per_token,
    }


def main() -> None:
    parser = command(__doc__, seeds=5)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tune", action="store_true", help="choose the learning rates anew")
    arguments = parser.parse_args()
    began = time.perf_counter()
    pairs = list(itertools.product(TASKS, SCHEMES))
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("spawn")) as pool:
        tuning = STUDY.rows("tuning")
        if arguments.tune or not tuning:
            tuning = list(
                pool.map(
                    run,
                    [
                        (task, scheme, TUNING_SEED, rate, scale)
                        for task, scheme in pairs
                        for rate in RATES
                        for scale in (SCALES if scheme == "sinusoidal" else SCALES[-1:])
                    ],
                )
            )
        best = {pair: chosen(tuning, *pair) for pair in pairs}
        print("learning rates and scales:", best, flush=True)
        jobs = [(*pair, seed, *best[pair]) for seed in range(arguments.seeds) for pair in pairs]
        runs = []
        for result in pool.map(run, jobs):
            runs.append(result)
            print(result, flush=True)
    content = {
        "minutes": round((time.perf_counter() - began) / 60),
        "tasks": TASKS,
        "buckets": {task: buckets(s["T"], s["read"]) for task, s in TASKS.items()},
        "baselines": baselines(),
        "tuning": tuning,
        "runs": runs,
    }
    STUDY.write(**content)


if __name__ == "__main__":
    main()
