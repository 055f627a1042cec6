"""The lecture's comparison with a spread: which network, and which negatives, over ten seeds.

    python -m benchmarks.parentheses_study [--seeds 10] [--processes 2] [--tune]

Every network is trained on the usual recipe (negatives are random strings) and on near misses, with
the same number of sequences, and then asked about every kind of sequence, also longer ones than in
training. Writes benchmarks/results/parentheses_study.json, which notebooks 06 and 07 show. `--tune`
first chooses each network's learning rate, on a seed of its own. About an hour on two cores.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.study import Study, command, machine
from helpers.data import parentheses_sets as sets
from helpers.data.parentheses_lecture import lecture_hard_set, lecture_set, lecture_test_set
from helpers.data.parentheses_negatives import NEAR_MISSES
from helpers.inference.classification import error, error_grid, errors_by_kind
from helpers.learning.training import Training
from helpers.models.recurrent_cells import GatedCell, LectureGRUCell, LSTMCell, ReLUElmanCell
from helpers.models.recurrent_models import RecurrentClassifier

STUDY = Study(__file__, lambda: {"machine": machine("one thread a run")}, indent=None)
SEQUENCES, BATCH, LENGTHS = 150_000, 100, range(6, 21, 2)
TEST_LENGTHS = (10, 20, 30, 40, 60)
GRID_LENGTHS, GRID_DEPTHS = (8, 12, 16, 20, 28, 40, 60), (3, 4, 6, 8, 10, 14, 20)
CHECKPOINTS = 20
RATES = (4e-3, 8e-3, 1.6e-2, 3.2e-2, 6.4e-2)
TUNING_SEEDS = (1000, 1001)
RECIPES = ("usual", "near misses", "honest only")


@dataclass(frozen=True)
class Network:
    cell: type
    d_hidden: int
    n_layers: int = 1


NETWORKS = {
    "Elman": Network(ReLUElmanCell, 50),
    "gated": Network(GatedCell, 50),
    "GRU": Network(LectureGRUCell, 50),
    "LSTM": Network(LSTMCell, 50),
    "Elman, wide": Network(ReLUElmanCell, 107),  # as many parameters as the LSTM
    "LSTM, 4 layers": Network(LSTMCell, 50, 4),  # the lecture's; its rate is that of one layer
}
# What is not needed for a comparison is left out.
LEFT_OUT = {(n, "honest only") for n in NETWORKS if n != "Elman"} | {
    ("LSTM, 4 layers", "near misses")
}


def build(name: str) -> nn.Module:
    network = NETWORKS[name]
    return RecurrentClassifier(network.cell, 10, network.d_hidden, n_layers=network.n_layers)


def training_set(recipe: str, n: int, generator: torch.Generator) -> sets.LabelledSequences:
    if recipe == "usual":
        return lecture_set(n, generator)
    if recipe == "honest only":
        return sets.honest_set(n, LENGTHS, generator)
    return sets.near_miss_set(n, LENGTHS, generator, NEAR_MISSES)


def fit(name: str, recipe: str, seed: int, learning_rate: float, validate=None, every: int = 0):
    """Train one network; yields the trainer's records and returns the model."""
    torch.manual_seed(seed)
    model = build(name)
    generator = torch.Generator().manual_seed(seed)
    data = training_set(recipe, SEQUENCES, generator)
    steps = SEQUENCES // BATCH
    settings = {"learning_rate": learning_rate, "warmup": 50, "loss": F.cross_entropy}
    batches = sets.batches(data, BATCH, generator, passes=None)
    seconds = 0.0
    settings |= {"validate": validate, "validate_every": every}
    for record in Training(model, batches, steps, **settings):
        seconds = record.seconds
    return model, seconds


def tune(task: tuple[str, float, int]) -> tuple[str, float, float]:
    """Error on near misses of the training lengths with one learning rate."""
    torch.set_num_threads(1)
    name, rate, seed = task
    held_out = sets.near_miss_set(8000, LENGTHS, torch.Generator().manual_seed(2000), NEAR_MISSES)
    try:
        model, _ = fit(name, "near misses", seed, rate)
    except ValueError:  # training diverged
        return name, rate, 0.5
    return name, rate, error(model, held_out)


