"""Which device the course computes on, in which precision, how fast, and whether it can compile."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import platform
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional as F

WORK = ("training", "products", "reading")
_CLEARLY = 1.15  # times as fast must bfloat16 be
# A machine of speed 1 multiplies matrices with so many operations a second (float32), and copies so
# many bytes: about what two cores with AVX-512 do, on which the stored studies ran. It is estimated
# from what was measured there (199e9 for squares of 512), and a machine that does 165e9 of these.
_PRODUCTS, _COPIES = 155e9, 28e9
_CAUTIOUS = 0.2  # the speed where none can be measured
SPEED = "COURSE_SPEED"  # a variable that says it instead, such as 0.2


def best_device() -> torch.device:
    """A CUDA GPU where there is one, else Apple's (MPS), else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe(device: torch.device) -> str:
    """The device in words, such as 'CPU' or the GPU's own name."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return "Apple GPU (MPS)" if device.type == "mps" else device.type.upper()


def processor() -> str:
    """The CPU's own name and the vector instructions that PyTorch uses on it, for benchmarks."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    name = next(named, "") or platform.processor() or platform.machine()
    words = [torch.backends.cpu.get_cpu_capability()]
    words += ["bfloat16"] if _cpu_has_bfloat16() else []
    return f"{name} ({', '.join(words)})"


def mixed_precision(device: torch.device, work: str = "training") -> str:
    """The precision of matrix products by which a kind of work gains on the device.

    On GPUs it follows from their generation: "bfloat16" on CUDA GPUs from compute capability 8
    (Ampere) on, "float16" on older ones, such as the T4, whose bfloat16 is emulated, and "float32"
    on Apple's. A CPU without instructions for bfloat16 takes "float32". On one that has them it is
    measured, once per process and kind of work, within about a tenth of a second: some CPUs have
    the instructions and lose by them. bfloat16 must win clearly, so that noise does not decide.

    Args:
        device: where the work is done.
        work: one of ``WORK``. "training": forward and backward passes in mixed precision.
            "products": batches of square matrices, as in Muon. "reading": one token at a time,
            whose cost is fetching the weights from memory.
    """
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.get_device_capability(device) >= (8, 0) else "float16"
    if device.type != "cpu" or not _cpu_has_bfloat16():
        return "float32"
    return _faster_on_this_cpu(work)


def speed(clock: str = "perf_counter") -> float:
    """How fast this machine's processor is; 1.0 is the one on which the stored studies ran.

    It is measured once per process and clock, within about three tenths of a second: products of
    matrices, which count three times, and copies in memory. The environment variable COURSE_SPEED
    overrides it. Where nothing can be measured it is 0.2, so that work is planned with caution.

    Args:
        clock: of ``time``; "thread_time" gives the speed of one core, whatever else runs.

    Raises:
        ValueError: COURSE_SPEED is not a positive number.
    """
    said = os.environ.get(SPEED, "")
    if not said:
        return _measured_speed(clock)
    with contextlib.suppress(ValueError):
        if 0 < float(said) < math.inf:
            return float(said)
    raise ValueError(f"{SPEED} is {said!r}; expected a positive number, such as 0.2.")


def time_for(seconds: float, clock: str = "perf_counter") -> float:
    """The seconds that work is allowed here which is allowed so many on a machine of speed 1.

    Never less than these, and at most twenty times as many. The clock is that of ``speed``.
    """
    return seconds / min(max(speed(clock), 0.05), 1.0)


def steps_within(seconds: float, per_second: float, least: int, most: int) -> int:
    """How many steps of a training fit into a time on this machine's processor.

    Rounded down to a multiple of a third of ``least``: two runs on one machine are mostly alike.

    Args:
        seconds: the time.
        per_second: steps that a machine of speed 1 makes in a second.
        least, most: how many there are at least and at most, whatever the machine.
    """
    unit = max(1, least // 3)
    return max(least, min(most, int(seconds * per_second * speed()) // unit * unit))


def can_compile(device: torch.device) -> bool:
    """Whether ``torch.compile`` finds what it needs to make code for the device.

    For a CUDA GPU: Triton, and compute capability 7 (Volta) or higher. For the CPU: a C++ compiler.
    Not for Apple's GPU. That it can does not say that it pays: on a CPU, compiling a small model
    takes longer than training it.
    """
    if device.type == "cuda":
        found = importlib.util.find_spec("triton") is not None
        return found and torch.cuda.get_device_capability(device) >= (7, 0)
    compilers = [os.environ.get("CXX", ""), "g++", "clang++", "c++", "cl"]
    return device.type == "cpu" and any(shutil.which(name) for name in compilers if name)


def _cpu_has_bfloat16() -> bool:
    # PyTorch tells it in functions that are not part of its public interface and may go away.
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, bool)() for name in names)


@cache
def _measured_speed(clock: str) -> float:
    a, b, large = torch.ones(1024, 192), torch.ones(192, 768), torch.ones(2**22)
    copied, threads, now = torch.empty_like(large), torch.get_num_threads(), getattr(time, clock)
    if clock == "thread_time":  # waiting for another core would count
        torch.set_num_threads(1)
    pieces = (
        (lambda: a @ b, 2 * 1024 * 192 * 768 / _PRODUCTS, 3),
        (lambda: copied.copy_(large), 2 * large.nbytes / _COPIES, 1),
    )
    needed = 0.0
    for run, expected, weight in pieces:
        run()
        times = []
        end = time.perf_counter() + 0.12
        while len(times) < 5 or time.perf_counter() < end:
            began = now()
            run()
            times.append(now() - began)
            if len(times) == 100:  # and a clock that stands still comes to an end
                break
        needed += weight / 4 * sorted(times)[len(times) // 4] / expected
    torch.set_num_threads(threads)
    return 1 / needed if needed > 0 else _CAUTIOUS


@cache
def _faster_on_this_cpu(work: str) -> str:
    """ "bfloat16" or "float32", by the shortest of a few runs of each, in turns."""
    runs = {name: _piece_of(work, getattr(torch, name)) for name in ("float32", "bfloat16")}
    shortest = dict.fromkeys(runs, float("inf"))
    for run in runs.values():
        run()  # the first call also prepares the kernels
    end = time.perf_counter() + 0.1
    for turn in range(30):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            shortest[name] = min(shortest[name], time.perf_counter() - began)
        if turn >= 2 and time.perf_counter() > end:
            break
    wins = shortest["float32"] > _CLEARLY * shortest["bfloat16"]
    return "bfloat16" if wins else "float32"


def _piece_of(work: str, dtype: torch.dtype) -> Callable[[], object]:
    """A small piece of the work in this precision. Zeros take as long as other numbers."""
    if work == "products":
        squares = torch.zeros(6, 192, 192, dtype=dtype)
        return lambda: torch.baddbmm(squares, squares @ squares.mT, squares)
    if work == "reading":
        weights = [torch.zeros(1536, 384, dtype=dtype) for _ in range(8)]
        x = torch.zeros(1, 384, dtype=dtype)
        return lambda: [F.linear(x, weight) for weight in weights]
    x = torch.zeros(1024, 192)
    up, down = (torch.zeros(*shape, requires_grad=True) for shape in ((768, 192), (192, 768)))

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            out = F.linear(F.relu(F.linear(x, up)), down)
        torch.autograd.grad(out.float().sum(), (up, down))

    return step
