"""Your turn with a loss surface: a direction whose rows are as long as those of the weights."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_11_depth")


def directions(draw):
    hand = torch.tensor([[1.0, 0.0], [0.0, 2.0]]).double()
    yield Case("by hand", hand, torch.tensor([[3.0, 4.0], [0.0, 1.0]]).double())
    for m, n in ((3, 5), (4, 2)):
        yield Case("any weights", draw.normal(m, n), 2 * draw.normal(m, n))


@turn(
    turns,
    "Divide each row of the direction by its length, and multiply it by the length of the same row "
    "of W; keepdim=True keeps the shape (m, 1), which fits the rows.",
    cases=directions,
    slips="""
    direction / direction.norm(dim=1, keepdim=True) * W => direction * W
        The row must have length 1 before it is multiplied: divide by its own length first.
    * W.norm(dim=1, keepdim=True) =>
        All rows have length 1 now; they shall be as long as those of W.
    direction.norm(dim=1, keepdim=True) * W.norm(dim=1, keepdim=True) => \
    direction.norm() * W.norm()
        One length for the whole matrix: each row gets the length of its own row of W.
    direction.norm(dim=1, keepdim=True) * W.norm(dim=1, keepdim=True) => \
    direction.norm(dim=0, keepdim=True) * W.norm(dim=0, keepdim=True)
        These are the lengths of the columns: a row is what leads into one unit, dim=1.
    W.norm(dim=1, keepdim=True) => W.abs().sum(dim=1, keepdim=True)
        The length of a row is the root of the sum of its squares.
    """,
)
def filter_normalized(direction, W):
    """The direction (m, n) with its rows as long as those of the weights W (m, n)."""
    return direction / direction.norm(dim=1, keepdim=True) * W.norm(dim=1, keepdim=True)
