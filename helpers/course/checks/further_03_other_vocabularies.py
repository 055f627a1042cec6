"""Your turn with Unigram: the most probable cut of a word."""

import math

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_03_other_vocabularies")

P = {"d": 0.05, "o": 0.05, "g": 0.05, "s": 0.1, "do": 0.1, "dog": 0.08, "gs": 0.02, "dogs": 0.001}
COSTS = {
    "a": 4.0, "b": 5.1, "c": 4.8, "d": 6.5, "bc": 10.0, "da": 2.3, "cda": 11.3, "bcb": 12.7,
    "dab": 7.8, "abc": 15.4,
}  # fmt: skip


def words_to_cut(draw):
    traps = {piece: -cost for piece, cost in COSTS.items()}
    yield Case("the largest sum of log-probabilities", "abcdabcb", traps)
    log_p = {piece: math.log(p) for piece, p in P.items()}
    for word in ("dogs", "dog", "s", "sdogdo"):
        yield Case("it gives what the pencil gives", word, log_p)
    gaps = {"ab": -1.0, "bc": -1.0, "c": -1.0}  # nothing leads to position 1
    hint = "Not every position can be reached: go on only from those that have a best way."
    yield Case("a position without a way is passed over", "abc", gaps, hint=hint)
    word = "abcdefghi"  # of different letters: two orders of the same pieces would tie
    for _ in range(4):
        drawn = {letter: -5 - draw.normal(1).abs().item() for letter in word}
        for _ in range(14):
            start = draw.integer(0, 6)
            piece = word[start : start + draw.integer(2, 5)]
            drawn[piece] = -4 - 3 * draw.normal(1).abs().item()
        yield Case("it is right for random pieces", word, drawn)


@turn(
    turns,
    "For each position of the word keep the best way to get there: the best way to an earlier "
    "position, and one piece more.",
    cases=words_to_cut,
    slips="""
    if end not in best or total > best[end][0]: => if end not in best:
        The first way that is found is kept; a later one may have the larger sum.
    total > best[end][0] => total < best[end][0]
        That is the least probable cut: the sum of log-probabilities is to be the largest.
    + log_p[piece] => - 1
        You count pieces; their log-probabilities decide.
    best[start][1] + [piece] => [piece]
        That is the last piece alone: hand back all of them.
    return best[len(word)][1] => return best[len(word)][0]
        That is the sum: hand back the pieces.
    """,
)
def best_cut(word, log_p):
    """The pieces that make up the word and have the largest sum of log_p."""
    best = {0: (0.0, [])}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = word[start:end]
            if piece in log_p and start in best:
                total = best[start][0] + log_p[piece]
                if end not in best or total > best[end][0]:
                    best[end] = total, best[start][1] + [piece]
    return best[len(word)][1]
