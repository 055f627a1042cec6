"""Checks of lab 02, tasks 7 to 9: a tokenizer that has learned."""

from __future__ import annotations

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, any_text, expect_kind, lab, random_text
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import BPETokenizer

GPT2 = see(3, "From text to ids, and back")


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
    course = BPETokenizer.train(text, 256 + 60)
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
    course = BPETokenizer.train(random_text(trial, 200), 256 + 40)
    tokens = [course.token_bytes(i) for i in range(course.vocab_size)]
    for text in (random_text(trial, 20), any_text(trial, 100)):
        ids, given = course.encode(text).tolist(), "the ids of a random text"
        got = trial.call(ids, tokens, given=given)
        trial.equals(got, text, "decode(encode(text)) is the text", join, given=given)
