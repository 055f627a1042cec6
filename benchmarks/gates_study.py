"""What notebook 07 says over several seeds: counting, recall over long delays, equal time on text.

    python -m benchmarks.gates_study counting LSTM    a^n b^n, all seeds and learning rates at once
    python -m benchmarks.gates_study recall LSTM 3    name the first symbol after 10 to 200 others
    python -m benchmarks.gates_study longer LSTM 5    the longest delay with three times the steps
    python -m benchmarks.gates_study speed            milliseconds a step of the language models
    python -m benchmarks.gates_study text LSTM        the tales: rates on one seed, then three seeds
    python -m benchmarks.gates_study quarter          the LSTM with a quarter of its steps
    python -m benchmarks.gates_study equal GRU        a network with as many steps as the LSTM
    python -m benchmarks.gates_study kernel           milliseconds a step without oneDNN
    python -m benchmarks.gates_study all              whatever is missing

Each call takes a quarter of a minute to two minutes on one core and adds its rows to
benchmarks/results/gates_study.json, which notebook 07 shows; rows that are there are not computed
again. Learning rates are chosen on seeds of their own.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command, tuned
from helpers.data import corpora
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import GatedCell

# a^n b^n: read so many a and as many b, and say after each b whether the text ends now.
COUNTING = {"trained": 30, "tested": 120, "hidden": 10, "batch": 16, "steps": 1500}
COUNTING_RATES, COUNTING_SEEDS, TUNING_SEEDS = (3e-3, 1e-2, 3e-2, 1e-1), 5, 2
OTHER_RATES = {  # where the best of those was the lowest or the highest
    "Elman, ReLU": (1e-3, 3e-3, 1e-2, 3e-2),
    "GRU": (1e-2, 3e-2, 1e-1, 3e-1),
}
COUNTERS = ("Elman, tanh", "Elman, ReLU", "GRU", "LSTM")
BLOCKS = {"Elman, tanh": 1, "Elman, ReLU": 1, "gated": 2, "GRU": 3, "LSTM": 4}

# Recall: one of eight symbols, then others that do not matter, then a sign that asks for the first.
RECALL = {"symbols": 8, "hidden": 32, "batch": 32, "steps": 400, "delays": [10, 30, 100, 200]}
RECALL_RATES, RECALL_SEEDS = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 9e-2), 3
REMEMBERERS = [("Elman, tanh", 0), ("gated", 0), ("gated", 3), ("GRU", 0), ("GRU", 3)]
REMEMBERERS += [("LSTM", bias) for bias in (0, 1, 3, 5)]
# The rates of the longest delay with more steps: those that a first grid, up to 0.03, had chosen.
LONGER = {("LSTM", 5.0): 3e-4, ("LSTM", 0.0): 1e-4, ("Elman, tanh", 0.0): 3e-2}

# The tales, character by character, in equal time.
TEXT = {"embedding": 32, "batch": 16, "window": 64, "seconds": 10}
TEXT_RATES, TEXT_SEEDS, TUNING_SEED = (2e-3, 5e-3, 1e-2, 2e-2, 4e-2), 3, 1000
QUARTER_RATES = (1e-2, 2e-2, 4e-2, 8e-2, 0.16)
WRITERS = {"Elman": 128, "Elman, wide": 280, "GRU": 128, "LSTM": 128}


class Networks:
    """Many small networks of one kind, trained side by side; each has a learning rate of its own.

    Args:
        kind: one of ``COUNTERS``.
        seeds: of the first weights, one for each network.
        rates: their learning rates.
    """

    def __init__(self, kind: str, seeds: list[int], rates: list[float], V: int, H: int, K: int):
        self.kind, self.H, self.blocks = kind, H, BLOCKS[kind]
        shapes = {"W_x": (V, self.blocks * H), "W_h": (H, self.blocks * H)}
        shapes |= {"b": (1, self.blocks * H), "b_hh": (1, H), "W_y": (H, K), "b_y": (1, K)}
        made = []
        for seed in seeds:
            draw = torch.Generator().manual_seed(seed)
            made.append([(2 * torch.rand(s, generator=draw) - 1) / H**0.5 for s in shapes.values()])
        self.p = {
            name: torch.stack([one[k] for one in made]).requires_grad_()
            for k, name in enumerate(shapes)
        }
        self.rates = torch.tensor(rates)[:, None, None]
        self.moments = {
            name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in self.p.items()
        }
        self.step = 0

    def read(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """One-hot x (T, B, V) -> logits (N, T, B, K), and what each remembers (N, T, B, H)."""
        p, H, N = self.p, self.H, len(self.rates)
        projected = x @ p["W_x"][:, None] + p["b"][:, None]  # (N, T, B, blocks H)
        h = C = x.new_zeros(N, x.shape[1], H)
        shown, kept = [], []
        for a in projected.unbind(1):
            if self.kind == "GRU":
                from_h = h @ p["W_h"]
                z, r = torch.sigmoid(a[..., : 2 * H] + from_h[..., : 2 * H]).chunk(2, -1)
                new = torch.tanh(a[..., 2 * H :] + r * (from_h[..., 2 * H :] + p["b_hh"]))
                h = torch.lerp(new, h, z)
            elif self.kind == "LSTM":
                gates, new = torch.baddbmm(a, h, p["W_h"]).split([3 * H, H], -1)
                f, i, o = torch.sigmoid(gates).chunk(3, -1)
                C = f * C + i * torch.tanh(new)
                h = o * torch.tanh(C)
            elif self.kind == "gated":
                z, new = torch.baddbmm(a, h, p["W_h"]).chunk(2, -1)
                h = torch.lerp(torch.relu(new), h, torch.sigmoid(z))
            else:
                new = torch.baddbmm(a, h, p["W_h"])
                h = torch.tanh(new) if self.kind == "Elman, tanh" else torch.relu(new)
            shown.append(h)
            kept.append(C if self.kind == "LSTM" else h)
        logits = torch.stack(shown, 1) @ p["W_y"][:, None] + p["b_y"][:, None]
        return logits, torch.stack(kept, 1)

    def update(self, losses: Tensor, factor: float) -> None:
        """A step of Adam for each network from its own loss (N,), the gradient's norm at most 1."""
        names = list(self.p)
        gradients = torch.autograd.grad(losses.sum(), list(self.p.values()), allow_unused=True)
        some = {n: g for n, g in zip(names, gradients, strict=True) if g is not None}
        norm = torch.stack([g.square().sum((1, 2)) for g in some.values()]).sum(0).sqrt()
        shrink = (1 / norm.clamp(min=1))[:, None, None]
        self.step += 1
        with torch.no_grad():
            for name, gradient in some.items():
                first, second = self.moments[name]
                first.lerp_(gradient * shrink, 0.1)
                second.lerp_((gradient * shrink).square(), 0.001)
                mean = first / (1 - 0.9**self.step)
                size = (second / (1 - 0.999**self.step)).sqrt() + 1e-8
                self.p[name] -= factor * self.rates * mean / size


