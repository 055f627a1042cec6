"""Checks of lab 07, task 6: a plan that keeps to a budget, and what it comes to."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.common import BITS, GROUP, MEMORY, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.environment import find_root
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import read_stories
from helpers.data.reader_instructions import Instruction, to_mention
from helpers.inference.plausibility import bits_per_byte, text_log_probs
from helpers.learning import checkpoints
from helpers.models.fused_attention import fused
from helpers.models.gpt import GPT

MEGABYTES, GFLOPS = 0.75, 90.0  # what a plan may take
MOST_BITS, MOST_LOST = 44.0, 0.3  # what it must come to
T = 32  # positions of a text
MAPS = {"qkv": (True, True, True), "output": (True,), "up": (True,), "down": (True,)}
FORGETS = see(17, "Keep what it knew")
NEAR = 0.01  # a forecast's
CHOICES = {
    "bits": (2, 4, 8),
    "rank": tuple(range(1, 65)),
    "first": (0, 1, 2, 3),
    "rows": tuple(range(1, 257)),
    "steps": tuple(range(1, 2001)),
}
SETTINGS = (*CHOICES, "rate")


class Tuned(NamedTuple):
    """What a plan has come to."""

    model: GPT
    bits: float  # for each answer that was held out
    lost: float  # bits per byte of old stories


@cache
def shipped() -> tuple[GPT, BPETokenizer]:
    """The GPT that ships with the course, with fused attention, and its tokenizer."""
    folder = find_root() / "data/checkpoints/lantern_stories_gpt"
    gpt = checkpoints.load_model(folder)[0].float().eval()
    return fused(gpt), BPETokenizer.load(folder / "tokenizer.json")


def requests(part: str) -> list[Instruction]:
    """Sentences about somebody, asked for by the name and by whether somebody speaks in them."""
    return [
        task._replace(prompt=f"{task.prompt.strip()}\nSpoken: {_spoken(task)}\n\n")
        for task in to_mention(read_stories(part), each=4)
    ]


def _spoken(task: Instruction) -> str:
    return "yes" if '"' in task.answer else "no"


def batch_of(tasks: Sequence[Instruction], length: int = T) -> tuple[Tensor, Tensor]:
    """What is read and the targets, (B, length) each."""
    tokenizer = shipped()[1]
    end, read, targets = tokenizer.special_ids[END_OF_TEXT], [], []
    for task in tasks:
        prompt = [end, *tokenizer.encode(task.prompt).tolist()]
        answer = [*tokenizer.encode(task.answer).tolist(), end]
        row, empty = [*prompt, *answer], length + 1 - len(prompt) - len(answer)
        read.append(row[:-1] + [end] * empty)
        targets.append([-100] * (len(prompt) - 1) + answer + [-100] * empty)
    return torch.tensor(read), torch.tensor(targets)


@cache
def examples(part: str, number: int | None = None) -> tuple[Instruction, ...]:
    """Those that fit into T positions, in a random order."""
    made, tokenizer = requests(part), shipped()[1]
    short = [
        task for task in made
        if len(tokenizer.encode(task.prompt)) + len(tokenizer.encode(task.answer)) + 1 <= T
    ]  # fmt: skip
    order = torch.randperm(len(short), generator=torch.Generator().manual_seed(0))
    return tuple(short[i] for i in order[:number].tolist())


@torch.no_grad()
def bits_of(model: nn.Module, tasks: Sequence[Instruction]) -> float:
    """The surprise of an answer and its end, in bits, on average."""
    read, targets = batch_of(tasks, T + 8)
    costs = [
        F.cross_entropy(model(x).transpose(1, 2), y, reduction="sum")
        for x, y in zip(read.split(50), targets.split(50), strict=True)
    ]
    return float(sum(costs)) / len(tasks) / math.log(2)


@cache
def _old_texts() -> tuple[list[Tensor], list[str]]:
    tokenizer, texts = shipped()[1], [s.document for s in read_stories("validation")[:12]]
    end = torch.tensor([tokenizer.special_ids[END_OF_TEXT]])
    return [torch.cat([end, tokenizer.encode(text), end]) for text in texts], texts


def bits_of_old_stories(model: nn.Module) -> float:
    """Bits per byte of stories that no model here was trained on."""
    return bits_per_byte(text_log_probs(model, _old_texts()[0]), _old_texts()[1])


def build(model: GPT, bits: int, rank: int, first: int, kinds: Any = solutions) -> GPT:
    """Freeze a fused GPT, pack the maps of its blocks, put LoRA around those from ``first`` on."""
    model.requires_grad_(False)
    for i, block in enumerate(model.blocks):
        for part in (block.attention, block.feed_forward):
            for name in MAPS:
                if old := getattr(part, name, None):
                    new = kinds.Packed(old, bits, GROUP) if bits < 16 else old
                    if i >= first:
                        new = kinds.LoRA(new, MAPS[name], rank, 2 * rank)
                    setattr(part, name, new)
    return model


def cost(model: GPT, positions: int) -> tuple[float, float]:
    """MB of the blocks' maps and of what training keeps; 10^9 operations for so many positions.

    Counted from the modules: codes, two bytes a scale, and 16 for each number that is trained;
    2 operations for a weight in a block below all that is trained, 4 for one in the others and in
    the output, 6 for one that is trained.
    """
    stored, operations, below = 0.0, 4 * model.output.weight.numel(), True
    for block in model.blocks:
        trained = sum(p.numel() for p in block.parameters() if p.requires_grad)
        below = below and not trained
        stored, operations = stored + 16 * trained, operations + 6 * trained
        for layer in block.modules():
            if hasattr(layer, "codes"):
                stored += layer.codes.numel() + 2 * layer.scales.numel()
                operations += (2 if below else 4) * layer.in_features * layer.out_features
    return stored / 1e6, operations * positions / 1e9


@cache
def tuned(
    bits: int, rank: int, first: int, rows: int, steps: int, rate: float, seed: int = 0
) -> Tuned:
    """Train as a plan says; a plan is trained once."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build(copy.deepcopy(shipped()[0]), bits, rank, first)
    tuner, draw = solutions.Repaired(model, rate), torch.Generator().manual_seed(seed)
    tasks = examples("train")
    for step in range(steps):
        tuner.optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 10, 1 - step / steps)
        chosen = torch.randint(len(tasks), (rows,), generator=draw).tolist()
        tuner.step(*batch_of([tasks[i] for i in chosen]))
    lost = bits_of_old_stories(model) - untouched()
    return Tuned(model, bits_of(model, examples("test", 200)), lost)


