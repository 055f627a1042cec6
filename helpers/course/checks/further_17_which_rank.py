"""Your turn with ranks: the least error that an update of rank r can leave."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_17_which_rank")


def differences(draw):
    D = torch.diag(torch.tensor([7.0, 5, 4, 3, 2, 1], dtype=torch.float64))
    words = "a diagonal matrix with 7, 5, 4, 3, 2, 1"
    yield Case("by hand: 16 + 9 + 4 + 1", D, 2, given=f"{words}, r = 2")
    yield Case("without an update", D, 0, given=f"{words}, r = 0")
    D = draw.normal(5, 7)
    for r in (2, 4):
        yield Case("any matrix", D, r, given=f"a random matrix (5, 7), r = {r}")
    D = draw.normal(6, 2) @ draw.normal(2, 6)
    yield Case("enough rank leaves nothing", D, 2, given="a product of (6, 2) and (2, 6), r = 2")


@turn(
    turns,
    "The best matrix of rank r keeps the r largest singular values. What is left are the others: "
    "add up their squares.",
    cases=differences,
    slips="""
    ** 2).sum() => ).sum()
        A sum of squares is asked for: square the singular values first.
    [r:] => [:r]
        That is what rank r can take away; what is left are the singular values behind the first r.
    [r:] => [r + 1 :]
        With rank r the first r singular values are gone, and no more: what is left begins at r.
    [r:] => [max(r - 1, 0) :]
        With rank r the first r singular values are gone: what is left begins at index r.
    .sum() => .sum().sqrt()
        The loss is the sum of squares itself, without a root.
    return (difference**2).sum()
        That is the loss without any update, r = 0.
    """,
)
def best_possible(difference, r):
    """The least sum of squares that an update of rank r can leave of a difference (d, k), as ()."""
    return (torch.linalg.svdvals(difference)[r:] ** 2).sum()
