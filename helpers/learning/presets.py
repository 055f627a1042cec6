"""The presets of the course's GPT: sizes and settings for a laptop, a T4 and a large GPU.

The notebook on training and the command ``helpers.learning.pretrain`` take them from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from helpers.data.batching import TextWindows
from helpers.device import mixed_precision, steps_within
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig

# ``benchmarks/reader_gpt.py`` is the study behind it.
_TABLE = (
    # option, what it is, and its value in the presets tiny (for tests), laptop, laptop_long,
    # t4 and gpu
    ("layers", "blocks, L", 2, 4, 4, 6, 6),
    ("heads", "heads of attention, H", 2, 4, 4, 8, 6),
    ("width", "width of the model, D", 16, 128, 128, 256, 384),
    ("dropout", "share set to zero in training", 0.1, 0.0, 0.0, 0.1, 0.2),
    ("length", "tokens of a window, T", 16, 320, 320, 320, 320),
    ("batch", "windows of a batch, B", 4, 8, 8, 32, 64),
    ("accumulate", "batches of a step", 1, 1, 1, 1, 1),
    ("steps", "steps of the whole run", 40, 800, 8000, 3000, 3000),
    ("learning_rate", "highest rate of AdamW", 3e-3, 1e-2, 1e-2, 1e-2, 5e-3),
    ("muon_rate", "highest rate of Muon", 0.02, 0.03, 0.03, 0.03, 0.03),
    ("weight_decay", "of Muon and AdamW, on matrices", 0.0, 0.0, 0.1, 0.1, 0.1),
    ("warmup", "steps in which the rates rise", 2, 20, 20, 50, 50),
    ("decay", "share of the steps, at the end, in which they fall", 1.0, 1.0, 1.0, 1.0, 1.0),
    ("save_every", "steps between two checkpoints", 10, 200, 500, 250, 250),
    ("precision", "float32, bfloat16, float16 or auto", "float32", *["auto"] * 4),
    ("stored", "of the stored weights: float32, bfloat16 or float16", "float32", *["bfloat16"] * 4),
    ("compile", "run through torch.compile where possible", False, False, False, True, True),
)
PRESETS: dict[str, dict[str, Any]] = {
    name: {row[0]: row[column] for row in _TABLE}
    for column, name in enumerate(("tiny", "laptop", "laptop_long", "t4", "gpu"), start=2)
}


# Steps of the preset laptop that a machine of speed 1 makes in a second, by their precision.
_PER_SECOND = {"float32": 2.8, "bfloat16": 9.4}
LEAST_STEPS = 150  # fewer do not show what the notebook on training is about
QUICK_STEPS = 400  # of the preset laptop on a CPU: enough to pass an n-gram model


def in_time(name: str, device: torch.device, seconds: float = 130.0) -> dict[str, Any]:
    """A preset for the notebook's own loop, whose steps fit into so many seconds on this device.

    On a CPU the preset "laptop" makes as many steps as there is time for by the machine's speed,
    from 150 to 400. On a GPU some steps of its preset are timed; where not even 150 of them fit,
    the preset is "laptop". The loop neither compiles nor scales its loss, so "precision" is
    "bfloat16" or "float32". "laptop_long" keeps its steps.

    Args:
        seconds: for the training, without the validations in between.
    """
    preset, precision = dict(PRESETS[name]), mixed_precision(device)
    precision = precision if precision == "bfloat16" else "float32"
    preset |= {"precision": precision, "compile": False}
    if name == "laptop_long":
        return preset
    if device.type == "cpu":
        most = min(preset["steps"], QUICK_STEPS)
        steps = steps_within(seconds, _PER_SECOND[precision], LEAST_STEPS, most)
    else:
        steps = int(seconds * steps_a_second(preset, device)) // 50 * 50
        if steps < LEAST_STEPS and name != "laptop":
            return in_time("laptop", device, seconds)
        steps = max(LEAST_STEPS, min(steps, preset["steps"]))
    warmup = min(preset["warmup"], steps // 10)
    return preset | {"steps": steps, "warmup": warmup}


def steps_a_second(preset: dict[str, Any], device: torch.device, V: int = 2048) -> float:
    """How many steps of a preset the device makes in a second: eight are made, the last five timed.

    Random numbers are left as they were.
    """
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        sizes = {"max_length": preset["length"], "n_layers": preset["layers"]}
        sizes |= {"n_heads": preset["heads"], "d_model": preset["width"]}
        model = GPT(GPTConfig.modern(V, **sizes)).to(device)
        tokens = torch.arange(preset["length"] * (preset["batch"] + 2)) % V
        training = Training(
            model,
            TextWindows(tokens, preset["batch"], preset["length"]),
            8,
            optimizers=gpt_optimizers(model, 1e-3, 1e-3),
            precision=preset["precision"],
        )
        seconds = [record.seconds for record in training]
    return 5 / max(seconds[-1] - seconds[2], 1e-6)


def preset_for(device: torch.device) -> str:
    """The name of the preset that a device deserves.

    "gpu" on CUDA GPUs with units for bfloat16 (compute capability 8 and later), "t4" on older ones
    and on Apple's GPU, "laptop" on a CPU.
    """
    if device.type == "cuda":
        return "gpu" if torch.cuda.get_device_capability(device) >= (8, 0) else "t4"
    return "t4" if device.type == "mps" else "laptop"


def with_dropout(model: nn.Module, p: float) -> nn.Module:
    """The model, in which every dropout leaves out this share of the numbers."""
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = p
    return model


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command's options, each of them as given or from the preset; None reads ``sys.argv``."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers.learning.pretrain",
        description="Train a GPT on a text; called again, it goes on from the last checkpoint.",
    )
    text = "lantern_stories, lantern_reader, lantern_bay, tiny_shakespeare, or the path of a UTF-8 "
    text += "file or of a folder of *.txt"
    parser.add_argument("--text", default="lantern_stories", help=text)
    parser.add_argument("--tokenizer", default="bpe:2048", help="bpe:N for N tokens, or char")
    parser.add_argument("--preset", default="laptop", choices=PRESETS)
    parser.add_argument("--folder", help="where the run lies; work/gpt_PRESET if not given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--device", choices=("cpu", "cuda", "mps"), help="the best one if not given"
    )
    own = parser.add_argument_group("instead of the preset's value (" + " / ".join(PRESETS) + ")")
    for name, meaning, *values in _TABLE:
        option = "--" + name.replace("_", "-")
        meaning += f" ({' / '.join(map(str, values))})"
        if isinstance(values[0], bool):
            own.add_argument(option, action=argparse.BooleanOptionalAction, help=meaning)
        else:
            own.add_argument(option, type=type(values[0]), help=meaning, metavar="X")
    options = parser.parse_args(arguments)
    for name, value in PRESETS[options.preset].items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.save_every < 1:
        parser.error(f"--save-every is {options.save_every}; expected 1 or more")
    if options.stored not in ("float32", "bfloat16", "float16"):
        parser.error(f"--stored is {options.stored}; expected float32, bfloat16 or float16")
    options.folder = options.folder or f"work/gpt_{options.preset}"
    return options
