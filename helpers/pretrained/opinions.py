"""Sentences that people rated: films, products, tweets and editorials (Hutto and Gilbert 2014)."""

from __future__ import annotations

import json
from typing import NamedTuple

from helpers.pretrained.store import find

KINDS = {
    "films": "movieReviewSnippets",
    "products": "amazonReviewSnippets",
    "tweets": "tweets",
    "editorials": "nytEditorialSnippets",
}


class Opinion(NamedTuple):
    """A sentence, and what each of its raters said of it, from -4 (bad) to 4 (good)."""

    text: str
    ratings: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Of the ratings."""
        return sum(self.ratings) / len(self.ratings)


def opinions(kind: str = "films") -> list[Opinion] | None:
    """The sentences of one kind, in the order of the file; None where they were not fetched."""
    folder = find("opinions")
    if folder is None:
        return None
    texts, rated = (
        [
            line.split("\t")
            for line in (folder / f"{KINDS[kind]}_{part}.txt")
            .read_bytes()
            .removeprefix(b"\xef\xbb\xbf")
            .decode("latin-1")
            .splitlines()
            if line
        ]
        for part in ("GroundTruth", "anonDataRatings")
    )
    ratings = {row[0]: tuple(json.loads(row[-1])) for row in rated}
    return [Opinion(row[-1].strip(), ratings[row[0]]) for row in texts if row[0] in ratings]
