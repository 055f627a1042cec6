"""Byte-level BPE on tiny Shakespeare: training and encoding, beside the textbook and a library.

    python benchmarks/bpe.py [--shakespeare FILE] [--merges 1000] [--textbook 20 | --textbook all]

The textbook loop goes through all pre-tokens of the text twice for every merge: to count the pairs
and to replace one. That takes minutes, so by default only its first merges are timed, and the time
of all is reckoned from their time per token and from the number of tokens left at each later merge;
``--textbook all`` measures it instead. Of pairs with the same count it takes the first it meets, so
its merges can part from ours after some time. Everything runs in this process, one after another;
times are the best of three runs, of one for the textbook loop. Needs tokenizers (all cores).
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tokenizers import ByteLevelBPETokenizer

from helpers.data import corpora
from helpers.data.bpe import BPETokenizer


def timed(function, repeats: int = 3):
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - began)
    return result, best


def textbook(words: list[str], n_merges: int) -> tuple[list[bytes], list[int]]:
    """The tokens that are made, from counting everything anew; and how many were there before."""
    words = [list(word.encode()) for word in words]
    tokens, lengths = [bytes([byte]) for byte in range(256)], []
    for new in range(256, 256 + n_merges):
        counts: dict[tuple[int, int], int] = {}
        for word in words:
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=counts.__getitem__)
        lengths.append(sum(map(len, words)))
        words = [replace(word, best, new) for word in words]
        tokens.append(tokens[best[0]] + tokens[best[1]])
    return tokens[256:], lengths


def replace(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out, i = [], 0
    while i < len(word):
        if i < len(word) - 1 and word[i] == pair[0] and word[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


def lengths_of(tokenizer: BPETokenizer, text: str) -> list[int]:
    """Tokens in the text before each merge: a merge that is used shortens it by one."""
    used: Counter[int] = Counter(tokenizer.encode(text).tolist())
    for new in range(255 + len(tokenizer.merges), 255, -1):  # a token holds those of its parts
        for part in tokenizer.merges[new - 256]:
            used[part] += used[new]
    lengths = [len(text.encode())]
    for new in range(256, 255 + len(tokenizer.merges)):
        lengths.append(lengths[-1] - used[new])
    return lengths


def row(what: str, seconds: float, note: str = "") -> None:
    print(f"  {what:44} {seconds:9.3f} s   {note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shakespeare", type=Path, help="tiny Shakespeare; downloaded if left out")
    parser.add_argument("--merges", type=int, default=1000)
    parser.add_argument("--textbook", default="20", help="merges of the textbook loop, or all")
    args = parser.parse_args()
    text = corpora.tiny_shakespeare(args.shakespeare).text
    megabytes = len(text.encode()) / 1e6
    size = 256 + args.merges

    print(f"{megabytes:.3f} MB, {args.merges} merges, {os.cpu_count()} cores\n\ntraining")
    ours, seconds = timed(lambda: BPETokenizer.train(text, size))
    row("ours", seconds)

    def train_theirs() -> ByteLevelBPETokenizer:
        theirs = ByteLevelBPETokenizer(add_prefix_space=False)
        theirs.train_from_iterator([text], size, min_frequency=2, show_progress=False)
        return theirs

    theirs, library = timed(train_theirs)
    row("tokenizers", library, f"ours takes {seconds / library:.2f} times as long")
    whole = args.textbook == "all"
    steps = args.merges if whole else min(int(args.textbook), args.merges)
    (tokens, lengths), slow = timed(lambda: textbook(ours.split(text), steps), repeats=1)
    made = [ours.token_bytes(256 + i) for i in range(steps)]
    agree = next((i for i in range(steps) if tokens[i] != made[i]), steps)
    note = f"{slow / seconds:.0f} times ours" if whole else "measured"
    row(f"textbook loop, {steps} merges", slow, f"{note}; the first {agree} are ours")
    if not whole:
        reckoned = slow / sum(lengths) * sum(lengths_of(ours, text))
        note = f"reckoned: {reckoned / seconds:.0f} times ours"
        row(f"textbook loop, all {args.merges} merges", reckoned, note)

    print("\nencoding the same text")
    cold = []
    for _ in range(3):
        fresh = BPETokenizer(ours.merges)
        ids, took = timed(lambda fresh=fresh: fresh.encode(text), repeats=1)
        cold.append(took)
    row("ours, cache empty", min(cold), f"{megabytes / min(cold):.1f} MB/s")
    ids, took = timed(lambda: ours.encode(text))
    row("ours, cache filled", took, f"{megabytes / took:.1f} MB/s")
    their_ids, took = timed(lambda: theirs.encode(text).ids)
    row("tokenizers", took, f"{megabytes / took:.1f} MB/s")
    back, took = timed(lambda: ours.decode(ids))
    row("ours, decoding", took, f"{megabytes / took:.1f} MB/s")
    print(f"  {len(ids):,} tokens, {1e6 * megabytes / len(ids):.2f} bytes each; ", end="")
    print(f"the same ids as tokenizers: {ids.tolist() == their_ids}; text back: {back == text}")


if __name__ == "__main__":
    main()
