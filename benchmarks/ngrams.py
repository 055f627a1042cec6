"""n-grams on tiny Shakespeare: fitting and scoring time, and perplexity, beside NLTK and KenLM.

    python benchmarks/ngrams.py [--shakespeare FILE] [--lmplz PROGRAM] [--order 5]

The first 90 % of the text is counted, the last 10 % scored. All programs get the same tokens and
run one after another in this process or, for KenLM, as a child. Needs nltk; KenLM's rows appear
where ``lmplz`` and ``query`` (its programs) are found on the path or given.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import nltk.lm
import numpy as np
import torch
from nltk.lm.preprocessing import padded_everygram_pipeline

from helpers.data import corpora
from helpers.data.tokenizers import CharTokenizer, WordTokenizer
from helpers.models.ngram import KneserNey, ModifiedKneserNey, NGram


def timed(function):
    began = time.perf_counter()
    return function(), time.perf_counter() - began


def row(what: str, fit: float, score: str, *quality: str) -> None:
    print(f"  {what:34} {fit:9.3f} {score:>16}   {'   '.join(quality)}")


def quality(log_p: np.ndarray, known: np.ndarray | None) -> list[str]:
    """Nats per token for characters; for words perplexity with and without the unknown ones."""
    if known is None:
        return [f"{-log_p.mean():.4f} nats/character"]
    with_unknown, without = math.exp(-log_p.mean()), math.exp(-log_p[known].mean())
    return [f"perplexity {with_unknown:.1f}", f"{without:.1f} without unknown words"]


def ours(model: NGram, name: str, train, test, vocab_size: int, known) -> tuple[float, np.ndarray]:
    fits, scores = [], []
    for _ in range(5):  # the median of five: one run is over before the machine settles
        _, seconds = timed(lambda: model.fit(train, vocab_size))
        fits.append(seconds)
        log_p, seconds = timed(lambda: model.log_probs(test).numpy())
        scores.append(seconds)
    fit, score = float(np.median(fits)), float(np.median(scores))
    row(name, fit, f"{score:.3f} s (all)", *quality(log_p, known))
    return fit + score, log_p


def nltk_fit(sentences: list[list[str]], test: list[list[str]], order: int, slice_: int) -> float:
    grams, vocabulary = padded_everygram_pipeline(order, sentences)
    model = nltk.lm.KneserNeyInterpolated(order)
    _, fit = timed(lambda: model.fit(grams, vocabulary))
    words = ["<s>"] * (order - 1) + [w for s in test for w in [*s, "</s>"]][: slice_ + order]
    _, score = timed(
        lambda: [
            model.logscore(words[i], words[i - order + 1 : i])
            for i in range(order - 1, order - 1 + slice_)
        ]
    )
    row("NLTK KneserNeyInterpolated", fit, f"{1000 * score / slice_:.1f} ms/token")
    return fit


def kenlm(sentences, test, order: int, lmplz: str | None, known, log_p: np.ndarray) -> None:
    query = shutil.which("query", path=str(Path(lmplz).parent)) if lmplz else None
    if not lmplz or not query:
        print("  (KenLM: no lmplz and query found, rows left out)")
        return
    with tempfile.TemporaryDirectory() as folder:
        arpa = Path(folder) / "model.arpa"
        lines = "\n".join(" ".join(s) for s in sentences) + "\n"
        build = [lmplz, "-o", str(order), "--discount_fallback", "-S", "2G", "-T", folder]
        done, fit = timed(lambda: subprocess.run(build, input=lines.encode(), capture_output=True))
        if done.returncode:
            print("  (KenLM failed:", done.stderr.decode()[-200:].strip(), ")")
            return
        arpa.write_bytes(done.stdout)
        asked = "\n".join(" ".join(s) for s in test) + "\n"
        ask = [query, "-v", "word", str(arpa)]
        done, score = timed(lambda: subprocess.run(ask, input=asked.encode(), capture_output=True))
        pairs = done.stdout.decode().split("\n\n")[0].replace("\n", "\t").split("\t")
        theirs = np.array([float(p.rsplit(" ", 1)[1]) for p in pairs if p.count(" ") == 2])
        theirs *= math.log(10)
        row("KenLM modified (lmplz, query)", fit, f"{score:.3f} s (all)", *quality(theirs, known))
        worst = np.abs(theirs - log_p).max()
        print(f"  largest difference of one token's log-probability from ours: {worst:.1e} nats")


def compare(unit: str, text: str, order: int, lmplz: str | None) -> None:
    cut = len(text) * 9 // 10
    cut = text.rindex("\n", 0, cut) + 1
    head, tail = text[:cut], text[cut:]
    if unit == "words":
        tokenizer = WordTokenizer.train(head)
        train, test, end = tokenizer.encode(head), tokenizer.encode(tail), tokenizer.end
        sentences, tests = (
            [words for line in part.splitlines() if (words := tokenizer.split(line))]
            for part in (head, tail)
        )
        known, slice_ = test.numpy() != tokenizer.unk, 100
        vocab_size = tokenizer.vocab_size
    else:  # one long sentence of characters, closed by an end mark; a sign stands for white space
        letters = CharTokenizer.train(text)
        end, known, slice_ = letters.vocab_size, None, 300
        vocab_size = letters.vocab_size + 2  # the end mark and, as KenLM has it, an unknown one
        close = torch.tensor([end])
        train, test = (torch.cat([letters.encode(part), close]) for part in (head, tail))
        names = {" ": "_sp_", "\n": "_nl_"}
        sentences, tests = ([[names.get(c, c) for c in part]] for part in (head, tail))
    print(
        f"\n{unit}: order {order}, {len(train):,} tokens counted, {len(test):,} scored, V = ",
        end="",
    )
    print(f"{vocab_size:,}")
    row_title = f"  {'':34} {'fit in s':>9} {'score':>16}   quality"
    print(row_title)
    seconds, _ = ours(
        KneserNey(order, end=end), "ours, interpolated Kneser-Ney", train, test, vocab_size, known
    )
    _, log_p = ours(
        ModifiedKneserNey(order, end=end),
        "ours, modified Kneser-Ney",
        train,
        test,
        vocab_size,
        known,
    )
    kenlm(sentences, tests, order, lmplz, known, log_p)
    theirs = nltk_fit(sentences, tests, order, slice_)
    share = theirs / seconds
    print(f"  ours fits and scores everything in 1/{share:.0f} of the time in which NLTK fits")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shakespeare", type=Path, help="tiny Shakespeare; downloaded if left out")
    parser.add_argument("--lmplz", default=shutil.which("lmplz"), help="KenLM's program")
    parser.add_argument("--order", type=int, default=5)
    args = parser.parse_args()
    text = corpora.tiny_shakespeare(args.shakespeare).text
    for unit in ("words", "characters"):
        compare(unit, text, args.order, args.lmplz)


if __name__ == "__main__":
    main()
