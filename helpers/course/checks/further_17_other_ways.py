"""Your turn with adapters: the narrow layer with its residual connection."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_17_other_ways")


def adapters(draw):
    by_hand = ([[2.0, 3.0]], [[1.0, -1.0]], [0.0], [[2.0], [0.0]], [0.0, 0.0])
    yield Case("by hand", *(torch.tensor(part).double() for part in by_hand), given="as by hand")
    for B, D, m in ((1, 4, 2), (3, 5, 1), (2, 6, 3)):
        parts = [draw.normal(m, D), draw.normal(m), draw.normal(D, m), draw.normal(D)]
        given = f"x ({B}, {D}), width m = {m}"
        yield Case("any matrices", draw.normal(B, D), *parts, given=given)


@turn(
    turns,
    "Down with W1 and b1, a GELU, up with W2 and b2, and the residual connection around all of it.",
    cases=adapters,
    slips="""
    return x + => return
        The residual connection is missing: with W2 = 0 nothing of x would be left.
    F.gelu(x @ W1.T + b1) => (x @ W1.T + b1)
        The GELU between the two matrices is missing.
    F.gelu(x @ W1.T + b1) @ W2.T + b2 => F.gelu(F.gelu(x @ W1.T + b1) @ W2.T + b2)
        The non-linearity stands between the two matrices only, in the narrow layer.
    F.gelu(x @ W1.T + b1) => (F.gelu(x @ W1.T) + b1)
        The first bias is added before the GELU.
    F.gelu => torch.relu
        The non-linearity is a GELU here: F.gelu.
    W2.T + b2 => W2.T
        The second bias is missing.
    + b1 =>
        The first bias is missing.
    """,
)
def adapter(x, W1, b1, W2, b2):
    """x (..., D), W1 (m, D), b1 (m,), W2 (D, m), b2 (D,) -> y (..., D), with F.gelu."""
    return x + F.gelu(x @ W1.T + b1) @ W2.T + b2
