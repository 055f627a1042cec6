"""Your turn with the price of memory: what a model's parameters cost on a text of finite length."""

import math

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_01_price_of_memory")


def models(draw):
    for n in (2, 3, 1):
        yield Case("by hand", n, 3, 2000)
    n, V, N = draw.integer(2, 5), draw.integer(4, 40), draw.integer(100, 9000)
    yield Case("it is right for any model", n, V, N)


@turn(
    turns,
    "How many contexts has the model, and how many free probabilities has the row of each? Then "
    "divide by 2 N ln 2.",
    cases=models,
    tolerance=1e-9,
    slips="""
    (V - 1) => V
        The last probability of a row follows from the others: V - 1 are free.
    V ** (n - 1) => V ** n
        The context of an n-gram has n - 1 symbols.
    V ** (n - 1) => (n - 1)
        Each symbol of the context has V values: their numbers are multiplied.
    * math.log(2) =>
        That is in nats: bits are more by 1 / ln 2.
    (2 * N => (N
        The 2 is missing: the divergence is half of a squared error.
    """,
)
def expected_excess(n, V, N):
    """Bits per symbol above the entropy rate, of an n-gram model counted on N symbols."""
    parameters = (V - 1) * V ** (n - 1)
    return parameters / (2 * N * math.log(2))
