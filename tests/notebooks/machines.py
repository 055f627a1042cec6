"""All notebooks, with whole trainings and all claims, under the arithmetic of several machines.

    python -m tests.notebooks.machines [02 13 ...] [--settings avx2 plain]

PyTorch chooses its kernels by the processor and splits sums by the number of threads, so a trained
network is another one elsewhere. What is claimed of it must hold there too: this lists what falls,
and how long each notebook took.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

from helpers.course.environment import find_root
from helpers.course.workspace import find_notebook, released_notebooks
from tests.notebooks.claims_run import WHOLE

AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}
PLAIN = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
}
# name: (variables, threads of a kernel, notebooks at a time)
SETTINGS = {
    "here": ({}, 2, 1),  # as a student runs it: its times are the ones to quote
    "avx2": (AVX2, 1, 2),
    "plain": (PLAIN, 1, 2),
    "threads": ({}, 4, 1),
}
USUAL = ["here", "avx2", "plain"]


def run(root: Path, setting: str, notebooks: list[str], report: Path) -> int:
    """Run notebooks under one setting; write pytest's report, and return its exit code."""
    variables, threads, workers = SETTINGS[setting]
    arguments = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=3000"]
    arguments += [f"--junitxml={report}", "-q", "--tb=short", "-p", "no:cacheprovider"]
    arguments += ["-n", str(workers), "--dist", "loadfile"] if workers > 1 else []
    environment = {**os.environ, **variables, WHOLE: "1", "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "pytest", *arguments, "tests/notebooks/machines.py"]
    return subprocess.run([*command, *notebooks], cwd=root, env=environment).returncode


def read(report: Path) -> tuple[dict[str, float], list[str]]:
    """The seconds of each notebook, and what fell: a claim, or a cell that raised."""
    seconds: dict[str, float] = defaultdict(float)
    fallen = []
    for case in ElementTree.parse(report).iter("testcase"):
        name = re.split(r"[./]", case.get("classname", ""))[-2:]
        notebook = next((part for part in name if part[:2].isdigit()), name[-1])
        seconds[notebook] += float(case.get("time", 0))
        for failure in (*case.iter("failure"), *case.iter("error")):
            words = (failure.text or "").strip().split("\n")
            said = [line for line in words if "tests/claims/" in line or "Error" in line]
            fallen.append(f"{notebook} {case.get('name')}: {(said or words)[-1].strip()[:240]}")
    return seconds, fallen


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks.machines")
    parser.add_argument("notebooks", nargs="*", help="such as 02; without it, all of them")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=USUAL)
    options = parser.parse_args(arguments)
    root = find_root()
    paths = [find_notebook(root, name) for name in options.notebooks]
    paths = paths or [p for p in released_notebooks(root) if p.parent.name != "labs"]
    notebooks = [f"notebooks/{path.as_posix()}" for path in paths]
    all_seconds, all_fallen, failed = {}, {}, False
    with tempfile.TemporaryDirectory() as folder:
        for setting in options.settings:
            report = Path(folder) / f"{setting}.xml"
            failed |= run(root, setting, notebooks, report) != 0
            all_seconds[setting], all_fallen[setting] = read(report)
    print(f"\n{'seconds':32}" + "".join(f"{setting:>10}" for setting in options.settings))
    for path in paths:
        times = (all_seconds[setting].get(path.stem, 0) for setting in options.settings)
        print(f"{path.stem:32}" + "".join(f"{time:10.0f}" for time in times))
    for setting, fallen in all_fallen.items():
        print(f"\n{setting}: {len(fallen)} fell")
        print("\n".join(f"   {words}" for words in fallen))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
