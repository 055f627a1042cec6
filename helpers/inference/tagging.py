"""Entities as tags of tokens and back: BIO, and how many entities were found.

Of an entity of kind X the first token is tagged B-X and the others I-X; all else is O. Ramshaw and
Marcus (1995), "Text chunking using transformation-based learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Entity(NamedTuple):
    """Tokens first .. after - 1 are an entity of a kind, such as "person"."""

    first: int
    after: int
    kind: str


def entities_of(tags: Sequence[str]) -> list[Entity]:
    """The entities behind BIO tags. An I that goes on nothing of its kind begins an entity.

    So do the scorers of the CoNLL shared tasks, since a model's tags need not fit together.
    """
    found, first, kind = [], None, ""
    for place, tag in enumerate([*tags, "O"]):
        letter, _, name = tag.partition("-")
        if first is not None and (letter != "I" or name != kind):
            found.append(Entity(first, place, kind))
            first = None
        if first is None and letter != "O":
            first, kind = place, name
    return found


class Found(NamedTuple):
    """Precision, recall and F1 of entities, from 0 to 1."""

    precision: float
    recall: float
    f1: float


def entity_scores(tags: Sequence[Sequence[str]], truths: Sequence[Sequence[str]]) -> Found:
    """How well the entities of several texts were found; right is who has both ends and the kind.

    Precision is the share of the found entities that are right, recall the share of the true ones
    that were found; 0 where there are none.
    """
    right = found = wanted = 0
    for row, truth in zip(tags, truths, strict=True):
        mine, theirs = set(entities_of(row)), set(entities_of(truth))
        right, found, wanted = right + len(mine & theirs), found + len(mine), wanted + len(theirs)
    precision, recall = right / found if found else 0.0, right / wanted if wanted else 0.0
    total = found + wanted
    return Found(precision, recall, 2 * right / total if total else 0.0)
