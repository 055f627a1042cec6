"""Minimal pairs: a story's own words against the same words with one thing changed.

Bits per byte do not say whether a model's stories make sense. A minimal pair asks for one thing: is
the true continuation of a story likelier than one that differs from it in a single respect? Who
guesses is right half of the time. The idea is BLiMP's (A. Warstadt et al. 2020), which asks about
grammar; here a story of the Lantern Bay Reader decides what is right:

- *pronoun*: he or his where the story is about women alone, or the other way round;
- *name*: somebody who is not in the story in the place of somebody who is;
- *ending*: the last sentence, after another story in the place of its own.

Of the first two kinds the context is the same and a word differs; of the last the sentence is the
same and the context differs, because two different sentences cannot be compared: the shorter or
plainer one is the likelier whatever the story says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from helpers.data.lantern_reader import Story

KINDS = ("pronoun", "name", "ending")
WOMEN = ("Wren", "Lise", "Dot", "Nell", "Petra", "Sorrel", "Mara", "Signe")
MEN = ("Fenn", "Dunn", "Pip", "Kit", "Tobin", "Cass", "Bram", "Hob", "Odd", "Jory")
# Words that tell of a woman or of a man, besides names. Who has a title before the name (Old Pell)
# takes no part in *name*, because the title would give the answer.
_OF_WOMEN = {"she", "her", "hers", "herself", "mother", "grandmother", "woman", "girl", "sister"}
_OF_WOMEN |= {"aunt", "daughter", "wife", "lady", "ivy", "miss", "women", "girls", "sisters"}
_OF_MEN = {"he", "him", "his", "himself", "father", "grandfather", "man", "boy", "brother"}
_OF_MEN |= {"uncle", "son", "husband", "men", "boys", "brothers", "mr", "sir", "king"}
_OF_MEN |= {"pell", "plum", "quill", "rusk", "anselm", "vane", "mayor", "captain", "doctor"}
_OF_WOMEN |= {name.lower() for name in WOMEN} | {"alder"}
_OF_MEN |= {name.lower() for name in MEN}
_EXCHANGED = {"he": "she", "He": "She", "she": "he", "She": "He", "his": "her", "His": "Her"}
_PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is)\b")
_SENTENCE_END = re.compile(r"""[.!?]["']?(?=\s|$)""")
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class MinimalPair:
    """Two contexts with a continuation each, the first of which are the story's own.

    Attributes:
        context: the text before, from the story's title on.
        right: how the story goes on, to the end of a sentence. It begins with a space or the line
            breaks before its first word, so that the tokens of context and continuation are those
            of the whole text.
        wrong: the same with one word changed; for "ending" the same.
        wrong_context: what ``wrong`` follows: ``context``; for "ending" another story's.
    """

    kind: str
    story: str
    context: str = field(repr=False)
    right: str
    wrong: str
    wrong_context: str = field(repr=False)


def minimal_pairs(stories: Sequence[Story], kind: str) -> tuple[MinimalPair, ...]:
    """At most one pair of one of ``KINDS`` for each story; always the same ones.

    Args:
        stories: two or more. Endings are exchanged among them.
        kind: "pronoun": in a story in which every name, noun and pronoun that tells is of one sex,
            *he* for *she*, *her* for *his*, or the other way round (*her* itself, which may stand
            for *his* or *him*, is left). "name": a name that the story has used before, against
            another of the same sex that it does not use at all. "ending": the last sentence, after
            its own story and after another one.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"There is no kind {kind!r} of minimal pairs: give one of {KINDS}.")
    if kind == "ending":
        return _endings(stories)
    make = _pronoun if kind == "pronoun" else _name
    return tuple(pair for story in stories if (pair := make(story)) is not None)


def _pronoun(story: Story) -> MinimalPair | None:
    text = story.document
    words = {word.lower() for word in _WORD.findall(text)}
    if bool(words & _OF_WOMEN) == bool(words & _OF_MEN):
        return None
    told = _OF_WOMEN | _OF_MEN
    first = next(m.start() for m in _WORD.finditer(text) if m[0].lower() in told)
    places = [m for m in _PRONOUN.finditer(text) if m.start() > first]
    if not places:
        return None
    place = places[_number(story.id, "pronoun") % len(places)]
    return _changed(story, text, place.span(), _EXCHANGED[place[0]], "pronoun")


def _name(story: Story) -> MinimalPair | None:
    text = story.document
    body = text.index("\n\n")
    for sex in _shuffled([WOMEN, MEN], story.id, "sex"):
        present = [name for name in sex if re.search(rf"\b{name}\b", text)]
        absent = [name for name in sex if name not in present]
        places = [
            match
            for name in present
            for match in list(re.finditer(rf"\b{name}\b", text[body:]))[1:]
        ]
        if places and absent:
            place = places[_number(story.id, "place") % len(places)]
            other = absent[_number(story.id, "absent") % len(absent)]
            start, end = place.start() + body, place.end() + body
            return _changed(story, text, (start, end), other, "name")
    return None


def _endings(stories: Sequence[Story]) -> tuple[MinimalPair, ...]:
    split = [(story, *_last_sentence(story.document)) for story in stories]
    split.sort(key=lambda item: _number(item[0].id, "ending"))
    return tuple(
        MinimalPair("ending", story.id, before, last, last, other[1])
        for (story, before, last), other in zip(split, [*split[1:], *split[:1]], strict=True)
    )


def _changed(story: Story, text: str, span: tuple[int, int], word: str, kind: str) -> MinimalPair:
    """The pair whose continuations begin with the white space before ``span``."""
    start = len(text[: span[0]].rstrip())
    stop = _SENTENCE_END.search(text, span[1])
    end = len(text) if stop is None else stop.end()
    right = text[start:end]
    at = span[0] - start
    wrong = right[:at] + word + right[at + span[1] - span[0] :]
    return MinimalPair(kind, story.id, text[:start], right, wrong, text[:start])


def _last_sentence(text: str) -> tuple[str, str]:
    """What stands before the last sentence, and the sentence with the white space before it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if match.end() < len(text)]
    return text[: ends[-1]], text[ends[-1] :]


def _number(story: str, purpose: str) -> int:
    """A number that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{purpose}/{story}".encode()).digest()[:6], "big")


def _shuffled(values: list[tuple[str, ...]], story: str, purpose: str) -> list[tuple[str, ...]]:
    return values if _number(story, purpose) % 2 else values[::-1]
