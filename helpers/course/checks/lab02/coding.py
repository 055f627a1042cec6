"""Check of lab 02, task 4: the bytes of the tokens that were learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from helpers.course.checks.lab02.common import lab, random_text
from helpers.course.checks.lab02.reference import BYTES, to_ids
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn
from helpers.data.bpe import BPETokenizer

_BARE = (
    "Token i is the single byte BYTES[i], as bytes: bytes([65]) is b'A'. "
    + see(3, "From text to ids, and back")
)  # fmt: skip
_PARTS = (
    "A new token is the bytes of its first half, then those of its second; a half may be a token "
    "that a merge has made."
)
_ORDER = "Each merge adds one token at the end of the list, the i-th the token 256 + i."


def _merges(trial: Trial) -> Iterator[Case]:
    yield Case("the 256 single bytes in the order of BYTES", [], given="no merges", hint=_BARE)
    pair, other = tuple(to_ids("at")), tuple(to_ids("no"))
    yield Case("the two halves in order", [pair])
    yield Case("in the order of the merges", [other, pair], hint=_ORDER)
    yield Case("halves that were made by merges", [pair, (*to_ids("c"), 256)])
    learned = BPETokenizer.train(random_text(trial, 200), 256 + 40).merges
    yield Case("learned merges", learned, given="40 learned merges")


def _written(answer: Callable, merges: list) -> Any:
    """The tokens as Python writes them, so that the first one that differs is shown."""
    got = answer(merges)
    return [*map(repr, got)] if isinstance(got, list | tuple) else got


@turn(
    lab,
    _PARTS,
    cases=_merges,
    call=_written,
    errors={"IndexError": _PARTS},
    slips=f"""
    return tokens => return tokens[256:]
        Without merges there are the 256 single bytes; with them, these come first.
    tokens.append( => tokens.insert(256,
        {_ORDER}
    """,
)
def token_bytes(merges):
    tokens = [bytes([byte]) for byte in BYTES]
    for a, b in merges:
        tokens.append(tokens[a] + tokens[b])
    return tokens
