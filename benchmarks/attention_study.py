"""What notebook 08 and its further reading say over several seeds: one vector, and what aligns.

    python -m benchmarks.attention_study [attention bottleneck "every step"]

French to English on the phrase grammar of notebook 08, on one thread. Learning rates are chosen on
a seed of their own, by the loss on validation sentences, which hardly tells two rates apart there;
but the alignment does. What is compared is thus trained with equal rates.

A kind of attention is a choice of four things:

    score    additive  v^T tanh(W s + U h_i);  dot  s^T h_i;  location  entry i of a linear map of s
    query    what s is: the state before the last word was read ("before"), the same together with
             that word ("before, word"), or the state after it ("after")
    fed      whether the context goes into the recurrence, or only beside the state to the output
    vector   whether the decoder starts from the encoder's last state, or from zeros

Networks without attention are trained in several sizes, also three times as long. There the vector
and everything else grow together. Where they are fed, the encoder's last state, always the same, is
shown to every step and to the output: the part "every step".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command, machine, tuned
from helpers.data.translation import Pair, PhraseGrammar, WordVocabulary, batches, is_held_out
from helpers.data.translation_lexicon import small_lexicon
from helpers.inference.alignment import alignment_error_rate, hard_alignment

LONGEST, BEYOND = 14, 22  # English words in training, and in the longer test sentences
SETTINGS = {"pairs drawn": 30_000, "batch": 64, "warm-up": 50, "clipped at": 1.0}
SETTINGS |= {"validation": 500, "tested": 1000, "longer": 400}
TUNING_SEED = 1000
# The kinds of attention, and the networks without attention.
HIDDEN, STEPS, RATES, SEEDS = 64, 500, (1e-2, 2e-2, 4e-2), 3
SIZES, SIZE_STEPS, SIZE_RATES = (32, 64, 128), 800, (5e-3, 1e-2, 2e-2)
LONGER_STEPS = 2400


def about() -> dict:
    return {"machine": machine(), "settings": SETTINGS}


STUDY = Study(__file__, about, unsaid=["by length"], separators=(",", ":"))


class Kind(NamedTuple):
    """One kind of attention; see the module."""

    score: str
    query: str
    fed: bool
    vector: bool = True


KINDS = [
    Kind(score, query, fed)
    for query in ("before", "after")
    for score in ("additive", "dot")
    for fed in (True, False)
]
KINDS += [Kind(score, "before, word", True) for score in ("additive", "dot", "location")]
KINDS += [Kind(score, "before, word", True, False) for score in ("additive", "location")]
NONE, EVERY_STEP = Kind("none", "none", False), Kind("none", "none", True)
# Trained with these rates, too: the one of the eight for which another was chosen; the explanation.
EQUAL = [(Kind("dot", "after", True), 2e-2)]
EQUAL += [
    (Kind(score, query, True), 1e-2)
    for score in ("additive", "dot")
    for query in ("before", "before, word", "after")
]
EQUAL += [(Kind(score, "before, word", False), 2e-2) for score in ("additive", "dot")]
EQUAL += [(Kind("location", "before, word", True), 1e-2)]
EQUAL += [(Kind("location", "before, word", True, False), 2e-2)]


class Sentences(NamedTuple):
    """The pairs of the study and their vocabularies."""

    english: WordVocabulary
    french: WordVocabulary
    training: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    longer: list[Pair]


@cache
def sentences() -> Sentences:
    """Training pairs as in the notebook; held-out ones to choose rates by, others to test."""
    grammar = PhraseGrammar(small_lexicon())
    draw = torch.Generator().manual_seed(0)
    drawn = grammar.sample(SETTINGS["pairs drawn"], draw, max_length=LONGEST)
    held_out = list(dict.fromkeys(pair for pair in drawn if is_held_out(pair)))
    n, tested = SETTINGS["validation"], SETTINGS["tested"]
    draw = torch.Generator().manual_seed(5)
    longer = grammar.sample(SETTINGS["longer"], draw, max_length=BEYOND, min_length=LONGEST + 1)
    return Sentences(
        WordVocabulary(grammar.english_words),
        WordVocabulary(grammar.french_words),
        [pair for pair in drawn if not is_held_out(pair)],
        held_out[:n],
        held_out[n : n + tested],
        longer,
    )


class Translator(nn.Module):
    """An encoder-decoder of GRUs with one kind of attention, or none: logits and weights."""

    def __init__(self, kind: Kind, H: int) -> None:
        super().__init__()
        D, (english, french, *_) = H // 2, sentences()
        self.kind, self.H = kind, H
        self.read_word = nn.Embedding(french.vocab_size, D)
        self.write_word = nn.Embedding(english.vocab_size, D)
        self.encoder = nn.GRU(D, H // 2, batch_first=True, bidirectional=True)
        self.decoder: nn.Module = (
            nn.GRUCell(D + H, H) if kind.fed else nn.GRU(D, H, batch_first=True)
        )
        self.output = nn.Linear(H if kind == NONE else 2 * H, english.vocab_size)
        if kind.score == "additive":
            self.W, self.U = nn.Linear(H, H // 2), nn.Linear(H, H // 2, bias=False)
            self.v = nn.Linear(H // 2, 1, bias=False)
        if kind.score == "location":
            self.where = nn.Linear(H, 40)
        if kind.query == "before, word":
            self.word = nn.Linear(D, H, bias=False)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """h (B, S, H), mask (B, 1, S), s_0 (B, H), and U h_i or h again."""
        lengths, e = (source != 0).sum(1), self.read_word(source)
        packed = nn.utils.rnn.pack_padded_sequence(
            e, lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        S = source.shape[1]
        h, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=S)
        compared = self.U(h) if self.kind.score == "additive" else h
        return h, (torch.arange(S) < lengths[:, None])[:, None], torch.cat([*last], -1), compared

    def look(self, s: Tensor, e: Tensor, memory: tuple) -> tuple[Tensor, Tensor]:
        """Contexts (B, T, H) and weights (B, T, S) for states s (B, T, H)."""
        h, mask, _, compared = memory
        if self.kind.query == "before, word":
            s = s + self.word(e)
        if self.kind.score == "additive":
            scores = self.v(torch.tanh(self.W(s)[:, :, None] + compared[:, None]))[..., 0]
        elif self.kind.score == "dot":
            scores = s @ h.transpose(1, 2)
        else:
            scores = self.where(s)[..., : h.shape[1]]
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        return weights @ h, weights

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.read(source, target_in)[0]

    def read(self, source: Tensor, target_in: Tensor) -> tuple[Tensor, Tensor | None]:
        memory, e = self.encode(source), self.write_word(target_in)
        s = memory[2] if self.kind.vector else torch.zeros_like(memory[2])  # (B, H)
        if not self.kind.fed:
            states, _ = self.decoder(e, s[None])
            if self.kind.score == "none":
                return self.output(states), None
            earlier = torch.cat([s[:, None], states[:, :-1]], 1)
            c, weights = self.look(states if self.kind.query == "after" else earlier, e, memory)
            return self.output(torch.cat([states, c], -1)), weights
        found, c, alpha = [], torch.zeros_like(s)[:, None], None
        if self.kind == EVERY_STEP:
            c = memory[2][:, None]
        for now in e.split(1, 1):  # (B, 1, D)
            if self.kind.query.startswith("before"):
                c, alpha = self.look(s[:, None], now, memory)
            s = self.decoder(torch.cat([now, c], -1)[:, 0], s)
            if self.kind.query == "after":
                c, alpha = self.look(s[:, None], now, memory)
            found.append((torch.cat([s[:, None], c], -1), alpha))
        features, weights = zip(*found, strict=True)
        logits = self.output(torch.cat(features, 1))
        return logits, None if alpha is None else torch.cat(weights, 1)


def optimize(
    model: nn.Module,
    drawn: Iterator,
    rate: float,
    steps: int,
    change: Callable[[int, Tensor, Tensor], Tensor] | None = None,
) -> float:
    """Adam with warm-up and a linear decay; the seconds.

    Args:
        change: gives the words to be read instead of target_in, of step, source and target_in.
    """
    began, optimizer = time.process_time(), torch.optim.Adam(model.parameters(), rate)
    for step in range(steps):
        (source, target_in), target_out = next(drawn)
        factor = min((step + 1) / SETTINGS["warm-up"], 1 - step / steps)
        optimizer.param_groups[0]["lr"] = rate * factor
        if change is not None:
            target_in = change(step, source, target_in)
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clipped at"])
        optimizer.step()
    return round(time.process_time() - began, 1)


def training_batches(seed: int) -> Iterator:
    english, french, training, *_ = sentences()
    draw = torch.Generator().manual_seed(seed)
    return batches(training, english, french, SETTINGS["batch"], draw, to_french=False)


def padded(pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Source (B, S), target_in (B, T), target_out (B, T) with -100 at padding."""
    english, french, *_ = sentences()
    source = french.encode_batch([pair.french for pair in pairs])
    words = english.encode_batch([pair.english for pair in pairs])
    words = F.pad(words, (0, 1))
    target_out = words.clone()
    ends = (words == english.pad).int().argmax(1)
    target_out[torch.arange(len(pairs)), ends] = english.eos
    target_in = F.pad(words, (1, 0), value=english.bos)[:, :-1]
    return source, target_in, target_out.masked_fill(target_out == english.pad, -100)


