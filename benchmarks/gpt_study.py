"""What each part of a small GPT's training buys at equal time, and what a budget buys whom.

    python -m benchmarks.gpt_study [--seconds 12] [--seeds 3]

On the course's tales, character by character. First the time per step of every entry is measured,
in turns, on two threads. From it the steps that fit into the budget are counted out, and each entry
is trained with so many, its schedule ending there. AdamW's rates are chosen among three on a seed
of its own, by the validation text, which all bits per byte here are measured on. Then a GPT, one
with hashed n-grams, and an LSTM are given budgets from 4 to 48 seconds, beside Kneser-Ney.

Writes benchmarks/results/gpt_study.json, which notebook 13 shows. About fifteen minutes on two
cores; nothing else should use them while the times per step are measured.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch
from torch import Tensor, nn

from benchmarks.study import Study, command
from helpers.data import corpora
from helpers.data.batching import TextWindows
from helpers.data.tokenizers import CharTokenizer
from helpers.device import mixed_precision, processor
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score
from helpers.inference.neural_predictor import RecurrentPredictor
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.ngram_embedding import gpt_with_ngrams
from helpers.models.recurrent_cells import LSTMCell
from helpers.models.recurrent_models import RecurrentLM

T, B = 128, 8
SHAPE = {"max_length": T, "n_layers": 2, "n_heads": 4, "d_model": 128}
RATES = {"learning_rate": 0.03, "muon_rate": 0.05}
ADAMW_RATES = (3e-3, 1e-2, 3e-2)
TUNING_SEED = 1000
GPT2 = {"form": "gpt2", "optimizer": "AdamW"}
# name -> what is changed; nothing is the modern GPT with Muon.
ENTRIES = {
    "all": {},
    "AdamW for all, not Muon": {"optimizer": "AdamW"},
    "learned positions, not rotary": {"config": {"positions": "learned"}},
    "LayerNorm, not RMSNorm": {"config": {"norm": "layer"}},
    "GELU, not squared ReLU": {"config": {"activation": "gelu"}},
    "SwiGLU, not squared ReLU": {"config": {"activation": "swiglu"}},
    "no QK-norm": {"config": {"qk_norm": False}},
    "with biases": {"config": {"bias": True}},
    "tied output": {"config": {"tied": True}},
    "blocks do not begin at zero": {"config": {"zero_start": False}},
    "constant rate": {"decay": 0.0},
    "no warm-up": {"warmup": 0},
    "windows drawn at random": {"windows": "random"},
    "float32": {"precision": "float32"},
    "+ the last 3 tokens embedded": {"config": {"last_tokens": 3}},
    "+ hashed n-grams, n to 6": {"config": {"ngrams": 6, "ngram_dropout": 0.3}},
    "+ the same without n-gram dropout": {"config": {"ngrams": 6}},
    "GPT-2's shape, AdamW": GPT2,
}
BUDGETS = (4, 16, 48)
AGAINST = {
    "GPT": {},
    "GPT with n-grams": ENTRIES["+ hashed n-grams, n to 6"],
    "GPT with n-grams, no dropout": ENTRIES["+ the same without n-gram dropout"],
    "LSTM": {"form": "lstm"},
}


class Text:
    """The tales as characters, read once per process."""

    def __init__(self) -> None:
        self.corpus = corpora.lantern_bay()
        tokenizer = CharTokenizer.train(self.corpus.text)
        self.train, self.validation = map(
            tokenizer.encode, (self.corpus.train, self.corpus.validation)
        )
        self.V, self.newline = tokenizer.vocab_size, int(tokenizer.encode("\n"))


class RandomWindows:
    """Windows at places drawn at random, so that some come twice before others come at all."""

    def __init__(self, tokens: Tensor, seed: int) -> None:
        self.tokens, self.seed = tokens, seed

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(2**20 * self.seed + step)
        starts = torch.randint(len(self.tokens) - T, (B, 1), generator=generator)
        rows = self.tokens[starts + torch.arange(T + 1)]
        return rows[:, :-1], rows[:, 1:]


def build(
    change: dict, seed: int, steps: int, text: Text, rate: float = 3e-3
) -> tuple[Training, Callable[[], float]]:
    """The training of one entry, and what gives its bits per byte when it is done."""
    torch.manual_seed(seed)
    drawn = change.get("windows") == "random"
    batches = RandomWindows(text.train, seed) if drawn else TextWindows(text.train, B, T, seed)
    warmup, precision = change.get("warmup", min(10, steps - 1)), change.get("precision", "auto")
    model: nn.Module
    if change.get("form") == "lstm":
        model, precision = RecurrentLM(LSTMCell, text.V, 64, 192), None
        predictor = RecurrentPredictor(model, text.newline)
        batches, rate = TextWindows(text.train, 16, 64, seed), 1e-2
    else:
        if change.get("form") == "gpt2":
            model = GPT(GPTConfig.gpt2(text.V, **SHAPE))
        else:
            model = gpt_with_ngrams(text.V, **SHAPE, **change.get("config", {}))
        predictor = CachedPredictor(model, text.newline)
    plain = change.get("form") == "lstm" or change.get("optimizer") == "AdamW"
    training = Training(
        model,
        batches,
        steps,
        learning_rate=rate,
        warmup=warmup,
        decay=change.get("decay", 1.0),
        optimizers=None if plain else gpt_optimizers(model, **RATES),
        precision=precision,
    )
    return training, lambda: score(predictor, text.validation, text.corpus.validation).bits_per_byte


def times_per_step(changes: dict[str, dict], rounds: int = 3, steps: int = 8) -> dict[str, float]:
    """Median seconds of a step, every entry in turn, on the threads that PyTorch takes."""
    text, found = Text(), {name: [] for name in changes}
    trainings = {name: build(change, 0, 1000, text)[0] for name, change in changes.items()}
    iterators: dict[str, Iterator] = {name: iter(run) for name, run in trainings.items()}
    for _ in range(rounds):
        for name, records in iterators.items():
            seconds = [next(records).seconds for _ in range(steps)]
            found[name] += [b - a for a, b in itertools.pairwise(seconds[1:])]
    return {name: statistics.median(values) for name, values in found.items()}


def run(job: dict) -> dict:
    """Train one entry in a process of its own; the steps are given, so its speed does not count."""
    torch.set_num_threads(1)
    text = Text()
    training, bits = build(job["change"], job["seed"], job["steps"], text, job["rate"])
    for _ in training:
        pass
    return {**{k: v for k, v in job.items() if k != "change"}, "bits": bits()}


def kneser_ney() -> list[tuple[float, float]]:
    """(seconds, bits per byte) of modified Kneser-Ney models, n = 3 .. 8."""
    text, points = Text(), []
    for n in (3, 4, 5, 6, 8):
        began = time.perf_counter()
        model = ModifiedKneserNey(n).fit(text.train, text.V)
        seconds = time.perf_counter() - began
        bits = score(model, text.validation, text.corpus.validation).bits_per_byte
        points.append((seconds, bits))
    return points


def main() -> None:
    parser = command(__doc__, seeds=3)
    parser.add_argument("--seconds", type=float, default=12.0)
    options = parser.parse_args()
    counted = kneser_ney()
    times = times_per_step({**ENTRIES, **AGAINST})
    for name, seconds in times.items():
        print(f"{1000 * seconds:6.1f} ms  {name}", flush=True)

    def job(name: str, change: dict, seconds: float, seed: int, rate: float = 3e-3) -> dict:
        steps = max(20, int(seconds / times[name]))
        return {"entry": name, "change": change, "seed": seed, "steps": steps, "rate": rate}

    adamw = [name for name, change in ENTRIES.items() if change.get("optimizer") == "AdamW"]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        tuning = list(
            pool.map(
                run,
                [
                    job(name, ENTRIES[name], options.seconds, TUNING_SEED, rate)
                    for name in adamw
                    for rate in ADAMW_RATES
                ],
            )
        )
        rates = {
            name: min((r for r in tuning if r["entry"] == name), key=lambda r: r["bits"])["rate"]
            for name in adamw
        }
        print("AdamW's rates:", rates, flush=True)
        jobs = [
            job(name, change, options.seconds, seed, rates.get(name, 3e-3))
            for seed in range(options.seeds)
            for name, change in ENTRIES.items()
        ]
        ablation = []
        for line in pool.map(run, jobs):
            ablation.append(line)
            print(f"{line['bits']:.4f}  {line['entry']}, seed {line['seed']}", flush=True)
        races = [job(n, c, seconds, 0) for seconds in reversed(BUDGETS) for n, c in AGAINST.items()]
        against = {name: [] for name in AGAINST}
        for line in pool.map(run, races):
            against[line["entry"]].append((line["steps"] * times[line["entry"]], line["bits"]))
            print(f"{line['bits']:.4f}  {line['entry']}, {line['steps']} steps", flush=True)
    results = {
        "machine": {
            "processor": processor(),
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "precision": mixed_precision(torch.device("cpu")),
        },
        "budget_seconds": options.seconds,
        "seeds": list(range(options.seeds)),
        "ms_per_step": {name: round(1000 * s, 2) for name, s in times.items()},
        "tuning": tuning,
        "ablation": ablation,
        "against": {"Kneser-Ney": counted, **against},
    }
    Study(__file__).write(**results)


if __name__ == "__main__":
    main()
