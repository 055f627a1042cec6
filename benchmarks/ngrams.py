"""How long 5-gram models of tiny Shakespeare take: fitting and scoring, and their loss.

    python -m benchmarks.ngrams [--shakespeare FILE]

The first 90 % of the text is counted, the last 10 % scored. A time is the median of five.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from helpers.data import corpora
from helpers.data.tokenizers import CharTokenizer, WordTokenizer
from helpers.models.ngram import KneserNey, ModifiedKneserNey


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shakespeare", type=Path, help="tiny Shakespeare; downloaded if left out")
    options = parser.parse_args()
    text = corpora.tiny_shakespeare(options.shakespeare).text
    cut = text.rindex("\n", 0, len(text) * 9 // 10) + 1
    for tokenizer in (CharTokenizer.train(text), WordTokenizer.train(text[:cut])):
        train, test = map(tokenizer.encode, (text[:cut], text[cut:]))
        for kind in (KneserNey, ModifiedKneserNey):
            model, fits, scores = kind(5), [], []
            for _ in range(5):  # one run is over before the machine settles
                began = time.perf_counter()
                model.fit(train, tokenizer.vocab_size)
                fits.append(time.perf_counter() - began)
                began = time.perf_counter()
                log_p = model.log_probs(test)
                scores.append(time.perf_counter() - began)
            print(
                f"{type(tokenizer).__name__}, {kind.__name__}, n = 5: "
                f"{len(train):,} tokens fitted in {np.median(fits):.3f} s, {len(test):,} scored in "
                f"{np.median(scores):.3f} s, {-float(log_p.mean()):.4f} nats each"
            )


if __name__ == "__main__":
    main()
