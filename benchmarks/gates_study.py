"""What "Gates compared" and "Delayed recall" say over several seeds: counting, recall, equal time.

    python -m benchmarks.gates_study [PART ...]

counting    a^n b^n, for each kind of network all seeds and learning rates at once
recall      name the first symbol after 10 to 200 others
speed       milliseconds a step of the language models, which says how many steps they get
text        the tales: rates on one seed, then three seeds
equal       networks with as many steps as the LSTM, however long they take
kernel      milliseconds a step with and without oneDNN, which has a kernel for LSTMs

On one thread. Learning rates are chosen on seeds of their own.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterable
from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command, machine, tuned
from helpers.data import corpora
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.evaluation import score
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import ElmanCell, GatedCell, GRUCell, LSTMCell, ReLUElmanCell

# a^n b^n: read so many a and as many b, and say after each b whether the text ends now.
COUNTING = {"trained": 30, "tested": 120, "hidden": 10, "batch": 16, "steps": 1500}
COUNTING_RATES, COUNTING_SEEDS, TUNING_SEEDS = (3e-3, 1e-2, 3e-2, 1e-1), 5, 2
OTHER_RATES = {  # where the best of those was the lowest or the highest
    "Elman, ReLU": (1e-3, 3e-3, 1e-2, 3e-2),
    "GRU": (1e-2, 3e-2, 1e-1, 3e-1),
}
CELLS = {"Elman, tanh": ElmanCell, "Elman, ReLU": ReLUElmanCell, "GRU": GRUCell, "LSTM": LSTMCell}

# Recall: one of eight symbols, then others that do not matter, then a sign that asks for the first.
RECALL = {"symbols": 8, "hidden": 32, "batch": 32, "steps": 400, "delays": [10, 30, 100, 200]}
RECALL_RATES, RECALL_SEEDS = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 9e-2), 3
REMEMBERERS = [("gated", 0), ("gated", 3), ("GRU", 0), ("GRU", 3)]
REMEMBERERS += [("LSTM", bias) for bias in (0, 1, 3, 5)]

# The tales, character by character, in equal time.
TEXT = {"embedding": 32, "batch": 16, "window": 64, "seconds": 10}
TEXT_RATES, TEXT_SEEDS, TUNING_SEED = (2e-3, 5e-3, 1e-2, 2e-2, 4e-2), 3, 1000
TIMED = {"Elman": 128, "Elman, wide": 280, "GRU": 128, "LSTM": 128}
WRITERS = TIMED | {"LSTM, bias 1": 128}


class Counter(nn.Module):
    """A cell of the course that reads a's and b's, and a linear output; its first weights."""

    def __init__(self, kind: str, seed: int) -> None:
        super().__init__()
        H, cell = COUNTING["hidden"], CELLS[kind](2, COUNTING["hidden"])
        self.cell, self.output = cell, nn.Linear(H, 1)
        draw, gates = torch.Generator().manual_seed(seed), len(cell.gates) * H
        shapes = [(2, gates), (H, gates), (gates,), (H,), (H, 1), (1,)]
        first = [(2 * torch.rand(shape, generator=draw) - 1) / H**0.5 for shape in shapes]
        W_x, W_h, b, b_hh, W_y, b_y = (one.T if one.ndim == 2 else one for one in first)
        parts = [(cell.x2h.weight, W_x), (cell.x2h.bias, b)]
        parts += [
            (self.output.weight, W_y),
            (self.output.bias, b_y),
            (cell.h2h.weight, W_h[-len(cell.h2h.weight) :]),
        ]
        if kind == "GRU":
            parts += [(cell.h2zr.weight, W_h[: 2 * H]), (cell.h2h.bias, b_hh)]
        with torch.no_grad():
            for parameter, value in parts:
                parameter.copy_(value)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """One-hot x (T, B, 2) -> logits (T, B), and what it remembers (T, B, H)."""
        projected, shown, kept = self.cell.project(x), [], []
        state = self.cell.start(x.shape[1], projected)
        for now in projected.unbind():
            h, state = self.cell.step(now, state)
            shown.append(h)
            kept.append(state[1] if isinstance(state, tuple) else state)
        return self.output(torch.stack(shown))[..., 0], torch.stack(kept)


def read(networks: list[Counter], x: Tensor) -> tuple[Tensor, Tensor]:
    """What networks of one kind give, side by side: (N, T, B) and (N, T, B, H)."""
    named = [dict(network.named_parameters()) for network in networks]
    stacked = {name: torch.stack([one[name] for one in named]) for name in named[0]}

    def one(parameters: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return torch.func.functional_call(networks[0], parameters, (x,))

    return torch.func.vmap(one)(stacked)


def a_n_b_n(numbers: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Texts a..ab..b: one-hot x (T, B, 2), where they end (T, B), where that is asked (T, B)."""
    n = torch.tensor(numbers)
    t = torch.arange(2 * int(n.max()))[:, None]
    x = F.one_hot((t >= n).long(), 2).float()
    return x, (t == 2 * n - 1).float(), (t >= n) & (t < 2 * n)


