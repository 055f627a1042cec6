"""Training on parentheses one sequence at a time, as in the lecture, and in batches.

    python benchmarks/parentheses.py [--sequences 40000] [--part 1|2]

Part 1: the same networks, the same sequences of the usual recipe, once through, both ways; error on
new ones. Part 2: 10,000 near misses of length 6 to 40 one at a time and 400,000 in batches, with
the error at length 40; beside them the usual recipe. About ten minutes on two cores, which nothing
else should use. Writes benchmarks/results/parentheses.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.data import parentheses_sets as sets
from helpers.data.parentheses_lecture import lecture_set
from helpers.data.parentheses_negatives import NEAR_MISSES
from helpers.device import processor
from helpers.inference.classification import error, errors_by_kind
from helpers.learning.training import Training
from helpers.models.recurrent_cells import GatedCell, LSTMCell, ReLUElmanCell
from helpers.models.recurrent_models import RecurrentClassifier

RESULTS = Path(__file__).parent / "results" / "parentheses.json"
LONG = range(6, 41, 2)
LARGE = 112  # units of the network of part 2


class Elman(nn.Module):
    """The lecture's networks, one sequence at a time: x (T, V) one-hot rows -> logits (1, 2)."""

    def __init__(self, n_symbols: int = 10, d_hidden: int = 50) -> None:
        super().__init__()
        self.x2h = nn.Linear(n_symbols, d_hidden)
        self.h2h = nn.Linear(d_hidden, d_hidden, bias=False)
        self.h2y = nn.Linear(d_hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(1, self.h2y.in_features)
        for t in range(len(x)):
            h = torch.relu(self.x2h(x[t]) + self.h2h(h))
        return self.h2y(h)


class Gated(Elman):
    def __init__(self, n_symbols: int = 10, d_hidden: int = 50) -> None:
        super().__init__(n_symbols, d_hidden)
        self.x2z = nn.Linear(n_symbols, d_hidden)
        self.h2z = nn.Linear(d_hidden, d_hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(1, self.h2y.in_features)
        for t in range(len(x)):
            z = torch.sigmoid(self.x2z(x[t]) + self.h2z(h))
            h = z * h + (1 - z) * torch.relu(self.x2h(x[t]) + self.h2h(h))
        return self.h2y(h)


class LSTM(nn.Module):
    def __init__(self, n_symbols: int = 10, d_hidden: int = 50) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_symbols, d_hidden)
        self.h2y = nn.Linear(d_hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.h2y(torch.relu(self.lstm(x[:, None])[0][-1]))


NETWORKS = {"Elman": (Elman, ReLUElmanCell), "gated": (Gated, GatedCell), "LSTM": (LSTM, LSTMCell)}
# Of a batch of 100, chosen on other seeds; one at a time it is 1e-3, Adam's own.
RATES = {"Elman": 8e-3, "gated": 1.6e-2, "LSTM": 2.4e-2}


def rows(data: sets.LabelledSequences) -> Iterator[tuple[Tensor, Tensor]]:
    for tokens, length, label in zip(data.tokens, data.lengths.tolist(), data.labels, strict=True):
        yield F.one_hot(tokens[:length], 10).float(), label[None]


def one_at_a_time(model: nn.Module, data: sets.LabelledSequences) -> float:
    """The lecture's loop, with Adam's default rate: seconds."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    began = time.perf_counter()
    for x, label in rows(data):
        loss = F.cross_entropy(model(x), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - began


@torch.no_grad()
def error_alone(model: nn.Module, data: sets.LabelledSequences) -> float:
    wrong = sum(int(model(x).argmax(1) != label) for x, label in rows(data))
    return wrong / len(data)


def in_batches(model: nn.Module, data: sets.LabelledSequences, rate: float) -> float:
    """Batches of 100, AdamW: seconds, cutting into batches and all else counted."""
    began = time.perf_counter()
    batches = list(sets.batches(data, 100, torch.Generator().manual_seed(0)))
    settings = {"learning_rate": rate, "warmup": 50, "loss": F.cross_entropy}
    for _ in Training(model, batches, len(batches), **settings):
        pass
    return time.perf_counter() - began


def compare(sequences: int) -> list[dict]:
    data = lecture_set(sequences, torch.Generator().manual_seed(1))
    held_out = lecture_set(8000, torch.Generator().manual_seed(2))
    results = []
    in_batches(RecurrentClassifier(ReLUElmanCell, 10, 50), data.take(slice(8000)), 1e-3)  # warm up
    print(f"{sequences:,} sequences of the usual recipe, once through")
    print(f"{'':8}{'one at a time':>16}{'error':>9}{'in batches':>14}{'error':>9}{'ratio':>8}")
    for name, (alone_class, cell) in NETWORKS.items():
        torch.manual_seed(0)
        alone, batched = alone_class(), RecurrentClassifier(cell, 10, 50)
        fast = in_batches(batched, data, RATES[name])
        slow = one_at_a_time(alone, data)
        row = {
            "network": name,
            "seconds one at a time": slow,
            "error one at a time": error_alone(alone, held_out),
            "seconds in batches": fast,
            "error in batches": error(batched, held_out),
        }
        results.append(row)
        print(
            f"{name:8}{slow:14.1f} s{100 * row['error one at a time']:7.2f} %{fast:12.2f} s"
            f"{100 * row['error in batches']:7.2f} %{slow / fast:7.0f}x",
            flush=True,
        )
    return results


def long_near_misses(n: int, generator: torch.Generator) -> sets.LabelledSequences:
    return sets.near_miss_set(n, LONG, generator, NEAR_MISSES)


def shortest_first(
    data: sets.LabelledSequences, batch_size: int, generator: torch.Generator, spread: float = 15
) -> list[tuple[Tensor, Tensor]]:
    """Batches by length, jumbled over about ``spread`` symbols: a curriculum."""
    batches = list(sets.batches(data, batch_size, generator))
    lengths = torch.tensor([float(tokens.shape[1]) for tokens, _ in batches])
    noise = spread * torch.rand(len(batches), generator=generator)
    return [batches[i] for i in (lengths + noise).argsort().tolist()]


def large_training(data: sets.LabelledSequences, seed: int) -> tuple[nn.Module, float]:
    """A larger Elman network, Muon on its recurrent matrix: the model and seconds."""
    began = time.perf_counter()
    torch.manual_seed(seed)
    model = RecurrentClassifier(ReLUElmanCell, 10, LARGE)
    cell = model.recurrent.cells[0]
    with torch.no_grad():  # start within 1 / sqrt(H), as torch.nn.RNN does
        for part in (cell.x2h.weight, cell.x2h.bias):
            part.mul_((10 / LARGE) ** 0.5)
    hidden = [cell.h2h.weight]
    others = [p for p in model.parameters() if p is not hidden[0]]
    optimizers = [
        torch.optim.AdamW(others, lr=6e-3, betas=(0.9, 0.99), weight_decay=0.0),
        torch.optim.Muon(hidden, lr=0.01, weight_decay=0.0),
    ]
    batches = shortest_first(data, 128, torch.Generator().manual_seed(seed))
    settings = {"warmup": 50, "loss": F.cross_entropy, "optimizers": optimizers}
    for _ in Training(model, batches, len(batches), **settings):
        pass
    return model, time.perf_counter() - began


def negatives_decide(seeds: int) -> list[dict]:
    generator = torch.Generator().manual_seed(3)
    few = long_near_misses(10_000, generator)
    test = sets.near_miss_set(16_000, [40], generator)
    honest = sets.honest_set(8_000, [40], generator)
    results = []

    def report(name: str, seconds: float, model: nn.Module) -> None:
        row = {
            "training": name,
            "seconds": seconds,
            "error at 40": error(model, test),
            "error at 40, honest": error(model, honest),
            "by kind": errors_by_kind(model, test),
        }
        results.append(row)
        print(
            f"{name:44}{seconds:8.1f} s{100 * row['error at 40']:8.2f} %"
            f"{100 * row['error at 40, honest']:8.2f} %",
            flush=True,
        )

    print(f"{'':44}{'':10}{'all kinds':>10}{'honest':>10}   error at length 40")
    for name in ("Elman", "gated"):
        torch.manual_seed(0)
        seconds = one_at_a_time(NETWORKS[name][0](d_hidden=LARGE), few)
        print(f"{name + ', 10,000 near misses one at a time':44}{seconds:8.1f} s", flush=True)
        results.append({"training": f"{name}, 10,000 one at a time", "seconds": seconds})
    for seed in range(seeds):
        model, seconds = large_training(
            long_near_misses(400_000, torch.Generator().manual_seed(10 + seed)), seed
        )
        report(f"Elman, 400,000 near misses in batches, seed {seed}", seconds, model)
    usual = lecture_set(400_000, torch.Generator().manual_seed(20), max_length=40)
    model, seconds = large_training(usual, 0)
    report("Elman, 400,000 of the usual recipe", seconds, model)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--part", type=int, choices=(1, 2))
    parser.add_argument("--threads", type=int, default=1, help="these matrices are too small for 2")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    content = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    machine = f"{processor()}, {arguments.threads} thread(s), torch {torch.__version__}"
    if arguments.part != 2:
        measured = compare(arguments.sequences)
        content["one at a time and in batches"] = {"machine": machine, "rows": measured}
    if arguments.part != 1:
        measured = negatives_decide(arguments.seeds)
        content["negatives decide"] = {"machine": machine, "rows": measured}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
