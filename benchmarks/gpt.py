"""How fast a small GPT gets good, and how fast it writes, beside nanoGPT and transformers.

    python -m benchmarks.gpt --nanogpt CHECKOUT --text tiny_shakespeare.txt [--part 1 3 4]

Part 1: nanoGPT's README recipe for CPUs (0.80M parameters, 2,000 steps), and the time in which the
plain modern GPT of the course passes its loss, three seeds, in the precision that this machine
gains by and in float32, which nanoGPT's recipe uses on CPUs. Part 3: what a minute gives on tiny
Shakespeare and on the course's tales, with Kneser-Ney and an LSTM at equal time, with tables of
hashed n-grams and without. Part 4: characters per second with the cache at 10.65 million
parameters, beside nanoGPT and the transformers library (if installed).

Losses are nats per character of the whole validation text, in windows as long as in training.
Evaluation is left out of all times.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn

from benchmarks.cost import BIG, our_writers, seconds_in_turns
from benchmarks.study import Study, command, device
from helpers.data import corpora
from helpers.data.batching import TextWindows
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score, score_model
from helpers.inference.neural_predictor import RecurrentPredictor
from helpers.inference.sampling import sample
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.ngram_embedding import gpt_with_ngrams
from helpers.models.recurrent_cells import LSTMCell
from helpers.models.recurrent_models import RecurrentLM

SEEDS = (0, 1, 2)
RECIPE = (
    "--device=cpu --compile=False --eval_iters=20 --log_interval=1 --block_size=64 "
    "--batch_size=12 --n_layer=4 --n_head=4 --n_embd=128 --max_iters=2000 "
    "--lr_decay_iters=2000 --dropout=0.0 --eval_interval=2000"
)  # the README's line, with fewer evaluations
TWO_LAYERS = {"n_layers": 2, "n_heads": 4, "d_model": 128}
PLAIN = {
    "shape": {"n_layers": 2, "n_heads": 2, "d_model": 64, "activation": "gelu"},
    "T": 64,
    "B": 16,
    "steps": 360,
    "rates": {"learning_rate": 0.05, "muon_rate": 0.07, "betas": (0.8, 0.95)},
}
MINUTE = {
    "shape": {**TWO_LAYERS, "ngrams": 6, "ngram_dropout": 0.5},
    "T": 256,
    "B": 8,
    "steps": 1300,
    "rates": {"learning_rate": 0.03, "muon_rate": 0.05, "betas": (0.8, 0.95)},
}
LSTM = {"d_model": 64, "d_hidden": 192, "T": 64, "B": 16, "rate": 1e-2}
WRITTEN = 500  # tokens of part 4, as nanoGPT's sample.py does


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--nanogpt", type=Path, help="a checkout of nanoGPT (parts 1 and 4)")
    parser.add_argument("--text", type=Path, help="tiny Shakespeare; downloaded if left out")
    parser.add_argument("--part", type=int, nargs="+", default=[1, 3, 4])
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    machine = {**device(), "threads": options.threads, "python": platform.python_version()}
    parts = {1: against_nanogpt, 3: a_minute, 4: writing}
    for number in options.part:
        found = parts[number](options)
        Study(__file__).write(**{"machine": machine, f"part {number}": found})


class Text:
    """A corpus in characters; validation is the last tenth of tiny Shakespeare, as nanoGPT's."""

    def __init__(self, name: str, path: Path | None = None) -> None:
        shakespeare = name == "tiny_shakespeare"
        corpus = corpora.tiny_shakespeare(path) if shakespeare else corpora.lantern_bay()
        self.corpus, self.tokenizer = corpus, CharTokenizer.train(corpus.text)
        held_out = corpus.validation + (corpus.test if shakespeare else "")
        self.train, self.validation = map(self.tokenizer.encode, (corpus.train, held_out))
        self.V, self.newline = self.tokenizer.vocab_size, int(self.tokenizer.encode("\n"))


