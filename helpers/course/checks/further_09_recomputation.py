"""Your turn with memory: a backward pass that computes its forward pass once more."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn
from helpers.models.blockwise_attention import plain_attend

turns = Lab("further_09_recomputation")


def given_gradients(draw):
    for T, S, B in ((4, 4, 2), (5, 3, 2), (7, 7, 10)):
        Q, K, V = draw.normal(T, 3), draw.normal(S, 3), draw.normal(S, 2)
        rule = "blocks that fit" if T == 4 else "a last block that is shorter"
        given = f"random Q {tuple(Q.shape)}, K {tuple(K.shape)}, V {tuple(V.shape)}, B = {B}"
        yield Case(rule, plain_attend, Q, K, V, B, draw.normal(T, 2), given=given)


def inside_a_backward_pass(answer, *given):
    """PyTorch records nothing there unless it is asked to."""
    with torch.no_grad():
        return answer(*given)


def in_blocks(trial):
    """No more than B rows go through attend at a time."""
    rows = []

    def attend(Q, K, V):
        rows.append(len(Q))
        return plain_attend(Q, K, V)

    Q, K, V, gradient = (trial.normal(7, size) for size in (3, 3, 2, 2))
    given = "random Q, K and V of 7 rows, B = 2"
    trial.run(inside_a_backward_pass, trial.answer, attend, Q, K, V, 2, gradient, given=given)
    trial.holds(
        max(rows, default=0) <= 2,
        "at most B rows at a time",
        "The gradients are right, but this makes the whole table again: only B rows of Q at a time "
        "may go through attend.",
        given=given,
        got=f"attend gets {max(rows, default=0)} rows at once",
    )


@turn(
    turns,
    "Make Q, K and V leaves with .detach().requires_grad_(); then, for each block of rows of Q, "
    "compute o once more under torch.enable_grad(), and call o.backward with these rows of the "
    "gradient. The three .grad add up by themselves.",
    cases=given_gradients,
    call=inside_a_backward_pass,
    also=in_blocks,
    errors={
        "does not require grad": "Nothing was recorded. Q, K and V must be leaves, made by "
        ".detach().requires_grad_(), and all that leads to .backward belongs under "
        "torch.enable_grad(): attend, and a product with the gradient and its sum, too."
    },
    slips="""
    o.backward(gradient[rows]) => o.backward(torch.ones_like(o))
        The gradient that arrives from the layers above is missing: o.backward(gradient[rows]).
    range(0, len(Q), B) => range(0, len(Q) - B + 1, B)
        The last block may be shorter than B: its rows count, too.
    return Q.grad, K.grad, V.grad => return K.grad, V.grad, Q.grad
        The order is that of the arguments: Q, K, V.
    """,
)
def gradients_again(attend, Q, K, V, B, gradient):
    """Gradients of Q, K and V, given that of o = attend(Q, K, V); at most B rows of o at a time."""
    Q, K, V = (x.detach().requires_grad_() for x in (Q, K, V))
    for first in range(0, len(Q), B):
        rows = slice(first, first + B)
        with torch.enable_grad():
            o = attend(Q[rows], K, V)
        o.backward(gradient[rows])
    return Q.grad, K.grad, V.grad