@cache
def untouched() -> float:
    """Bits per byte of old stories before anything is changed."""
    return bits_of_old_stories(shipped()[0])


def _plan() -> dict[str, float]:
    bits, rank, first, rows, steps = 4, 2, 0, 8, 80
    block, output, D, hidden = 196_608, 262_144, 128, 512
    thin = rank * ((D + D) * 3 + (D + D) + (D + hidden) * 2)  # A and B of one block
    adapted = 4 - first
    weights = 4 * block * (bits / 8 + 2 / 32)
    token = (2 * first + 4 * adapted) * block + 4 * output + 6 * adapted * thin
    return {
        **{"bits": bits, "rank": rank, "first": first, "rows": rows, "steps": steps},
        "rate": 0.006,
        "MB": (weights + 16 * adapted * thin) / 1e6,
        "GFLOPs": rows * steps * 32 * token / 1e9,
    }


@lab.task(_plan, without=["_plan", "fallback"])
def plan(trial: Trial) -> None:
    got = trial.call(given="plan()")
    trial.named(got, (*SETTINGS, "MB", "GFLOPs"))
    for name, allowed in CHOICES.items():
        hint = f"{name}: one of {', '.join(map(str, allowed))}." if len(allowed) < 5 else \
            f"{name}: a whole number from 1 to {allowed[-1]:,}."  # fmt: skip
        fine = type(got[name]) is int and got[name] in allowed
        trial.holds(fine, "settings that can be run", hint, given=name, got=repr(got[name]))
    for name in ("rate", "MB", "GFLOPs"):
        fine = isinstance(got[name], int | float) and 0 < got[name] < math.inf
        hint = "A number above 0 is asked for."
        trial.holds(fine, "settings that can be run", hint, given=name, got=repr(got[name]))
    plan = {name: got[name] for name in SETTINGS}
    model = build(copy.deepcopy(shipped()[0]), plan["bits"], plan["rank"], plan["first"])
    positions = plan["rows"] * plan["steps"] * T
    stored, operations = cost(model, positions)
    given = ", ".join(f"{name} {value}" for name, value in plan.items())
    hint = f"Fewer bits, a smaller rank or fewer adapted blocks take less. {MEMORY}"
    trial.holds(stored <= MEGABYTES, f"it keeps to {MEGABYTES} MB", hint, given=given,
                got=f"{stored:.3f} MB")  # fmt: skip
    hint = "Operations grow with rows times steps, and with the blocks that a gradient has to pass."
    trial.holds(operations <= GFLOPS, f"it keeps to {GFLOPS:.0f} GFLOPs", hint, given=given,
                got=f"{operations:.1f} GFLOPs")  # fmt: skip
    for name, value, hint in (
        ("MB", stored, f"For each weight of the blocks bits / 8 + 2 / {GROUP} bytes, and 16 for "
         f"each that is trained: on paper as in task 1. {BITS}"),
        ("GFLOPs", operations, "For each position 4 for a weight of an adapted block and of the "
         "output, 2 for one below them, 6 for one that is trained; rows, steps and 32 positions."),
    ):  # fmt: skip
        near = abs(got[name] - value) < NEAR * value
        trial.holds(near, f"the forecast is right: {name}", hint, given=given,
                    got=f"forecast {got[name]:.4g}", expected="what is counted, to 1 %")  # fmt: skip
    result = tuned(**plan)
    words = (
        "What two bits have spoiled so short a training does not bring back." if plan["bits"] < 4
        else "A few large batches make too few steps: take fewer rows and more steps."
        if plan["steps"] < 25 and plan["rows"] > 16
        else "It has read too little: the budget allows more."
        if operations < GFLOPS / 2
        else "The rate is too small for so few steps, or so large that the steps go astray."
    )  # fmt: skip
    trial.holds(result.bits <= MOST_BITS, f"at most {MOST_BITS} bits for an answer held out",
                words, given=given, got=f"{result.bits:.1f} bits")  # fmt: skip
    hint = "A smaller rate moves the weights less, and so does an update of all blocks than one of "
    hint += f"the last ones at a high rate. {FORGETS}"
    trial.holds(result.lost <= MOST_LOST, f"old stories lose at most {MOST_LOST} bits per byte",
                hint, given=given, got=f"{result.lost:.2f} bits per byte")  # fmt: skip
