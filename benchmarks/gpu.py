"""What 10 seconds, a minute and ten minutes of training give on a GPU, for notebook 13, further.

    python benchmarks/gpu.py [--save FOLDER]

Of each budget: bits per byte and minimal pairs, measured with the weights that were the
best on the validation part. The model of the longest is saved in --save. ``--toy`` runs all of it
at a size for tests, on any device.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch

# The notebook on training calls it by its file, which alone would not find the study beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.reader_gpt import V, build, measured, text_of
from benchmarks.study import Study, command, device
from helpers.device import best_device, describe
from helpers.learning import checkpoints
from helpers.learning.presets import PRESETS

STUDY = Study(__file__, lambda: {"machine": device()}, unsaid=["curve"])
# What a budget, in seconds, trains: the width, and dropout where the text is read many times.
BUDGETS = {10: (256, 0.0), 60: (384, 0.1), 600: (384, 0.2)}
TOY = {1: (64, 0.0)}


def preset_of(width: int, dropout: float, steps: int, toy: bool) -> dict[str, Any]:
    preset = {**PRESETS["tiny"], "precision": "auto"} if toy else dict(PRESETS["gpu"])
    if not toy:
        preset |= {"width": width, "heads": width // 64}
    return preset | {"dropout": dropout, "steps": steps, "warmup": min(50, steps // 10)}


def seconds_a_step(preset: dict[str, Any], toy: bool) -> float:
    """After the compiler has done its work: the mean of the later ones of thirty steps."""
    records, marks = iter(build(preset, 300 if toy else V, 0)), []
    for _ in range(12 if toy else 30):
        marks.append(next(records).seconds)
    return (marks[-1] - marks[5]) / (len(marks) - 6)


def run(budget: int, width: int, dropout: float, options: argparse.Namespace) -> dict[str, Any]:
    """A budget has a schedule of its own, whose steps are counted out beforehand."""
    toy, vocabulary = options.toy, 300 if options.toy else V
    steps = max(8, int(budget / seconds_a_step(preset_of(width, dropout, 10**6, toy), toy)))
    training = build(preset_of(width, dropout, steps, toy), vocabulary, 0)
    text, curve = text_of(vocabulary), []
    best: tuple[float, dict] = (float("inf"), {})
    every = max(1, steps // (2 if toy else 12))
    for record in training:
        if record.step % every == 0 or record.step == steps:
            bits = measured(training.model, text)["bits_per_byte"]
            curve.append({"seconds": record.seconds, "bits_per_byte": bits})
            if bits < best[0]:
                weights = training.model.state_dict()
                best = bits, {name: tensor.clone() for name, tensor in weights.items()}
    training.model.load_state_dict(best[1])
    row = {
        "width": width,
        "dropout": dropout,
        "parameters": sum(p.numel() for p in training.model.parameters()),
        "seconds": round(training.seconds, 1),
        "tokens": training.tokens,
        "device": describe(best_device()),
        **measured(training.model, text, "test"),
        "curve": curve,
    }
    if options.save:
        card = {"text": "lantern_stories", "tokenizer": f"bpe:{vocabulary}", **row}
        checkpoints.save_model(options.save, training.model, card, torch.bfloat16)
        text.tokenizer.save(options.save / "tokenizer.json")
    return row


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--save", type=Path, help="a folder for the model of the longest budget")
    parser.add_argument("--toy", action="store_true")
    options = parser.parse_args()
    if best_device().type == "cpu" and not options.toy:
        raise SystemExit("There is no GPU here: run this on one, or with --toy to try it out.")
    for budget, sizes in (TOY if options.toy else BUDGETS).items():
        asked = {"preset": f"gpu, {budget} s"}
        STUDY.row(asked, partial(run, budget, *sizes, options), "budgets")


if __name__ == "__main__":
    main()
