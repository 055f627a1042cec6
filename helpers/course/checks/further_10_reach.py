"""Your turn with the reach of RoPE: the base that slows its slowest pair."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_10_reach")


def bases(draw):
    yield Case("by hand: 64 times the base", 10_000, 4, 8)
    yield Case("by hand: 16 times the base", 10_000, 8, 8)
    yield Case("a factor of 1 changes nothing", 10_000, 8, 1)
    for _ in range(3):
        yield Case("any base", draw.integer(100, 9999), 2 * draw.integer(2, 40), draw.integer(2, 9))


@turn(
    turns,
    "The slowest pair, i = d_k/2 - 1, turns by base ** (-(d_k - 2) / d_k). With the new base this "
    "must be `factor` times less: solve for the new base. "
    + see(10, "RoPE: turn the queries and the keys"),
    cases=bases,
    slips="""
    factor ** (d_k / (d_k - 2)) => factor
        Nearly: the slowest pair has the exponent -(d_k - 2) / d_k, not -1.
    factor ** (d_k / (d_k - 2)) => factor ** 2
        That is right for d_k = 4 alone: the slowest pair's exponent is -(d_k - 2) / d_k.
    (d_k / (d_k - 2)) => ((d_k - 2) / d_k)
        The exponent stands on its head: a power of the new base must grow by the factor.
    base * => base /
        With a smaller base the pairs turn faster.
    (d_k / (d_k - 2)) => (d_k / (d_k - 1))
        Pairs are counted from 0: the slowest of them is pair d_k/2 - 1, so 2i is d_k - 2.
    """,
)
def new_base(base, d_k, factor):
    """The base with which the slowest of d_k/2 pairs turns `factor` times more slowly."""
    return base * factor ** (d_k / (d_k - 2))
