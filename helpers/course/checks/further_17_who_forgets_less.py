"""Your turn with frozen weights: what a step of training costs."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_17_who_forgets_less")


def networks(draw):
    for rule, which in (
        ("by hand", (False, True, False, True)),
        ("all are trained", (True, True, True)),
        ("nothing is trained", (False, False, False)),
        ("the last alone", (False, False, True)),
        ("the first alone", (True, False, False)),
        ("every second", (False, True, False, True, False)),
    ):
        sizes = [10, 20, 30, 50] if rule == "by hand" else draw.integers(2, 60, len(which)).tolist()
        yield Case(rule, list(zip(sizes, which, strict=True)))


@turn(
    turns,
    "Go from the lowest layer up. Each costs its weights once forward, once more if it is trained, "
    "and once more if any layer below it is trained.",
    cases=networks,
    slips="""
    + n * trained + n * below => + 2 * n
        What is frozen needs no gradient of its own, and what has nothing to train below it hands
        no gradient down.
    + n * trained + n * below => + 2 * n * trained
        A frozen layer hands the gradient down as well, if something below it is trained.
    n * below => n
        The gradient of a layer's input is needed only where something below it is trained.
    + n * below =>
        The gradients that are handed down are missing.
    + n * trained =>
        The gradients of the trained weights themselves are missing.
    n + n * trained => n * trained
        Forward every layer costs one product for each weight, trained or not.
    below or trained => trained
        Any layer below counts, not only the one directly below.
    """,
)
def step_products(layers):
    """[(weights, whether they are trained), ...], the lowest first -> products for one token."""
    products, below = 0, False
    for n, trained in layers:
        products += n + n * trained + n * below
        below = below or trained
    return products
