"""Your turn with analogies: the fourth corner of a parallelogram of words."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_04_analogies_and_senses")


def questions(draw):
    corners = torch.tensor(
        [[1.0, 1.0, 0.1], [1.0, 3.0, 0.0], [2.0, 1.0, 0.0], [2.0, 3.0, 0.2], [-1.0, 0.5, 1.0]]
    ).double()
    yield Case("the fourth corner", corners, 0, 1, 2)
    for _ in range(4):
        vectors, a, b, c = telling(draw)
        given = f"20 vectors of different lengths, a = {a}, b = {b}, c = {c}"
        yield Case("it finds the word nearest to b - a + c", vectors, a, b, c, given=given)


def telling(draw):
    """A question for which the answer and those of all slips are different words."""
    versions = [analogy.fallback, *(version for version, _ in analogy.slips)]
    while True:
        vectors = draw.normal(20, 4) * (0.3 + 3 * draw.normal(20, 1).abs())
        a, b, c = torch.randperm(20, generator=draw.generator)[:3].tolist()
        if len({version(vectors, a, b, c) for version in versions}) == len(versions):
            return vectors, a, b, c


@turn(
    turns,
    "Make all rows equally long, form b - a + c, take the cosine with every row, and put the three "
    "given words out of the race.",
    cases=questions,
    slips="""
    cosines[[a, b, c]] = -torch.inf => pass
        The best answer is one of the three given words: they must be left out.
    unit[b] - unit[a] + unit[c] => unit[a] - unit[b] + unit[c]
        The direction is turned round: from a to b is b - a.
    unit[b] - unit[a] + unit[c] => unit[c]
        That is the nearest neighbour of c, which ignores the question.
    unit[b] - unit[a] + unit[c] => vectors[b] - vectors[a] + vectors[c]
        All vectors are made equally long before they are added.
    unit = F.normalize(vectors, dim=1) => unit = vectors
        Make the vectors equally long: otherwise long ones win every dot product.
    """,
)
def analogy(vectors, a, b, c):
    """Index of the word d with the largest cosine to b - a + c; vectors (V, D), d not a, b or c."""
    unit = F.normalize(vectors, dim=1)
    cosines = unit @ F.normalize(unit[b] - unit[a] + unit[c], dim=0)
    cosines[[a, b, c]] = -torch.inf
    return int(cosines.argmax())
