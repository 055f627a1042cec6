"""The GPU's benchmark runs from end to end, at a size for tests, and can be taken up again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from helpers.data.bpe import BPETokenizer
from helpers.learning.checkpoints import load_model

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).resolve().parents[2]


def run(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/gpu.py", *map(str, options)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    done = run("--toy", "--folder", folder, "--save", folder / "model")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_budget_leaves_its_figures(finished):
    (budget,) = json.loads((finished / "gpu.json").read_text(encoding="utf-8"))["budgets"]
    assert budget["curve"][-1]["bits_per_byte"] < budget["curve"][0]["bits_per_byte"] < 9
    assert 0 <= budget["name"] <= 1


def test_the_model_of_the_longest_budget_can_be_read(finished):
    model, card = load_model(finished / "model")
    tokenizer = BPETokenizer.load(finished / "model" / "tokenizer.json")
    assert model.vocab_size == tokenizer.vocab_size
    assert card["parameters"] == sum(p.numel() for p in model.parameters())


def test_a_finished_budget_is_passed_over(finished):
    before = (finished / "gpu.json").read_bytes()
    done = run("--toy", "--folder", finished, "--rows", 0)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (finished / "gpu.json").read_bytes() == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so(tmp_path):
    done = run("--folder", tmp_path)
    assert done.returncode != 0
    assert "There is no GPU here: run this on one, or with --toy" in done.stderr
