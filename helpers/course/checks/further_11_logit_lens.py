"""Your turn with a residual stream: reading it as if the model were finished."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_11_logit_lens")


def streams(draw):
    for T, D, V in ((1, 3, 4), (5, 4, 7)):
        W, g = draw.normal(D, V), draw.normal(D)

        def norm(x, g=g):
            return x / x.square().mean(-1, keepdim=True).sqrt() * g

        def output(x, W=W):
            return x @ W

        given = f"x ({T}, {D}), an RMSNorm, an output matrix to V = {V}"
        yield Case("any stream", 3 * draw.normal(T, D), norm, output, given=given)


@turn(
    turns,
    "What does the model do after its last block? First the norm, then the output, then a softmax "
    "over the tokens, the last dimension.",
    cases=streams,
    slips="""
    output(norm(x)) => output(x)
        The last norm is left out: the output matrix was trained for normalized vectors.
    .softmax(-1) =>
        These are logits; a softmax makes probabilities of them.
    .softmax(-1) => .log_softmax(-1)
        These are log-probabilities.
    .softmax(-1) => .softmax(0)
        The softmax goes over the tokens, the last dimension, at each position by itself.
    """,
)
def logit_lens(x, norm, output):
    """x (T, D), a state of the stream -> probabilities (T, V) of the next token."""
    return output(norm(x)).softmax(-1)
