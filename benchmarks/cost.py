"""What fewer bytes, blocks and scans save by the clock, beside what the memory allows.

    python -m benchmarks.cost [--threads 2]

(1) Bytes a second: a buffer is read over and over, once as large as the weights of each format (so
that it may stay in the processor's caches, as they may) and once far larger than these caches. (2)
Tokens a second at 10.65 million parameters, nanoGPT's size: one text with the cache, by the model
itself and by its packed weights in each format, the median of five rounds in turn. The memory can
deliver the weights ``bytes a second / bytes`` times a second: no writer that reads all of them for
each token is faster. (3) Milliseconds of one forward pass against the length of the text: Elman,
attention with a table, by blocks and by PyTorch's fused kernel, and a linear recurrence by scan and
by loop.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.study import Study, command, machine
from helpers.contracts import Predictor
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.packed_predictor import PackedPredictor
from helpers.inference.sampling import sample
from helpers.models.blockwise_attention import attend_by_blocks, plain_attend
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.linear_recurrence import linear_recurrence, linear_recurrence_by_loop
from helpers.models.quantized import has_int8_kernel

V, BIG = 65, {"n_layers": 6, "n_heads": 6, "d_model": 384, "max_length": 256}  # nanoGPT's on GPUs
SHAPES = {"GPT-2's shape": GPTConfig.gpt2(V, **BIG), "modern": GPTConfig.modern(V, **BIG)}
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}  # of a weight; int8 has two more for each row
WRITTEN, ROUNDS, LENGTHS, LARGE = 500, 5, (64, 256, 1024, 4096), 2**29  # LARGE: bytes


def matrices(model: GPT) -> list[torch.Tensor]:
    """What a token is multiplied by: all matrices of the blocks, and the output's."""
    found = [part.weight for part in model.modules() if isinstance(part, nn.Linear)]
    return found if model.output is not None else [*found, model.embedding.weight]


def bytes_read(model: GPT, weights: str) -> int:
    """Bytes of these matrices in a format, with two for the scale of each row in int8."""
    rows = sum(len(matrix) for matrix in matrices(model)) if weights == "int8" else 0
    return BYTES[weights] * sum(matrix.numel() for matrix in matrices(model)) + 2 * rows


def bytes_a_second(size: int) -> float:
    """Reading ``size`` bytes again and again, the quickest of several times."""
    x = torch.ones(size // 4)
    return x.numel() * 4 / seconds_of(x.sum, rounds=max(10, 2**31 // size))


def our_writers() -> dict[str, tuple[Predictor, int]]:
    """Each shape in each format, with the cache and packed, and the bytes of its matrices."""
    torch.manual_seed(0)
    found: dict[str, tuple[Predictor, int]] = {}
    for shape, config in SHAPES.items():
        models = {"float32": GPT(config).eval(), "bfloat16": GPT(config).bfloat16().eval()}
        for weights, model in models.items():
            cached = CachedPredictor(model, bos=0)
            found[f"{shape}, {weights}"] = cached, bytes_read(model, weights)
        for weights in BYTES:
            if weights != "int8" or has_int8_kernel():
                packed = PackedPredictor(models["float32"], bos=0, weights=weights)
                size = bytes_read(models["float32"], weights)
                found[f"{shape}, packed, {weights}"] = packed, size
    return found


def seconds_in_turns(
    writers: dict[str, Callable[[], object]], rounds: int
) -> dict[str, list[float]]:
    """Of each writer; all take turns, so that a machine that slows down slows all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    for _ in range(rounds):
        for name, write in writers.items():
            began = time.perf_counter()
            write()
            seconds[name].append(time.perf_counter() - began)
    return seconds


def writing() -> dict[str, object]:
    """Tokens a second, all ways in turn; and what the memory allows."""
    found = our_writers()
    sizes = {name: size for name, (_, size) in found.items()}
    writers = {
        name: partial(sample, predictor, WRITTEN, torch.Generator())
        for name, (predictor, _) in found.items()
    }
    seconds = seconds_in_turns(writers, ROUNDS)
    rates = {name: WRITTEN / statistics.median(times) for name, times in seconds.items()}
    memory = bytes_a_second(LARGE)
    cached = {size: bytes_a_second(size) for size in set(sizes.values())}
    for name, rate in rates.items():
        size = sizes[name]
        print(
            f"{name:32} {rate:6.0f} tokens a second, {size / 1e6:5.1f} MB; allowed by the memory "
            f"{memory / size:6.0f}, by a buffer of this size {cached[size] / size:6.0f}",
            flush=True,
        )
    print(f"memory: {memory / 1e9:.1f} GB/s")
    return {
        "tokens": WRITTEN,
        "rounds": ROUNDS,
        "parameters": {
            shape: sum(p.numel() for p in GPT(config).parameters())
            for shape, config in SHAPES.items()
        },
        "memory, bytes a second": memory,
        "writing": {
            name: {
                "tokens a second": rate,
                "slowest": WRITTEN / max(seconds[name]),
                "fastest": WRITTEN / min(seconds[name]),
                "bytes": sizes[name],
                "bytes a second of a buffer of this size": cached[sizes[name]],
            }
            for name, rate in rates.items()
        },
    }


@torch.no_grad()
def layers() -> dict[str, dict[str, float]]:
    """Milliseconds of one forward pass, D = 64, by length; the shortest of some rounds."""
    torch.manual_seed(0)
    cell, found = nn.RNNCell(64, 64), {}
    for T in LENGTHS:
        x, Q, K, V = torch.randn(4, T, 64).unbind()
        fused = (y[None, None] for y in (Q, K, V))  # other shapes are not fused on CPUs
        a, b = torch.rand(1, T, 64), torch.randn(1, T, 64)
        ways = {
            "Elman": partial(elman, cell, x),
            "attention, table": partial(plain_attend, Q, K, V),
            "attention, blocks of 256": partial(attend_by_blocks, Q, K, V, 256),
            "attention, fused": partial(F.scaled_dot_product_attention, *fused),
            "linear recurrence, loop": partial(linear_recurrence_by_loop, a, b),
            "linear recurrence, scan": partial(linear_recurrence, a, b),
        }
        found[str(T)] = {name: 1000 * seconds_of(way) for name, way in ways.items()}
        print(T, {name: f"{ms:.2f} ms" for name, ms in found[str(T)].items()}, flush=True)
    return found


def elman(cell: nn.RNNCell, x: torch.Tensor) -> torch.Tensor:
    h = torch.zeros(1, 64)
    for x_t in x:
        h = cell(x_t[None], h)
    return h


def seconds_of(run: Callable[[], object], rounds: int = 10) -> float:
    """The shortest of some rounds, after one that does not count."""
    run()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    torch.set_num_threads(threads)
    about = {"machine": machine(f"{threads} threads")}
    Study(__file__, lambda: about).write(**writing(), layers=layers())


if __name__ == "__main__":
    main()
