"""Everything that the course wants to know of a GPU, in one command and less than 25 minutes.

    python benchmarks/gpu.py [--nanogpt CHECKOUT --text tiny_shakespeare.txt] [--save FOLDER]

Parts, each of which is written to benchmarks/results/gpu.json when it is finished and passed over
when the command is called again (so it can be stopped at any time):

speed     tokens per second and memory of several widths, in each precision, with and without
          torch.compile
budgets   the best that 10 seconds, a minute and ten minutes of training give: bits per byte,
          minimal pairs, and stories; the last of them is saved in --save
writing   tokens per second when writing with the cache
race      seconds to 1.47 nats per character on tiny Shakespeare, beside nanoGPT's own recipe for
          GPUs (left out without --nanogpt and --text)

``--toy`` runs all parts at a size for tests, on any device.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

# The notebook on training calls it by its file, which alone would not find the study beside it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.reader_gpt import V, build, measured, stories, text_of
from helpers.data import corpora
from helpers.data.batching import TextWindows
from helpers.data.tokenizers import CharTokenizer
from helpers.device import best_device, can_compile, describe, mixed_precision
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score_model
from helpers.inference.sampling import sample
from helpers.learning import checkpoints
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.presets import PRESETS
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig

RESULTS = Path(__file__).parent / "results" / "gpu.json"
WIDTHS = (256, 384, 512, 768, 1024)
BUDGETS = (10, 60, 600)  # seconds
# What a budget trains: the width, and dropout where the text is read many times.
OF_BUDGET = {10: (256, 0.0), 60: (384, 0.1), 600: (384, 0.2)}
TARGET = 1.47  # nats per character, nanoGPT's README for its GPU recipe
RACE = {"learning_rate": 0.01, "muon_rate": 0.03, "weight_decay": 0.1}
RACE_STEPS = (250, 400, 600, 900)


def preset_of(width: int, dropout: float, steps: int, toy: bool) -> dict[str, Any]:
    preset = {**PRESETS["tiny"], "precision": "auto"} if toy else dict(PRESETS["gpu"])
    if not toy:
        preset |= {"width": width, "heads": width // 64}
    return preset | {"dropout": dropout, "steps": steps, "warmup": min(50, steps // 10)}


def seconds_a_step(preset: dict[str, Any], toy: bool) -> float:
    """After the compiler has done its work: the mean of the later ones of thirty steps."""
    training = build({**preset, "steps": 10**6}, V if not toy else 300, 0)
    records, marks = iter(training), []
    for _ in range(12 if toy else 30):
        marks.append(next(records).seconds)
    return (marks[-1] - marks[5]) / (len(marks) - 6)


def speed(options: argparse.Namespace) -> list[dict[str, Any]]:
    device, found = best_device(), []
    kinds = ["float32", "bfloat16", "float16"] if device.type == "cuda" else ["float32", "bfloat16"]
    for width in WIDTHS[:1] if options.toy else WIDTHS:
        for precision in kinds if width in (256, 384) else kinds[1:2]:
            for compiled in (False, True) if can_compile(device) and not options.toy else (False,):
                preset = preset_of(width, 0.0, 1000, options.toy)
                preset |= {"precision": precision, "compile": compiled}
                row = {"width": width, "precision": precision, "compiled": compiled}
                if device.type == "cuda":
                    torch.cuda.reset_peak_memory_stats()
                try:
                    each = seconds_a_step(preset, options.toy)
                except RuntimeError as error:  # it does not fit
                    row["failed"] = str(error)[:120]
                else:
                    row["ms_per_step"] = round(1000 * each, 3)
                    row["tokens_per_second"] = round(preset["batch"] * preset["length"] / each)
                if device.type == "cuda":
                    row["memory_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
                found.append(row)
                print(row, flush=True)
    return found


def budgets(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Each budget has a schedule of its own, whose steps are counted out beforehand."""
    found = []
    vocabulary = 300 if options.toy else V
    for budget in (1,) if options.toy else BUDGETS:
        width, dropout = OF_BUDGET.get(budget, (64, 0.0))
        steps = max(
            8,
            int(
                budget / seconds_a_step(preset_of(width, dropout, 10**6, options.toy), options.toy)
            ),
        )
        training = build(preset_of(width, dropout, steps, options.toy), vocabulary, 0)
        text, curve, losses = text_of(vocabulary), [], []
        best: tuple[float, dict] = (float("inf"), {})
        every = max(1, steps // (2 if options.toy else 12))
        for record in training:
            losses.append(record.loss)
            if record.step % every == 0 or record.step == steps:
                bits = measured(training.model, text)["bits_per_byte"]
                point = {"step": record.step, "tokens": record.tokens, "seconds": record.seconds}
                curve.append({**point, "nats": sum(losses) / len(losses), "bits_per_byte": bits})
                losses = []
                if bits < best[0]:
                    weights = training.model.state_dict()
                    best = bits, {name: tensor.clone() for name, tensor in weights.items()}
        training.model.load_state_dict(best[1])
        row = {
            "preset": f"gpu, {budget} s",
            "budget_seconds": budget,
            "width": width,
            "dropout": dropout,
            "parameters": sum(p.numel() for p in training.model.parameters()),
            "seconds": round(training.seconds, 1),
            "tokens": training.tokens,
            "device": describe(best_device()),
            **measured(training.model, text, "test"),
            "curve": curve,
            "stories": stories(training.model, text, range(1 if options.toy else 10)),
        }
        found.append(row)
        print({k: v for k, v in row.items() if k not in ("curve", "stories")}, flush=True)
        if options.save:
            card = {"text": "lantern_stories", "tokenizer": f"bpe:{vocabulary}"}
            card |= {k: v for k, v in row.items() if k != "stories"}
            checkpoints.save_model(options.save, training.model, card, torch.bfloat16)
            text.tokenizer.save(Path(options.save) / "tokenizer.json")
    return found


def writing(options: argparse.Namespace) -> list[dict[str, Any]]:
    device, found = best_device(), []
    for width in (64,) if options.toy else (384, 1024):
        for batch in (1, 32):
            config = GPTConfig.modern(
                V, max_length=320, n_layers=6, n_heads=width // 64, d_model=width
            )
            for dtype in (torch.float32, torch.bfloat16):
                model = GPT(config).to(device, dtype).eval()
                predictor = CachedPredictor(model, 0)
                prompt = torch.zeros(batch, 1, dtype=torch.long)
                length = 8 if options.toy else 256
                sample(predictor, 4, torch.Generator(), prompt)
                began = time.perf_counter()
                sample(predictor, length, torch.Generator(), prompt)
                rate = batch * length / (time.perf_counter() - began)
                row = {"width": width, "batch": batch, "dtype": str(dtype).removeprefix("torch.")}
                found.append({**row, "tokens_per_second": round(rate)})
                print(found[-1], flush=True)
    return found


def race(options: argparse.Namespace) -> dict[str, Any]:
    """nanoGPT's recipe for GPUs, and ours on its shape; the same text, targets and evaluation."""
    if not (options.nanogpt and options.text):
        print("race: left out, since it needs --nanogpt and --text")
        return {}
    corpus = corpora.tiny_shakespeare(options.text)
    tokenizer = CharTokenizer.train(corpus.text)
    train = tokenizer.encode(corpus.train)
    held_out = tokenizer.encode(corpus.validation + corpus.test)
    shape = {"n_layers": 6, "n_heads": 6, "d_model": 384, "dropout": 0.2, "max_length": 256}
    ours = []
    for steps in RACE_STEPS[:1] if options.toy else RACE_STEPS:
        torch.manual_seed(0)
        sizes = {**shape, "n_layers": 1, "d_model": 48, "max_length": 32} if options.toy else shape
        steps = 5 if options.toy else steps
        model = GPT(GPTConfig.modern(tokenizer.vocab_size, **sizes)).to(best_device())
        training = Training(
            model,
            TextWindows(train, 8 if options.toy else 64, sizes["max_length"], 0),
            steps,
            warmup=min(20, steps - 1),
            optimizers=gpt_optimizers(model, **RACE),
            precision="auto",
            compiled=not options.toy,
        )
        list(training)
        loss = score_model(model, held_out, sizes["max_length"]).nats_per_token
        ours.append({"steps": steps, "seconds": training.seconds, "loss": loss})
        print(ours[-1], flush=True)
        if loss < TARGET:
            break
    return {
        "ours": ours,
        "nanoGPT": None if options.toy else nanogpt(options, tokenizer, train, held_out),
    }


def nanogpt(
    options: argparse.Namespace,
    tokenizer: CharTokenizer,
    train: torch.Tensor,
    held_out: torch.Tensor,
) -> dict[str, Any]:
    """Its own script; the time at which its own estimate of the validation loss passes 1.47."""
    import pickle  # the format that nanoGPT's script reads

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "nanogpt")
        shutil.copytree(options.nanogpt, copy, ignore=shutil.ignore_patterns(".git"))
        data = copy / "data" / "shakespeare_char"
        for name, tokens in (("train", train), ("val", held_out)):
            (data / f"{name}.bin").write_bytes(tokens.to(torch.uint16).numpy().tobytes())
        (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": tokenizer.vocab_size}))
        command = [sys.executable, "train.py", "config/train_shakespeare_char.py"]
        command += ["--log_interval=1", "--max_iters=3000", "--lr_decay_iters=5000"]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr[-400:]}
    times = {
        int(i): float(t) / 1000
        for i, t in re.findall(r"^iter (\d+): .*time ([\d.]+)ms", done.stdout, re.M)
    }
    typical = sorted(times.values())[len(times) // 2]
    # A step with an evaluation, or with the compiler, counts as a typical one.
    spent, curve = 0.0, []
    checks = dict(re.findall(r"^step (\d+): .*val loss ([\d.]+)", done.stdout, re.M))
    for step in range(max(times) + 1):
        if str(step) in checks:
            curve.append({"step": step, "seconds": spent, "loss": float(checks[str(step)])})
        spent += min(times.get(step, typical), 3 * typical)
    return {"curve": curve, "ms_per_step": 1000 * typical}


PARTS = {"speed": speed, "budgets": budgets, "writing": writing, "race": race}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--nanogpt", type=Path, help="a checkout of nanoGPT")
    parser.add_argument("--text", type=Path, help="tiny Shakespeare")
    parser.add_argument("--save", type=Path, help="a folder for the model of the longest budget")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="run finished parts again")
    parser.add_argument("--toy", action="store_true")
    options = parser.parse_args()
    if best_device().type == "cpu" and not options.toy:
        raise SystemExit("There is no GPU here: run this on one, or with --toy to try it out.")
    path = options.results
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in options.part:
        if results.get(part) and not options.again:
            print(f"{part}: finished before")
            continue
        results[part] = PARTS[part](options)
        results["machine"] = {
            "device": describe(best_device()),
            "torch": torch.__version__,
            "precision": mixed_precision(best_device()),
        }
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
