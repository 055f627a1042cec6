"""Words that were counted and placed elsewhere: the web's n-grams, GloVe's vectors, analogies."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from helpers.pretrained.store import find


def web_words(n: int | None = None) -> dict[str, int] | None:
    """How often each word stood in a trillion words of web pages of 2006, the most frequent first.

    Args:
        n: how many of the 333,213 words; None means all.

    Returns:
        None where they were not fetched.
    """
    folder = find("web")
    if folder is None:
        return None
    with (folder / "unigrams.txt").open(encoding="utf-8") as file:
        pairs = (line.rstrip("\n").split("\t") for line in islice(file, n))
        return {word: int(count) for word, count in pairs}


def web_pairs() -> dict[tuple[str, str], int] | None:
    """How often each of the 258,437 most frequent pairs of neighbours stood there.

    ``<s>`` is the beginning of a sentence. A pair that was written in several
    ways stands in the file as often. None where they were not fetched.
    """
    folder = find("web")
    if folder is None:
        return None
    found: Counter[tuple[str, str]] = Counter()
    for line in (folder / "bigrams.txt").read_text(encoding="utf-8").splitlines():
        pair, count = line.split("\t")
        first, second = pair.split(" ")
        found[first, second] += int(count)
    return dict(found)


def glove(n: int = 400_000) -> tuple[list[str], Tensor] | None:
    """The n most frequent words and their vectors (n, 50); None where they were not fetched."""
    folder = find("glove")
    if folder is None:
        return None
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")[:n]
    stored = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return words, torch.from_numpy(np.array(stored[:n], dtype=np.float32))


def analogies() -> dict[str, list[tuple[str, str, str, str]]] | None:
    """Section -> questions (a, b, c, d): a is to b as c is to d; small letters. None: not here."""
    folder = find("analogies")
    if folder is None:
        return None
    found: dict[str, list] = {}
    for line in (folder / "questions-words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(":"):
            questions = found[line[1:].strip()] = []
        elif line:
            questions.append(tuple(line.lower().split()))
    return found
