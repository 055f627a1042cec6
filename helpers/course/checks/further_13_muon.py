"""Your turn with Muon: the iteration that levels the singular values of a matrix."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_13_muon")


def matrices(draw):
    for shape, rounds in (((2, 2), 1), ((2, 3), 2), ((3, 5), 5)):
        given = f"a matrix {shape[0]} x {shape[1]}, rounds = {rounds}"
        rule = {1: "one round", 2: "two rounds", 5: "five rounds, a wide matrix"}[rounds]
        yield Case(rule, draw.normal(*shape), rounds, given=given)


@turn(
    turns,
    "Divide by the Frobenius norm, G.norm(), once; then each round makes a X + b S X + c S S X "
    "with S = X X^T.",
    cases=matrices,
    slips="""
    G / G.norm() => G
        Divide G by its norm first, once.
    range(rounds) => range(1)
        There are several rounds, each on what the one before has made.
    X = G / G.norm() => X = G / G.norm(); first = X @ X.T ;; S = X @ X.T => S = first
        S = X X^T belongs to the X of its own round: make it anew inside the loop.
    S = X @ X.T => S = X.T @ X
        S = X X^T, so that S X has the shape of X: the transposed one stands behind.
    c * S @ S @ X => c * S**2 @ X
        S S is a product of matrices; ** squares number by number.
    c * S @ S @ X => c * S @ X
        The last term has S twice: c S S X.
    """,
)
def orthogonalise(G, rounds=5):
    """A matrix (R, C) with the singular vectors of G, and singular values near 1."""
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G / G.norm()
    for _ in range(rounds):
        S = X @ X.T
        X = a * X + b * S @ X + c * S @ S @ X
    return X
