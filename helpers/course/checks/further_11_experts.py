"""Your turn with experts: what a router chooses, and whether all of them are used."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_11_experts")


def routers(draw):
    by_hand = torch.tensor([[6.0, 1.0, 2.0, 1.0]], dtype=torch.float64).log()
    yield Case("by hand", by_hand, 2, given="logits [[ln 6, 0, ln 2, 0]], k = 2")
    for k in (1, 3, 5):
        given = f"random logits (4, 5), k = {k}"
        yield Case(f"k = {k}", draw.normal(4, 5), k, given=given)


@turn(
    turns,
    "Take the k largest logits of each token, and a softmax over these.",
    cases=routers,
    slips="""
    best, chosen = logits.topk => best, chosen = logits.softmax(dim=-1).topk ;; \
    best.softmax(dim=-1) => best
        These weights do not sum to 1: the softmax is over the chosen k alone, or divide by their
        sum.
    best, chosen = logits.topk => best, chosen = logits.softmax(dim=-1).topk
        Twice a softmax: it is taken of the k best *logits*.
    best.softmax(dim=-1) => best.softmax(dim=0)
        Each token has weights of its own that sum to 1: the softmax goes along the last dimension.
    best.softmax(dim=-1) => best
        These are the logits themselves: take a softmax of them.
    (k, dim=-1) => (k, dim=-1, largest=False)
        The *largest* logits are chosen.
    best.softmax(dim=-1), chosen => chosen, best.softmax(dim=-1)
        The weights come first, then the experts.
    """,
)
def route(logits, k):
    """Logits (N, E) -> weights (N, k) that sum to 1, and their experts (N, k), the best first."""
    best, chosen = logits.topk(k, dim=-1)
    return best.softmax(dim=-1), chosen
