"""The command that trains a GPT, on one device or, under torchrun, on several.

    python -m helpers.learning.pretrain --preset laptop --folder work/my_gpt
    torchrun --nproc_per_node 2 -m helpers.learning.pretrain --preset gpu --folder work/my_gpt

Stopped or killed, the same command goes on from the last checkpoint. In the end the folder holds
the weights that were best on the validation part, with their card and the tokenizer, see
``helpers.learning.checkpoints``; in ``checkpoints`` and ``best`` is what is needed to go on. With
several machines it must lie on a disk that they share. On Windows ``torchrun`` needs USE_LIBUV=0
in its environment, since PyTorch is built without libuv there.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from helpers.console import print_all
from helpers.data import corpora
from helpers.data.batching import TextWindows
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.tokenizers import CharTokenizer
from helpers.device import describe, mixed_precision
from helpers.files import check_writable
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.presets import PRESETS, parse
from helpers.learning.processes import Place, leave, placed
from helpers.learning.training import Record, Training
from helpers.models.gpt import GPT, GPTConfig

_MAY_CHANGE = ("save_every", "precision", "compile", "stored")  # when a run goes on
_SECONDS = 3.0  # between two lines
_POINTS = 200  # of the training curve, at most
CORPORA = {
    "lantern_stories": corpora.lantern_stories,
    "lantern_reader": corpora.lantern_reader,
    "lantern_bay": corpora.lantern_bay,
    "tiny_shakespeare": corpora.tiny_shakespeare,
}


@dataclass(frozen=True)
class Text:
    """A corpus in tokens. The part that is scored begins with the last token before it."""

    corpus: corpora.Corpus
    tokenizer: CharTokenizer | BPETokenizer
    train: Tensor = field(repr=False)

    @classmethod
    def read(cls, name: str, tokenizer: str) -> Text:
        """One of ``CORPORA`` or a path, as ``char`` or ``bpe:N`` tokens."""
        corpus = CORPORA[name]() if name in CORPORA else corpora.from_path(name)
        kind, _, size = tokenizer.partition(":")
        if kind == "char" and not size and corpus.separator != END_OF_TEXT:
            made = CharTokenizer.train(corpus.text)
            return cls(corpus, made, made.encode(corpus.train))
        if kind == "bpe" and size.isdecimal():
            marks = [END_OF_TEXT] if corpus.separator == END_OF_TEXT else []
            learned = BPETokenizer.train(corpus.train, int(size), special_tokens=marks)
            return cls(corpus, learned, learned.encode(corpus.train, special=True))
        raise ValueError(
            f"The tokenizer {tokenizer!r} is not known here: expected bpe:N with the size of the "
            "vocabulary, such as bpe:2048, or char for texts other than lantern_stories."
        )

    @property
    def sha256(self) -> str:
        """Of the training tokens."""
        return hashlib.sha256(self.train.numpy().astype("<i4").tobytes()).hexdigest()

    def encode(self, text: str) -> Tensor:
        """The ids (N,) of a text, with what stands between documents as one token."""
        if isinstance(self.tokenizer, BPETokenizer):
            return self.tokenizer.encode(text, special=True)
        return self.tokenizer.encode(text)

    def bits_per_byte(self, model: GPT, part: str) -> float:
        """What a model pays for the part "validation" or "test", read from its first token on.

        Beyond the first window each token sees at least half a window.
        """
        text = getattr(self.corpus, part)
        marks = getattr(self.tokenizer, "special_ids", {})
        before = marks.get(END_OF_TEXT, int(self.train[-1]))
        raw = corpora.without_marks(text)
        return score(CachedPredictor(model, before), self.encode(text), raw).bits_per_byte


class Run:
    """One run: the training, what it writes into its folder, and what it says.

    Raises:
        ValueError: a folder that cannot be written, a text, a tokenizer or settings that cannot be
            used, checkpoints of another run, or a batch that the processes cannot share evenly.
    """

    def __init__(self, options: argparse.Namespace, place: Place) -> None:
        self.options, self.place, self.folder = options, place, Path(options.folder).expanduser()
        if place.rank == 0:
            check_writable(self.folder)
        self.text = Text.read(options.text, options.tokenizer)
        windows = TextWindows(self.text.train, options.batch, options.length, options.seed)
        share = windows.share(place.rank, place.world)
        torch.manual_seed(options.seed)
        self.model = _model(options, self.text.tokenizer.vocab_size).to(place.device)
        self.training = Training(
            _parallel(self.model, place),
            share,
            options.steps,
            warmup=options.warmup,
            optimizers=_optimizers(options, self.model),
            decay=options.decay,
            accumulate=options.accumulate,
            precision=options.precision,
            compiled=options.compile,
        )
        torch.manual_seed(options.seed + 1 + place.rank)  # every process its own dropout
        points: dict[str, list[Any]] = {"step": [], "seconds": [], "nats_per_token": []}
        self.curve = points | {"validation": []}  # pairs of a step and its bits per byte
        self.best: list[float] = []  # its step and its bits per byte on the validation part

    def go(self) -> None:
        """Train to the end, from the last checkpoint on, and write the model."""
        options, training = self.options, self.training
        lines = _Lines(self.place.rank == 0)
        self._resume(lines)
        self._describe(lines)
        lines.begin(training)
        every, losses = max(1, options.steps // _POINTS), []
        for record in training:
            losses.append(record.loss)
            last = record.step == options.steps
            if record.step % every == 0 or last:
                self.curve["step"].append(record.step)
                self.curve["seconds"].append(round(record.seconds, 2))
                self.curve["nats_per_token"].append(round(sum(losses) / len(losses), 6))
                losses = []
            lines.show(record)
            if record.step % options.save_every == 0 or last:
                lines.say(self._save())
        lines.end()
        if self.place.rank == 0:
            lines.say(self._write_model())

    def _resume(self, lines: _Lines) -> None:
        training, place = self.training, self.place
        fresh = training.state_dict()["random"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            folder = self.folder / "checkpoints"
            notes = checkpoints.resume(folder, training, self._settings())
        for warning in caught:
            lines.say(str(warning.message))
        if notes is not None:
            self.curve, self.best = notes["curve"], notes["best"]
            states, state = notes["random"], training.state_dict()
            known = place.rank < len(states)
            state["random"] = _from_hex(states[place.rank]) if known else fresh
            training.load_state_dict(state)
        steps = place.gather(training.step)
        if len(set(steps)) > 1:
            raise ValueError(
                f"The processes found checkpoints of the steps {steps} in {self.folder}: it must "
                "lie on a disk that all machines share."
            )

    def _describe(self, lines: _Lines) -> None:
        text, place, training = self.text, self.place, self.training
        lines.say(
            f"{text.corpus.name}: {len(text.train):,} tokens to train on, "
            f"{text.tokenizer.vocab_size:,} different ones ({self.options.tokenizer})"
        )
        lines.say(
            f"GPT with {_parameters(self.model):,} parameters on {describe(place.device)}, "
            f"{_precision(self.options, place)}, processes: {place.world}"
        )
        if training.step:
            lines.say(f"Going on after step {training.step} of {training.steps}")

    def _save(self) -> str:
        """Write a checkpoint and say so; all processes come here, the first one writes."""
        states = self.place.gather(_to_hex(self.training.state_dict()["random"]))
        if self.place.rank > 0:
            return ""
        bits = round(self.text.bits_per_byte(self.model, "validation"), 5)
        self.curve["validation"].append([self.training.step, bits])
        if not self.best or bits < self.best[1]:
            self.best = [self.training.step, bits]
            checkpoints.save_model(self.folder / "best", self.model, {"step": self.training.step})
        notes = {"curve": self.curve, "best": self.best, "random": states}
        folder = self.folder / "checkpoints"
        path = checkpoints.save(folder, self.training, self._settings(), notes)
        return f"{bits:.4f} bits per byte on the validation part; saved {path.name}"

    def _write_model(self) -> str:
        """Write the best weights with their card and tokenizer, and say how good they are."""
        text, training = self.text, self.training
        model = checkpoints.load_model(self.folder / "best")[0].to(self.place.device)
        bits = {part: text.bits_per_byte(model, part) for part in ("validation", "test")}
        card = {
            "text": text.corpus.name,
            "tokenizer": self.options.tokenizer,
            "training_tokens": len(text.train),
            "training_tokens_sha256": text.sha256,
            "preset": self.options.preset,
            "settings": {name: getattr(self.options, name) for name in PRESETS["tiny"]},
            "seed": self.options.seed,
            "parameters": _parameters(self.model),
            "device": describe(self.place.device),
            "processes": self.place.world,
            "precision": _precision(self.options, self.place),
            "torch": torch.__version__,
            "tokens_seen": training.tokens,
            "seconds": round(training.seconds, 1),
            "best_step": self.best[0],
            "bits_per_byte": {part: round(value, 5) for part, value in bits.items()},
            "curve": self.curve,
        }
        dtype = None if self.options.stored == "float32" else getattr(torch, self.options.stored)
        checkpoints.save_model(self.folder, model, card, dtype)
        text.tokenizer.save(self.folder / "tokenizer.json")
        return (
            f"{training.tokens:,} tokens in {training.seconds:.0f} s; the best weights, of step "
            f"{self.best[0]}, have {bits['validation']:.4f} bits per byte on the validation part, "
            f"{bits['test']:.4f} on the test part; the model is in {self.folder}"
        )

    def _settings(self) -> dict[str, Any]:
        """What must be the same for a run to go on; where it computes may change."""
        fixed = [name for name in PRESETS["tiny"] if name not in _MAY_CHANGE]
        settings = {name: getattr(self.options, name) for name in ("tokenizer", "seed", *fixed)}
        return {"the SHA-256 of the text's tokens": self.text.sha256, **settings}


class _Lines:
    """A line every few seconds, and on a terminal a progress bar. Silent if not ``loud``."""

    def __init__(self, loud: bool) -> None:
        self.loud, self.bar, self.losses = loud, None, []

    def begin(self, training: Training) -> None:
        self.steps, self.last = training.steps, (-math.inf, training.tokens, training.seconds)
        if self.loud and sys.stdout.isatty():
            self.bar = tqdm(total=training.steps, initial=training.step, file=sys.stdout)

    def show(self, record: Record) -> None:
        self.losses.append(record.loss)
        if self.bar is not None:
            self.bar.update()
        now, (then, tokens, seconds) = time.monotonic(), self.last
        if now - then >= _SECONDS or record.step == self.steps:
            loss, speed = sum(self.losses) / len(self.losses), record.tokens - tokens
            speed /= record.seconds - seconds
            self.say(
                f"step {record.step} of {self.steps}: loss {loss:.4f} nats per token, "
                f"{speed:,.0f} tokens/s, {record.seconds:.0f} s"
            )
            self.losses, self.last = [], (now, record.tokens, record.seconds)

    def say(self, sentence: str) -> None:
        if self.loud and self.bar is not None:
            self.bar.write(sentence, file=sys.stdout)
        elif self.loud:
            print(sentence, flush=True)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def _model(options: argparse.Namespace, vocab_size: int) -> GPT:
    config = GPTConfig.modern(
        vocab_size,
        max_length=options.length,
        n_layers=options.layers,
        n_heads=options.heads,
        d_model=options.width,
        dropout=options.dropout,
    )
    return GPT(config)


def _parallel(model: GPT, place: Place) -> GPT | DistributedDataParallel:
    if place.world == 1:
        return model
    devices = [place.device] if place.device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=devices)


def _optimizers(options: argparse.Namespace, model: GPT) -> list[torch.optim.Optimizer]:
    optimizers = gpt_optimizers(
        model, options.learning_rate, options.muon_rate, options.weight_decay
    )
    if options.precision == "float32":
        optimizers[0].precision = "float32"  # Muon's Newton-Schulz
    return optimizers


def _parameters(model: GPT) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _precision(options: argparse.Namespace, place: Place) -> str:
    return mixed_precision(place.device) if options.precision == "auto" else options.precision


def _to_hex(states: dict[str, Tensor]) -> dict[str, str]:
    return {name: state.cpu().numpy().tobytes().hex() for name, state in states.items()}


def _from_hex(states: dict[str, str]) -> dict[str, Tensor]:
    return {
        name: torch.frombuffer(bytearray.fromhex(digits), dtype=torch.uint8)
        for name, digits in states.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 after an error, 130 after Ctrl-C."""
    print_all()
    options = parse(arguments)
    try:
        with placed(options.device) as place:
            Run(options, place).go()
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from the last checkpoint.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    leave(main())