@torch.no_grad()
def counted(networks: list[Counter], most: int) -> Tensor:
    """Whether each network ends a^n b^n after just n b, for n = 1 .. most: (N, most)."""
    right = []
    for n in range(1, most + 1):
        x, ends, asked = a_n_b_n([n])
        said = read(networks, x)[0] > 0
        right.append(((said == ends.bool()) | ~asked).all(-1).all(-1))
    return torch.stack(right, 1)


def counting(kind: str) -> list[dict]:
    """Train all seeds with all rates; the rate is chosen by the loss of the tuning seeds."""
    seeds = [*range(COUNTING_SEEDS), *range(1000, 1000 + TUNING_SEEDS)]
    rates = OTHER_RATES.get(kind, COUNTING_RATES)
    pairs = [(seed, rate) for rate in rates for seed in seeds]
    networks = [Counter(kind, seed) for seed, _ in pairs]
    optimizer = torch.optim.Adam([{"params": [*network.parameters()]} for network in networks])
    draw = torch.Generator().manual_seed(0)
    steps, late = COUNTING["steps"], []
    for step in range(steps):
        numbers = torch.randint(1, COUNTING["trained"] + 1, (COUNTING["batch"],), generator=draw)
        x, ends, asked = a_n_b_n(numbers.tolist())
        logits, _ = read(networks, x)
        surprise = F.binary_cross_entropy_with_logits(
            logits, ends.expand_as(logits), reduction="none"
        )
        losses = (surprise * asked).sum((1, 2)) / asked.sum()
        optimizer.zero_grad()
        losses.sum().backward()
        for network, group, (_, rate) in zip(networks, optimizer.param_groups, pairs, strict=True):
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            group["lr"] = rate * (1 - step / steps)
        optimizer.step()
        late.append(losses.detach())
    loss = torch.stack(late[-100:]).mean(0).tolist()
    right = counted(networks, COUNTING["tested"])
    x, _, _ = a_n_b_n([2 * COUNTING["trained"]])
    with torch.no_grad():
        kept = read(networks, x)[1][:, :, 0]  # (N, T, H)
    tuning = dict.fromkeys(rates, 0.0)
    for (seed, rate), value in zip(pairs, loss, strict=True):
        tuning[rate] += value if seed >= 1000 else 0
    best = min(tuning, key=tuning.__getitem__)
    rows = []
    for k, (seed, rate) in enumerate(pairs):
        row = {"rate": rate, "seed": seed, "chosen": rate == best, "loss": round(loss[k], 6)}
        row["right"] = "".join(map(str, right[k].int().tolist()))
        if row["chosen"] and seed < 1000:
            row["state"] = [[round(v, 3) for v in unit] for unit in kept[k].T.tolist()]
        rows.append(row)
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
            elif bias:  # f is the second block of an LSTM, z of a GRU
                self.layer.bias_ih_l0[hidden : 2 * hidden] += bias
        self.output = nn.Linear(hidden, outputs)


