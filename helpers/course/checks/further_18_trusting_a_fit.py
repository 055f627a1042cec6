"""Your turn with a power law: a straight line through logarithms."""

import numpy as np

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_18_trusting_a_fit")


def laws(draw):
    x = np.array([1.0, 10.0, 100.0])
    for y, rule in ((8 * x**-0.5, "points that lie on a law"), (x**-0.0 * 3, "a flat law")):
        given = f"x = {x.tolist()}, y = {[round(float(v), 3) for v in y]}"
        yield Case(rule, x, y, given=given)
    x = np.array([float(draw.integer(2, 9)) * 4.0**k for k in range(6)])
    yield Case("points beside a law", x, 20 * x**-0.3 * np.exp(0.2 * draw.normal(6).numpy()))


@turn(
    turns,
    "log y = log A - alpha log x: fit a line to the logarithms; its slope is -alpha, and its value "
    "at log x = 0 is log A.",
    cases=laws,
    slips="""
    -slope => slope
        The exponent has a minus in front of it: a falling line has a positive alpha.
    np.exp(intercept) => intercept
        The line gives the logarithm of A: take the exponential.
    np.exp(intercept), -slope => -slope, np.exp(intercept)
        A comes first, and then alpha.
    np.log(x), np.log(y) => x, y ;; np.exp(intercept) => intercept
        The line goes through the logarithms, not through x and y themselves.
    np.log(x) => x
        Both axes are logarithmic: that of x, too.
    np.log(y) => y ;; np.exp(intercept) => intercept
        Both axes are logarithmic: that of y, too.
    """,
)
def power_law(x, y):
    """A and alpha of y = A x^-alpha, by a straight line through the logarithms."""
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return np.exp(intercept), -slope
