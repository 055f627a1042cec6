"""Checks of lab 02, tasks 6 and 7: what a tokenizer is worth, and WordPiece."""

from __future__ import annotations

import math

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, expect_kind, lab, random_text
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial


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


@lab.task(ours.wordpiece)
def wordpiece(trial: Trial) -> None:
    where = see(3, "From text to ids, and back")
    longest = f"From where you stand, try the whole rest first, then ever shorter pieces. {where}"
    mark = f"The first piece stands without ##, every later one with it, in the set too. {where}"
    empty = "Read the kind of error; what if at some place no piece fits?"
    unknown = f"A word with a part that no piece fits is unknown as a whole: ['[UNK]']. {where}"
    greedy = (
        "The longest piece is taken and never given back, even if a shorter one would have let the "
        f"word be built. {where}"
    )
    one = f"Do you get down to pieces of one letter, with their mark? {where}"
    for word, pieces, rule, hint in (
        ("cat", {"c", "a", "t", "##c", "##a", "##t"}, "pieces of one letter", mark),
        ("boats", {"boat", "##s", "##boat", "s"}, "## before what continues a word", mark),
        ("boat", {"boat", "##boat"}, "a word that is a piece", mark),
        ("boatx", {"boat", "##s"}, "an unknown end", unknown),
        ("xboat", {"boat", "##boat"}, "an unknown beginning", unknown),
        ("boat", {"##boat", "##b", "##oat"}, "a first piece without ##", mark),
        ("boat", {"bo", "at", "oat"}, "no later piece without ##", mark),
        ("tested", {"t", "te", "test", "##e", "##ed", "##d", "##s"}, "longest first", longest),
        ("ababa", {"ab", "##ab", "##a", "##aba"}, "longest first, in the middle too", longest),
        ("abc", {"a", "ab", "##bc"}, "no way back", greedy),
    ):
        given = f"{word!r}, pieces {sorted(pieces)}"
        got = trial.call(word, pieces, given=given, hint=empty)
        whole = unknown if isinstance(got, str) else ""
        expect_kind(got, (list, tuple), "a list", given, whole)
        hint = one if word == "cat" and differs(got, ["[UNK]"]) is None else hint
        alike(trial, got, ours.wordpiece(word, pieces), rule, hint, given=given)
    for _ in range(20):
        drawn = [trial.text(trial.integer(1, 4), "abc") for _ in range(12)]
        pieces = {*drawn[:6], *("##" + piece for piece in drawn), "a", "##a", "##b"}
        word, words = trial.text(8, "abc"), "random pieces"
        got, given = trial.call(word, pieces), f"{word!r}, pieces {sorted(pieces)}"
        alike(trial, got, ours.wordpiece(word, pieces), words, longest, given=given)
