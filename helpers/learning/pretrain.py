"""The command that trains a GPT.

    python -m helpers.learning.pretrain --preset laptop --folder work/my_gpt

Stopped or killed, the same command goes on from the last checkpoint. In the end the folder holds
the weights that were best on the validation part, with their card and the tokenizer, see
``helpers.learning.checkpoints``; in ``checkpoints`` and ``best`` is what is needed to go on.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from helpers.console import print_all
from helpers.data import corpora
from helpers.data.batching import TextWindows
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.tokenizers import CharTokenizer
from helpers.device import best_device, describe, mixed_precision
from helpers.files import check_writable
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.presets import PRESETS, parse
from helpers.learning.training import Record, Training
from helpers.models.gpt import GPT, GPTConfig

_MAY_CHANGE = ("save_every", "precision", "compile", "stored")  # when a run goes on
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
        ValueError: a folder that cannot be written, a device that is not there, a text, a tokenizer
            or settings that cannot be used, or checkpoints of another run.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.folder = options, Path(options.folder).expanduser()
        self.device = best_device() if options.device is None else torch.device(options.device)
        if self.device.type not in ("cpu", best_device().type):
            raise ValueError(f"This machine has no device {options.device!r}: leave --device out.")
        check_writable(self.folder)
        self.text = Text.read(options.text, options.tokenizer)
        windows = TextWindows(self.text.train, options.batch, options.length, options.seed)
        torch.manual_seed(options.seed)
        self.model = _model(options, self.text.tokenizer.vocab_size).to(self.device)
        self.precision = options.precision
        if self.precision == "auto":
            self.precision = mixed_precision(self.device)
        self.training = Training(
            self.model,
            windows,
            options.steps,
            warmup=options.warmup,
            optimizers=_optimizers(options, self.model),
            decay=options.decay,
            accumulate=options.accumulate,
            precision=self.precision,
            compiled=options.compile,
        )
        torch.manual_seed(options.seed + 1)
        points: dict[str, list[Any]] = {"step": [], "seconds": [], "nats_per_token": []}
        self.curve = points | {"validation": []}  # pairs of a step and its bits per byte
        self.best: list[float] = []  # its step and its bits per byte on the validation part

    def go(self) -> None:
        """Train to the end, from the last checkpoint on, and write the model."""
        training, every = self.training, max(1, self.options.steps // _POINTS)
        self._resume()
        losses: list[float] = []
        progress = tqdm(training, total=training.steps, initial=training.step, disable=None)
        for record in progress:
            losses.append(record.loss)
            last = record.step == training.steps
            if record.step % every == 0 or last:
                self.curve["step"].append(record.step)
                self.curve["seconds"].append(round(record.seconds, 2))
                self.curve["nats_per_token"].append(round(sum(losses) / len(losses), 6))
                losses = []
            if record.step % self.options.save_every == 0 or last:
                tqdm.write(self._save(record))
                sys.stdout.flush()
        self._write_model()

    def _resume(self) -> None:
        """Go on from the last checkpoint, and say what will be trained."""
        text, training = self.text, self.training
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            notes = checkpoints.resume(self.folder / "checkpoints", training, self._settings())
        for warning in caught:
            print(warning.message)
        if notes is not None:
            self.curve, self.best = notes["curve"], notes["best"]
        print(
            f"{text.corpus.name}: {len(text.train):,} tokens to train on, "
            f"{text.tokenizer.vocab_size:,} different ones ({self.options.tokenizer})\n"
            f"GPT with {_parameters(self.model):,} parameters on {describe(self.device)}, "
            f"{self.precision}",
            flush=True,
        )
        if training.step:
            print(f"Going on after step {training.step} of {training.steps}", flush=True)

    def _save(self, record: Record) -> str:
        """Write a checkpoint, and the weights where they are the best so far; say so."""
        bits = round(self.text.bits_per_byte(self.model, "validation"), 5)
        self.curve["validation"].append([record.step, bits])
        if not self.best or bits < self.best[1]:
            self.best = [record.step, bits]
            checkpoints.save_model(self.folder / "best", self.model, {"step": record.step})
        notes = {"curve": self.curve, "best": self.best}
        folder = self.folder / "checkpoints"
        path = checkpoints.save(folder, self.training, self._settings(), notes)
        return (
            f"step {record.step} of {self.training.steps}: loss {record.loss:.4f} nats per token, "
            f"{record.tokens / record.seconds:,.0f} tokens/s, {record.seconds:.0f} s; "
            f"{bits:.4f} bits per byte on the validation part; saved {path.name}"
        )

    def _write_model(self) -> None:
        """Write the best weights with their card and tokenizer, and say how good they are."""
        text, training = self.text, self.training
        model = checkpoints.load_model(self.folder / "best")[0].to(self.device)
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
            "device": describe(self.device),
            "precision": self.precision,
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
        print(
            f"{training.tokens:,} tokens in {training.seconds:.0f} s; the best weights, of step "
            f"{self.best[0]}, have {bits['validation']:.4f} bits per byte on the validation part, "
            f"{bits['test']:.4f} on the test part; the model is in {self.folder}"
        )

    def _settings(self) -> dict[str, Any]:
        """What must be the same for a run to go on; where it computes may change."""
        fixed = [name for name in PRESETS["tiny"] if name not in _MAY_CHANGE]
        settings = {name: getattr(self.options, name) for name in ("tokenizer", "seed", *fixed)}
        return {"the SHA-256 of the text's tokens": self.text.sha256, **settings}


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


def _optimizers(options: argparse.Namespace, model: GPT) -> list[torch.optim.Optimizer]:
    optimizers = gpt_optimizers(
        model, options.learning_rate, options.muon_rate, options.weight_decay
    )
    if options.precision == "float32":
        optimizers[0].precision = "float32"  # Muon's Newton-Schulz
    return optimizers


def _parameters(model: GPT) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 after an error, 130 after Ctrl-C."""
    print_all()
    options = parse(arguments)
    try:
        Run(options).go()
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from the last checkpoint.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
