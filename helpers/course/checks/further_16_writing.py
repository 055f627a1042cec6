"""Your turn with writing: a source that is read once, and own words in a second pass."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("further_16_writing")


class Speaker:
    """An encoder-decoder that surely says these words, if it reads bos and what it wrote."""

    def __init__(self, told, source, bos, V=10):
        self.told, self.source, self.V, self.readings = [bos, *told], source, V, 0

    def encode(self, source):
        self.readings += 1
        if self.readings > 1:
            once = "The source does not change, so it is read once, before the loop."
            raise Complaint("the source is read once", once)
        return source.double()[..., None], (source != 0)[:, None, None]

    def decode(self, words, memory, mask):
        logits = torch.zeros(1, words.shape[1], self.V)
        fits = torch.equal(memory[..., 0], self.source.double()) and mask.dtype == torch.bool
        for t in range(words.shape[1]):
            begun = words[0, : t + 1].tolist() == self.told[: t + 1]
            following = self.told[t + 1] if t + 1 < len(self.told) else self.V - 1
            logits[0, t, following if begun and fits else 0] = 5.0
        return logits


def sentences(draw):
    for rule, told, bos, eos, longest in (
        ("it writes until eos comes", [4, 6, 3, 2], 1, 2, 12),
        ("a word may come twice", [4, 4, 8, 4, 2], 1, 2, 12),
        ("it ends at the longest length", [4, 6, 3, 7, 8, 5, 3], 1, 2, 4),
        ("a sentence may be empty", [2], 1, 2, 5),
        ("the marks are those that are handed in", [4, 2, 1, 3], 7, 3, 12),
    ):
        given = f"a decoder that says {told}, longest = {longest}, bos = {bos}, eos = {eos}"
        yield Case(rule, told, torch.tensor([[5, 6, 7]]), bos, eos, longest, given=given)


def with_speaker(write, told, source, bos, *rest):
    speaker = Speaker(told, source, bos)
    return write(speaker.encode, speaker.decode, source, bos, *rest)


@turn(
    turns,
    "Encode once. Then, with all words so far, decode, take the last row, and the word with the "
    "largest logit; stop at eos, else append it. Hand back a plain list of ids, without bos and "
    "eos.",
    cases=sentences,
    call=with_speaker,
    slips="""
    words[1:] => words
        Leave out both marks: bos was given, not written, and eos is no word.
    len(words) <= longest => len(words) < longest
        The sentence is one word too short or too long: `longest` words may be written, without bos.
    words = [bos] => words = [1]
        bos and eos are arguments: their ids need not be 1 and 2.
    [0, -1] => [0, 0]
        The first word is written again and again: look at the *last* row of the logits, [0, -1].
    torch.tensor([words]) => torch.tensor([words[-1:]])
        The decoder reads *all* words so far, bos included, at each step.
    """,
)
def write(encode, decode, source, bos, eos, longest):
    """French ids (1, S) -> the list of English ids that are written greedily."""
    memory, mask = encode(source)
    words = [bos]
    while len(words) <= longest:
        y = int(decode(torch.tensor([words]), memory, mask)[0, -1].argmax())
        if y == eos:
            break
        words.append(y)
    return words[1:]


def passes(draw):
    read, guesses = torch.tensor([[1, 5, 6, 7]]), torch.tensor([[4, 8, 3, 9]])
    own = torch.tensor([[False, False, True, False]])
    given = "read = [[1, 5, 6, 7]], guesses = [[4, 8, 3, 9]], position 3 replaced, marks 0 to 2"
    yield Case("by hand", read, guesses, own, 2, given=given)
    read = torch.tensor([[1, 5, 6, 7, 8], [1, 9, 4, 0, 0], [1, 3, 6, 2, 0]])
    own = draw.integers(0, 2, 15).reshape(3, 5) == 1
    own[:, 0] = own[1:, -1] = own[0, 2] = True
    given = "three rows with padding, random guesses"
    yield Case("marks stay", read, draw.integers(10, 20, 15).reshape(3, 5), own, 2, given=given)


@turn(
    turns,
    "At a position that is replaced stands the guess that was made one position earlier; all else, "
    "and every mark, stays as it is read.",
    cases=passes,
    slips="""
    before = torch.cat([read[:, :1], guesses[:, :-1]], dim=1) => before = guesses
        Mind the shift: guesses[:, t] is the word *after* position t, so it may stand at t + 1.
    before = torch.cat([read[:, :1], guesses[:, :-1]], dim=1) => before = guesses.roll(-1, 1)
        The shift goes the other way: the guess for position t was made at t - 1.
    own & (read > last_mark) => torch.roll(own, 1, 1) & (read > last_mark)
        `own` says where a word is *put*: only the guesses are shifted, and own is not.
    own & (read > last_mark) => own
        Marks are never replaced, and `read` says where they stand: padding stays padding.
    own & (read > last_mark) => own & (read >= last_mark)
        The marks are the ids up to last_mark, this one included, in what is *read*.
    own & (read > last_mark) => ~own & (read > last_mark)
        Turned round: where own is True stands the network's word.
    """,
)
def mixture(read, guesses, own, last_mark):
    """What the decoder reads in the second pass, (B, T)."""
    before = torch.cat([read[:, :1], guesses[:, :-1]], dim=1)
    return torch.where(own & (read > last_mark), before, read)
