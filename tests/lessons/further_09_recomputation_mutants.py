"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant("gradients_again", "not recorded", "torch.enable_grad()", "torch.no_grad()", "enable"),
    Mutant("gradients_again", "no leaves", ".requires_grad_()", "", "leaves"),
    Mutant(
        "gradients_again",
        "a sum outside",
        "o.backward(gradient[rows])",
        "(o * gradient[rows]).sum().backward()",
        "a product with the gradient",
    ),
    Mutant(
        "gradients_again",
        "all rows",
        "range(0, len(Q), B):\n        rows = slice(first, first + B)",
        "[0]:\n        rows = slice(None)",
        "whole table again",
    ),
]

REWRITES = [
    Rewrite(
        "gradients_again",
        "all at once",
        """
def gradients_again(attend, Q, K, V, B, gradient):
    given = [x.detach().requires_grad_() for x in (Q, K, V)]
    with torch.enable_grad():
        o = torch.cat([attend(rows, *given[1:]) for rows in given[0].split(B)])
        return torch.autograd.grad(o, given, gradient)
""",
    ),
]
