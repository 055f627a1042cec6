"""Your turn with skip-gram: its pairs, its loss, and the table that it factors."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_04_skip_gram")


def texts_with_radii(draw):
    words = ["Wren", "rowed", "the", "boat", "to", "shore"]
    yield Case("a window of one word", words, [1] * 6)
    yield Case("a radius for each word", words, [2, 1, 2, 2, 1, 1])
    for _ in range(4):
        tokens = [1, 1, *draw.integers(0, 3, draw.integer(3, 7)).tolist()]
        radii = [1, 3, *draw.integers(1, 4, len(tokens) - 2).tolist()]
        yield Case("right for any text", tokens, radii)


@turn(
    turns,
    "For each position i go through the positions j from i - radii[i] to i + radii[i] that exist, "
    "without i itself.",
    cases=texts_with_radii,
    slips="""
    for j in range(left, right) if j != i] => for j in range(left, right)]
        A word is no neighbour of itself: leave the position of the centre out.
    if j != i => if tokens[j] != centre
        The same word may well stand beside itself: compare positions, not words.
    + radii[i] + 1) => + radii[i])
        range ends before its second number: the last word of the window is missing.
    max(0, i - radii[i]) => i - radii[i]
        In Python -1 is the last position: begin at 0 where the window would begin before.
    max(0, i - radii[i]) => i
        The window reaches to both sides; the words on the left are missing.
    (centre, tokens[j]) => (tokens[j], centre)
        The centre comes first in a pair, then the word of its context.
    """,
)
def context_pairs(tokens, radii):
    """All pairs (centre, context word); position i looks radii[i] positions to either side."""
    pairs = []
    for i, centre in enumerate(tokens):
        left, right = max(0, i - radii[i]), min(len(tokens), i + radii[i] + 1)
        pairs += [(centre, tokens[j]) for j in range(left, right) if j != i]
    return pairs


def scored_examples(draw):
    for B, K in ((2, 3), (4, 2), (6, 5)):
        true = F.one_hot(draw.integers(0, K, B), K).double()
        yield Case("it is the formula", 2 * draw.normal(B, K), true)
    zero, true = torch.zeros(1, 3).double(), torch.tensor([[1.0, 0.0, 0.0]]).double()
    yield Case("with scores of 0 it is (1 + K) log 2", zero, true)


@turn(
    turns,
    "-log s(score) where is_context is 1, -log s(-score) where it is 0; sum over the words of an "
    "example, mean over the examples.",
    cases=scored_examples,
    slips="""
    .sum(dim=1).mean() => .mean()
        You average over the words of an example, too; the formula has their sum.
    .sum(dim=1).mean() => .sum()
        That is the sum over the examples of the batch; their mean is asked for.
    sign * scores => scores
        Noise words are pulled near as well: their score has a minus sign in the sigmoid.
    sign = 2 * is_context - 1 => sign = is_context
        Times 0 the score of a noise word is lost; times -1 it enters with a minus.
    F.logsigmoid(sign * scores) => (sign * F.logsigmoid(scores))
        For noise the minus belongs inside: log s(-x), not -log s(x).
    2 * is_context - 1 => 1 - 2 * is_context
        True and noise words have changed places: is_context is 1 for the true one.
    """,
)
def negative_sampling_loss(scores, is_context):
    """Loss per example, for scores (B, 1+K); is_context (B, 1+K) is 1 for true, 0 for noise."""
    sign = 2 * is_context - 1  # +1 for the true word, -1 for noise
    return -F.logsigmoid(sign * scores).sum(dim=1).mean()


def tables_of_counts(draw):
    hand = torch.tensor([[3.0, 1.0], [1.0, 3.0]], dtype=torch.double)
    yield Case("the example on paper", hand)
    holes = torch.tensor([[6.0, 0.0, 1.0], [0.0, 4.0, 1.0], [1.0, 3.0, 0.0]], dtype=torch.double)
    yield Case("pairs that never occurred get 0", holes)
    for _ in range(3):
        counts = draw.integers(0, 9, 4, 4).double() + torch.eye(4, dtype=torch.double)
        yield Case("right for any counts", counts)


@turn(
    turns,
    "Expected is (sum of the row) x (sum of the column) / (sum of all); then the logarithm of "
    "counts / expected, and 0 where that is negative or the count is 0.",
    cases=tables_of_counts,
    slips="""
    .clamp(min=0) =>
        That is PMI: the first P of PPMI replaces everything below 0 by 0.
    (counts / expected).log(), 0.0) => counts / expected, 0.0)
        The logarithm is missing.
    counts.sum(dim=0) / counts.sum() => counts.sum(dim=0)
        The sum of all counts is missing: with counts in the place of shares, expected is row sum x
        column sum / total.
    dim=1, keepdim=True => dim=1
        The sums of the rows belong to the rows: keepdim=True, or [:, None].
    (counts / expected).log() => (counts / expected).log2()
        These are bits; the natural logarithm is meant, because the loss is in nats.
    """,
)
def ppmi(counts):
    """Positive pointwise mutual information (V, V), natural logarithm, of counts (V, V)."""
    expected = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0) / counts.sum()
    return torch.where(counts > 0, (counts / expected).log(), 0.0).clamp(min=0)
