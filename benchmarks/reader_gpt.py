"""What the course's GPT learns from its stories, and what it takes: the study behind notebook 13.

    python -m benchmarks.reader_gpt [PART ...] [--seeds 3]

Parts: laptop (the preset), baselines (modified Kneser-Ney on the same tokens), sizes (widths from
32 to 128 at the preset's tokens), vocabulary (from 512 to 4,096 tokens), copying (changes that were
to make the model look back for names earlier), steps (the preset laptop in fewer steps, with a
schedule of their own) and long (the preset laptop_long, ten times the steps, once).

Every run is measured on the Reader's validation stories as it goes, each read from its beginning:
bits per byte, and the share of minimal pairs that it decides rightly
(``helpers.data.minimal_pairs``), which chance gets half right. What is finished is measured on the
test part, too. Of baselines, laptop and long the seconds count: let the machine do nothing else.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import random
import re
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.study import Row, Study, command, device
from helpers.data.batching import TextWindows
from helpers.data.bpe import END_OF_TEXT
from helpers.data.lantern_reader import read_stories
from helpers.data.minimal_pairs import KINDS, MEN, WOMEN, minimal_pairs
from helpers.device import best_device, describe, mixed_precision
from helpers.inference.plausibility import bits_per_byte, right_choices, text_log_probs
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.presets import PRESETS
from helpers.learning.pretrain import Text
from helpers.learning.training import NumberedBatches, Training
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.ngram_embedding import gpt_with_ngrams

STUDY = Study(__file__, unsaid=["curve"])
V = 2048
WIDTHS = (32, 64, 96, 128)
STEPS = (150,)  # the fewest that notebook 13 makes of the preset laptop
VOCABULARIES = (512, 1024, 2048, 4096)


@cache
def text_of(vocabulary: int) -> Text:
    return Text.read("lantern_stories", f"bpe:{vocabulary}")


@cache
def pairs_of(part: str, kind: str) -> Sequence:
    return minimal_pairs(read_stories(part), kind)


def whole_stories(text: Text, part: str) -> tuple[list[Tensor], list[str]]:
    """The Reader's stories of a part: their tokens between two marks, and their text."""
    mark = torch.tensor([text.tokenizer.special_ids[END_OF_TEXT]])
    documents = [
        document.text
        for document in getattr(text.corpus, f"{part}_documents")
        if document.book.startswith("lantern_reader")
    ]
    return [torch.cat([mark, text.tokenizer.encode(d), mark]) for d in documents], documents


def measured_by(scorer: Callable, text: Text, part: str = "validation") -> dict[str, float]:
    """Bits per byte of a part, and what share of its minimal pairs is decided rightly."""
    tokens, documents = whole_stories(text, part)
    found = {"bits_per_byte": bits_per_byte(scorer(tokens), documents)}
    begin = text.tokenizer.special_ids[END_OF_TEXT]
    for kind in KINDS:
        right = right_choices(pairs_of(part, kind), text.tokenizer, begin, scorer)
        found[kind] = right.double().mean().item()
    return {name: round(value, 4) for name, value in found.items()}


def measured(model: nn.Module, text: Text, part: str = "validation") -> dict[str, float]:
    """The same of a neural language model."""
    return measured_by(partial(text_log_probs, model), text, part)


def build(
    preset: dict[str, Any],
    vocabulary: int,
    seed: int,
    batches: NumberedBatches | None = None,
    **changes: Any,
) -> Training:
    """The training of one preset; ``changes`` are settings of ``gpt_with_ngrams``."""
    text = text_of(vocabulary)
    torch.manual_seed(seed)
    sizes = {
        "max_length": preset["length"],
        "n_layers": preset["layers"],
        "n_heads": preset["heads"],
        "d_model": preset["width"],
        "dropout": preset["dropout"],
    }
    model = gpt_with_ngrams(text.tokenizer.vocab_size, **{**sizes, **changes})
    model = model.to(best_device())
    rates = (preset["learning_rate"], preset["muon_rate"], preset["weight_decay"])
    return Training(
        model,
        batches or TextWindows(text.train, preset["batch"], preset["length"], seed),
        preset["steps"],
        warmup=preset["warmup"],
        decay=preset["decay"],
        optimizers=gpt_optimizers(model, *rates),
        precision=preset["precision"],
        compiled=preset["compile"],
    )


