"""Your turn with one unit: what is left of a gradient, step by step."""

import numpy as np

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("further_07_delayed_recall")


def states(draw):
    yield Case("two steps, by hand", 1.5, [0.0, 0.2, 0.6])
    yield Case("no step at all", 2.0, [0.3])
    h = draw.normal(6).tanh().tolist()
    yield Case("it is right for any h", draw.integer(5, 20) / 10, h)


def as_list(answer, w, h):
    found = answer(w, h)
    return found.tolist() if isinstance(found, np.ndarray) else found  # an array does as well


@turn(
    turns,
    "Begin with [1.0]. For t = T, T - 1, ..., 1 the last number times w * (1 - h[t] ** 2) is the "
    "next. " + see(5, "Vanishing and exploding gradients"),
    cases=states,
    call=as_list,
    slips="""
    return found => return found[::-1]
        The nearest comes first: dh_T/dh_T = 1.
    return found => return found[1:]
        The list begins with dh_T/dh_T, which is 1.
    found[-1] * w => w
        These are the factors of the single steps: multiply them up.
    * (1 - h[t] ** 2) =>
        The slope of tanh, 1 - h[t] ** 2, belongs into every factor.
    1 - h[t] ** 2 => (1 - h[t]) ** 2
        Only h is squared: the slope of tanh is 1 - h[t] ** 2.
    1 - h[t] ** 2 => 1 - np.tanh(h[t]) ** 2
        h[t] is a value of tanh already, so the slope is 1 - h[t] ** 2, without another tanh.
    range(len(h) - 1, 0, -1) => range(1, len(h))
        Go from the last step back: the first factor is that of h[T].
    """,
)
def products(w, h):
    """[dh_T/dh_T, dh_T/dh_{T-1}, ..., dh_T/dh_0], for the states h = [h_0, ..., h_T]."""
    found = [1.0]
    for t in range(len(h) - 1, 0, -1):
        found.append(found[-1] * w * (1 - h[t] ** 2))
    return found