def recall_batch(delay: int, size: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """One-hot x (B, delay + 2, 2K + 1), and the first symbol (B,)."""
    K = RECALL["symbols"]
    first = torch.randint(K, (size, 1), generator=draw)
    others = torch.randint(K, 2 * K, (size, delay), generator=draw)
    asks = torch.full((size, 1), 2 * K)
    return F.one_hot(torch.cat([first, others, asks], 1), 2 * K + 1).float(), first[:, 0]


def remember(kind: str, bias: float, delay: int, rate: float, seed: int) -> list[float]:
    """The errors of one network, trained on one delay, on new sequences along the way.

    A run that makes no error twice in a row ends there, so an error of 0 means "was learned".
    """

    def make() -> dict:
        torch.manual_seed(seed)
        draw, K = torch.Generator().manual_seed(seed), RECALL["symbols"]
        model, curve = Reader(kind, 2 * K + 1, RECALL["hidden"], K, bias), []
        optimizer = torch.optim.Adam(model.parameters(), rate)
        new = recall_batch(delay, 500, torch.Generator().manual_seed(5000))
        for step in range(1, RECALL["steps"] + 1):
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
                if curve[-2:] == [0, 0]:
                    curve += [0.0] * (RECALL["steps"] // 50 - len(curve))
                    break
        return {"curve": curve}

    asked = {"task": "recall", "network": kind, "bias": bias, "delay": delay, "rate": rate}
    return STUDY.row(asked | {"seed": seed}, make)["curve"]


def recall(kind: str, bias: float, delay: int) -> None:
    """Choose the rate by how soon the error is low, on another seed; then train several."""

    def soon(rate: float) -> float:
        return sum(remember(kind, bias, delay, rate, TUNING_SEED))

    best = tuned(RECALL_RATES, soon, 3.0, digits=1)
    for seed in range(RECALL_SEEDS):
        remember(kind, bias, delay, best, seed)


class Writer(nn.Module):
    """A language model of one of torch's recurrent layers: (B, T) -> logits (B, T, V)."""

    def __init__(self, kind: str, V: int):
        super().__init__()
        self.embedding = nn.Embedding(V, TEXT["embedding"])
        bias = float(kind == "LSTM, bias 1")
        self.reader = Reader(kind, TEXT["embedding"], WRITERS[kind], V, bias)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.reader.output(self.reader.layer(self.embedding(tokens))[0])


@cache
def tales() -> tuple[dict[str, Tensor], int]:
    corpus = corpora.lantern_bay()
    tokenizer = CharTokenizer.train(corpus.text)
    parts = ("train", "validation", "test")
    return {p: tokenizer.encode(getattr(corpus, p)) for p in parts}, tokenizer.vocab_size


def write(kind: str, rate: float, seed: int, steps: int) -> Writer:
    """Train with warm-up over 20 steps and a linear decay."""
    torch.manual_seed(seed)
    ids, V = tales()
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


def seconds_a_step(kinds: Iterable[str]) -> dict[str, float]:
    """Processor time of a step, in turns on one core; the median of the turns."""
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(7):
        for kind, times in seconds.items():
            began = time.process_time()
            write(kind, 1e-3, 0, 15)
            times.append((time.process_time() - began) / 15)
    return {kind: statistics.median(times) for kind, times in seconds.items()}


def kernel() -> list[dict]:
    rows = []
    for on in (True, False):
        with torch.backends.mkldnn.flags(enabled=on):
            steps = seconds_a_step(("Elman", "GRU", "LSTM"))
        for kind, step in steps.items():
            rows.append({"network": kind, "oneDNN": on, "milliseconds": round(1000 * step, 2)})
    return rows


def speed() -> list[dict]:
    """Milliseconds a step, how many steps fit into the time, and n-gram models to compare with."""
    ids, V = tales()
    rows = []
    for kind, step in seconds_a_step(TIMED).items():
        rows.append({"network": kind, "milliseconds": round(1000 * step, 2)})
        rows[-1]["steps"] = round(TEXT["seconds"] / step)
        layer = Writer(kind, V).reader.layer
        rows[-1]["weights"] = sum(p.numel() for p in layer.parameters())
    for n in (3, 4, 5, 6):
        kneser_ney = ModifiedKneserNey(n).fit(ids["train"], V)
        found = score(kneser_ney, ids["test"][:20_001]).bits_per_token
        rows.append({"network": f"Kneser-Ney, n = {n}", "test": round(found, 4)})
    return rows


STUDY = Study(__file__, lambda: {"machine": machine()}, unsaid=["state"], indent=None)


def text(task: str, kind: str, rates: Iterable[float], steps: int) -> None:
    """The tales: the rates on the tuning seed, then several seeds with the best of them."""

    def run(rate: float, seed: int) -> float:
        def make() -> dict:
            ids, model = tales()[0], write(kind, rate, seed, steps)
            return {part: round(bits(model, ids[part]), 4) for part in ("validation", "test")}

        asked = {"task": task, "network": kind, "rate": rate, "seed": seed, "steps": steps}
        return STUDY.row(asked, make)["validation"]

    best = tuned(rates, lambda rate: run(rate, TUNING_SEED), more=1)
    for seed in range(TEXT_SEEDS):
        run(best, seed)


def steps_of(kind: str) -> int:
    """How many steps a network makes in the time that is given to the tales."""
    rows = STUDY.several({"task": "speed"}, speed)
    return next(row["steps"] for row in rows if row["network"] == kind)


def counting_all() -> None:
    for kind in CELLS:
        STUDY.several({"task": "counting", "network": kind}, partial(counting, kind))


def recall_all() -> None:
    for (kind, bias), delay in itertools.product(REMEMBERERS, RECALL["delays"]):
        recall(kind, bias, delay)


def text_all() -> None:
    for kind in WRITERS:
        text("text", kind, TEXT_RATES, steps_of(kind if kind in TIMED else "LSTM"))


def equal() -> None:
    for kind in ("Elman, wide", "GRU"):
        text("equal", kind, TEXT_RATES, steps_of("LSTM"))


PARTS = {
    "counting": counting_all,
    "recall": recall_all,
    "speed": lambda: steps_of("LSTM"),
    "text": text_all,
    "equal": equal,
    "kernel": lambda: STUDY.several({"task": "kernel"}, kernel),
}


def main() -> None:
    parts = command(__doc__, PARTS).parse_args().parts
    torch.set_num_threads(1)
    for part in parts:
        PARTS[part]()


if __name__ == "__main__":
    main()
