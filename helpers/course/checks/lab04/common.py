"""What the checks of lab 04 share: the lab, gradients, the number of operations, hints that recur.

Shape letters: B texts, T queries, S keys, K width of a head. A mask has one meaning: True = may
attend. Checks compute in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.course.checks.watching import Operations

lab = Lab("lab04")

KERNELS = ("scaled_dot_product_attention", "MultiheadAttention", "multi_head_attention_forward")
SCALE = "Scores are divided by the square root of K, the length of one query. "
SCALE += see(9, "Why divide by √d_k")
MEANING = "A mask has one meaning here: True = may attend. "
MEANING += see(9, "The future is not to be looked at")
ERRORS = {
    "values to unpack": "There may be any number of dimensions in front of the last two: count "
    "sizes from the end, such as x.shape[-2:].",
    "shape of the mask": "Indexing by a mask does not broadcast it to the scores; masked_fill and "
    "torch.where do.",
    "only one element": "The functions of math take one number; those of torch take a whole "
    "tensor.",
    "return_types.max": "max along a dimension hands back two things, .values and .indices; amax "
    "the first alone.",
    "in-place": "x -= ... and x[i] = ... change a tensor that the gradient still needs: make a "
    "new one.",
    "NoneType": "Something is None here: it was not given, or the function that made it ends "
    "without return.",
}
LARGER = 20  # the size of all dimensions of the larger input of ``without_loops``


CUT = "Something cuts the graph: a new tensor made of numbers, .item(), .data or detach()."


def gradients(output: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """The gradients of an output, each number times another factor and added up.

    Raises:
        Complaint: it has no graph.
    """
    if not output.requires_grad:
        raise Complaint("there are gradients", CUT)
    factors = torch.linspace(0.5, 1.5, output.numel(), dtype=output.dtype).cos()
    summed = (output * factors.view_as(output)).sum()
    return list(torch.autograd.grad(summed, inputs, materialize_grads=True))


def with_gradient(answer: Callable, x: Tensor, *others: Tensor) -> dict[str, object]:
    """What comes back for x, and its gradient by x."""
    x = x.clone().requires_grad_()
    weights = answer(x, *others)
    if weights is None:
        raise Complaint("the weights come back", NOTHING)
    fits = isinstance(weights, Tensor) and weights.shape == x.shape
    return {"weights": weights, "gradient": gradients(weights, [x])[0] if fits else None}


def without_loops(trial: Trial, make: Callable[[int], tuple], also: str = "") -> None:
    """The number of PyTorch's operations does not grow with the sizes of the input.

    Args:
        make: the arguments for an input whose dimensions all have this size.
        also: what else the hint should say.
    """
    counted, given = [], f"all dimensions are 2, and all are {LARGER}: operations of PyTorch"
    for size in (2, LARGER):
        arguments = make(size)
        with Operations() as operations:
            trial.run(trial.answer, *arguments, given=given)
        counted.append(len(operations.results))
    hint = (
        "A loop does one piece after the other, and each takes as long as all together: write it "
        f"for the whole tensor at once. {also}".rstrip()
    )
    few, many = counted
    rule, expected = "it is written without a loop", "as many for both"
    got = f"{few} and {many}"
    trial.holds(many < few + LARGER // 2, rule, hint, given=given, got=got, expected=expected)