def run(training: Training, text: Text, points: int) -> Row:
    """Train to the end: the curve, and the final figures on the test part."""
    steps = {
        max(1, round(training.steps * share**2))
        for share in torch.linspace(0.2, 1, points).tolist()
    }
    curve = []
    for record in training:
        if record.step in steps:
            point = {"step": record.step, "tokens": record.tokens}
            point["seconds"] = round(record.seconds, 4)
            curve.append(point | measured(training.model, text))
            print(curve[-1], flush=True)
    return {
        "parameters": sum(p.numel() for p in training.model.parameters()),
        "tokens": training.tokens,
        "seconds": round(training.seconds, 1),
        "curve": curve,
        "test": measured(training.model, text, "test"),
    }


def laptop(options: argparse.Namespace) -> None:
    """The preset laptop, once per seed."""
    for seed in range(options.seeds):
        STUDY.row({"seed": seed}, partial(of_laptop, seed), "laptop")


def of_laptop(seed: int) -> Row:
    return run(build(PRESETS["laptop"], V, seed), text_of(V), points=10)


def long(options: argparse.Namespace) -> None:
    """The preset laptop_long, once; its best weights and the tokenizer go to --save."""

    def make() -> Row:
        training = build(PRESETS["laptop_long"], V, 0)
        found = run(training, text_of(V), points=16)
        if options.save:
            card = card_of(training, found)
            checkpoints.save_model(options.save, training.model, card, torch.bfloat16)
            text_of(V).tokenizer.save(Path(options.save) / "tokenizer.json")
        return found

    STUDY.row({"seed": 0}, make, "long")


def card_of(training: Training, found: dict[str, Any]) -> dict[str, Any]:
    """The card of the model that ships: where it comes from, and how good it is in bfloat16."""
    text, stored = text_of(V), copy.deepcopy(training.model).bfloat16().float()
    parts = {part: measured(stored, text, part) for part in ("validation", "test")}
    points = found["curve"]
    return {
        "text": text.corpus.name,
        "tokenizer": f"bpe:{V}",
        "training_tokens": len(text.train),
        "training_tokens_sha256": text.sha256,
        "preset": "laptop_long",
        "settings": PRESETS["laptop_long"],
        "seed": 0,
        "parameters": found["parameters"],
        "device": describe(best_device()),
        "threads": torch.get_num_threads(),
        "precision": mixed_precision(best_device()),
        "torch": torch.__version__,
        "tokens_seen": found["tokens"],
        "seconds": found["seconds"],
        "bits_per_byte": {part: row["bits_per_byte"] for part, row in parts.items()},
        "minimal_pairs": {part: {kind: row[kind] for kind in KINDS} for part, row in parts.items()},
        "curve": {
            "step": [point["step"] for point in points],
            "seconds": [point["seconds"] for point in points],
            "validation": [[point["step"], point["bits_per_byte"]] for point in points],
        },
    }


def baselines(options: argparse.Namespace) -> None:
    """Kneser-Ney by n."""
    STUDY.entry("baselines", counted_models)


def counted_models() -> Row:
    text, counted = text_of(V), []
    for n in (2, 3, 4, 5, 6):
        began = time.perf_counter()
        model = ModifiedKneserNey(n).fit(text.train, text.tokenizer.vocab_size)
        row = {"n": n, "seconds": round(time.perf_counter() - began, 2)}

        def scorer(texts: Sequence[Tensor], model: ModifiedKneserNey = model) -> list[Tensor]:
            return [model.log_probs(tokens)[1:] for tokens in texts]

        counted.append({**row, **measured_by(scorer, text)})
    return {"Kneser-Ney": counted}


def untimed(
    part: str, asked: Row, training: Callable[[], Training], points: int, vocabulary: int = V
) -> None:
    """A run whose seconds are left out, so that it may go on beside other work."""

    def make() -> Row:
        found = run(training(), text_of(vocabulary), points)
        for row in (found, *found["curve"]):
            del row["seconds"]
        return found

    STUDY.row(asked, make, part)


