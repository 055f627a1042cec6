"""What the checks of lab 04 share: the lab, how an answer is asked, and the hints that recur.

Shape letters: B batch, T queries, S keys, K width of a head. A mask has one meaning: True = may
attend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.comparing import Slips
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.watching import Operations

lab = Lab("lab04")

KERNELS = ("scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward")
SINGLE = "The numbers came in double precision: give a tensor that you make the dtype of the input."
SCALE = "Scores are divided by the square root of K, the length of one query. "
SCALE += see(9, "Why divide by √d_k")
FUTURE = see(9, "The future is not to be looked at")
MEANING = f"A mask has one meaning here: True = may attend. {FUTURE}"
NAME = "A name has no value here. How is it written in the function's first line, or where it was "
NAME += "made or imported?"
ONE = "The functions of math take one number; those of torch take a whole tensor."
NONE = "Something is None here: it was not given, or the function that made it ends without return."
FRONT = "There may be any number of dimensions in front of the last two: count sizes from the end, "
FRONT += "such as x.shape[-2:]."
MASKS = "Indexing by a mask does not broadcast it to the scores; masked_fill and torch.where do."
LARGER = 20  # the size of all dimensions of the larger input of ``without_loops``
KIND = "A value is of another kind than this operation takes, or a function gets too many "
KIND += "arguments or too few."


def ask(trial: Trial, *arguments: Any, function: Callable | None = None, **named: Any) -> Any:
    """As ``trial.call``, or ``trial.run`` of a function, with a hint that may be about shapes.

    An error of another kind, such as an unknown name, gets its own hint instead.
    """
    try:
        return trial.run(function or trial.answer, *arguments, **named)
    except Complaint as wrong:
        wrong.hint = _hint_of_error(wrong.__cause__, wrong.got) or wrong.hint
        raise


def _hint_of_error(error: BaseException | None, where: str) -> str:
    words = str(error)
    if "values to unpack" in words and ("shape" in where or "size()" in where):
        return FRONT
    if "shape of the mask" in words:
        return MASKS
    if "only one element" in words or "converted to Scalar" in words:
        return ONE
    if "NoneType" in words:
        return NONE
    if isinstance(error, NameError) or "has no attribute" in words:
        return NAME
    return KIND if isinstance(error, TypeError) else ""


def in_double(expected: Tensor, slips: Slips = ()) -> Slips:
    """Slips in float64, and that of an answer which computes in single precision."""
    return [*slips, (expected.float(), SINGLE)]


PAIR = "Hand back two things, first the output and then the weights: return output, weights."


def output_and_weights(
    trial: Trial, got: Any, output: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """The output and the weights that an answer returned, if it is these two."""
    fine = isinstance(got, tuple | list) and len(got) == 2
    trial.holds(fine, "output and weights come back, in this order", PAIR, got=got)
    if output.shape != weights.shape:
        turned = [getattr(x, "shape", None) for x in got] == [weights.shape, output.shape]
        trial.holds(not turned, "output and weights come back, in this order", PAIR)
    return got[0], got[1]


def without_loops(trial: Trial, make: Callable[[int], tuple], also: str = "") -> None:
    """The number of PyTorch's operations does not grow with the sizes of the input.

    Args:
        make: the arguments for an input whose dimensions all have this size.
        also: what else the hint should say.
    """
    counted, given = [], f"all dimensions are 2, and all are {LARGER}: operations of PyTorch"
    for size in (2, LARGER):
        arguments = make(size)
        trial.run(trial.answer, *arguments, given=given)  # it may keep a table for later calls
        with Operations() as operations:
            trial.run(trial.answer, *arguments, given=given)
        counted.append(len(operations.results))
    hint = (
        "A loop does one piece after the other, and each takes as long as all together: write it "
    )
    hint += f"for the whole tensor at once. {also}".rstrip()
    few, many = counted
    rule, expected = "it is written without a loop", "as many for both"
    got = f"{few} and {many}"
    trial.holds(many < few + LARGER // 2, rule, hint, given=given, got=got, expected=expected)


def gradients_of(
    trial: Trial, output: Tensor, inputs: list[Tensor], names: str, given: str
) -> tuple[Tensor, ...]:
    """The gradients of an answer's output, added up; complains where there is none."""
    rule = f"gradients reach {names}"
    cut = "Something cuts the graph: a new tensor made of numbers, .item(), .data or detach()."
    trial.holds(output.requires_grad, rule, cut, given=given)
    found = trial.run(
        lambda: torch.autograd.grad(output.sum(), inputs, allow_unused=True),
        given=given,
        hint="An operation in place (x[i] = ..., x += ...) destroys what the gradient needs.",
    )
    trial.holds(all(x is not None for x in found), rule, cut, given=given)
    return found
