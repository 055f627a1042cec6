"""Word vectors on the tales: do words of one kind lie together, and do analogies hold?

    python -m benchmarks.word_vectors [--seeds 5]

Skip-gram with several seeds beside counted vectors (PPMI and SVD), random vectors and likeness of
frequency. The settings of skip-gram and of the counted vectors are chosen, each from a grid, on one
half of the kinds; what is compared is the other half, with seeds that the choice has not seen.
Prints tables and writes benchmarks/results/word_vectors.json, which notebook 04 shows.
About a quarter of an hour on two idle cores, most of it for the choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch

from benchmarks.study import Study, command, machine
from helpers.data import corpora
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import same_kind_pairs, word_kinds, word_relations
from helpers.inference.word_similarity import analogy_ranks, kind_aucs
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


def skip_gram(
    words: list[str],
    tokens: torch.Tensor,
    seed: int,
    d_model: int,
    window: int,
    threshold: float,
    weight_decay: float,
) -> WordVectors:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = SkipGram(len(words), d_model)
    batches = skip_gram_batches(
        tokens, len(words), 1024, generator, window=window, negatives=5, threshold=threshold
    )
    settings = {"learning_rate": 5e-3, "weight_decay": weight_decay, "loss": negative_sampling_loss}
    for _ in Training(model, batches, 3000, **settings):
        pass
    return WordVectors(words, model.centre.weight)


def mean_aucs(
    similarity: Similarity, counts: Mapping[str, int], seed: int, half: list[str]
) -> dict[str, float]:
    """The mean AUC over the kinds of one half, in the two tests; random words from anywhere."""
    kinds = word_kinds()
    in_kinds = {w: n for words in kinds.values() for w, n in words.items()}
    means = {}
    for test, drawn_from in zip(TESTS, (counts, in_kinds), strict=True):
        pairs = same_kind_pairs(kinds, drawn_from, torch.Generator().manual_seed(seed))
        aucs = kind_aucs(similarity, {kind: pairs[kind] for kind in half})
        means[test] = float(np.mean(list(aucs.values())))
    return means


def combinations(grid: Mapping[str, tuple]) -> Iterator[dict]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def tried(name: str, settings: dict, results: list[dict[str, float]]) -> dict:
    """One row of the grid: the settings and the mean of both tests over the seeds."""
    row = {**settings, **{t: round(float(np.mean([r[t] for r in results])), 4) for t in TESTS}}
    print(f"{name}: {row}", flush=True)
    return row


def choose(rows: list[dict], grid: Mapping[str, tuple]) -> dict:
    """The settings with the highest mean of the two tests."""
    best = max(rows, key=lambda row: sum(row[test] for test in TESTS))
    return {name: best[name] for name in grid}


def analogies(vectors: WordVectors) -> dict[str, dict[str, float]]:
    size, rows = len(vectors.words), {}
    for name, pairs in word_relations().items():
        by_sum = analogy_ranks(
            lambda a, b, c: [w for w, _ in vectors.analogy(a, b, c, size)], pairs
        )
        alone = analogy_ranks(
            lambda a, b, c: [w for w, _ in vectors.neighbours(c, size) if w not in (a, b)], pairs
        )
        rows[name] = {
            "questions": len(by_sum),
            "top 1": float(np.mean(np.array(by_sum) == 1)),
            "top 10": float(np.mean(np.array(by_sum) <= 10)),
            "top 1, neighbour of c alone": float(np.mean(np.array(alone) == 1)),
        }
    return rows


def main() -> None:
    seeds = range(command(__doc__, seeds=5).parse_args().seeds)
    text = corpora.lantern_bay().train.lower()
    tokenizer = WordTokenizer.train(text, min_count=5)
    ids = tokenizer.encode(text)
    tokens, words = ids[ids > tokenizer.end] - 2, tokenizer.words[2:]
    occurrences = torch.bincount(tokens, minlength=len(words)).tolist()
    counts = dict(zip(words, occurrences, strict=True))

    rows: dict[str, list[dict]] = {"skip-gram": [], "counted (PPMI + SVD)": []}
    widest = max(COUNTED_GRID["d_model"])
    directions = {
        window: counted_vectors(tokens, len(words), widest, window)
        for window in COUNTED_GRID["window"]
    }
    for settings in combinations(COUNTED_GRID):
        vectors = WordVectors(words, directions[settings["window"]][:, : settings["d_model"]])
        found = [mean_aucs(vectors.similarity, counts, seed, CHOOSE) for seed in CHOOSING_SEEDS]
        rows["counted (PPMI + SVD)"].append(tried("counted", settings, found))
    for settings in combinations(SKIP_GRAM_GRID):
        found = []
        for seed in CHOOSING_SEEDS:
            vectors = skip_gram(words, tokens, seed, **settings)
            found.append(mean_aucs(vectors.similarity, counts, seed, CHOOSE))
        rows["skip-gram"].append(tried("skip-gram", settings, found))
    chosen = {
        "skip-gram": choose(rows["skip-gram"], SKIP_GRAM_GRID),
        "counted (PPMI + SVD)": choose(rows["counted (PPMI + SVD)"], COUNTED_GRID),
    }
    print(f"chosen on {', '.join(CHOOSE)}: {chosen}")

    trained = [skip_gram(words, tokens, seed, **chosen["skip-gram"]) for seed in seeds]
    best = chosen["counted (PPMI + SVD)"]
    counted = WordVectors(words, directions[best["window"]][:, : best["d_model"]])
    width = chosen["skip-gram"]["d_model"]
    drawn = [
        torch.randn(len(words), width, generator=torch.Generator().manual_seed(s)) for s in seeds
    ]
    rivals: dict[str, list[Similarity]] = {
        "skip-gram": [vectors.similarity for vectors in trained],
        "counted (PPMI + SVD)": [counted.similarity] * len(trained),
        "likeness of frequency": [lambda a, b: -abs(np.log(counts[a] / counts[b]))] * len(trained),
        "random vectors": [WordVectors(words, vectors).similarity for vectors in drawn],
    }
    auc: dict[str, dict[str, dict[str, list[float]]]] = {}
    for part, half in (("chosen on", CHOOSE), ("reported", REPORT)):
        print(f"{f'AUC on the half that is {part}':36} " + "".join(f"{t:>24}" for t in TESTS))
        auc[part] = {}
        for name, similarities in rivals.items():
            runs = [mean_aucs(s, counts, i, half) for i, s in enumerate(similarities)]
            auc[part][name] = {test: [run[test] for run in runs] for test in TESTS}
            shown = [f"{np.mean(v):.3f} ± {np.std(v):.3f}" for v in auc[part][name].values()]
            print(f"{name:36} " + "".join(f"{number:>24}" for number in shown))
    right = {
        "skip-gram": [analogies(v) for v in trained],
        "counted (PPMI + SVD)": [analogies(counted)],
    }
    for name, runs in right.items():
        for relation in runs[0]:
            top = [np.mean([run[relation][k] for run in runs]) for k in list(runs[0][relation])[1:]]
            print(f"{name:22} {relation:12} " + "   ".join(f"{100 * t:5.1f} %" for t in top))
    content = {
        "seeds": list(seeds),
        "seeds of the choice": list(CHOOSING_SEEDS),
        "kinds": {"chosen on": CHOOSE, "reported": REPORT},
        "grid": rows,
        "chosen": chosen,
        "auc": auc,
        "analogies": right,
    }
    about = {"machine": machine(f"{torch.get_num_threads()} threads")}
    Study(__file__, lambda: about).write(**content)


if __name__ == "__main__":
    main()