def sizes(options: argparse.Namespace) -> None:
    """Widths at the laptop's depth, tokens and rates."""
    for seed, width in itertools.product(range(options.seeds), WIDTHS):
        preset = {**PRESETS["laptop"], "width": width, "heads": max(1, width // 32)}
        untimed("sizes", {"width": width, "seed": seed}, partial(build, preset, V, seed), 4)


def fewer_steps(options: argparse.Namespace) -> None:
    """The preset laptop in fewer steps: what slower machines can expect of it."""
    for seed, steps in itertools.product(range(options.seeds), STEPS):
        untimed(
            "steps", {"steps": steps, "seed": seed}, partial(build, in_steps(steps), V, seed), 2
        )


def in_steps(steps: int) -> dict[str, Any]:
    return {**PRESETS["laptop"], "steps": steps, "warmup": min(20, steps // 10)}


def vocabulary(options: argparse.Namespace) -> None:
    """Vocabularies at the laptop's other settings; tokens are shorter, the text per step too."""
    for size in VOCABULARIES:
        make = partial(build, PRESETS["laptop"], size, 0)
        untimed("vocabulary", {"vocabulary": size, "seed": 0}, make, 4, size)


class Changed:
    """The batches of a training, changed on their way to the model."""

    def __init__(self, windows: Any, change: Callable[[int, Tensor], Tensor]) -> None:
        self.windows, self.change = windows, change

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        inputs, targets = self.windows.batch(step)
        rows = self.change(step, torch.cat([inputs, targets[:, -1:]], 1))
        return rows[:, :-1], rows[:, 1:]


def repeated_at_first(steps: int, seed: int) -> Callable[[int, Tensor], Tensor]:
    """In the first steps, shuffled tokens that repeat themselves instead of text."""

    def change(step: int, rows: Tensor) -> Tensor:
        if step >= steps:
            return rows
        draw = random.Random(1000 * seed + step)
        for row in rows:
            period = draw.randint(16, rows.shape[1] // 2)
            some = row[torch.randperm(len(row))[:period]]
            row[:] = some.repeat(rows.shape[1] // period + 1)[: rows.shape[1]]
        return rows

    return change


def renamed(text: Text, share: float, seed: int) -> Text:
    """A text in which a share of the Reader's stories has its people exchanged, sex by sex."""
    draw, documents = random.Random(seed), []
    for document in text.corpus.train_documents:
        content = document.text
        if draw.random() < share:
            new = {}
            for group in (WOMEN, MEN):
                new |= dict(zip(group, draw.sample(group, len(group)), strict=True))
            content = re.sub(rf"\b({'|'.join(new)})\b", lambda m, new=new: new[m[0]], content)
        documents.append(content)
    tokens = text.tokenizer.encode(END_OF_TEXT.join(documents), special=True)
    return Text(text.corpus, text.tokenizer, tokens)


def copying(options: argparse.Namespace) -> None:
    """Does a change make the model look back for names earlier? The laptop's preset otherwise."""
    text, preset = text_of(V), PRESETS["laptop"]
    B, T = preset["batch"], preset["length"]

    def repeated(seed: int) -> Training:
        change = repeated_at_first(preset["steps"] // 10, seed)
        return build(preset, V, seed, Changed(TextWindows(text.train, B, T, seed), change))

    def others(seed: int) -> Training:
        return build(preset, V, seed, TextWindows(renamed(text, 0.5, seed).train, B, T, seed))

    changes: dict[str, Callable[[int], Training]] = {
        "none": lambda seed: build(preset, V, seed),
        "the previous token embedded too": lambda seed: build(preset, V, seed, last_tokens=2),
        "tied output": lambda seed: build(preset, V, seed, tied=True),
        "a tenth of the steps on repeated tokens": repeated,
        "people renamed in half of the stories": others,
    }
    for seed, (name, make) in itertools.product(range(options.seeds), changes.items()):
        untimed("copying", {"change": name, "seed": seed}, partial(make, seed), 3)


PARTS = {
    "laptop": laptop,
    "baselines": baselines,
    "sizes": sizes,
    "vocabulary": vocabulary,
    "copying": copying,
    "steps": fewer_steps,
    "long": long,
}
TIMED = ("baselines", "laptop", "long")  # their seconds belong to the machine that is written down


def main() -> None:
    parser = command(__doc__, PARTS, seeds=3)
    parser.add_argument("--save", help="a folder for the model of the part long")
    options = parser.parse_args()
    for part in options.parts:
        known = STUDY.read().get(part)
        PARTS[part](options)
        if part in TIMED and STUDY.read().get(part) != known:
            STUDY.write(machine={**device(), "threads": torch.get_num_threads()})


if __name__ == "__main__":
    main()
