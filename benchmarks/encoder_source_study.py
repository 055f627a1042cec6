"""What each share of BERT's masking is for, on a source whose best answers are known.

    python -m benchmarks.encoder_source_study [--seeds 3]

The source is the round of a watchman through eight places, of which only what he hears is written
down: a hidden Markov chain. Its filled gaps and its posterior of the places are exact, by the
forward-backward algorithm. Encoders whose chosen tokens are masked, replaced or left alone in
several shares, at two learning rates, are tested with a mask and without. On one thread.
"""

from __future__ import annotations

import itertools
import math
from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, machine
from helpers.data.masking import mask_tokens, masked_loss
from helpers.data.sources import HiddenMarkovSource
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock
from helpers.models.positions import RotaryPositions

HEARD = {  # place -> what is heard there mostly, and what is heard second
    "quay": ("water", "gulls"), "market": ("voices", "bells"), "school": ("bells", "voices"),
    "forge": ("hammers", "voices"), "chapel": ("bells", "wind"), "mill": ("water", "hammers"),
    "marsh": ("gulls", "water"), "tower": ("wind", "gulls"),
}  # fmt: skip
SOUNDS = ("water", "gulls", "voices", "bells", "hammers", "wind")
MASK, V = len(SOUNDS), len(SOUNDS) + 1
LENGTH, EDGE = 24, 4  # sounds of a text; so many at each end are not tested
MODEL = {"layers": 2, "width": 32, "heads": 2}
BATCH, STEPS, WARMUP, DECAY = 64, 800, 50, 0.2  # texts; steps; share of the steps at the end
KINDS = {
    "80/10/10": (0.8, 0.1, 0.1), "100/0/0": (1.0, 0.0, 0.0), "80/0/20": (0.8, 0.0, 0.2),
    "80/20/0": (0.8, 0.2, 0.0), "0/100/0": (0.0, 1.0, 0.0), "0/0/100": (0.0, 0.0, 1.0),
}  # fmt: skip
RATES = (0.006, 0.024)  # what is shown, and four times as much


def watchman(stays: float = 0.3, walks: float = 0.65, first: float = 0.8, second: float = 0.15):
    """The source: eight places on a ring, six sounds."""
    places = list(HEARD)
    A = torch.full((8, 8), (1 - stays - walks) / 8, dtype=torch.float64)
    B = torch.full((8, 6), (1 - first - second) / 6, dtype=torch.float64)
    for i, place in enumerate(places):
        A[i, i] += stays
        A[i, (i + 1) % 8] += walks
        for sound, share in zip(HEARD[place], (first, second), strict=True):
            B[i, SOUNDS.index(sound)] += share
    return HiddenMarkovSource(A, B)


