"""Your turn with several machines: what one of them adds to a layer that is cut."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_18_machines")


def layers(draw):
    x = torch.tensor([[2.0, -1.0]]).double()
    up, down = torch.eye(2).double(), torch.tensor([[1.0, 0.0], [0.0, 10.0]]).double()
    given = "x = [[2, -1]], W1 = identity, W2 = diagonal 1, 10, machine 1 of 0 and 1"
    yield Case("by hand", x, up, down, 1, 2, given=given)
    for rank, world in ((0, 1), (0, 2), (2, 3)):
        x, up, down = draw.normal(4, 3), draw.normal(6, 3), draw.normal(3, 6)
        given = f"random x (4, 3), W1 (6, 3), W2 (3, 6), machine {rank} of {world}"
        yield Case("any layer", x, up, down, rank, world, given=given)


@turn(
    turns,
    "Each machine has as many hidden units as the others: rows of W1 and the same columns of W2. "
    "GELU stands between the two products.",
    cases=layers,
    slips="""
    return F.gelu(x @ W1[mine].T) @ W2[:, mine].T => return F.gelu(x @ W1.T) @ W2.T
        That is the whole layer: one machine computes its own hidden units only.
    @ W2[:, mine].T => @ W2[:, :len(W1) // world].T
        The columns of W2 are those of the same hidden units: W2[:, mine].
    size = len(W1) // world => size = x.shape[1] // world ;; \
    x @ W1[mine].T => x[:, mine] @ W1[:, mine].T ;; W2[:, mine].T => W2.T
        The hidden units are cut, not the inputs: every machine needs all of x, because the GELU \
        of a sum is not the sum of GELUs.
    F.gelu(x @ W1[mine].T) @ W2[:, mine].T => F.gelu(x @ W1[mine].T @ W2[:, mine].T)
        GELU acts on the hidden units, between the two products.
    F.gelu(x @ W1[mine].T) => (x @ W1[mine].T)
        GELU is missing, between the two products.
    F.gelu(x @ W1[mine].T) @ W2[:, mine].T => F.gelu(x @ W1[mine].T) @ W2[:, mine].T / world
        The parts are added up, not averaged.
    slice(rank * size, (rank + 1) * size) => slice(rank, None, world)
        The first machine has the first rows, the next one those behind them.
    """,
)
def summand(x, W1, W2, rank, world):
    """What machine `rank` of `world` adds to gelu(x W1^T) W2^T: x (N, D), W1 (F, D), W2 (D, F)."""
    size = len(W1) // world
    mine = slice(rank * size, (rank + 1) * size)
    return F.gelu(x @ W1[mine].T) @ W2[:, mine].T
