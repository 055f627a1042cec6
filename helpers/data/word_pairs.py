"""Pairs of words to test word vectors with: words of one kind, and words in one relation.

Both lists were chosen by reading the vocabulary of the tales (``corpora.lantern_bay``), from words
that occur ten times or more in the lower-cased train part; words of two kinds were left out.
"""

from __future__ import annotations

import json

from helpers.data.corpora import DATA_FOLDER

Pair = tuple[str, str]


def word_kinds() -> dict[str, dict[str, int]]:
    """Kind (animals, food, ...) -> its words with their counts in the lower-cased train part."""
    return _content()["kinds"]


def word_relations() -> dict[str, list[Pair]]:
    """Relation (plural, past, ...) -> pairs of words that stand in it, such as boat and boats."""
    return {name: [(a, b) for a, b in pairs] for name, pairs in _content()["analogies"].items()}


def _content() -> dict:
    return json.loads((DATA_FOLDER / "word_kinds.json").read_text(encoding="utf-8"))
