"""Checks of lab 02, tasks 6 and 7: what a tokenizer is worth, and WordPiece."""

from __future__ import annotations

import math
from collections.abc import Iterator

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import lab, random_text
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn


@lab.task(ours.measure)
def measure(trial: Trial) -> None:
    size = see(3, "The same text in nine languages")
    hints = {
        "tokens per word": "Tokens over words, not the other way round; a word is what text.split()"
        f" gives: also two blanks or a line break stand between two words. {size}",
        "bytes per token": f"Bytes over tokens; é is one character and two bytes in UTF-8. {size}",
        "bits per byte": "How many nats does the whole text cost? How many bits are that, at ln 2 "
        "nats each? Then share them among the bytes. " + see(1, "Bits per what?"),
    }
    error = "Read the kind of error. A list and bytes are no numbers; len says how long they are."
    whole = "That is nearly it: hand the number back as it is, not rounded."
    cases = [("the old boat", 4, 3 * math.log(2)), ("ma  forêt\n\nla  mer", 9, 1.5)]
    cases.append((random_text(trial, 30), trial.integer(20, 60), trial.integer(10, 50) / 10))
    for text, n, nats in cases:
        given = f"{text!r}, {n} tokens, {nats:.4f} nats per token"
        got = trial.call(text, n, nats, given=given, hint=error)
        expected = ours.measure(text, n, nats)
        trial.named(got, expected)
        for name, value in expected.items():
            rounded = differs(got[name], value, 2e-3) is None
            trial.equals(got[name], value, name, whole if rounded else hints[name], given=given)


_WHERE = see(3, "From text to ids, and back")
_LONGEST = f"From where you stand, try the whole rest first, then ever shorter pieces. {_WHERE}"
_MARK = f"The first piece stands without ##, every later one with it, in the set too. {_WHERE}"
_UNKNOWN = f"A word with a part that no piece fits is unknown as a whole: ['[UNK]']. {_WHERE}"
_GREEDY = (
    "The longest piece is taken and never given back, even if a shorter one would have let the "
    f"word be built. {_WHERE}"
)


def _words(trial: Trial) -> Iterator[Case]:
    cases = [
        ("cat", {"c", "a", "t", "##c", "##a", "##t"}, "pieces of one letter", _MARK),
        ("boats", {"boat", "##s", "##boat", "s"}, "## before what continues a word", _MARK),
        ("boat", {"boat", "##boat"}, "a word that is a piece", _MARK),
        ("boatx", {"boat", "##s"}, "an unknown end", _UNKNOWN),
        ("xboat", {"boat", "##boat"}, "an unknown beginning", _UNKNOWN),
        ("boat", {"##boat", "##b", "##oat"}, "a first piece without ##", _MARK),
        ("boat", {"bo", "at", "oat"}, "no later piece without ##", _MARK),
        ("tested", {"t", "te", "test", "##e", "##ed", "##d", "##s"}, "longest first", _LONGEST),
        ("ababa", {"ab", "##ab", "##a", "##aba"}, "longest first, in the middle too", _LONGEST),
        ("abc", {"a", "ab", "##bc"}, "no way back", _GREEDY),
    ]
    for _ in range(20):
        drawn = [trial.text(trial.integer(1, 4), "abc") for _ in range(12)]
        pieces = {*drawn[:6], *("##" + piece for piece in drawn), "a", "##a", "##b"}
        cases.append((trial.text(8, "abc"), pieces, "random pieces", _LONGEST))
    for word, pieces, rule, hint in cases:
        yield Case(rule, word, pieces, given=f"{word!r}, pieces {sorted(pieces)}", hint=hint)


@turn(
    lab,
    _LONGEST,
    cases=_words,
    errors=dict.fromkeys(
        ("IndexError", "ValueError", "TypeError", "KeyError"),
        "Read the kind of error; what if at some place no piece fits?",
    ),
    slips=f"""
    start, -1) => start + 1, -1)
        Do you get down to pieces of one letter, with their mark? {_WHERE}
    return ["[UNK]"] => return "[UNK]"
        {_UNKNOWN}
    """,
)
def wordpiece(word, pieces):
    cut, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in pieces), None)
        if end is None:
            return ["[UNK]"]
        cut.append(mark + word[start:end])
        start = end
    return cut
