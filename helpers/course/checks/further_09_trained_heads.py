"""Your turn with a habit of trained heads."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_09_trained_heads")
SINGLE = 1e-5  # tolerance of single precision


def drawn(draw, *shapes):
    return [draw.normal(*shape, dtype=torch.float32) for shape in shapes]


def rows_and_columns(draw):
    looks = torch.tensor([[[1.0, 0, 0], [0.3, 0.7, 0], [0.5, 0.2, 0.3]]])[None, None]
    rows, columns = torch.tensor([[False, True, True]]), torch.tensor([[True, False, True]])
    yield Case("by hand: 0.3 and 0.8, so 0.55", looks, rows, columns)
    for _ in range(3):
        L, H, B, T = (draw.integer(low, low + 2) for low in (2, 4, 2, 7))
        (looks,) = drawn(draw, (L, H, B, T, T))
        rows, columns = torch.zeros(2, B, T, dtype=torch.bool)
        rows[0, 2:] = rows[1, 4:6] = True  # texts with different numbers of such tokens
        columns[:, 1] = columns[0, 3] = columns[1, 2] = True
        yield Case("any rows and columns", looks.softmax(-1), rows, columns)


@turn(
    turns,
    "Add up, in each row, the weights on the columns; then average over the chosen rows of all "
    "texts, each head for itself. This page, 'Four habits, measured'.",
    cases=rows_and_columns,
    tolerance=SINGLE,
    slips="""
    columns[:, None] => columns[:, :, None]
        Rows ask and columns are asked: here the rows are chosen by what should choose columns.
    sum(-1) => mean(-1)
        A row's weights on several columns are added up, not averaged.
    mean(-1) => mean()
        That averages over the heads, too; each head has a mean of its own, (L, H): average over the
        tokens, the last axis.
    total[..., rows].mean(-1) => (total * rows).mean((-1, -2))
        Only the chosen rows count: divide by their number, not by that of all tokens.
    """,
)
def weight_on(looks, rows, columns):
    """looks (L, H, B, T, T), rows and columns (B, T) -> (L, H): rows look at columns."""
    total = (looks * columns[:, None]).sum(-1)  # (L, H, B, T)
    return total[..., rows].mean(-1)