@torch.no_grad()
def loss_on(model: nn.Module, pairs: list[Pair]) -> float:
    """Nats per English word, end mark included."""
    source, target_in, target_out = padded(pairs)
    loss = F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten())
    return round(float(loss), 4)


@torch.no_grad()
def greedy(model: nn.Module, source: Tensor) -> Tensor:
    written = torch.full((len(source), 1), sentences().english.bos)
    for _ in range(BEYOND + 3):
        best = model(source, written)[:, -1].argmax(-1, keepdim=True)
        written = torch.cat([written, best], 1)
    return written[:, 1:]


def exact(write: Callable[[Tensor], Tensor]) -> dict:
    """How often a translation of the test sentences is the reference, word for word."""
    english, french, _, _, *parts = sentences()
    row: dict = {}
    lengths: dict[int, list[bool]] = {}
    for name, pairs in zip(("exact", "exact, longer"), parts, strict=True):
        written = write(french.encode_batch([pair.french for pair in pairs]))
        hits = [english.decode(words) == p.english for words, p in zip(written, pairs, strict=True)]
        row[name] = round(sum(hits) / len(hits), 4)
        for pair, hit in zip(pairs, hits, strict=True):
            lengths.setdefault((len(pair.english) + 1) // 2 * 2, []).append(hit)
    return row | {"by length": {str(n): [sum(h), len(h)] for n, h in sorted(lengths.items())}}


def alignment(weights: Tensor, pairs: list[Pair]) -> dict[str, float]:
    """Alignment error rate, and how often the largest weight lies on the truth of ``this`` word.

    The latter is over words that have both neighbours.
    """
    truth = torch.zeros_like(weights, dtype=torch.bool)
    for row, pair in zip(truth, pairs, strict=True):
        table = pair.matrix(to_french=False)
        row[: table.shape[0], : table.shape[1]] = table
    words = truth.any(-1)  # (B, T)
    links = hard_alignment(weights, words)
    inner = words.clone()
    inner[:, 0] = False
    inner[torch.arange(len(pairs)), words.sum(1) - 1] = False
    this = (links & truth).any(-1)[inner].double().mean()
    error_rate = alignment_error_rate(links, truth)
    return {"this": round(float(this), 4), "error rate": round(error_rate, 4)}


def done(part: str, kind: Kind, H: int, rate: float, seed: int, steps: int) -> dict:
    """The row of this training, from the file or computed and saved."""

    def make() -> dict:
        torch.manual_seed(seed)
        model, data = Translator(kind, H), sentences()
        row: dict = {"seconds": optimize(model, training_batches(seed), rate, steps)}
        row["validation"] = loss_on(model.eval(), data.validation)
        if seed == TUNING_SEED:
            return row
        row |= exact(partial(greedy, model))
        if kind.score != "none":
            with torch.no_grad():
                _, weights = model.read(*padded(data.test)[:2])
            row["alignment"] = alignment(weights, data.test)
        return row

    asked = {"part": part, **kind._asdict(), "hidden": H, "rate": rate, "seed": seed}
    return STUDY.row(asked | {"steps": steps}, make)


def with_best_rate(
    part: str, kind: Kind, H: int, rates: Sequence[float], seeds: int, steps: int
) -> float:
    """Choose the rate on the tuning seed, then train the seeds with it; the chosen rate."""
    best = tuned(rates, lambda rate: done(part, kind, H, rate, TUNING_SEED, steps)["validation"])
    for seed in range(seeds):
        done(part, kind, H, best, seed, steps)
    return best


def main() -> None:
    parts = command(__doc__, ["attention", "bottleneck", "every step"]).parse_args().parts
    torch.set_num_threads(1)
    if "attention" in parts:
        for kind in KINDS:
            with_best_rate("attention", kind, HIDDEN, RATES, SEEDS, STEPS)
        for kind, rate in EQUAL:
            for seed in range(SEEDS):
                done("attention", kind, HIDDEN, rate, seed, STEPS)
    if "bottleneck" in parts:
        for size in SIZES:
            best = with_best_rate("bottleneck", NONE, size, SIZE_RATES, SEEDS, SIZE_STEPS)
            for seed in range(SEEDS if size > min(SIZES) else 0):
                done("longer", NONE, size, best, seed, LONGER_STEPS)
    if "every step" in parts:
        with_best_rate("every step", EVERY_STEP, max(SIZES), SIZE_RATES, SEEDS, SIZE_STEPS)


if __name__ == "__main__":
    main()
