"""Word vectors on the tales: do words of one kind lie together, and do analogies hold?

    python benchmarks/word_vectors.py [--seeds 5]

Skip-gram with several seeds beside counted vectors (PPMI and SVD), random vectors and likeness of
frequency. Prints a table and writes benchmarks/results/word_vectors.json, which notebook 04 shows.
About 15 s a seed on two cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import torch

from helpers.data import corpora
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import same_kind_pairs, word_kinds, word_relations
from helpers.inference.word_similarity import analogy_ranks, kind_aucs
from helpers.learning.training import train
from helpers.models.word_vectors import (
    SkipGram,
    WordVectors,
    counted_vectors,
    negative_sampling_loss,
    skip_gram_batches,
)

RESULTS = Path(__file__).parent / "results" / "word_vectors.json"


def skip_gram(words: list[str], tokens: torch.Tensor, seed: int) -> WordVectors:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = SkipGram(len(words), 100)
    batches = skip_gram_batches(
        tokens, len(words), 1024, generator, window=2, negatives=5, threshold=1e-2
    )
    settings = {"learning_rate": 5e-3, "weight_decay": 0.3, "loss": negative_sampling_loss}
    for _ in train(model, batches, 3000, **settings):
        pass
    return WordVectors(words, model.centre.weight)


def mean_auc(similarity, counts: dict[str, int], seed: int, among_kinds: bool) -> float:
    kinds = word_kinds()
    drawn_from = {w: n for words in kinds.values() for w, n in words.items()}
    generator = torch.Generator().manual_seed(seed)
    tests = same_kind_pairs(kinds, drawn_from if among_kinds else counts, generator)
    return float(np.mean(list(kind_aucs(similarity, tests).values())))


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    text = corpora.lantern_bay().train.lower()
    tokenizer = WordTokenizer.train(text, min_count=5)
    ids = tokenizer.encode(text)
    tokens, words = ids[ids > tokenizer.end] - 2, tokenizer.words[2:]
    occurrences = torch.bincount(tokens, minlength=len(words)).tolist()
    counts = dict(zip(words, occurrences, strict=True))

    began = time.perf_counter()
    trained = [skip_gram(words, tokens, seed) for seed in seeds]
    seconds = (time.perf_counter() - began) / len(trained)
    counted = WordVectors(words, counted_vectors(tokens, len(words), 50, window=1))
    drawn = [
        torch.randn(len(words), 100, generator=torch.Generator().manual_seed(s)) for s in seeds
    ]
    rivals = {
        "skip-gram": [vectors.similarity for vectors in trained],
        "counted (PPMI + SVD)": [counted.similarity] * len(trained),
        "likeness of frequency": [lambda a, b: -abs(np.log(counts[a] / counts[b]))] * len(trained),
        "random vectors": [WordVectors(words, vectors).similarity for vectors in drawn],
    }
    auc = {}
    print(f"{'AUC, mean ± sd over seeds':28} {'any other word':>18} {'word of another kind':>22}")
    for name, similarities in rivals.items():
        auc[name] = {
            "any other word": [mean_auc(s, counts, i, False) for i, s in enumerate(similarities)],
            "word of another kind": [
                mean_auc(s, counts, i, True) for i, s in enumerate(similarities)
            ],
        }
        shown = [f"{np.mean(v):.3f} ± {np.std(v):.3f}" for v in auc[name].values()]
        print(f"{name:28} {shown[0]:>18} {shown[1]:>22}")
    right = {
        "skip-gram": [analogies(v) for v in trained],
        "counted (PPMI + SVD)": [analogies(counted)],
    }
    for name, runs in right.items():
        for relation in runs[0]:
            top = [np.mean([run[relation][k] for run in runs]) for k in list(runs[0][relation])[1:]]
            print(f"{name:22} {relation:12} " + "   ".join(f"{100 * t:5.1f} %" for t in top))
    RESULTS.parent.mkdir(exist_ok=True)
    machine = f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    content = {
        "script": "benchmarks/word_vectors.py",
        "machine": machine,
        "seeds": list(seeds),
        "seconds_per_training": round(seconds, 1),
        "auc": auc,
        "analogies": right,
    }
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