class SmallEncoder(nn.Module):
    """Pre-norm blocks with rotary positions that look both ways."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(V, width)
        nn.init.normal_(self.embed.weight, std=0.5)
        self.blocks = nn.ModuleList(
            PreNormBlock(
                width,
                MultiHeadAttention(width, heads, positions=RotaryPositions(width // heads)),
                FeedForward(width),
            )
            for _ in range(layers)
        )
        self.norm, self.output = nn.LayerNorm(width), nn.Linear(width, V)

    def states(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.states(tokens))


class Tests:
    """Texts with their places, and what is known about them."""

    def __init__(self, source: HiddenMarkovSource) -> None:
        generator = torch.Generator().manual_seed(2000)
        self.inside = slice(EDGE, LENGTH - EDGE)
        self.learn = source.sample_texts(1000, LENGTH, generator)  # for the probes
        self.test = source.sample_texts(1000, LENGTH, generator)
        states, tokens = self.test
        seen = torch.ones_like(tokens, dtype=torch.bool)
        until = torch.stack([source.posterior(tokens[:, : t + 1], seen[:, : t + 1])[:, t]
                             for t in range(LENGTH)], 1)  # fmt: skip
        own = source.stationary * source.emissions.T[tokens]
        self.known = {
            "gap, all others": self.bits(source.fill(tokens, seen), tokens),
            "place, all sounds": self.bits(source.posterior(tokens, seen).log(), states),
            "place, sounds until now": self.bits(until.log(), states),
            "place, own sound": self.bits((own / own.sum(-1, keepdim=True)).log(), states),
        }

    def bits(self, log_p: Tensor, said: Tensor) -> float:
        """Mean surprise at positions inside, in bits."""
        found = -log_p.gather(-1, said[..., None])[..., 0] / math.log(2)
        return float(found[:, self.inside].mean())

    @torch.no_grad()
    def gap(self, model: nn.Module) -> float:
        """Bits of a sound behind a single [MASK]."""
        tokens, total = self.test[1][:500], 0.0
        positions = range(EDGE, LENGTH - EDGE)
        for t in positions:
            gapped = tokens.clone()
            gapped[:, t] = MASK
            log_p = model(gapped)[:, t, :MASK].log_softmax(-1)
            total += float(F.nll_loss(log_p, tokens[:, t])) / math.log(2)
        return total / len(positions)

    @torch.no_grad()
    def intact(self, model: nn.Module) -> float:
        """Share of the sounds of whole texts at which the model says what it reads there."""
        tokens = self.test[1]
        said = model(tokens)[..., :MASK].argmax(-1)
        return float((said == tokens)[:, self.inside].float().mean())

    def probe(self, model: SmallEncoder) -> float:
        """Bits of the place that the last states leave, by logistic regression on whole texts."""
        with torch.no_grad():
            x, y = (model.states(tokens) for _, tokens in (self.learn, self.test))
        x, said = x[:, self.inside].flatten(0, 1), self.learn[0][:, self.inside].flatten()
        mean, std = x.mean(0), x.std(0) + 1e-6
        linear = nn.Linear(x.shape[1], 8)
        nn.init.zeros_(linear.weight)
        lbfgs = torch.optim.LBFGS(linear.parameters(), max_iter=60, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            lbfgs.zero_grad()
            loss = F.cross_entropy(linear((x - mean) / std), said)
            loss = loss + 1e-5 * linear.weight.square().sum()
            loss.backward()
            return loss

        lbfgs.step(closure)
        with torch.no_grad():
            return self.bits(linear((y - mean) / std).log_softmax(-1).double(), self.test[0])


def trained(source: HiddenMarkovSource, kind: str, rate: float, seed: int) -> SmallEncoder:
    """An encoder that has filled the gaps of fresh texts."""
    torch.manual_seed(seed)
    model, generator = SmallEncoder(**MODEL), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), rate)
    for step in range(1, STEPS + 1):
        left = (STEPS - step + 1) / (DECAY * STEPS)
        optimizer.param_groups[0]["lr"] = rate * min(step / WARMUP, left, 1)
        if step % 50 == 1:  # many texts at once are drawn faster
            drawn = iter(source.sample_texts(50 * BATCH, LENGTH, generator)[1].split(BATCH))
        inputs, targets = mask_tokens(
            next(drawn), mask=MASK, vocab_size=V, generator=generator, kinds=KINDS[kind]
        )
        loss = masked_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


@cache
def source_and_tests() -> tuple[HiddenMarkovSource, Tests]:
    source = watchman()
    return source, Tests(source)


def about() -> Row:
    source, tests = source_and_tests()
    return {
        "machine": machine(),
        "settings": {"length": LENGTH, "steps": STEPS, "batch": BATCH, "rates": RATES},
        "transitions": source.transitions.tolist(),
        "emissions": source.emissions.tolist(),
        "known": tests.known,
    }


STUDY = Study(__file__, about)


def run(kind: str, rate: float, seed: int) -> Row:
    source, tests = source_and_tests()
    model = trained(source, kind, rate, seed)
    return {name: getattr(tests, name)(model) for name in ("gap", "probe", "intact")}


def main() -> None:
    options = command(__doc__, seeds=3).parse_args()
    torch.set_num_threads(1)
    for rate, kind, seed in itertools.product(RATES, KINDS, range(options.seeds)):
        asked = {"kind": kind, "rate": rate, "seed": seed}
        STUDY.row(asked, partial(run, **asked))


if __name__ == "__main__":
    main()