def gpt_training(
    text: Text, setting: dict, seed: int, steps: int, precision: str = "auto"
) -> tuple[GPT, Training]:
    torch.manual_seed(seed)
    T = setting["T"]
    model = gpt_with_ngrams(text.V, max_length=T, **setting["shape"])
    training = Training(
        model,
        TextWindows(text.train, setting["B"], T, seed),
        steps,
        warmup=10,
        optimizers=gpt_optimizers(model, **setting["rates"]),
        precision=precision,
    )
    if precision == "float32":
        training.optimizers[0].precision = precision  # Muon's products
    return model, training


def train_gpt(
    text: Text, setting: dict, seed: int = 0, steps: int | None = None, precision: str = "auto"
) -> dict:
    """Train once: seconds of the steps, and the loss on the whole validation text."""
    steps = steps or setting["steps"]
    model, training = gpt_training(text, setting, seed, steps, precision)
    seconds = [record.seconds for record in training][-1]
    loss = score_model(model, text.validation, setting["T"]).nats_per_token
    return {"seed": seed, "steps": steps, "seconds": seconds, "loss": loss}


def against_nanogpt(options: argparse.Namespace) -> dict:
    """Part 1: nanoGPT's recipe, then ours, with the same evaluation."""
    text = Text("tiny_shakespeare", options.text)
    peer = nanogpt_recipe(options, text)
    print(f"nanoGPT: {peer['loss']:.4f} nats per character after {peer['seconds']:.1f} s")
    found = {"nanoGPT": peer, "settings": PLAIN}
    for name, precision in (("ours", "auto"), ("ours, float32", "float32")):
        found[name] = [train_gpt(text, PLAIN, seed, precision=precision) for seed in SEEDS]
        for run in found[name]:
            ratio = peer["seconds"] / run["seconds"]
            print(f"{precision}, seed {run['seed']}: {run['loss']:.4f}, {ratio:.1f} times as fast")
    return found


def a_minute(options: argparse.Namespace) -> dict:
    """Part 3: about a minute of training for each model, on two texts."""
    found = {}
    for name in ("tiny_shakespeare", "lantern_bay"):
        text = Text(name, options.text)
        rows = {}
        for n in (6, 7, 8):
            began = time.perf_counter()
            model = ModifiedKneserNey(n).fit(text.train, text.V)
            seconds = time.perf_counter() - began
            loss = score(model, text.validation).nats_per_token
            rows[f"Kneser-Ney, n = {n}"] = {"seconds": seconds, "loss": loss}
        rows["GPT with n-grams"] = train_gpt(text, MINUTE)
        budget = rows["GPT with n-grams"]["seconds"]
        plain = {**MINUTE, "shape": TWO_LAYERS}
        steps = steps_in(budget, gpt_training(text, plain, 0, 25)[1])
        rows["GPT"] = train_gpt(text, plain, steps=steps)
        rows["LSTM"] = train_lstm(text, budget)
        for model, row in rows.items():
            print(f"{name}, {model}: {row['loss']:.4f} in {row['seconds']:.1f} s")
        found[name] = rows
    found["settings"] = {"GPT": MINUTE, "LSTM": LSTM}
    return found


def steps_in(budget: float, trial: Training) -> int:
    """How many steps fit into ``budget`` seconds, by those of ``trial`` after its first five."""
    seconds = [record.seconds for record in trial]
    return int(budget * (len(seconds) - 5) / (seconds[-1] - seconds[4]))


def train_lstm(text: Text, budget: float) -> dict:
    """An LSTM with AdamW for about ``budget`` seconds; the steps are counted out beforehand."""

    def build(steps: int) -> tuple[nn.Module, Training]:
        torch.manual_seed(0)
        model = RecurrentLM(LSTMCell, text.V, LSTM["d_model"], LSTM["d_hidden"])
        batches = TextWindows(text.train, LSTM["B"], LSTM["T"], 0)
        training = Training(model, batches, steps, learning_rate=LSTM["rate"], warmup=20)
        return model, training

    steps = steps_in(budget, build(25)[1])
    model, training = build(steps)
    seconds = [record.seconds for record in training][-1]
    loss = score(RecurrentPredictor(model, text.newline), text.validation).nats_per_token
    return {"steps": steps, "seconds": seconds, "loss": loss}


