"""The lecture's comparison with a spread: which network, and which negatives, over ten seeds.

    python -m benchmarks.parentheses_study [--seeds 10]

Networks are trained on the usual recipe (negatives are random strings) or on near misses, with the
same number of sequences, and then asked about every kind of sequence, also longer ones than in
training. Each network's learning rate is chosen on seeds of their own.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, machine
from helpers.data import parentheses_sets as sets
from helpers.data.parentheses import count_shapes
from helpers.data.parentheses_lecture import lecture_set
from helpers.data.parentheses_negatives import NEAR_MISSES
from helpers.inference.classification import error, errors_by_kind
from helpers.learning.training import Training
from helpers.models.recurrent_cells import GatedCell, LectureGRUCell, LSTMCell, ReLUElmanCell
from helpers.models.recurrent_models import RecurrentClassifier

SEQUENCES, BATCH, LENGTHS = 150_000, 100, range(6, 21, 2)
GRID_LENGTHS, GRID_DEPTHS = (8, 12, 16, 20, 28, 40, 60), (3, 4, 6, 8, 10, 14, 20)
RATES = (4e-3, 8e-3, 1.6e-2, 3.2e-2, 6.4e-2)
TUNING_SEEDS = (1000, 1001)


def open_lstm(input_size: int, hidden_size: int) -> LSTMCell:
    """A cell whose forget gates begin with a bias of 1."""
    cell = LSTMCell(input_size, hidden_size)
    with torch.no_grad():
        cell.x2h.bias[:hidden_size] += 1
    return cell


# name -> (cell, hidden size, layers)
NETWORKS = {
    "Elman": (ReLUElmanCell, 50, 1),
    "gated": (GatedCell, 50, 1),
    "GRU": (LectureGRUCell, 50, 1),
    "LSTM": (LSTMCell, 50, 1),
    "LSTM, bias 1": (open_lstm, 50, 1),
    "Elman, wide": (ReLUElmanCell, 107, 1),  # as many parameters as the LSTM
    "LSTM, 4 layers": (LSTMCell, 50, 4),  # the lecture's; its rate is that of one layer
}
RECIPES = {
    "usual": ("Elman", "LSTM", "LSTM, 4 layers"),
    "near misses": ("Elman", "gated", "GRU", "LSTM", "Elman, wide", "LSTM, bias 1"),
}


def build(name: str) -> nn.Module:
    cell, d_hidden, layers = NETWORKS[name]
    return RecurrentClassifier(cell, 10, d_hidden, n_layers=layers)


def fit(name: str, recipe: str, seed: int, rate: float) -> tuple[nn.Module, float]:
    """A trained network, and the seconds."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model, generator = build(name), torch.Generator().manual_seed(seed)
    if recipe == "usual":
        data = lecture_set(SEQUENCES, generator)
    else:
        data = sets.near_miss_set(SEQUENCES, LENGTHS, generator, NEAR_MISSES)
    batches = sets.batches(data, BATCH, generator, passes=None)
    settings = {"learning_rate": rate, "warmup": 50, "loss": F.cross_entropy}
    *_, last = Training(model, batches, SEQUENCES // BATCH, **settings)
    return model, last.seconds


def tune(job: Row) -> Row:
    """Error on near misses of the training lengths with one learning rate."""
    held_out = sets.near_miss_set(8000, LENGTHS, torch.Generator().manual_seed(2000), NEAR_MISSES)
    try:
        model, _ = fit(job["network"], "near misses", job["seed"], job["rate"])
    except ValueError:  # training diverged
        return {"error": 0.5}
    return {"error": error(model, held_out)}


def on_shape(model: nn.Module, depth: int, length: int, test: torch.Generator) -> float | None:
    """Error on honest sequences of one length and depth, where there are enough such shapes."""
    # Inner closings come in runs of three closings or more.
    if length < 2 * depth or not count_shapes(length, depth):
        return None
    return round(error(model, sets.honest_set(300, [length], test, depth=depth)), 3)


def run(job: Row) -> Row:
    """One training, and all that is asked of it."""
    model, seconds = fit(job["network"], job["recipe"], job["seed"], job["rate"])
    test = torch.Generator().manual_seed(3000)
    usual = error(model, lecture_set(8000, test))
    by_kind = errors_by_kind(model, sets.near_miss_set(12_000, [20], test))
    honest = {str(n): round(error(model, sets.honest_set(4000, [n], test)), 5) for n in (20, 40)}
    return {
        "seconds": round(seconds, 1),
        "lecture": {"training set": round(usual, 5)},
        "by kind": {"20": {kind: round(share, 5) for kind, share in by_kind.items()}},
        "honest": honest,
        "grid": [[on_shape(model, depth, n, test) for n in GRID_LENGTHS] for depth in GRID_DEPTHS],
    }


def about() -> dict:
    return {
        "machine": machine("one thread a run"),
        "grid lengths": list(GRID_LENGTHS),
        "grid depths": list(GRID_DEPTHS),
        "parameters": {name: sum(p.numel() for p in build(name).parameters()) for name in NETWORKS},
    }


STUDY = Study(__file__, about, unsaid=["grid"], indent=None)


def main() -> None:
    options = command(__doc__, seeds=10).parse_args()
    jobs = [
        {"network": name, "rate": rate, "seed": seed}
        for name, (*_, layers) in NETWORKS.items()
        for rate in RATES
        for seed in TUNING_SEEDS
        if layers == 1
    ]
    tuning = STUDY.side_by_side(jobs, tune, "tuning")
    errors: dict[str, dict[float, float]] = {}
    for row in tuning:
        of_rate = errors.setdefault(row["network"], {})
        of_rate[row["rate"]] = of_rate.get(row["rate"], 0) + row["error"]
    rates = {name: min(of_rate, key=of_rate.__getitem__) for name, of_rate in errors.items()}
    rates["LSTM, 4 layers"] = rates["LSTM"]
    STUDY.write(rates=rates)
    jobs = [
        {"network": name, "recipe": recipe, "seed": seed, "rate": rates[name]}
        for seed in range(options.seeds)
        for recipe, names in RECIPES.items()
        for name in names
    ]
    STUDY.side_by_side(jobs, run, "runs")


if __name__ == "__main__":
    main()
