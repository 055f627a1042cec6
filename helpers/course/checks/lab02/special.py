"""Check of lab 02, task 5: special tokens, which text from outside must never make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import regex

from helpers.course.checks.lab02.common import expect_kind, lab, random_text
from helpers.course.checks.lab02.reference import to_ids
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.turn import Case, turn
from helpers.data.bpe import END_OF_TEXT

_SPECIAL = see(3, "Special tokens")
_SAFE = (
    "Who wrote this text? Without special=True it comes from outside, and what looks like a "
    f"special token is text like any other. {_SPECIAL}"
)
_ONE = (
    "Where a special token stands, its id comes, once and at its place; what stands before, "
    f"between and after goes through encode, part by part and in order. {_SPECIAL}"
)
_SIGNS = (
    "The special token went through as text. Is a regular expression made of its name? There | and "
    "[ and . are signs with a meaning of their own, and regex.escape makes them plain."
)
_LONGER = "If one special token begins another one, the longer of those that fit is meant."
_WHOLE = "Every part as it is, with its blanks and line breaks; an empty part has no ids."
_SEVERAL = "special_ids may hold several names, and each of them has an id of its own."
_NONE = "Without special tokens all is text; a pattern without alternatives matches everywhere."
_MARK = (
    "Do you put a sign of your own where a special token stood? A text may hold any character, "
    "that one too: cut at the names themselves."
)
_AT_ONCE = (
    "The text between two special tokens is encoded as a whole: a tokenizer looks at more than one "
    "character at a time."
)
_ERROR = (
    "Read the kind of error. encode takes a string and gives a list; special_ids maps names to "
    "ids. What if a part is empty, or there is no special token at all?"
)


def _texts(trial: Trial) -> Iterator[Case]:
    end = {END_OF_TEXT: 400}
    plain = {"<a>": 300, "<b>": 301, "<c>": 302}
    chat = {"[A]": 300, "[A][B]": 301, "a.b": 302, "|": 303}
    marks = {"<|": 300, END_OF_TEXT: 301, "<|end|>": 302}
    words = [" ".join(random_text(trial, 2).split()) for _ in range(6)]
    drawn = "".join(map("".join, zip(("<|", *marks, END_OF_TEXT, "\n"), words, strict=True)))
    for text, ids, special, rule, hint in (
        ("one|two", end, [False], "a text without special tokens", _ONE),
        (f"thanks{END_OF_TEXT} bye", end, [False], "text from outside", _SAFE),
        (END_OF_TEXT, end, [False], "text from outside that is nothing but the name", _SAFE),
        (f"one {END_OF_TEXT}two", end, [True], "one special token", _ONE),
        (f"{END_OF_TEXT}a\n {END_OF_TEXT}{END_OF_TEXT} b \n", end, [True], "several", _WHOLE),
        ("x<a>y <b>z<c>", plain, [True], "several names", _SEVERAL),
        ("endoftext <|end of text|>", end, [True], "only the whole name", _SIGNS),
        ("x[A]y|zaxb a.b", chat, [True], "names with any signs", _SIGNS),
        ("x[A][B]y[A]z", chat, [True], "the longer name", _LONGER),
        (f"a\0b{END_OF_TEXT}c\x01", end, [True], "any character in the text", _MARK),
        ("x[A]y", {}, [True], "no special tokens", _NONE),
        ("", end, [True], "an empty text", _WHOLE),
        (f"a{END_OF_TEXT}b", end, [], "special=False if nothing is said", _SAFE),
        (END_OF_TEXT, end, [], "special=False if nothing is said", _SAFE),
        (drawn, marks, [True], "a random text", _ONE),
        (drawn, marks, [False], "a random text", _SAFE),
    ):
        given = f"{text!r}, special_ids {ids}, special" + (
            f"={special[0]}" if special else " left out"
        )
        yield Case(rule, False, text, ids, *special, given=given, hint=hint)
        hint = _AT_ONCE if ids else _NONE
        yield Case("encode is called once for each part", True, text, ids, *special, given=given,
                   hint=hint)  # fmt: skip


def _call(
    answer: Callable, parts: bool, text: str, special_ids: Mapping[str, int], *special: bool
) -> Any:
    """What it gives; or the parts that it asks encode for, without empty ones."""
    asked: list[str] = []

    def encode(part: str) -> list[int]:
        asked.append(part)
        return to_ids(part)

    got = answer(text, encode, dict(special_ids), *special)
    expect_kind(got, (list, tuple), "a list")
    if any(isinstance(entry, list | tuple) for entry in got):
        why = "One flat list of ids: the ids of a part are added to it one by one, x += part."
        raise Complaint("a flat list of ids", why, got=str(got))
    return [part for part in asked if part] if parts else list(got)


@turn(
    lab,
    _ONE,
    cases=_texts,
    call=_call,
    errors=dict.fromkeys(("TypeError", "KeyError", "IndexError", "AttributeError"), _ERROR),
    slips=f"""
    map(regex.escape, names) => names
        {_SIGNS}
    f"({{pattern}})" => pattern
        The ids of the special tokens are missing. A split hands out what it splits at only if the
        pattern is a group, (...); each of these pieces becomes its id.
    sorted(special_ids, key=len, reverse=True) => sorted(special_ids, key=len)
    sorted(special_ids, key=len, reverse=True) => list(special_ids)
        {_LONGER}
    sorted(special_ids, key=len, reverse=True) => list(special_ids)[:1]
    special_ids[part] => list(special_ids.values())[0]
        {_SEVERAL}
    encode(part) => encode(part.strip())
        {_WHOLE}
    f"({{pattern}})" => f"(?<!{{pattern}})({{pattern}})"
        Two special tokens may stand side by side: is the second one found?
    if not special or => if
        {_SAFE}
    """,
)
def encode_text(text, encode, special_ids, special=False):
    if not special or not special_ids:
        return list(encode(text))
    names = sorted(special_ids, key=len, reverse=True)
    ids, pattern = [], "|".join(map(regex.escape, names))
    for part in regex.split(f"({pattern})", text):
        if part in special_ids:
            ids.append(special_ids[part])
        elif part:
            ids += encode(part)
    return ids
