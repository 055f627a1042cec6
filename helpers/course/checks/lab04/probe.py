"""Checks of lab 04, task 6: which output depends on which input.

Shape letters: T words, D features of a word, W numbers of an output.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips
from helpers.course.checks.lab04.common import ask, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial


def _derivatives(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """(T, W, T, D): of each number of each output by each number of each word."""
    found = torch.autograd.functional.jacobian(f, x)
    assert isinstance(found, Tensor)
    return found


def _dependence(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return _derivatives(f, x).abs().amax((1, 3))


@lab.task(_dependence)
def dependence(trial: Trial) -> None:
    where = "Entry (t, s) is about output t and word s: take each number of output t, its gradient "
    where += "by x, the sizes of row s of that gradient, and of all these the largest. "
    where += see(9, "The future is not to be looked at")
    autograd = "x.clone().requires_grad_() begins a graph; torch.autograd.grad(number, x, "
    autograd += "retain_graph=True)[0] is the gradient of one number, and keeps the graph for the "
    autograd += "next one."
    width = "An output may have more numbers than a word, or fewer: y.shape[1] of y = f(x)."

    def try_on(f: Callable, x: Tensor, rule: str, given: str) -> None:
        J = _derivatives(f, x)
        expected = J.abs().amax((1, 3))
        try:
            got = ask(trial, f, x, given=given, hint=autograd)
        except Complaint as wrong:
            wrong.hint = width if isinstance(wrong.__cause__, IndexError) else wrong.hint
            raise
        hint = where
        if isinstance(got, Tensor) and got.dtype == torch.bool:
            hint = "Numbers are asked for, not yes or no: how large the largest derivative is."
        elif isinstance(got, Tensor) and got.shape != expected.shape:
            hint = f"The table has a row and a column for each word. {where}"
        elif isinstance(got, Tensor):
            got = got.detach()  # and whatever the precision: this is a measurement
            got = got.to(expected.dtype) if got.is_floating_point() else got
        slips = _slips(f, x, J)
        trial.equals(got, expected, rule, hint, slips=slips, given=given, tolerance=1e-5)

    x = torch.tensor([[1.0], [2.0], [3.0]]).double()
    given = "f adds up the words so far, x = [[1], [2], [3]]"
    try_on(lambda y: y.cumsum(0), x, "by hand: 1 on and below the diagonal", given)
    given = "f adds up the words from here on, with the sign changed, x = [[1], [2], [3]]"
    rule = "by hand, the other way round: 1 on and above the diagonal"
    try_on(lambda y: -y.flip(0).cumsum(0).flip(0), x, rule, given)
    T, D = trial.integer(4, 7), trial.integer(2, 4)
    W = trial.normal(D, D + 1)
    given = f"each output is a matrix times its own word, x ({T}, {D}), outputs of {D + 1} numbers"
    try_on(lambda y: y @ W, trial.normal(T, D), "words on their own: a diagonal", given)
    given = f"an output has two numbers, the sum of the words so far and minus that, x ({T}, 1)"
    rule = "numbers of one output that move in opposite directions"
    both = torch.tensor([[1.0, -1.0]]).double()
    try_on(lambda y: y.cumsum(0) @ both, trial.normal(T, 1), rule, given)
    factors = trial.normal(3, 1)
    given = "an output is one number, a mixture of the words so far, x (5, 3)"
    try_on(lambda y: y.cumsum(0) @ factors, trial.normal(5, 3), "outputs of one number", given)
    given = "an output is its own word and behind it that from the other end, x (5, 3)"
    rule = "outputs of more numbers than a word has"
    try_on(lambda y: torch.cat([y, y.flip(0)], 1), trial.normal(5, 3), rule, given)
    mixed = trial.normal(T, T)
    given = f"a random mixture of all words, squared, x ({T}, {D})"
    try_on(lambda y: (mixed @ y) ** 2, 3 * trial.normal(T, D), "any mixture", given)


def _slips(f: Callable[[Tensor], Tensor], x: Tensor, J: Tensor) -> Slips:
    """What known slips make of the derivatives J."""
    sizes = J.abs()
    cancel = "The gradient of the sum of an output's numbers: what one of them gains another may "
    cancel += (
        "lose, and nothing is seen. Each number has a gradient of its own (and backward() adds "
    )
    cancel += "it to what is in x.grad already)."
    sign = "A derivative may be negative: its size counts."
    largest = "The largest of the sizes is asked for, not their sum, mean or norm."
    all_outputs = "All outputs are added up before the gradient is taken: which of them depends on "
    all_outputs += "a word can no longer be told."
    first = "Only one number of an output, or of a word, is looked at: all count."
    summed = J.sum((0, 1)).abs().amax(1)
    added = "This grows from one number to the next: backward() adds to what is in x.grad already. "
    added += "Set x.grad = None before each, or take torch.autograd.grad, which adds to nothing."
    growing = J.flatten(0, 1).cumsum(0).view_as(J)
    narrow = "The numbers of an output behind the first ones are not looked at: an output may be "
    narrow += "wider than a word."
    slips = [
        (sizes.amax((1, 3)).T, "Rows and columns are exchanged: a row is an output."),
        *((J.sum(1).abs().amax(2), cancel), (J.sum((1, 3)).abs(), cancel)),
        *(
            (J.amax((1, 3)), sign),
            (J.amax((1, 3)).clamp(min=0), sign),
            ((-J).amax((1, 3)), sign),
            (J.sum((1, 3)), sign),
        ),
        *((value, largest) for value in (sizes.sum((1, 3)), sizes.mean((1, 3)))),
        *((value, largest) for value in (J.norm(dim=(1, 3)), sizes.sum(3).amax(1))),
        *((value, largest) for value in (sizes.amax(1).sum(2), J.norm(dim=3).amax(1))),
        *((value, largest) for value in (sizes.amax(3).sum(1), sizes.amax(3).mean(1))),
        *((value, largest) for value in (sizes.mean(3).amax(1), sizes.amax(1).mean(2))),
        (summed.expand(len(x), len(x)), all_outputs),
        (sizes[:, : x.shape[1]].amax((1, 3)), narrow),
        *((value, first) for value in (sizes[:, 0].amax(2), sizes[..., 0].amax(1))),
        (sizes[:, 0, :, 0], first),
        *((value, added) for value in (growing.abs().amax((1, 3)), growing[:, -1].abs().amax(2))),
        *((value, added) for value in (J.cumsum(1).abs().amax((1, 3)), growing.amax((1, 3)))),
        ((J**2).amax((1, 3)), "The size of a derivative is asked for, not its square."),
    ]
    for step in (1.0, 0.1, 0.01, 0.001):
        for each in (False, True):
            words = "This changes a word by a finite step and looks how far the outputs move: that "
            words += "depends on the step. The derivative, from autograd, does not."
            slips += [(value, words) for value in _by_steps(f, x, step, each)]
    return slips


def _by_steps(f: Callable, x: Tensor, step: float, each: bool) -> list[Tensor]:
    """Changes of the outputs when a word, or each of its features, moves by a finite step."""
    before, columns = f(x), []
    for s in range(len(x)):
        moved = []
        for i in range(x.shape[1]) if each else [slice(None)]:
            other = x.clone()
            other[s, i] += step
            moved.append((f(other) - before).abs().amax(1))
        columns.append(torch.stack(moved).amax(0))
    table = torch.stack(columns, 1)
    return [table, table / step]
