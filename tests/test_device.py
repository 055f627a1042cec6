"""What a device gains by, told with fakes: no machine has them all."""

from __future__ import annotations

import importlib.util
import shutil
import time

import pytest
import torch

from helpers import device as devices
from helpers.device import WORK, best_device, can_compile, mixed_precision, processor

CPU, CUDA, MPS = map(torch.device, ("cpu", "cuda", "mps"))


def fake_capability(monkeypatch, capability):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)


@pytest.mark.parametrize(
    ("expected", "capabilities"),
    [("float16", [(6, 1), (7, 0), (7, 5)]), ("bfloat16", [(8, 0), (8, 9), (9, 0), (12, 0)])],
)
def test_the_precision_of_a_gpu(monkeypatch, expected, capabilities):
    for capability in capabilities:
        fake_capability(monkeypatch, capability)
        assert mixed_precision(CUDA) == expected


@pytest.mark.parametrize("avx", [True, False, None])
@pytest.mark.parametrize("amx", [True, False, None])
@pytest.mark.parametrize("faster", ["bfloat16", "float32"])
def test_the_precision_of_a_cpu(monkeypatch, avx, amx, faster):
    """None stands for a PyTorch that cannot tell."""
    for name, answer in (("_is_avx512_bf16_supported", avx), ("_is_amx_tile_supported", amx)):
        monkeypatch.setattr(torch.cpu, name, lambda answer=answer: answer, raising=False)
        if answer is None:
            monkeypatch.delattr(torch.cpu, name)
    asked = []
    monkeypatch.setattr(devices, "_faster_on_this_cpu", lambda work: asked.append(work) or faster)
    assert mixed_precision(CPU, "reading") == (faster if avx or amx else "float32")
    assert asked == (["reading"] if avx or amx else [])


@pytest.mark.parametrize(
    ("float32", "bfloat16", "expected"),
    [(0.004, 0.001, "bfloat16"), (0.001, 0.004, "float32"), (0.002, 0.002, "float32")],
)
def test_a_cpu_is_timed_once_for_each_kind_of_work(monkeypatch, float32, bfloat16, expected):
    seconds, runs = {torch.float32: float32, torch.bfloat16: bfloat16}, []

    now = 0.0

    def piece(work, dtype):
        def run():
            nonlocal now
            now += seconds[dtype]
            runs.append(work)

        return run

    monkeypatch.setattr(devices.time, "perf_counter", lambda: now)
    monkeypatch.setattr(devices, "_piece_of", piece)
    monkeypatch.setattr(devices, "_cpu_has_bfloat16", lambda: True)
    devices._faster_on_this_cpu.cache_clear()
    try:
        assert [mixed_precision(CPU, work) for work in WORK] == [expected] * 3
        counted = len(runs)
        assert mixed_precision(CPU) == expected
        assert len(runs) == counted > 3 * 8
    finally:
        devices._faster_on_this_cpu.cache_clear()


@pytest.mark.parametrize("work", WORK)
def test_the_pieces_that_are_timed_run_in_either_precision(work):
    for dtype in (torch.float32, torch.bfloat16):
        devices._piece_of(work, dtype)()


def test_what_a_gpu_needs_to_compile(monkeypatch):
    found = {"triton": object()}
    monkeypatch.setattr(importlib.util, "find_spec", found.get)
    fake_capability(monkeypatch, (7, 5))
    assert can_compile(CUDA)
    fake_capability(monkeypatch, (6, 1))
    assert not can_compile(CUDA)
    fake_capability(monkeypatch, (9, 0))
    assert can_compile(CUDA)
    found.clear()
    assert not can_compile(CUDA)


def test_what_a_cpu_needs_to_compile(monkeypatch):
    present = {"clang++"}
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in present else None)
    assert can_compile(CPU)
    present.clear()
    assert not can_compile(CPU)
    present.add("my-compiler")
    monkeypatch.setenv("CXX", "my-compiler")
    assert can_compile(CPU)
    assert not can_compile(MPS)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_the_best_device(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert best_device() == torch.device(expected)


def test_the_processor_is_named_and_what_it_has(monkeypatch, tmp_path):
    given = tmp_path / "cpuinfo"
    given.write_text("vendor_id : X\nmodel name\t: My CPU v2\nmodel name\t: another\n")
    path = "helpers.device.Path"
    monkeypatch.setattr(path, lambda name: given if name == "/proc/cpuinfo" else None)
    monkeypatch.setattr("helpers.device._cpu_has_bfloat16", lambda: True)
    capability = torch.backends.cpu.get_cpu_capability()
    assert processor() == f"My CPU v2 ({capability}, bfloat16)"
    given.unlink()  # no such file on macOS and Windows
    monkeypatch.setattr("helpers.device._cpu_has_bfloat16", lambda: False)
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert processor() == f"arm64 ({capability})"


# --- The speed of a machine


@pytest.fixture
def unsaid(monkeypatch):
    """Nobody says how fast this machine is, and nobody has measured it."""
    monkeypatch.delenv(devices.SPEED, raising=False)
    devices._measured_speed.cache_clear()
    yield
    devices._measured_speed.cache_clear()


@pytest.mark.usefixtures("unsaid")
def test_the_speed_is_measured_once_and_quickly(monkeypatch):
    began = time.perf_counter()
    found = devices.speed()
    assert 0.001 < found < 100
    assert time.perf_counter() - began < 10 * 0.3  # on a busy machine
    assert 0.001 < devices.speed("thread_time") < 100
    monkeypatch.setattr(time, "perf_counter", lambda: pytest.fail("it is measured again"))
    assert devices.speed() == found


def test_the_speed_can_be_said(monkeypatch):
    monkeypatch.setenv(devices.SPEED, "0.25")
    assert devices.speed() == 0.25
    for wrong in ("fast", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(devices.SPEED, wrong)
        with pytest.raises(ValueError, match=r"COURSE_SPEED is .*; expected a positive number"):
            devices.speed()


@pytest.mark.parametrize(
    ("speed", "seconds"), [("1", 20), ("4", 20), ("0.5", 40), ("0.2", 100), ("0.001", 400)]
)
def test_a_slow_machine_gets_more_time(monkeypatch, speed, seconds):
    monkeypatch.setenv(devices.SPEED, speed)
    assert devices.time_for(20) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("speed", "steps"), [("10", 800), ("1", 800), ("0.4", 450), ("0.2", 200), ("0.01", 150)]
)
def test_steps_follow_the_machine_within_bounds(monkeypatch, speed, steps):
    monkeypatch.setenv(devices.SPEED, speed)
    assert devices.steps_within(120, 10, 150, 800) == steps


@pytest.mark.usefixtures("unsaid")
@pytest.mark.parametrize("clock", [lambda: 1.0, iter(range(10**9)).__next__])
def test_a_clock_of_no_use(monkeypatch, clock):
    """One that stands still, and one that counts in whole seconds."""
    monkeypatch.setattr(time, "perf_counter", clock)
    assert 0 < devices.speed() <= 0.2
