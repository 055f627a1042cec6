"""Check of lab 02, task 5: special tokens, which text from outside must never make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, expect_kind, lab, random_text
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.turn import Slips
from helpers.data.bpe import END_OF_TEXT, BPETokenizer

SPECIAL = see(3, "Special tokens")


_SIGNS = (
    "The special token went through as text. Is a regular expression made of its name? There | and "
    "[ and . are signs with a meaning of their own, and regex.escape makes them plain."
)
_LOST = (
    "The ids of the special tokens are missing. A split hands out what it splits at only if the "
    "pattern is a group, (...); each of these pieces becomes its id."
)
_LONGER = "If one special token begins another one, the longer of those that fit is meant."
_WHOLE = "Every part as it is, with its blanks and line breaks; an empty part has no ids."
_SEVERAL = "special_ids may hold several names, and each of them has an id of its own."
_SLIPS = Slips(
    ours.encode_text,
    f"""
    sorted(special_ids, key=len, reverse=True) => sorted(special_ids, key=len)
    sorted(special_ids, key=len, reverse=True) => list(special_ids)
        {_LONGER}
    sorted(special_ids, key=len, reverse=True) => list(special_ids)[:1]
    special_ids[longest_first[i]] => list(special_ids.values())[0]
        {_SEVERAL}
    encode(text[start:place]) => encode(text[start:place].strip())
        {_WHOLE}
    text.find(name, start) => text.find(name, start + (start > 0))
        Two special tokens may stand side by side: is the second one found?
    """,
)


def _slips(text: str, special_ids: Mapping[str, int]) -> Iterator[tuple[list[int], str]]:
    """What known slips give for a text with special tokens, each with its hint."""

    def cut(pattern: str) -> list[int]:
        ids: list[int] = []
        for part in regex.split(pattern, text):
            if part in special_ids:
                ids.append(special_ids[part])
            elif part:
                ids += ours.to_ids(part)
        return ids

    if not special_ids:
        return
    yield from ((slip(text, ours.to_ids, special_ids, True), words) for slip, words in _SLIPS)
    names = sorted(special_ids, key=len, reverse=True)
    yield cut(f"({'|'.join(names)})"), _SIGNS
    yield cut("|".join(map(regex.escape, names))), _LOST


@lab.task(ours.encode_text)
def encode_text(trial: Trial) -> None:
    safe = (
        "Who wrote this text? Without special=True it comes from outside, and what looks like a "
        f"special token is text like any other. {SPECIAL}"
    )
    one = (
        "Where a special token stands, its id comes, once and at its place; what stands before, "
        f"between and after goes through encode, part by part and in order. {SPECIAL}"
    )
    none = "Without special tokens all is text; a pattern without alternatives matches everywhere."
    mark = (
        "Do you put a sign of your own where a special token stood? A text may hold any character, "
        "that one too: cut at the names themselves."
    )
    error = (
        "Read the kind of error. encode takes a string and gives a list; special_ids maps names to "
        "ids. What if a part is empty, or there is no special token at all?"
    )
    end = {END_OF_TEXT: 400}
    plain = {"<a>": 300, "<b>": 301, "<c>": 302}
    chat = {"[A]": 300, "[A][B]": 301, "a.b": 302, "|": 303}
    for text, ids, special, rule, hint in (
        ("one|two", end, False, "a text without special tokens", one),
        (f"thanks{END_OF_TEXT} bye", end, False, "text from outside", safe),
        (END_OF_TEXT, end, False, "text from outside that is nothing but the name", safe),
        (f"one {END_OF_TEXT}two", end, True, "one special token", one),
        (f"{END_OF_TEXT}a\n {END_OF_TEXT}{END_OF_TEXT} b \n", end, True, "several", _WHOLE),
        ("x<a>y <b>z<c>", plain, True, "several names", _SEVERAL),
        ("endoftext <|end of text|>", end, True, "only the whole name", _SIGNS),
        ("x[A]y|zaxb a.b", chat, True, "names with any signs", _SIGNS),
        ("x[A][B]y[A]z", chat, True, "the longer name", _LONGER),
        (f"a\0b{END_OF_TEXT}c\x01", end, True, "any character in the text", mark),
        ("x[A]y", {}, True, "no special tokens", none),
        ("", end, True, "an empty text", _WHOLE),
    ):
        _try_on(trial, text, ids, special, rule, hint, mark if hint == mark else error)
    for by_default in (f"a{END_OF_TEXT}b", END_OF_TEXT):
        given = f"{by_default!r}, special left out"
        got = trial.call(by_default, ours.to_ids, end, given=given, hint=error)
        rule = "special=False if nothing is said"
        alike(trial, got, ours.to_ids(by_default), rule, safe, given=given)
    text = random_text(trial, 120)
    course = BPETokenizer.train(text, 256 + 40, [END_OF_TEXT, "<|end|>", "<|"])
    for special in (True, False):
        marks = ["<|", END_OF_TEXT, "<|end|>", "", "\n"]
        drawn = [marks[i] + " ".join(random_text(trial, 2).split()) for i in (0, 1, 2, 1, 3, 4)]
        text, given = "".join(drawn), f"a random text with marks, special={special}"
        got = trial.call(
            text, lambda part: course.encode(part).tolist(), dict(course.special_ids), special,
            given=given, hint=error,
        )  # fmt: skip
        expected = course.encode(text, special).tolist()
        alike(trial, got, expected, "the ids of the course's BPETokenizer", one, given=given)


encode_text.slips = _SLIPS


def _try_on(
    trial: Trial, text: str, ids: Mapping[str, int], special: bool, rule: str, hint: str, error: str
) -> None:
    asked: list[str] = []

    def encode(part: str) -> list[int]:
        asked.append(part)
        return ours.to_ids(part)

    given = f"{text!r}, special_ids {dict(ids)}, special={special}"
    got = trial.call(text, encode, dict(ids), special, given=given, hint=error)
    expect_kind(got, (list, tuple), "a list", given)
    if any(isinstance(entry, list | tuple) for entry in got):
        why = "One flat list of ids: the ids of a part are added to it one by one, x += part."
        raise Complaint("a flat list of ids", why, given, str(got))
    hint = known_slip(list(got), _slips(text, ids) if special else ()) or hint
    alike(trial, got, ours.encode_text(text, ours.to_ids, ids, special), rule, hint, given=given)
    names = "|".join(map(regex.escape, sorted(ids, key=len, reverse=True)))
    parts = [part for part in regex.split(names, text) if part] if special and ids else [text]
    trial.holds(
        [part for part in asked if part] == [part for part in parts if part],
        "encode is called once for each part",
        hint
        if special and not ids
        else "The text between two special tokens is encoded as a whole: a tokenizer looks at more "
        "than one character at a time.",
        given=given,
        got=asked,
        expected=parts,
    )
