"""Your turn with alignments: an error rate, and the effects of one thing at a time."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_08_which_score_aligns")


def number(answer, found, truth):
    value = answer(found, truth)  # a tensor of one number does as well
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value


def links(draw):
    truth = torch.tensor([[1, 0, 0], [0, 1, 1]]).bool()
    found = torch.tensor([[1, 0, 0], [1, 0, 0]]).bool()
    for _ in range(3):
        A, L = (draw.normal(5, 7) > least for least in (0.2, 0.8))
        A[4], L[4] = False, False
        A[0, 0] = L[0, 0] = True
        A[1, 1], L[1, 1], A[2, 2], L[2, 2] = True, False, False, True
        given = f"{int(A.sum())} found and {int(L.sum())} true links, {int((A & L).sum())} in both"
        yield Case("any two tables", A, L, given=given)
    yield Case("by hand: 0.6", found, truth)
    yield Case("the truth itself: 0", truth, truth)


@turn(
    turns,
    "Count three things, each with .sum(): the links in both tables (found & truth), the found "
    "ones and the true ones.",
    cases=links,
    call=number,
    slips="""
    1 - 2 * both => 2 * both
        That is the F1 score: subtract it from 1.
    2 * both => both
        A link in both tables is counted in |A| and in |L|: the numerator needs the factor 2.
    2 * both / (found.sum() + truth.sum()) => both / found.sum()
        That is one minus the precision: links that were missed do not count in it.
    2 * both / (found.sum() + truth.sum()) => both / truth.sum()
        That is one minus the recall: links that are wrong do not count in it.
    2 * both / (found.sum() + truth.sum()) => both / (found | truth).sum()
        That divides by the union (the Jaccard distance); here it is |A| + |L|.
    """,
)
def error_rate(found, truth):
    """Alignment error rate of the found links, two bool tensors of one shape: 0 to 1."""
    both = (found & truth).sum()
    return float(1 - 2 * both / (found.sum() + truth.sum()))


def in_order(answer, table, k, one, other):
    """The differences, sorted: their order is free. A number alone is a list of one."""
    found = answer(table, k, one, other)
    if isinstance(found, torch.Tensor) and found.ndim < 2:
        found = found.tolist()
    if isinstance(found, int | float):
        found = [found]
    return sorted(map(float, found)) if isinstance(found, list | tuple) else found


def tables(draw):
    # Partners never have the same turn among their own, here and in the eight.
    paper = {("dot", "after"): 17.0, ("additive", "before"): 40.0}
    paper |= {("additive", "after"): 30.0, ("dot", "before"): 28.0}
    given = "the table of the text"
    yield Case("by hand, the time: 10 and 11", paper, 1, "before", "after", given=given)
    yield Case("by hand, the score: 12 and 13", paper, 0, "additive", "dot", given=given)
    kinds = [(a, b, c) for c in "mn" for a in "pq" for b in "rs"]
    kinds = [kinds[i] for i in (3, 0, 6, 5, 1, 7, 2, 4)]
    for k, (one, other) in enumerate(("pq", "rs", "mn")):
        table = dict(zip(kinds, draw.normal(8).tolist(), strict=True))
        given = f"eight networks, k = {k}, one = {one!r}, other = {other!r}"
        yield Case("four pairs", table, k, one, other, given=given)


@turn(
    turns,
    "Go through the networks that have `one` at position k of their tuple. The partner of such a "
    "network has the same tuple with `other` at position k. Put the number of the network, less "
    "that of its partner, into a list.",
    cases=tables,
    call=in_order,
    slips="""
    number - partner => partner - number
        The sign is turned: take the network with `one`, and subtract its partner.
    number - partner => abs(number - partner)
        Keep the sign: it says which of the two has the larger number.
    partner = table[(*kind[:k], other, *kind[k + 1 :])] => \
    partners = [table[second] for second in table if second[k] == other] ;; \
    found.append(number - partner) => found += [number - partner for partner in partners]
        Here other things differ, too: a network has one partner, which is the same but at k.
    return found => return [sum(found) / len(found)]
        That is their mean: all differences are asked for, one for each pair.
    number - partner => number
        These are the networks with `one`: subtract the number of each one's partner.
    """,
)
def paired_effects(table, k, one, other):
    """{tuple: number} -> numbers with `one` at position k, less those of their partners (list)."""
    found = []
    for kind, number in table.items():
        if kind[k] == one:
            partner = table[(*kind[:k], other, *kind[k + 1 :])]
            found.append(number - partner)
    return found