def a_n_b_n(numbers: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Texts a..ab..b: one-hot x (T, B, 2), where they end (T, B), where that is asked (T, B)."""
    n = torch.tensor(numbers)
    t = torch.arange(2 * int(n.max()))[:, None]
    x = F.one_hot((t >= n).long(), 2).float()
    return x, (t == 2 * n - 1).float(), (t >= n) & (t < 2 * n)


@torch.no_grad()
def counted(networks: Networks, most: int) -> Tensor:
    """Whether each network ends a^n b^n after just n b, for n = 1 .. most: (N, most)."""
    right = []
    for n in range(1, most + 1):
        x, ends, asked = a_n_b_n([n])
        logits, _ = networks.read(x)
        said = logits[..., 0] > 0  # (N, T, 1)
        right.append(((said == ends.bool()) | ~asked).all(-1).all(-1))
    return torch.stack(right, 1)


def counting(kind: str) -> list[dict]:
    """Train all seeds with all rates; the rate is chosen by the loss of the tuning seeds."""
    seeds = [*range(COUNTING_SEEDS), *range(1000, 1000 + TUNING_SEEDS)]
    rates = OTHER_RATES.get(kind, COUNTING_RATES)
    pairs = [(seed, rate) for rate in rates for seed in seeds]
    networks = Networks(
        kind, [s for s, _ in pairs], [r for _, r in pairs], 2, COUNTING["hidden"], 1
    )
    draw = torch.Generator().manual_seed(0)
    steps, late = COUNTING["steps"], []
    for step in range(steps):
        numbers = torch.randint(1, COUNTING["trained"] + 1, (COUNTING["batch"],), generator=draw)
        x, ends, asked = a_n_b_n(numbers.tolist())
        logits = networks.read(x)[0][..., 0]
        surprise = F.binary_cross_entropy_with_logits(
            logits, ends.expand_as(logits), reduction="none"
        )
        losses = (surprise * asked).sum((1, 2)) / asked.sum()
        networks.update(losses, 1 - step / steps)
        late.append(losses.detach())
    loss = torch.stack(late[-100:]).mean(0).tolist()
    right = counted(networks, COUNTING["tested"])
    x, _, _ = a_n_b_n([2 * COUNTING["trained"]])
    with torch.no_grad():
        kept = networks.read(x)[1][:, :, 0]  # (N, T, H)
    rows = []
    for k, (seed, rate) in enumerate(pairs):
        rows.append({
            "task": "counting", "network": kind, "rate": rate, "seed": seed,
            "loss": round(loss[k], 6), "right": "".join(map(str, right[k].int().tolist())),
            "state": [[round(v, 3) for v in unit] for unit in kept[k].T.tolist()],
        })  # fmt: skip
    tried = {r: [w["loss"] for w in rows if w["rate"] == r and w["seed"] >= 1000]
             for r in rates}  # fmt: skip
    best = min(tried, key=lambda rate: sum(tried[rate]))
    for row in rows:
        row["chosen"] = row["rate"] == best
        if not row["chosen"] or row["seed"] >= 1000:
            del row["state"]
    return rows


class Reader(nn.Module):
    """A recurrent layer of torch's (or the lecture's gated one) and a linear output.

    Args:
        bias: what is added to the bias of the gate that keeps.
    """

    def __init__(self, kind: str, inputs: int, hidden: int, outputs: int, bias: float = 0.0):
        super().__init__()
        kinds = {"Elman": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
        if kind == "gated":
            self.layer: nn.Module = Recurrent(GatedCell, inputs, hidden)
        else:
            self.layer = kinds[kind.split(",")[0]](inputs, hidden, batch_first=True)
        with torch.no_grad():
            if kind == "gated":
                self.layer.cells[0].x2h.bias[:hidden] += bias
            elif kind in ("LSTM", "GRU"):  # f is the second block of an LSTM, z of a GRU
                self.layer.bias_ih_l0[hidden : 2 * hidden] += bias
        self.output = nn.Linear(hidden, outputs)


def recall_batch(delay: int, size: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """One-hot x (B, delay + 2, 2K + 1), and the first symbol (B,)."""
    K = RECALL["symbols"]
    first = torch.randint(K, (size, 1), generator=draw)
    others = torch.randint(K, 2 * K, (size, delay), generator=draw)
    asks = torch.full((size, 1), 2 * K)
    return F.one_hot(torch.cat([first, others, asks], 1), 2 * K + 1).float(), first[:, 0]


def remember(
    kind: str, bias: float, delay: int, rate: float, seed: int, steps: int = RECALL["steps"]
) -> dict:
    """Train one network on one delay: its error on new sequences along the way."""
    torch.manual_seed(seed)
    draw, K = torch.Generator().manual_seed(seed), RECALL["symbols"]
    model = Reader(kind, 2 * K + 1, RECALL["hidden"], K, bias)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    new = recall_batch(delay, 500, torch.Generator().manual_seed(5000))
    row = {"task": "recall", "network": kind, "bias": bias, "delay": delay, "rate": rate}
    row["seed"], curve = seed, []
    for step in range(1, steps + 1):
        x, y = recall_batch(delay, RECALL["batch"], draw)
        loss = F.cross_entropy(model.output(model.layer(x)[0][:, -1]), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            with torch.no_grad():
                said = model.output(model.layer(new[0])[0][:, -1]).argmax(1)
            curve.append(round(float((said != new[1]).float().mean()), 3))
            if curve[-2:] == [0, 0]:  # learned: the rest is taken to be as good
                return row | {"curve": curve + [0.0] * (steps // 50 - len(curve))}
    return row | {"curve": curve}


def recall(kind: str, bias: float, known: list[dict]) -> list[dict]:
    """For each delay choose the rate on another seed, then train on several.

    Where the best rate is at the edge of those tried, one more beyond it is tried, twice at most.
    A run that makes no error twice in a row ends there, so an error of 0 means "was learned".

    Args:
        known: rows of this network from an earlier call.
    """
    rows = []
    for delay in RECALL["delays"]:
        done = [row for row in known if row["delay"] == delay]
        tuning = {row["rate"]: row for row in done if row["seed"] == TUNING_SEED}

        def soon(rate: float, delay: int = delay, tuning: dict = tuning) -> float:
            """How soon the error is low: the less the sooner."""
            if rate not in tuning:
                tuning[rate] = remember(kind, bias, delay, rate, TUNING_SEED)
            return sum(tuning[rate]["curve"])

        best = tuned([*RECALL_RATES, *(set(tuning) - set(RECALL_RATES))], soon, 3.0, digits=1)
        final = [row for row in done if row["seed"] != TUNING_SEED and row["rate"] == best]
        final = final or [remember(kind, bias, delay, best, s) for s in range(RECALL_SEEDS)]
        rows += [*tuning.values(), *final]
    return rows


def longer(kind: str, bias: float) -> list[dict]:
    """The longest delay once more, with three times the steps and a rate of ``LONGER``."""
    delay, rate = RECALL["delays"][-1], LONGER[kind, bias]
    runs = [remember(kind, bias, delay, rate, s, 1200) for s in range(RECALL_SEEDS)]
    return [run | {"task": "longer"} for run in runs]


class Writer(nn.Module):
    """A language model of one of torch's recurrent layers: (B, T) -> logits (B, T, V)."""

    def __init__(self, kind: str, V: int):
        super().__init__()
        self.embedding = nn.Embedding(V, TEXT["embedding"])
        self.reader = Reader(kind, TEXT["embedding"], WRITERS[kind], V)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.reader.output(self.reader.layer(self.embedding(tokens))[0])


