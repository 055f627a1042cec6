"""Checks of lab 02, tasks 6 to 10: a tokenizer that has learned, and WordPiece."""

from __future__ import annotations

import math

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, any_text, expect_kind, lab, random_text
from helpers.course.checks.lab02.training import PATTERN
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import BPETokenizer

GPT2 = see(3, "What GPT-2 added")


@lab.task(ours.encode_word)
def encode_word(trial: Trial) -> None:
    number = "Merge i makes the token 256 + i."
    rank = (
        "Not the first pair from the left, and not the longest token: of all pairs in the word, "
        f"the one that was learned first is merged. {GPT2}"
    )
    until = "After a merge look again: the new token may be part of a pair that was learned, too."
    every = "A merge joins every place where its pair stands, as merge does."
    empty = (
        "Read the kind of error. merges is a list of pairs; what if no pair of the word was "
        "learned, or all are merged?"
    )
    nothing = "Nothing is merged: merge hands back a new list, and the old one stays as it is."
    none = f"A word without any pair that was learned stays as it is. {GPT2}"
    for ids, merges, rule, hint in (
        ([1, 2, 9], [(1, 2)], "one merge", number),
        ([3, 4, 9], [(1, 2), (3, 4)], "the second merge", number),
        ([9, 8], [(1, 2)], "no pair to merge", none),
        ([9], [(1, 2)], "a word of one token", none),
        ([1, 2, 9, 1, 2], [(1, 2)], "every place", every),
        ([1, 2, 3], [(1, 2), (256, 3)], "tokens that were made are merged further", until),
        ([1, 2, 3], [(2, 3), (1, 2)], "what was learned first goes first", rank),
        ([1, 2, 3, 4], [(1, 2), (3, 4), (256, 3)], "not the longest token", rank),
        ([5, 1, 2, 1, 2, 1], [(1, 2), (256, 1)], "banana", rank),
    ):
        given = f"{ids}, merges {merges}"
        got, expected = (
            trial.call(ids, merges, given=given, hint=empty),
            ours.encode_word(ids, merges),
        )
        expect_kind(got, (list, tuple), "a list", given)
        unmerged = expected != ids and differs(got, ids) is None
        alike(trial, got, expected, rule, nothing if unmerged else hint, given=given)
    text = random_text(trial, 300)
    course = BPETokenizer.train(text, 256 + 60, pattern=PATTERN)
    for word in sorted(set(ours.split_words(random_text(trial, 30))))[:12]:
        got = trial.call(ours.to_ids(word), course.merges, given=f"{word!r} and 60 merges")
        expected = course.encode(word).tolist()
        rule = "the ids of the course's BPETokenizer"
        alike(trial, got, expected, rule, rank, given=f"{word!r} and 60 merges")


@lab.task(ours.token_bytes)
def token_bytes(trial: Trial) -> None:
    bare = f"Token i is the single byte BYTES[i], as bytes: bytes([65]) is b'A'. {GPT2}"
    parts = (
        "A new token is the bytes of its first half, then those of its second; a half may be a "
        "token that a merge has made."
    )
    order = "Each merge adds one token at the end of the list, the i-th the token 256 + i."
    beyond = f"Read the kind of error. Should an index be out of range: {parts}"
    got = trial.call([], given="no merges")
    expect_kind(got, (list, tuple), "a list", "no merges")
    trial.holds(all(type(token) is bytes for token in got), "a list of bytes", bare, got=got)
    first = "Without merges there are the 256 single bytes; with them, these come first."
    trial.holds(len(got) == 256, "256 single bytes", first, got=f"{len(got)} tokens")
    rule, expected = "the bytes in the order of BYTES", ours.token_bytes([])
    trial.equals([*map(repr, got)], [*map(repr, expected)], rule, bare)
    pair, other = tuple(ours.to_ids("at")), tuple(ours.to_ids("no"))
    for merges, rule, hint in (
        ([pair], "the two halves in order", parts),
        ([other, pair], "in the order of the merges", order),
        ([pair, (*ours.to_ids("c"), 256)], "halves that were made by merges", parts),
    ):
        given = f"merges {merges}"
        tokens = trial.call(merges, given=given, hint=beyond)
        expect_kind(tokens, (list, tuple), "a list", given)
        trial.equals(len(tokens), 256 + len(merges), "one token for each merge", order, given=given)
        expected = ours.token_bytes(merges)[256:]
        alike(trial, tokens[256:], expected, rule, hint, given=given)
    course = BPETokenizer.train(random_text(trial, 200), 256 + 40)
    expected = [course.token_bytes(i) for i in range(course.vocab_size)]
    got = trial.call(course.merges, given="40 learned merges", hint=beyond)
    rule = "the tokens of the course's BPETokenizer"
    trial.equals([*map(repr, got)], [*map(repr, expected)], rule, parts)


@lab.task(ours.decode)
def decode(trial: Trial) -> None:
    join = f"A token may be half of a character: put the bytes of all tokens together first. {GPT2}"
    kinds = f"Look up the bytes of each id, and read all of them as UTF-8. {GPT2}"
    wrong = (
        "Bytes that are no UTF-8 become U+FFFD, the replacement character; none is left out and "
        "none an error. bytes.decode has an argument for that."
    )
    tokens = ours.token_bytes([tuple(ours.to_ids("at")), (*ours.to_ids("c"), 256)])
    cut = ours.to_ids("é")
    for ids, rule, hint in (
        ([257, *ours.to_ids(" s"), 256], "the text of the tokens", kinds),
        (cut, "a character in two tokens", join),
        (
            [*ours.to_ids("na"), *ours.to_ids("ï"), *ours.to_ids("ve 海🙂")],
            "characters of many bytes",
            join,
        ),
        ([], "no ids, no text", kinds),
        (cut[:1], "half a character becomes U+FFFD", wrong),
        ([*cut[1:], 256, *ours.to_ids("海")[:2], 257], "between whole ones, too", wrong),
    ):
        given = f"{ids}, the bytes {[tokens[i] for i in ids]}"
        words = "Tokens are bytes, not text." if hint == kinds else "If it is UnicodeDecodeError:"
        error = f"Read the kind of error. {words} {hint}"
        got = trial.call(ids, tokens, given=given, hint=error)
        expect_kind(got, str, "a string", given, kinds)
        expected = ours.decode(ids, tokens)
        trial.holds(
            got == expected, rule, hint, given=given, got=repr(got), expected=repr(expected)
        )
    course = BPETokenizer.train(random_text(trial, 200), 256 + 40, pattern=PATTERN)
    tokens = [course.token_bytes(i) for i in range(course.vocab_size)]
    for text in (random_text(trial, 20), any_text(trial, 100)):
        ids, given = course.encode(text).tolist(), "the ids of a random text"
        got = trial.call(ids, tokens, given=given)
        trial.equals(got, text, "decode(encode(text)) is the text", join, given=given)


@lab.task(ours.measure)
def measure(trial: Trial) -> None:
    size = see(3, "How large a vocabulary?")
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
    where = see(3, "WordPiece, BERT's variant")
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