def chosen_rate(tuning: list[tuple[str, float, float]], name: str) -> float:
    """The rate with the least mean error over the tuning seeds."""
    rates = sorted({rate for network, rate, _ in tuning if network == name})
    errors = {r: [e for n, rate, e in tuning if (n, rate) == (name, r)] for r in rates}
    return min(rates, key=lambda rate: sum(errors[rate]))


def run(task: tuple[str, str, int, float]) -> dict:
    """One training, and all that is asked of it."""
    torch.set_num_threads(1)
    name, recipe, seed, rate = task
    test = torch.Generator().manual_seed(3000)
    own = training_set(recipe, 4000, test)
    honest = sets.honest_set(4000, [20], test)
    curve: list[tuple[float, float]] = []

    def validate(model: nn.Module) -> float:
        curve.append((error(model, own), error(model, honest)))
        return curve[-1][0]

    model, seconds = fit(name, recipe, seed, rate, validate, SEQUENCES // BATCH // CHECKPOINTS)
    lecture = {
        "training set": error(model, lecture_set(8000, test)),
        "test set": error(model, lecture_test_set(8000, test)),
        "hard test set": error(model, lecture_hard_set(8000, test)),
    }
    by_kind = {
        length: errors_by_kind(model, sets.near_miss_set(12_000, [length], test))
        for length in TEST_LENGTHS
    }
    honest_errors = {n: error(model, sets.honest_set(4000, [n], test)) for n in TEST_LENGTHS}
    grid = error_grid(model, GRID_LENGTHS, GRID_DEPTHS, 300, test)
    return {
        "network": name,
        "recipe": recipe,
        "seed": seed,
        "seconds": round(seconds, 1),
        "lecture": _rounded(lecture),
        "by kind": {str(k): _rounded(v) for k, v in by_kind.items()},
        "honest": {str(k): round(v, 5) for k, v in honest_errors.items()},
        "grid": [[None if v != v else round(v, 3) for v in row] for row in grid.tolist()],
        "curve": [[round(a, 4), round(b, 4)] for a, b in curve],
    }


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 5) for name, value in values.items()}


def main() -> None:
    parser = command(__doc__, seeds=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tune", action="store_true", help="choose the learning rates anew")
    arguments = parser.parse_args()
    began = time.perf_counter()
    context = get_context("spawn")
    with ProcessPoolExecutor(arguments.processes, mp_context=context) as pool:
        tuning = STUDY.rows("tuning")
        if arguments.tune or not tuning:
            tuned = [name for name, network in NETWORKS.items() if network.n_layers == 1]
            tasks = [(n, r, seed) for n in tuned for r in RATES for seed in TUNING_SEEDS]
            tuning = list(pool.map(tune, tasks))
        best = {name: chosen_rate(tuning, name) for name, _, _ in tuning}
        rates = {name: best.get(name, best["LSTM"]) for name in NETWORKS}
        print("learning rates:", rates, flush=True)
        tasks = [
            (name, recipe, seed, rates[name])
            for seed in range(arguments.seeds)
            for name in NETWORKS
            for recipe in RECIPES
            if (name, recipe) not in LEFT_OUT
        ]
        runs = []
        for result in pool.map(run, tasks):
            runs.append(result)
            print(
                f"{result['network']:15} {result['recipe']:12} seed {result['seed']}: own test "
                f"{result['curve'][-1][0]:.4f}, honest at 20 {result['honest']['20']:.4f}, at 40 "
                f"{result['honest']['40']:.4f} ({result['seconds']:.0f} s)",
                flush=True,
            )
    parameters = {n: sum(p.numel() for p in build(n).parameters()) for n in NETWORKS}
    content = {
        "minutes": round((time.perf_counter() - began) / 60),
        "sequences": SEQUENCES,
        "batch": BATCH,
        "training lengths": list(LENGTHS),
        "grid lengths": list(GRID_LENGTHS),
        "grid depths": list(GRID_DEPTHS),
        "parameters": parameters,
        "tuning": tuning,
        "rates": rates,
        "runs": runs,
    }
    STUDY.write(**content)


if __name__ == "__main__":
    main()
