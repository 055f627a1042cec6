"""What each part of a small GPT's training buys at equal time, for the further notebooks of 13.

    python -m benchmarks.gpt_study [--seconds 12] [--seeds 5]

On the course's tales, character by character. First the time per step of every entry is measured,
in turns, on two threads; nothing else should use the machine meanwhile. From it the steps that fit
into the budget are counted out, and each entry is trained with so many, its schedule ending there.
AdamW's rates are chosen among three on a seed of its own, by the validation text, which all bits
per byte here are measured on.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks.gpt import Text
from benchmarks.study import Row, Study, command, device
from helpers.data.batching import TextWindows
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.ngram_embedding import gpt_with_ngrams

STUDY = Study(__file__, lambda: {"machine": {**device(), "threads": torch.get_num_threads()}})
T, B = 128, 8
SHAPE = {"max_length": T, "n_layers": 2, "n_heads": 4, "d_model": 128}
RATES = {"learning_rate": 0.03, "muon_rate": 0.05}
ADAMW_RATE, ADAMW_RATES = 3e-3, (3e-3, 1e-2, 3e-2)
TUNING_SEED = 1000
GPT2 = {"form": "gpt2", "optimizer": "AdamW"}
# name -> what is changed; nothing is the modern GPT with Muon.
ENTRIES = {
    "all": {},
    "AdamW for all, not Muon": {"optimizer": "AdamW"},
    "learned positions, not rotary": {"config": {"positions": "learned"}},
    "LayerNorm, not RMSNorm": {"config": {"norm": "layer"}},
    "GELU, not squared ReLU": {"config": {"activation": "gelu"}},
    "SwiGLU, not squared ReLU": {"config": {"activation": "swiglu"}},
    "no QK-norm": {"config": {"qk_norm": False}},
    "with biases": {"config": {"bias": True}},
    "tied output": {"config": {"tied": True}},
    "blocks do not begin at zero": {"config": {"zero_start": False}},
    "constant rate": {"decay": 0.0},
    "no warm-up": {"warmup": 0},
    "windows drawn at random": {"windows": "random"},
    "float32": {"precision": "float32"},
    "+ the last 3 tokens embedded": {"config": {"last_tokens": 3}},
    "+ hashed n-grams, n to 6": {"config": {"ngrams": 6, "ngram_dropout": 0.3}},
    "+ the same without n-gram dropout": {"config": {"ngrams": 6}},
    "GPT-2's shape, AdamW": GPT2,
}


class RandomWindows:
    """Windows at places drawn at random, so that some come twice before others come at all."""

    def __init__(self, tokens: Tensor, seed: int) -> None:
        self.tokens, self.seed = tokens, seed

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(2**20 * self.seed + step)
        starts = torch.randint(len(self.tokens) - T, (B, 1), generator=generator)
        rows = self.tokens[starts + torch.arange(T + 1)]
        return rows[:, :-1], rows[:, 1:]


def build(
    change: dict, seed: int, steps: int, text: Text, rate: float = ADAMW_RATE
) -> tuple[Training, Callable[[], float]]:
    """The training of one entry, and what gives its bits per byte when it is done."""
    torch.manual_seed(seed)
    drawn = change.get("windows") == "random"
    batches = RandomWindows(text.train, seed) if drawn else TextWindows(text.train, B, T, seed)
    if change.get("form") == "gpt2":
        model = GPT(GPTConfig.gpt2(text.V, **SHAPE))
    else:
        model = gpt_with_ngrams(text.V, **SHAPE, **change.get("config", {}))
    predictor = CachedPredictor(model, text.newline)
    plain = change.get("optimizer") == "AdamW"
    training = Training(
        model,
        batches,
        steps,
        learning_rate=rate,
        warmup=change.get("warmup", min(10, steps - 1)),
        decay=change.get("decay", 1.0),
        optimizers=None if plain else gpt_optimizers(model, **RATES),
        precision=change.get("precision", "auto"),
    )
    return training, lambda: score(predictor, text.validation, text.corpus.validation).bits_per_byte


def times_per_step(rounds: int = 3, steps: int = 8) -> dict[str, float]:
    """Median milliseconds of a step, every entry in turn, on the threads that PyTorch takes."""
    text = Text("lantern_bay")
    trainings = {name: build(change, 0, 1000, text)[0] for name, change in ENTRIES.items()}
    iterators: dict[str, Iterator] = {name: iter(run) for name, run in trainings.items()}
    found: dict[str, list[float]] = {name: [] for name in ENTRIES}
    for _ in range(rounds):
        for name, records in iterators.items():
            seconds = [next(records).seconds for _ in range(steps)]
            found[name] += [b - a for a, b in itertools.pairwise(seconds[1:])]
    return {name: round(1000 * statistics.median(values), 2) for name, values in found.items()}


def run(steps: dict[str, int], job: Row) -> Row:
    """Train one entry in a process of its own; the steps are given, so its speed does not count."""
    torch.set_num_threads(1)
    entry, text = job["entry"], Text("lantern_bay")
    training, bits = build(ENTRIES[entry], job["seed"], steps[entry], text, job["rate"])
    list(training)
    return {"steps": steps[entry], "bits": bits()}


def main() -> None:
    parser = command(__doc__, seeds=5)
    parser.add_argument("--seconds", type=float, default=12.0)
    options = parser.parse_args()
    times = STUDY.entry("ms_per_step", times_per_step)
    steps = {name: max(20, int(1000 * options.seconds / ms)) for name, ms in times.items()}
    STUDY.write(budget_seconds=options.seconds, seeds=list(range(options.seeds)))
    adamw = [name for name, change in ENTRIES.items() if change.get("optimizer") == "AdamW"]
    jobs = [
        {"entry": name, "seed": TUNING_SEED, "rate": rate} for name in adamw for rate in ADAMW_RATES
    ]
    tuning = STUDY.side_by_side(jobs, partial(run, steps), "tuning")
    tuning.sort(key=lambda row: -row["bits"])
    rates = {row["entry"]: row["rate"] for row in tuning}  # the best one comes last
    jobs = [
        {"entry": name, "seed": seed, "rate": rates.get(name, ADAMW_RATE)}
        for seed in range(options.seeds)
        for name in ENTRIES
    ]
    STUDY.side_by_side(jobs, partial(run, steps), "ablation")


if __name__ == "__main__":
    main()
