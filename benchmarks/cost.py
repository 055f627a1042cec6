"""What weights in few bits, blocks and scans save by the clock.

    python benchmarks/cost.py [--threads 2]

(1) Tokens a second at 10.65 million parameters, nanoGPT's size: one text of 300 tokens with the
cache, for each format of the weights, the median of three rounds in turn. (2) Seconds of one layer
against the length of the text: Elman, attention with a table, by blocks, PyTorch's fused kernel,
and the selective recurrence by scan and by loop. About three minutes on a machine that does nothing
else. Writes benchmarks/results/cost.json, which notebook 18 shows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from helpers.device import processor
from helpers.files import write_whole
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.sampling import sample
from helpers.models.blockwise_attention import attend_by_blocks, plain_attend
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.linear_recurrence import linear_recurrence, linear_recurrence_by_loop
from helpers.models.quantized import has_int8_kernel, quantize_model, weight_bytes

RESULTS = Path(__file__).parent / "results" / "cost.json"
BIG = {"n_layers": 6, "n_heads": 6, "d_model": 384, "max_length": 256}  # nanoGPT's GPU recipe
WRITTEN, ROUNDS, LENGTHS = 300, 3, (64, 256, 1024, 4096)


def writers() -> dict[str, tuple[Callable[[], object], float]]:
    """For each format what writes a text, and the bytes of its weights."""
    torch.manual_seed(0)
    model = GPT(GPTConfig.modern(65, **BIG)).eval()
    formats = {"float32": model, "bfloat16": GPT(model.config).bfloat16().eval()}
    if has_int8_kernel():
        formats["int8, kernel for bfloat16"] = quantize_model(formats["bfloat16"]).eval()
    formats["int8, made float32 first"] = quantize_model(model).eval()
    formats["int4 in groups, made first"] = quantize_model(model, 4, 32).eval()
    return {
        name: (
            partial(sample, CachedPredictor(made, bos=0), WRITTEN, torch.Generator()),
            weight_bytes(made),
        )
        for name, made in formats.items()
    }


def writing() -> dict[str, object]:
    """Tokens a second, all formats in turn."""
    made = writers()
    seconds: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(ROUNDS):
        for name, (write, _) in made.items():
            began = time.perf_counter()
            write()
            seconds[name].append(time.perf_counter() - began)
    rates = {name: WRITTEN / statistics.median(times) for name, times in seconds.items()}
    for name, rate in rates.items():
        print(f"{name:28} {rate:6.0f} tokens a second, {made[name][1] / 1e6:5.1f} MB", flush=True)
    parameters = sum(p.numel() for p in GPT(GPTConfig.modern(65, **BIG)).parameters())
    return {
        "tokens_per_second": rates,
        "megabytes": {name: size / 1e6 for name, (_, size) in made.items()},
        "parameters": parameters,
        "tokens": WRITTEN,
    }


@torch.no_grad()
def layers() -> dict[str, dict[str, float]]:
    """Seconds of one forward pass, D = 64, by length; the shortest of some rounds."""
    torch.manual_seed(0)
    cell, found = nn.RNNCell(64, 64), {}
    for T in LENGTHS:
        x, Q, K, V = torch.randn(4, T, 64).unbind()
        a, b = torch.rand(1, T, 64), torch.randn(1, T, 64)
        ways = {
            "Elman": partial(_elman, cell, x),
            "attention, table": partial(plain_attend, Q, K, V),
            "attention, blocks of 256": partial(attend_by_blocks, Q, K, V, 256),
            "attention, fused": partial(F.scaled_dot_product_attention, Q[None], K[None], V[None]),
            "linear recurrence, loop": partial(linear_recurrence_by_loop, a, b),
            "linear recurrence, scan": partial(linear_recurrence, a, b),
        }
        found[str(T)] = {name: _seconds(way) for name, way in ways.items()}
        print(T, {name: f"{1000 * s:.2f} ms" for name, s in found[str(T)].items()}, flush=True)
    return found


def _elman(cell: nn.RNNCell, x: torch.Tensor) -> torch.Tensor:
    h = torch.zeros(1, 64)
    for x_t in x:
        h = cell(x_t[None], h)
    return h


def _seconds(run: Callable[[], object], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    torch.set_num_threads(threads)
    machine = f"{processor()}, {threads} threads, torch {torch.__version__}"
    content = {"script": "benchmarks/cost.py", "machine": machine, **writing(), "layers": layers()}
    write_whole(RESULTS, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
