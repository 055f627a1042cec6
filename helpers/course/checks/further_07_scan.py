"""Your turn with a linear recurrence: all its states in a few rounds."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_07_scan")


def recurrences(draw):
    a, b = torch.tensor([2.0, 3.0]).double(), torch.tensor([1.0, 5.0]).double()
    yield Case("by hand", a, b, given="a = [2, 3], b = [1, 5]")
    for T in (1, 3, 8, 13):
        given = f"random a and b of length {T}"
        yield Case(f"length {T}", draw.normal(T), draw.normal(T), given=given)


def combines_steps(trial):
    """Steps that are combined have the product of their a's, 1e400 here; a loop never makes it."""
    large, none = torch.full((8,), 1e200, dtype=torch.double), torch.zeros(8).double()
    states = trial.call(large, none, given="eight times a = 1e200, b = 0")
    trial.holds(
        not torch.as_tensor(states).isfinite().all(),
        "steps are combined",
        "The states are right, but you made T steps that wait for each other. Combine all "
        "neighbours at once, then pairs of pairs: the product of their a's belongs to it.",
        got="T steps, one after the other",
        expected="about log2 T rounds",
    )


@turn(
    turns,
    "In each round b becomes a times the b `step` before it plus b itself, a becomes the product "
    "of both, and step doubles.",
    cases=recurrences,
    also=combines_steps,
    slips="""
    step *= 2 => break
        One round combines neighbours only: go on with steps of 2, 4, ... until all positions reach
        back to the first.
    a = torch.cat([a[:step], a[step:] * a[:-step]]) =>
        a changes, too: two steps together have the product of their a's.
    b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]]) => \
    a = torch.cat([a[:step], a[step:] * a[:-step]], 0) ;; \
    a = torch.cat([a[:step], a[step:] * a[:-step]]) => \
    b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
        b must be made with the *old* a: compute b first, or keep the old a.
    a[step:] * b[:-step] => a[:-step] * b[:-step]
        The *later* a is multiplied with the earlier b: a[step:], not a[:-step].
    step *= 2 => step += 1
        The step doubles in each round: after round r a position already holds 2^r steps.
    return b.cumsum(0)
        This adds the b's only: each state is multiplied by the next a before.
    """,
)
def scan(a, b):
    """All states (T,) of h_t = a_t h_{t-1} + b_t with h_0 = 0, in about log2 T rounds."""
    step = 1
    while step < len(a):
        b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
        a = torch.cat([a[:step], a[step:] * a[:-step]])
        step *= 2
    return b
