"""Word vectors on the tales: do words of one kind lie together?

    python -m benchmarks.word_vectors [--seeds 5]

Skip-gram with several seeds, counted vectors (PPMI and SVD), random vectors and likeness of
frequency. The settings of skip-gram and of the counted vectors are chosen, each from a grid, on one
half of the kinds; what is compared is the other half, with seeds that the choice has not seen.
``word_vectors_study.py`` measures skip-gram with the chosen settings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from benchmarks.study import Row, Study, command, machine
from helpers.data import corpora
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import Pair, word_kinds
from helpers.learning.training import Training
from helpers.models.word_vectors import (
    SkipGram,
    WordVectors,
    counted_vectors,
    negative_sampling_loss,
    skip_gram_batches,
)

# Every second kind in alphabetical order, so that either half has frequent and rare ones.
CHOOSE, REPORT = sorted(word_kinds())[::2], sorted(word_kinds())[1::2]
TESTS = ("any other word", "word of another kind")
CHOOSING_SEEDS = (100, 101)
SKIP_GRAM_GRID = {
    "d_model": (50, 100),
    "window": (1, 2),
    "threshold": (1e-3, 1e-2, 1.0),  # 1: no word is dropped
    "weight_decay": (0.1, 0.3, 1.0),
}
COUNTED_GRID = {"window": (1, 2, 3), "d_model": (6, 8, 10, 12, 15, 20, 25, 30, 50, 100)}

Similarity = Callable[[str, str], float]


@cache
def text() -> tuple[Tensor, list[str]]:
    """The lower-cased training tales as ids of the words that occur five times, and the words."""
    train = corpora.lantern_bay().train.lower()
    tokenizer = WordTokenizer.train(train, min_count=5)
    ids = tokenizer.encode(train)
    return ids[ids > tokenizer.end] - 2, tokenizer.words[2:]


@cache
def counts() -> dict[str, int]:
    tokens, words = text()
    return dict(zip(words, torch.bincount(tokens).tolist(), strict=True))


def skip_gram(
    tokens: Tensor,
    size: int,
    seed: int,
    d_model: int,
    window: int,
    threshold: float = 1.0,
    weight_decay: float = 0.3,
    steps: int = 3000,
) -> SkipGram:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = SkipGram(size, d_model)
    batches = skip_gram_batches(
        tokens, size, 1024, generator, window=window, negatives=5, threshold=threshold
    )
    settings = {"learning_rate": 5e-3, "weight_decay": weight_decay, "loss": negative_sampling_loss}
    list(Training(model, batches, steps, **settings))
    return model


def same_kind_pairs(
    drawn_from: Mapping[str, int], generator: torch.Generator, nearest: int = 20
) -> dict[str, tuple[list[Pair], list[Pair]]]:
    """For each kind all pairs of its words, and as many pairs with a random word of another kind.

    The random word replaces one word of the pair, either with equal chance, and is drawn from the
    ``nearest`` words in frequency, so that how often words occur gives nothing away.

    Args:
        drawn_from: words with their counts: the whole vocabulary, or the words of all kinds, which
            is harder (then every word is a noun, a number or a colour).
    """
    tests = {}
    for name, words in word_kinds().items():
        others = [word for word in drawn_from if word not in words]
        log_counts = torch.tensor([math.log(drawn_from[word]) for word in others])
        near = {
            word: (log_counts - math.log(count)).abs().argsort(stable=True)[:nearest].tolist()
            for word, count in words.items()
        }
        same = list(itertools.combinations(words, 2))
        draws = torch.rand(len(same), 2, generator=generator).tolist()
        random = []
        for (a, b), (side, which) in zip(same, draws, strict=True):
            kept, replaced = (a, b) if side < 0.5 else (b, a)
            random.append((kept, others[near[replaced][int(which * len(near[replaced]))]]))
        tests[name] = (same, random)
    return tests


def auc_of(similarity: Similarity, same: list[Pair], random: list[Pair]) -> float:
    """Chance that a same-kind pair is more similar than a random one; a tie counts one half."""
    above, below = (torch.tensor([similarity(a, b) for a, b in some]) for some in (same, random))
    difference = above[:, None] - below
    return float((difference > 0).double().mean() + (difference == 0).double().mean() / 2)


def mean_aucs(similarity: Similarity, seed: int, half: list[str]) -> dict[str, float]:
    """The mean AUC over the kinds of one half, in the two tests; random words from anywhere."""
    in_kinds = {w: n for words in word_kinds().values() for w, n in words.items()}
    means = {}
    for test, drawn_from in zip(TESTS, (counts(), in_kinds), strict=True):
        pairs = same_kind_pairs(drawn_from, torch.Generator().manual_seed(seed))
        means[test] = float(np.mean([auc_of(similarity, *pairs[kind]) for kind in half]))
    return means


def tried(make: Callable[..., list[WordVectors]], grid: Mapping[str, tuple]) -> list[Row]:
    """For each setting the mean of both tests, over one vector or several and the seeds."""
    rows = []
    for values in itertools.product(*grid.values()):
        settings: Row = dict(zip(grid, values, strict=True))
        pairs = zip(make(**settings), CHOOSING_SEEDS, strict=True)
        found = [mean_aucs(vectors.similarity, seed, CHOOSE) for vectors, seed in pairs]
        rows.append(settings | {t: round(float(np.mean([r[t] for r in found])), 4) for t in TESTS})
        print(rows[-1], flush=True)
    return rows


def choose(rows: list[dict], grid: Mapping[str, tuple]) -> dict:
    """The settings with the highest mean of the two tests."""
    best = max(rows, key=lambda row: sum(row[test] for test in TESTS))
    return {name: best[name] for name in grid}


@cache
def directions(window: int) -> Tensor:
    tokens, words = text()
    return counted_vectors(tokens, len(words), max(COUNTED_GRID["d_model"]), window)


def counted(window: int, d_model: int) -> list[WordVectors]:
    return [WordVectors(text()[1], directions(window)[:, :d_model])] * len(CHOOSING_SEEDS)


def trained(**settings: float) -> list[WordVectors]:
    tokens, words = text()
    make = partial(skip_gram, tokens, len(words), **settings)
    return [WordVectors(words, make(seed).centre.weight) for seed in CHOOSING_SEEDS]


def likeness(a: str, b: str) -> float:
    """How near two words are in frequency."""
    return -abs(np.log(counts()[a] / counts()[b]))


def main() -> None:
    seeds = range(command(__doc__, seeds=5).parse_args().seeds)
    grids = {
        "skip-gram": (trained, SKIP_GRAM_GRID),
        "counted (PPMI + SVD)": (counted, COUNTED_GRID),
    }
    rows = {name: tried(*grid) for name, grid in grids.items()}
    chosen = {name: choose(rows[name], grid) for name, (_, grid) in grids.items()}
    best, width = chosen["counted (PPMI + SVD)"], chosen["skip-gram"]["d_model"]
    words = text()[1]
    drawn = [
        torch.randn(len(words), width, generator=torch.Generator().manual_seed(s)) for s in seeds
    ]
    rivals: dict[str, list[Similarity]] = {
        "counted (PPMI + SVD)": [counted(**best)[0].similarity] * len(seeds),
        "likeness of frequency": [lambda a, b: -abs(np.log(counts()[a] / counts()[b]))]
        * len(seeds),
        "random vectors": [WordVectors(words, vectors).similarity for vectors in drawn],
    }
    reported = {}
    for name, similarities in rivals.items():
        runs = [mean_aucs(s, i, REPORT) for i, s in enumerate(similarities)]
        reported[name] = {test: [run[test] for run in runs] for test in TESTS}
    Study(__file__, lambda: {"machine": machine(f"{torch.get_num_threads()} threads")}).write(
        seeds=list(seeds),
        kinds={"chosen on": CHOOSE, "reported": REPORT},
        grid=rows,
        chosen=chosen,
        auc={"reported": reported},
    )


if __name__ == "__main__":
    main()
