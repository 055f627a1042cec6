"""Your turn with broadcasting, and with a derivative by differences."""

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_00_first_run")


def two_texts(draw):
    equal = torch.tensor([1, 2, 2]), torch.tensor([2, 1, 1])
    yield Case("by hand, where both have the same length", *equal)
    yield Case("with N = 3 and M = 2", torch.tensor([1, 2, 3]), torch.tensor([3, 1]))
    yield Case("and for random letters", draw.integers(0, 4, 6), draw.integers(0, 4, 9))


def as_booleans(same_letters, a, b):
    """Ones and zeros say the same as True and False."""
    same = same_letters(a, b)
    ones_and_zeros = isinstance(same, Tensor) and bool(((same == 0) | (same == 1)).all())
    return same.bool() if ones_and_zeros else same


@turn(
    turns,
    "a[:, None] is a column (N, 1) and b[None, :] a row (1, M); compare them with ==.",
    cases=two_texts,
    call=as_booleans,
    slips="""
    a[:, None] == b[None, :] => a[None, :] == b[:, None]
        Rows belong to a, columns to b; yours are swapped.
    a[:, None] == b[None, :] => a == b
        That compares the first with the first, the second with the second, and so on. Here every
        letter of a meets every letter of b.
    == => !=
        True where the letters are the same: yours is true where they differ.
    == => -
        The difference is 0 where the letters are the same: compare with == instead.
    return a[:, None] == b[None, :] => return (a[:, None] == b[None, :]).any(1)
        That says which letters of a occur in b at all: keep the whole table (N, M).
    """,
)
def same_letters(a, b):
    """(N,) and (M,) ids -> (N, M) booleans: is the letter of a the letter of b?"""
    return a[:, None] == b[None, :]


def slopes(draw):
    def square(x):
        return float((x * x).sum())

    def given(point):
        return f"the sum of the squares, at {[round(float(x), 3) for x in point]}"

    for rule, point in (
        ("the sum of the squares has the slopes 2 x", torch.tensor([3.0, -1.0]).double()),
        ("at any point", draw.normal(4)),
    ):
        yield Case(rule, square, point, given=given(point))
    came = torch.tensor([1])
    yield Case(
        "it is what autograd gives for the loss of three scores",
        lambda x: F.cross_entropy(x[None], came).item(),
        *draw.normal(1, 3),
        given="the loss of three random scores",
    )


def as_list(by_differences, f, x):
    slopes = by_differences(f, x)
    return slopes.tolist() if isinstance(slopes, Tensor) else slopes


@turn(
    turns,
    "For each entry k: copy x, add h to entry k of the copy alone, and divide the rise of f by h. "
    + see(0, "Autograd: in which direction to change the scores"),
    cases=slopes,
    call=as_list,
    tolerance=1e-4,
    slips="""
    / h =>
        That is how much f rises; the slope is the rise divided by h.
    f(raised) - f(x) => f(x) - f(raised)
        The rise is f of the raised point minus f of the point; your signs are turned round.
    raised[k] += h => raised += h
        All entries rise at once here: raise one, and leave the others.
    f(raised) - f(x) => f(raised)
        Subtract f at the point itself: only the rise counts.
    """,
)
def by_differences(f, x, h=1e-6):
    """The slopes of f at x (N,), one for each entry, by raising that entry alone by h."""
    slopes = []
    for k in range(len(x)):
        raised = x.clone()
        raised[k] += h
        slopes.append((f(raised) - f(x)) / h)
    return slopes
