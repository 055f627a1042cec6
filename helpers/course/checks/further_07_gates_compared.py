"""Your turn with comparisons: how far gates fall at a character, and all pairs of seeds."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_07_gates_compared")


def gates_and_texts(draw):
    gates = torch.tensor([[0.9, 0.5], [0.1, 0.5], [0.7, 0.5]])
    yield Case("by hand: the first unit falls by 0.7 at b", gates, "aba", "b")
    letters = "".join("abc"[letter] for letter in draw.integers(0, 3, 20).tolist())
    for characters in ("c", "ab"):
        yield Case("any gates", draw.normal(24, 3).sigmoid(), letters + "abca", characters)


@turn(
    turns,
    "Take the rows in which one of the characters is read, and all others (for ~ and for choosing "
    "rows you need a tensor of booleans, not a list); of both the mean over time, and the "
    "difference of the two means.",
    cases=gates_and_texts,
    slips="""
    gates[~at].mean(dim=0) - gates[at].mean(dim=0) => gates[at].mean(dim=0) - gates[~at].mean(dim=0)
        The sign is turned round: a unit whose gate stands lower at these characters falls.
    gates[~at].mean(dim=0) => gates.mean(dim=0)
        Compare with all *other* moments: leave out those at which one of the characters is read.
    gates[~at].mean(dim=0) - gates[at].mean(dim=0) => gates[at].mean(dim=0)
        That is how high the gates stand there; how much lower is it than elsewhere?
    gates[~at].mean(dim=0) - gates[at].mean(dim=0) => gates[~at].mean() - gates[at].mean()
        One number for each unit: the mean goes over time alone, dim=0.
    """,
)
def falls(gates, text, characters):
    """How much lower each unit's gate (T, H) stands when one of the characters is read: (H,)."""
    at = torch.tensor([character in characters for character in text])
    return gates[~at].mean(dim=0) - gates[at].mean(dim=0)


def errors(draw):
    yield Case("by hand: 3 of 4 pairs", [0.1, 0.3], [0.2, 0.4])
    yield Case("equal errors count one half", [0.2, 0.2], [0.2])
    for runs, others in ((4, 4), (3, 5)):
        first, second = (draw.integers(0, 6, n).tolist() for n in (runs, others))
        yield Case("any errors", first, second)


@turn(
    turns,
    "Two loops, one over each list: count 1 where the first error is lower, 1/2 where they are "
    "equal, and divide by the number of pairs.",
    cases=errors,
    slips="""
    won = sum((a < b) + (a == b) / 2 for a in first for b in second) => \
    won = len(second) * sum((a < b) + (a == b) / 2 for a, b in zip(first, second))
        zip compares run k with run k only; every run of one meets every run of the other.
    a < b => a > b
        The network with the *lower* error wins.
    + (a == b) / 2 =>
        Equal errors count one half.
    won / (len(first) * len(second)) => won
        That is a number of pairs: divide by how many there are.
    won / (len(first) * len(second)) => won / len(first)
        There are len(first) times len(second) pairs.
    """,
)
def share_won(first, second):
    """Of all pairs of an error from the first list and one from the second: how many it wins."""
    won = sum((a < b) + (a == b) / 2 for a in first for b in second)
    return won / (len(first) * len(second))
