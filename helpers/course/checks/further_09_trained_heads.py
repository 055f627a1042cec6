"""Your turn with a habit of trained heads."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_09_trained_heads")
SINGLE = 1e-5  # tolerance of single precision


def drawn(draw, *shapes):
    return [draw.normal(*shape, dtype=torch.float32) for shape in shapes]


def looks_at_marks(draw):
    looks = torch.tensor([[[1.0, 0, 0], [0.3, 0.7, 0], [0.5, 0.2, 0.3]]])[None, None]
    yield Case("by hand: 0.3 and 0.5, so 0.4", looks, torch.tensor([[-1, 0, 0]]))
    for _ in range(3):
        L, H, B, T = (draw.integer(low, low + 2) for low in (2, 4, 2, 7))
        marks = torch.full((B, T), -1)
        marks[0, 2:] = 1  # texts with different numbers of such tokens
        marks[1, 4:6] = 3
        (looks,) = drawn(draw, (L, H, B, T, T))
        yield Case("any texts and marks", looks.softmax(-1), marks)


@turn(
    turns,
    "Of the tokens that have a mark, take the weight in row t and column marks[b, t] of their text "
    "b, for all heads at once, and average over these tokens. "
    + see(9, "Heads of a trained model"),
    cases=looks_at_marks,
    tolerance=SINGLE,
    slips="""
    t, marks[b, t]] => marks[b, t], t]
        Rows ask and columns are asked: the row is the token's, the column its mark's.
    mean(-1) => mean()
        That averages over the heads, too; each head has a mean of its own, (L, H): average over the
        tokens, the last axis.
    b, t = torch.where(marks >= 0); looks = looks[:, :, b, t, marks[b, t]]; \
    return torch.stack([looks[:, :, b == text].mean(-1) for text in b.unique()]).mean(0)
        Each token counts once here: no means of texts, but of all tokens together.
    marks >= 0 => marks >= -1
        Tokens without a mark, where marks is -1, do not count; -1 would be the last position.
    marks[b, t]] => t]
        That is how much the tokens look at themselves: the column is marks[b, t].
    """,
)
def to_mark(looks, marks):
    """looks (L, H, B, T, T), marks (B, T) -> (L, H): the mean weight of tokens on their mark."""
    b, t = torch.where(marks >= 0)
    return looks[:, :, b, t, marks[b, t]].mean(-1)