def writing(options: argparse.Namespace) -> dict:
    """Part 4: tokens per second at 10.65 million parameters, one text, the median of the rounds.

    nanoGPT and ours look back at 256 tokens at most; that of transformers has room for the whole
    text.
    """
    V, prompt = 65, torch.zeros(1, 1, dtype=torch.long)
    writers = {}
    if options.nanogpt:
        peer = nanogpt_module(options.nanogpt)
        config = peer.GPTConfig(
            block_size=256, vocab_size=V, n_layer=6, n_head=6, n_embd=384, dropout=0.0, bias=False
        )
        writers["nanoGPT"] = partial(peer.GPT(config).eval().generate, prompt, WRITTEN)
    try:
        library = import_module("transformers")
    except ImportError:
        print("transformers is not installed: left out")
    else:
        config = library.GPT2Config(
            vocab_size=V, n_positions=2 * 256, n_embd=384, n_layer=6, n_head=6, bos_token_id=0,
            eos_token_id=None, pad_token_id=0,
        )  # fmt: skip
        for name, dtype in {"float32": torch.float32, "bfloat16": torch.bfloat16}.items():
            theirs = library.GPT2LMHeadModel(config).to(dtype).eval()
            writers[f"transformers, {name}"] = partial(
                theirs.generate, prompt, max_new_tokens=WRITTEN, do_sample=True, top_k=0
            )
    for name, (predictor, _) in our_writers().items():
        writers[f"ours, {name}"] = partial(sample, predictor, WRITTEN, torch.Generator())
    seconds = seconds_in_turns(writers, len(SEEDS))
    rates = {name: WRITTEN / statistics.median(times) for name, times in seconds.items()}
    for name, rate in rates.items():
        print(f"{name}: {rate:.0f} tokens per second, {rate / min(rates.values()):.1f} times")
    parameters = sum(p.numel() for p in GPT(GPTConfig.modern(V, **BIG)).parameters())
    return {"tokens_per_second": rates, "tokens": WRITTEN, "parameters": parameters}


def nanogpt_module(checkout: Path) -> ModuleType:
    spec = spec_from_file_location("nanogpt_model", checkout / "model.py")
    module = module_from_spec(spec)
    sys.modules["nanogpt_model"] = module
    spec.loader.exec_module(module)
    return module


def nanogpt_recipe(options: argparse.Namespace, text: Text) -> dict:
    """Run nanoGPT's own training script on a copy, and score its model as ours are scored."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "nanogpt")
        shutil.copytree(options.nanogpt, copy, ignore=shutil.ignore_patterns(".git"))
        data = copy / "data" / "shakespeare_char"
        for name, tokens in (("train", text.train), ("val", text.validation)):
            (data / f"{name}.bin").write_bytes(tokens.to(torch.uint16).numpy().tobytes())
        import pickle  # the format that nanoGPT's script reads

        (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": text.V}))
        command = [sys.executable, "train.py", "config/train_shakespeare_char.py", *RECIPE.split()]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"nanoGPT's script failed:\n{done.stderr[-2000:]}")
        times = [
            float(t) / 1000 for t in re.findall(r"^iter \d+: .*time ([\d.]+)ms", done.stdout, re.M)
        ]
        estimate = float(re.findall(r"val loss ([\d.]+)", done.stdout)[-1])
        saved = torch.load(copy / "out-shakespeare-char" / "ckpt.pt", weights_only=False)
        peer = nanogpt_module(copy)
        model = peer.GPT(peer.GPTConfig(**saved["model_args"]))
        model.load_state_dict(saved["model"])
    # The first and the last of them hold an evaluation.
    seconds = sum(times[1:2000]) + statistics.median(times)
    loss = score_model(AllLogits(model), text.validation, 64).nats_per_token
    return {"seconds": seconds, "loss": loss, "own_estimate": estimate, "steps": 2000}


class AllLogits(nn.Module):
    """nanoGPT's model hands out the last position only, unless it is given targets."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        return self.model(tokens, tokens)[0]


if __name__ == "__main__":
    main()
