"""Checks of lab 04, task 5: which output depends on which input.

Shape letters: T words, D features of a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab04.common import ERRORS, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Case, turn

_WHERE = (
    "Entry (t, s) is about output t and word s: take each number of output t, its gradient by x, "
    "the sizes of row s of that gradient, and of all these the largest. A gradient comes from "
    "autograd, not from finite steps. " + see(9, "The future is not to be looked at")
)
_CANCEL = (
    "This is the gradient of the sum of an output's numbers: what one of them gains another may "
    "lose, and nothing is seen. Each number has a gradient of its own."
)
_LARGEST = "The largest of the sizes is asked for, not their sum, mean or norm."
_FIRST = "Only one number of an output, or of a word, is looked at: all count."
_SIGN = "A derivative may be negative: its size counts."
_ERRORS = {
    **ERRORS,
    "IndexError": "An output may have more numbers than a word, or fewer: y.shape[1] of y = f(x).",
    "RuntimeError": "x.clone().requires_grad_() begins a graph; torch.autograd.grad(number, x, "
    "retain_graph=True)[0] is the gradient of one number, and keeps the graph for the next one.",
}


def _functions(trial: Trial) -> Iterator[Case]:
    x = torch.tensor([[1.0], [2.0], [3.0]]).double()
    given = "f adds up the words so far, x = [[1], [2], [3]]"
    yield Case("by hand: 1 on and below the diagonal", lambda y: y.cumsum(0), x, given=given)
    given = "f adds up the words from here on, with the sign changed, x = [[1], [2], [3]]"
    rule = "by hand, the other way round: 1 on and above the diagonal"
    yield Case(rule, lambda y: -y.flip(0).cumsum(0).flip(0), x, given=given)
    T, D = trial.integer(4, 7), trial.integer(2, 4)
    W, factors, mixed = trial.normal(D, D + 1), trial.normal(3, 1), trial.normal(T, T)
    W[:, 0] *= 0.1  # the first number of an output never has the largest derivative
    given = f"each output is a matrix times its own word, x ({T}, {D}), outputs of {D + 1} numbers"
    yield Case("words on their own: a diagonal", lambda y: y @ W, trial.normal(T, D), given=given)
    given = f"an output has two numbers, the sum of the words so far and minus that, x ({T}, 1)"
    rule = "numbers of one output that move in opposite directions"
    both = torch.tensor([[1.0, -1.0]]).double()
    yield Case(rule, lambda y: y.cumsum(0) @ both, trial.normal(T, 1), given=given)
    given = "an output is one number, a mixture of the words so far, x (5, 3)"
    rule = "outputs of one number"
    yield Case(rule, lambda y: y.cumsum(0) @ factors, trial.normal(5, 3), given=given)
    given = "an output is its own word and behind it that from the other end, x (5, 3)"
    rule = "outputs of more numbers than a word has"
    yield Case(rule, lambda y: torch.cat([y, y.flip(0)], 1), trial.normal(5, 3), given=given)
    given = f"a random mixture of all words, squared, x ({T}, {D})"
    yield Case("any mixture", lambda y: (mixed @ y) ** 2, 3 * trial.normal(T, D), given=given)


def _measured(answer: Callable, f: Callable, x: Tensor) -> Any:
    """The table, whatever its precision: this is a measurement."""
    table = answer(f, x)
    real = isinstance(table, Tensor) and table.is_floating_point()
    return table.detach().to(x.dtype) if real else table


@turn(
    lab,
    _WHERE,
    cases=_functions,
    call=_measured,
    tolerance=1e-5,
    errors=_ERRORS,
    slips=f"""
    return table => return table.T
        Rows and columns are exchanged: a row is an output.
    in row: => in [row.sum()]:
        {_CANCEL}
    in row: => in row[: x.shape[1]]:
        The numbers of an output behind the first ones are not looked at: an output may be wider \
        than a word.
    in row: => in row[:1]:
        {_FIRST}
    torch.maximum(table[t], gradient.abs().amax(1)) => gradient.abs().amax(1)
        Each number of an output takes the place of the one before: the largest of all is asked \
        for.
    gradient.abs() => gradient
    gradient.abs() => gradient ;; torch.zeros(T, T, dtype=x.dtype) => \
    torch.zeros(T, T, dtype=x.dtype) - 1e9
        {_SIGN}
    .amax(1) => .mean(1)
    gradient.abs().amax(1) => gradient.norm(dim=1)
        {_LARGEST}
    (number, x, => (f(x).sum(), x,
        All outputs are added up before the gradient is taken: which of them depends on a word can \
        no longer be told.
    (gradient,) = torch.autograd.grad(number, x, retain_graph=True) => \
    number.backward(retain_graph=True) ; gradient = x.grad
        This grows from one number to the next: backward() adds to what is in x.grad already. Set \
        x.grad = None before each, or take torch.autograd.grad, which adds to nothing.
    """,
)
def dependence(f, x):
    T = len(x)
    x = x.clone().requires_grad_()
    table = torch.zeros(T, T, dtype=x.dtype)
    for t, row in enumerate(f(x)):
        for number in row:
            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)
            table[t] = torch.maximum(table[t], gradient.abs().amax(1))
    return table
