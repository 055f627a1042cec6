"""Your turn with one query, by loops, and with the mask of a prefix."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_09_scale_and_mask")
SINGLE = 1e-5  # tolerance of single precision


def drawn(draw, *shapes):
    return [draw.normal(*shape, dtype=torch.float32) for shape in shapes]


def single_queries(draw):
    K = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    V = torch.tensor([[10.0, 0.0], [0.0, 5.0], [10.0, 5.0]])
    yield Case("by hand: (8.9, 4.5)", torch.tensor([0.0, 2.0]), K, V)
    yield Case("equal scores give the mean", torch.zeros(2), K, V)
    for _ in range(3):
        S, d_k, d_v = draw.integer(3, 7), draw.integer(2, 5), draw.integer(2, 5)
        yield Case("any query, keys and values", *drawn(draw, (d_k,), (S, d_k), (S, d_v)))


@turn(
    turns,
    "Score every key with the query, take the powers of e, divide by their sum, and add up the "
    "values with these weights. " + see(9, "Queries, keys and values"),
    cases=single_queries,
    tolerance=SINGLE,
    slips="""
    torch.exp(s) => torch.exp(s / len(q) ** 0.5)
        Here the scores are the plain dot products, without the factor 1 / sqrt(d_k).
    p / total * v => p * v
        The powers of e are not yet weights: divide them by their sum.
    torch.exp(s) => s
        Scores are made positive by the exponential before they are divided by their sum.
    sum(p / total * v for p, v in zip(powers, V)) => sum(s * v for s, v in zip(scores, V))
        These are the scores times the values; first make weights of the scores, by softmax.
    zip(powers, V) => zip(powers, K)
        The weights come from the keys, and what is averaged are the values.
    """,
)
def one_output(q, K, V):
    """q (d_k,), K (S, d_k), V (S, d_v) -> the output, a tensor (d_v,), of one query."""
    scores = [sum(q[i] * k[i] for i in range(len(q))) for k in K]
    powers = [torch.exp(s) for s in scores]
    total = sum(powers)
    return sum(p / total * v for p, v in zip(powers, V))


def prefixes(draw):
    yield Case("by hand: two of four", 2, 4)
    yield Case("no prefix: a causal mask", 0, 3)
    for _ in range(3):
        prefix = draw.integer(2, 5)
        yield Case("any prefix", prefix, prefix + draw.integer(2, 5))


@turn(
    turns,
    "Begin with the causal mask, True on and below the diagonal, and open the columns of the "
    "prefix for every row. " + see(9, "The future is not to be looked at"),
    cases=prefixes,
    slips="""
    mask[:, :prefix] = True =>
        This is the causal mask: within the prefix, too, everything may be looked at.
    mask[:, :prefix] => mask[:prefix]
        Whole rows are open here, so the prefix looks at what comes after it; open its columns.
    :prefix => :prefix + 1
        One column too many is open: the first position after the prefix has the number prefix.
    tril() => triu()
        The wrong side is open: behind the prefix, a row looks at what came before it.
    == 1 => == 0
        True means may be looked at.
    """,
)
def prefix_mask(prefix, T):
    """All T rows look at the first ``prefix`` positions, the rest is causal -> (T, T), bool."""
    mask = torch.ones(T, T).tril() == 1
    mask[:, :prefix] = True
    return mask
