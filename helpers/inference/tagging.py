"""Entities behind the tags of tokens: BIO.

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