def tales() -> tuple[dict[str, Tensor], int]:
    corpus = corpora.lantern_bay()
    tokenizer = CharTokenizer.train(corpus.text)
    parts = ("train", "validation", "test")
    return {p: tokenizer.encode(getattr(corpus, p)) for p in parts}, tokenizer.vocab_size


def write(kind: str, rate: float, seed: int, steps: int, ids: dict, V: int) -> Writer:
    """Train with warm-up over 20 steps and a linear decay."""
    torch.manual_seed(seed)
    model, draw = Writer(kind, V), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    offsets = torch.arange(TEXT["window"] + 1)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 20, 1 - step / steps)
        at = torch.randint(len(ids["train"]) - len(offsets), (TEXT["batch"], 1), generator=draw)
        block = ids["train"][at + offsets]
        loss = F.cross_entropy(model(block[:, :-1]).flatten(0, 1), block[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


@torch.no_grad()
def bits(model: Writer, text: Tensor) -> float:
    """Bits per character of the first 20,000 characters, read without a break."""
    text = text[:20_001]
    return float(F.cross_entropy(model(text[None, :-1])[0], text[1:])) / 0.6931471805599453


def seconds_a_step(kinds: Iterable[str], ids: dict, V: int) -> dict[str, float]:
    """Processor time of a step, in turns on one core; the median of the turns."""
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(7):
        for kind, times in seconds.items():
            began = time.process_time()
            write(kind, 1e-3, 0, 15, ids, V)
            times.append((time.process_time() - began) / 15)
    return {kind: statistics.median(times) for kind, times in seconds.items()}


def kernel() -> list[dict]:
    """A step with and without the library oneDNN, which has a kernel for LSTMs."""
    ids, V = tales()
    rows = []
    for on in (True, False):
        with torch.backends.mkldnn.flags(enabled=on):
            steps = seconds_a_step(("Elman", "GRU", "LSTM"), ids, V)
        for kind, step in steps.items():
            row = {"task": "kernel", "network": kind, "oneDNN": on}
            rows.append(row | {"milliseconds": round(1000 * step, 2)})
    return rows


def speed() -> list[dict]:
    """Milliseconds a step, how many steps fit into the time, and n-gram models to compare with."""
    ids, V = tales()
    rows = []
    for kind, step in seconds_a_step(WRITERS, ids, V).items():
        weights = sum(p.numel() for p in Writer(kind, V).reader.layer.parameters())
        rows.append({"task": "speed", "network": kind, "milliseconds": round(1000 * step, 2),
                     "steps": round(TEXT["seconds"] / step), "weights": weights})  # fmt: skip
    for n in (3, 4, 5, 6):
        kneser_ney = ModifiedKneserNey(n).fit(ids["train"], V)
        found = score(kneser_ney, ids["test"][:20_001]).bits_per_token
        rows.append({"task": "speed", "network": f"Kneser-Ney, n = {n}", "test": round(found, 4)})
    return rows


def text(kind: str, rates: list[float], seeds: list[int], steps: int) -> list[dict]:
    """Train with these rates and seeds, and measure on validation and test tales."""
    ids, V = tales()
    rows = []
    for rate in rates:
        for seed in seeds:
            model = write(kind, rate, seed, steps, ids, V)
            found = {part: round(bits(model, ids[part]), 4) for part in ("validation", "test")}
            row = {"task": "text", "network": kind, "rate": rate, "seed": seed, "steps": steps}
            rows.append(row | found)
    return rows


STUDY = Study(
    __file__,
    lambda: {
        "torch": torch.__version__,
        "counting": COUNTING | {"rates": COUNTING_RATES},
        "text": TEXT | {"rates": TEXT_RATES},
        "recall": RECALL | {"rates": RECALL_RATES},
    },
    indent=None,
)


def by_validation(kind: str, rates: Iterable[float], steps: int) -> list[dict]:
    """The tales: the rates on the tuning seed, then several seeds with the best of them."""
    tuning = text(kind, list(rates), [TUNING_SEED], steps)
    best = min(tuning, key=lambda r: r["validation"])["rate"]
    return tuning + text(kind, [best], list(range(TEXT_SEEDS)), steps)


def steps_of(kind: str) -> int:
    """How many steps a network makes in the time that is given to the tales."""
    rows = STUDY.rows()
    return next(r["steps"] for r in rows if (r["task"], r["network"]) == ("speed", kind))


def compute(task: str, words: list[str]) -> None:
    """Whatever is missing of a task."""
    rows = [row for row in STUDY.rows() if row["task"] == task]
    began, known = time.perf_counter(), []
    new: list[dict] = []
    if words:
        known = [row for row in rows if row["network"] == words[0]]
    if len(words) > 1:
        known = [row for row in known if row["bias"] == float(words[1])]
    if task == "recall":
        new = recall(words[0], float(words[1]), known)
    elif known or (rows and not words):
        pass
    elif task == "speed":
        new = speed()
    elif task == "kernel":
        new = kernel()
    elif task == "counting":
        new = counting(words[0])
    elif task == "longer":
        new = longer(words[0], float(words[1]))
    elif task == "quarter":  # as if a step of the LSTM cost what its multiplications say
        new = by_validation("LSTM", QUARTER_RATES, steps_of("LSTM") // 4)
    elif task == "equal":  # the steps of the LSTM, however long they take
        new = by_validation(words[0], TEXT_RATES, steps_of("LSTM"))
    else:
        new = by_validation(words[0], TEXT_RATES, steps_of(words[0]))
    if new:
        new = [row | {"task": task} for row in new]
        STUDY.add(new, instead=known)
    for row in new:
        print({k: v for k, v in row.items() if k != "state"})
    print(f"{task} {words}: {time.perf_counter() - began:.0f} s", flush=True)


def main() -> None:
    parser = command(__doc__)
    tasks = ["counting", "recall", "longer", "speed", "text", "quarter", "equal", "kernel", "all"]
    parser.add_argument("task", choices=tasks)
    parser.add_argument("words", nargs="*", help="the network, and for recall its bias")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.task != "all":
        compute(arguments.task, arguments.words)
        return
    for kind in COUNTERS:
        compute("counting", [kind])
    for kind, bias in REMEMBERERS:
        compute("recall", [kind, str(bias)])
    for kind, bias in (("Elman, tanh", 0), ("LSTM", 0), ("LSTM", 5)):
        compute("longer", [kind, str(bias)])
    compute("speed", [])
    for kind in WRITERS:
        compute("text", [kind])
    compute("quarter", [])
    for kind in ("Elman, wide", "GRU"):
        compute("equal", [kind])
    compute("kernel", [])


if __name__ == "__main__":
    main()
