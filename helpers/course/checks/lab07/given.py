"""What lab 07 hands out: the GPT, requests to be followed, measures, and a training.

Shape letters: B texts, T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.environment import find_root
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import read_stories
from helpers.data.reader_instructions import Instruction, to_mention
from helpers.inference.plausibility import bits_per_byte, text_log_probs
from helpers.learning import checkpoints
from helpers.models.fused_attention import fused
from helpers.models.gpt import GPT

GROUP = 32  # numbers that share a scale
T = 32  # positions of a request with its answer
# All weights trained in 32 bits by ``train`` on 80 ``requests_batch`` of 8, one run for each rate:
# bits for an answer held out, bits per byte of old stories lost.
FULL = {0.0003: (40.7, 0.11), 0.001: (41.6, 0.29)}
PARTS = {"qkv": (True, True, True), "output": (True,), "up": (True,), "down": (True,)}


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


def build(model: GPT, bits: int, rank: int, first: int, Packed: type, LoRA: type) -> GPT:
    """Freeze a fused GPT, pack the maps of its blocks, put LoRA around those from ``first`` on.

    Args:
        first: the lowest block that gets LoRA; the number of blocks for none.
    """
    model.requires_grad_(False)
    for i, block in enumerate(model.blocks):
        for part in (block.attention, block.feed_forward):
            for name in PARTS:
                if old := getattr(part, name, None):
                    new = Packed(old, bits, GROUP)
                    if i >= first:
                        new = LoRA(new, PARTS[name], rank, 2 * rank)
                    setattr(part, name, new)
    return model


@cache
def untouched() -> float:
    """Bits per byte of old stories before anything is changed."""
    return bits_of_old_stories(shipped()[0])


def stories_batch(number: int, rows: int = 8, length: int = 96) -> tuple[Tensor, Tensor]:
    """Beginnings of stories that the GPT was trained on, in which every target counts."""
    tokenizer, stories = shipped()[1], read_stories("train")
    end, draw = tokenizer.special_ids[END_OF_TEXT], torch.Generator().manual_seed(number)
    texts = []
    for i in torch.randint(len(stories), (rows,), generator=draw).tolist():
        text = F.pad(tokenizer.encode(stories[i].document), (1, length), value=end)
        texts.append(text[: length + 1])
    both = torch.stack(texts)
    return both[:, :-1], both[:, 1:]


def requests_batch(number: int, rows: int = 8) -> tuple[Tensor, Tensor]:
    """Requests and answers, (rows, T) each."""
    tasks, draw = examples("train"), torch.Generator().manual_seed(number)
    return batch_of([tasks[i] for i in torch.randint(len(tasks), (rows,), generator=draw)])


def train(
    model: nn.Module, batch: Callable[[int], tuple[Tensor, Tensor]], steps: int, rate: float
) -> None:
    """Train what is not frozen; batch(step): what is read and the targets, (B, T) each."""
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, weight_decay=0)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 10, 1 - step / steps)
        read, targets = batch(step)
        optimizer.zero_grad()
        F.cross_entropy(model(read).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
