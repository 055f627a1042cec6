"""Your turn with harms that are measured: a secret's exposure, the score of a watermark."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_20_harms_measured")


def ranked(draw):
    scores = torch.tensor([0.5, 3.0, -1.0, 2.0, -2.0, 0.0, 1.0, -3.0])
    yield Case("by hand: the third of eight", scores, 6)
    yield Case("the first", scores, 1)
    yield Case("the last", scores, 7)
    yield Case("all alike", torch.zeros(4), 2)
    yield Case("any scores", draw.normal(40), draw.integer(0, 40))


@turn(
    turns,
    "The rank is one more than the number of sentences with a larger score; then log2 of their "
    "number, less log2 of the rank.",
    cases=ranked,
    slips="""
    1 + int => int
        The ranks begin at 1: the sentence itself counts.
    scores > scores[planted] => scores < scores[planted]
        The largest score has rank 1: count those that are larger.
    scores > scores[planted] => scores >= scores[planted]
        The planted one is not larger than itself, and where scores are equal it comes first.
    math.log2(len(scores)) - math.log2(rank) => math.log(len(scores)) - math.log(rank)
        Bits are asked for: the logarithms are those of base 2.
    math.log2(len(scores)) - math.log2(rank) => math.log2(rank)
        That is the work that is left: what is saved is log2 R less this.
    """,
)
def exposure(scores, planted):
    """Scores of all R sentences, (R,), and the place of the planted one -> its exposure, bits."""
    rank = 1 + int((scores > scores[planted]).sum())
    return math.log2(len(scores)) - math.log2(rank)


def marked(draw):
    by_hand = torch.tensor([[0, 1, 1], [1, 0, 1], [1, 0, 0]]).bool()
    yield Case("by hand: three green pairs of four", [0, 1, 2, 0, 0], by_hand)
    yield Case("pairs that come again", [0, 1, 0, 1, 0, 1], by_hand)
    tokens = draw.integers(0, 12, 60).tolist()
    yield Case("any text", tokens, draw.integers(0, 2, 12, 12).bool())


@turn(
    turns,
    "Make a set of all pairs of neighbours; n is their number, and count those that are green; "
    "subtract n / 2 and divide by sqrt(n) / 2.",
    cases=marked,
    slips="""
    set(zip(tokens, tokens[1:])) => list(zip(tokens, tokens[1:]))
        A pair that comes again has the same colour again: count each pair once, in a set.
    green[a, b] => green[b, a]
        The token before chooses the row: green[a, b] is for b behind a.
    (n**0.5 / 2) => n**0.5
        The standard deviation is half of the root of n.
    (n**0.5 / 2) => (n / 4)
        The root is missing: n / 4 is the variance.
    (count - n / 2) => (count - n)
        Half of the pairs are expected to be green.
    (count - n / 2) / (n**0.5 / 2) => count / n
        That is the share of green pairs: how many standard deviations is it above one half?
    """,
)
def mark_score(tokens, green):
    """A list of ids; green[a, b] says whether b is green behind a -> z of the different pairs."""
    pairs = set(zip(tokens, tokens[1:]))
    n, count = len(pairs), sum(bool(green[a, b]) for a, b in pairs)
    return (count - n / 2) / (n**0.5 / 2)
