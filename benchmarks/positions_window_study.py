"""Why a model with positions fails beyond its training length: the same texts, read with a window.

    python -m benchmarks.positions_window_study [--only order] [--seeds 5]

Trains models of ``positions_study.py`` with the settings chosen there, lets them read texts up to
eight times as long as in training, and then reads the same texts once more with a mask that hides
all keys further back than the training length. What only knows distances then meets none that is
new; absolute positions stay new. Also tries a learning rate beyond the grid of that study, for the
two schemes that do not reach the entropy, and what ALiBi owes to its slopes and to the feed-forward
layer. Adds run by run to
benchmarks/results/positions_window_study.json, which notebook 10 shows, and leaves out what is in
there already, so it may be stopped and started again. About fifteen minutes on one core.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.positions_study import STUDY as CHOSEN
from benchmarks.positions_study import TASKS, TUNING_SEED, buckets, chosen, fit, losses, run
from benchmarks.study import Study, command, machine
from helpers.models.attention import causal_mask
from helpers.models.transformer import Transformer

STUDY = Study(
    __file__,
    lambda: {
        "machine": machine(),
        "buckets": {task: buckets(s["T"], s["read"]) for task, s in TASKS.items()},
    },
    indent=None,
)
JOBS = [
    *(("order, 1 layer", scheme, 5) for scheme in ("none", "sinusoidal", "RoPE", "ALiBi")),
    ("order, 2 layers", "RoPE", 5),
    ("tales", "RoPE", 3),
    ("tales", "sinusoidal", 3),
]  # task, scheme, seeds
STEPS = {"tales": 400}  # fewer than in the first study: both readings are of the same model
BEYOND = 0.1  # a learning rate above the largest of the first study
WIDER = [(task, scheme) for task in ("order, 1 layer", "order, 2 layers")
         for scheme in ("none", "ALiBi")]  # fmt: skip
STEEP = (2.0, 1.0, 0.5, 0.25)  # ALiBi's own slopes for four heads are 1/4, 1/16, 1/64, 1/256
CHANGES = [("ALiBi", "steep slopes"), ("ALiBi", "no feed-forward"), ("RoPE", "no feed-forward")]


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
    T = TASKS[task]["T"]
    alter = steepen if change == "steep slopes" else without_feed_forward
    model, _, parts = fit(task, scheme, seed, rate, scale, change=alter)
    inside = losses(model, parts["test"], T, TASKS[task]["read"], T, rows=1024)
    shown = [v for v in inside if v is not None]
    return {
        "task": task,
        "scheme": scheme,
        "change": change,
        "seed": seed,
        "rate": rate,
        "nats inside": round(sum(shown) / len(shown), 5),
    }


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
    model, _, parts = fit(task, scheme, seed, rate, scale, STEPS.get(task))
    arguments = (parts["test"], setting["T"], setting["read"], setting["read"])
    plain = losses(model, *arguments)
    near = losses(Windowed(model, setting["T"]), *arguments)
    return {
        "task": task,
        "scheme": scheme,
        "seed": seed,
        "rate": rate,
        "scale": scale,
        "all keys": [round(v, 5) for v in plain],
        "window": [round(v, 5) for v in near],
    }


def main() -> None:
    parser = command(__doc__, seeds=5)
    parser.add_argument("--only", default="", help="a task, or the beginning of its name")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tuning = CHOSEN.rows("tuning")
    for task, scheme in WIDER:
        if task.startswith(arguments.only):
            job = (task, scheme, TUNING_SEED, BEYOND, 1.0)
            STUDY.row({"task": task, "scheme": scheme}, partial(run, job), "wider")
    for seed in range(arguments.seeds):
        for scheme, change in CHANGES:
            if "order, 1 layer".startswith(arguments.only):
                best = chosen(tuning, "order, 1 layer", scheme)
                asked = {"scheme": scheme, "change": change, "seed": seed}
                STUDY.row(asked, partial(changed, scheme, change, seed, *best), "changed")
    for task, scheme, seeds in JOBS:
        for seed in range(min(seeds, arguments.seeds)):
            if task.startswith(arguments.only):
                best = chosen(tuning, task, scheme)
                asked = {"task": task, "scheme": scheme, "seed": seed}
                STUDY.row(asked, partial(read_both_ways, task, scheme, seed, *best), "runs")


if __name__ == "__main__":
    main()
