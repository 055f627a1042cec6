"""Check of lab 02, task 4: the bytes of the tokens that were learned."""

from __future__ import annotations

from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, expect_kind, lab, random_text
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import BPETokenizer

GPT2 = see(3, "From text to ids, and back")


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
