"""Your turn with costs: FLOPs of a layer and of a training, the best size, weights in few bits."""

import numpy as np
import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook18")
COUNT = see(18, "Recurrence against attention")
RATE = see(18, "Six operations for each parameter and token")
BUDGET = see(18, "Where should the compute go?")
CODES = see(18, "Weights in eight and in four bits")


def layers_to_count(draw):
    for kind, T, d in (("elman", 3, 2), ("lstm", 3, 2), ("attention", 5, 3), ("attention", 100, 8)):
        rule = f"{kind} by hand" if T < 6 else "any length and width"
        yield Case(rule, kind, T, d, given=f"{kind}, T = {T}, d = {d}")
    for kind in ("elman", "lstm", "attention"):
        T, d = draw.integer(2, 900), draw.integer(2, 300)
        yield Case("any length and width", kind, T, d, given=f"{kind}, T = {T}, d = {d}")


@turn(
    turns,
    f"Count the products of matrices: an m x n times an n x p takes 2 m n p. {COUNT}",
    cases=layers_to_count,
    slips="""
    "lstm": 8 => "lstm": 4
        Gates and candidate have two matrices each, one for x and one for h.
    2 * matrices => matrices
        An Elman layer has two matrices, and a multiplication and an addition count as two
        operations.
    + 4 * T**2 * d =>
        The scores and the sums over the values are missing: T queries meet T keys.
    4 * T**2 * d => 2 * T**2 * d
        Both count: the scores, and the sums over the values.
    4 * T**2 * d => 2 * T * (T + 1) * d
        We count the whole table, also where a mask hides half of it: T queries times T keys.
    8 * T * d**2 + 4 * T**2 * d => 8 * d**2 + 4 * T * d ;; 2 * matrices * T => 2 * matrices
        That is for one token; the text has T of them.
    "lstm": 8 => "lstm": 2
        An LSTM has three gates and a candidate, with two matrices each.
    """,
)
def layer_flops(kind, T, d):
    """FLOPs of an "elman", "lstm" or "attention" layer of width d, for a text of T tokens."""
    if kind == "attention":
        return 8 * T * d**2 + 4 * T**2 * d
    matrices = {"elman": 2, "lstm": 8}[kind]
    return 2 * matrices * T * d**2


def trainings(draw):
    for n, w, v, tokens in ((1, 2, 3, 1), (4, 128, 256, 256)):
        given = f"layers = {n}, width = {w}, vocabulary = {v}, tokens = {tokens}"
        yield Case("by hand" if tokens == 1 else "the small GPT", n, w, v, tokens, given=given)
    yield Case("any GPT", draw.integer(2, 9), 8 * draw.integer(2, 9), draw.integer(50, 900), 1000)


@turn(
    turns,
    "Weights that are multiplied: 12 width^2 in each block, and the output matrix. Each takes "
    f"two operations forward and four backward, for each token. {RATE}",
    cases=trainings,
    slips="""
    6 * weights => 2 * weights
        Two operations are those of the forward pass; the backward pass takes four more.
    6 * weights => 3 * weights
        A multiplication and an addition count as two operations.
    6 * weights => weights
        These are the weights: each takes part in six operations for a token.
    + vocabulary * width =>
        The output matrix is missing: vocabulary times width.
    + vocabulary * width => + 2 * vocabulary * width
        The input embedding does not count: a row of it is looked up, and nothing is multiplied.
    12 * width**2 => 4 * width**2
        The feed-forward part is missing: 8 width^2 in each block.
    12 * width**2 => 8 * width**2
        Attention's four matrices are missing, or the feed-forward part has only one of its two.
    layers * 12 => 12
        There are as many blocks as layers: this counts one.
    6 * weights * tokens => 6 * weights
        That is for one token: multiply by the number of tokens.
    """,
)
def training_flops(layers, width, vocabulary, tokens):
    """FLOPs of training a GPT on so many tokens, forward and backward, by its matrices alone."""
    weights = layers * 12 * width**2 + vocabulary * width
    return 6 * weights * tokens


def valleys(draw):
    sizes = np.array([1.0, 10.0, 100.0])
    yield Case(
        "by hand", sizes, np.array([2.0, 1.0, 2.0]), given="sizes 1, 10, 100, losses 2, 1, 2"
    )
    for lowest in (30.0, 7.0 * draw.integer(4, 25)):
        sizes = 10.0 * 2.0 ** np.arange(6)
        losses = 1 + 0.1 * np.log(sizes / lowest) ** 2
        yield Case("the bottom between two sizes", sizes, losses, given="losses on a parabola")
    noise = 0.03 * draw.normal(6).numpy()
    yield Case("points beside a parabola", sizes, losses + noise, given="losses beside a parabola")


@turn(
    turns,
    "Fit a parabola to the losses over the *logarithm* of the sizes: a, b, c = np.polyfit(u, "
    f"losses, 2). Its lowest point is at u = -b / (2 a), and the size is np.exp of it. {BUDGET}",
    cases=valleys,
    tolerance=1e-4,  # a fine grid on the parabola is right, too
    slips="""
    return sizes[np.argmin(losses)]
        That is the best of the sizes that were tried: the bottom of the valley may lie between
        two of them.
    np.log(sizes) => sizes ;; np.exp(-b / (2 * a)) => -b / (2 * a)
        The axis of the sizes is logarithmic: fit over np.log(sizes).
    np.exp(-b / (2 * a)) => -b / (2 * a)
        That is the logarithm of the size: take np.exp.
    -b / (2 * a) => b / (2 * a)
        The derivative 2 a u + b is zero at u = *minus* b / (2 a).
    -b / (2 * a) => -b / 2 * a
        Divide by 2 a as a whole: -b / 2 * a is half of b, times a.
    a, b, _ => a, b, c ;; np.exp(-b / (2 * a)) => c - b**2 / (4 * a)
        That is the lowest loss; the size at which it is reached is asked for.
    """,
)
def best_size(sizes, losses):
    """The size at the bottom of a parabola through the losses, over the logarithm of the size."""
    a, b, _ = np.polyfit(np.log(sizes), losses, 2)
    return np.exp(-b / (2 * a))


def matrices(draw):
    W = torch.tensor([[0.70, -0.32, 0.13, 0.04], [-0.35, 0.06, 0.0, 0.21]], dtype=torch.float64)
    given = "W = [[0.70, -0.32, 0.13, 0.04], [-0.35, 0.06, 0, 0.21]], 4 bits"
    yield Case("by hand", W, 4, given=given)
    for bits in (8, 3):
        W = draw.normal(3, 5)
        W[0] = -W[0].abs()
        yield Case(f"a random matrix in {bits} bits", W, bits, given=f"random, {bits} bits")


@turn(
    turns,
    "The scale of a row is its largest absolute value divided by the largest code, and a code is "
    f"the weight divided by the scale, rounded, in torch.int8. {CODES}",
    cases=matrices,
    slips="""
    W.abs().amax(dim=1, keepdim=True) => W.abs().max().expand(len(W), 1)
        Every row has a scale of its own: this is one scale for the whole matrix.
    dim=1 => dim=0
        That is a scale for each column: a row of W is gone through along dim=1.
    W.abs().amax => W.amax
        The largest *absolute* value counts: a negative weight may be the largest.
    2 ** (bits - 1) - 1 => 2 ** (bits - 1)
        The largest code is 2^(bits - 1) - 1, which is 7 for four bits: 8 has no code.
    / highest => / 7
        7 is the largest code of four bits; with other numbers of bits it is 2^(bits - 1) - 1.
    2 ** (bits - 1) - 1 => 2**bits - 1
        One of the bits is the sign: the largest code is 2^(bits - 1) - 1.
    .round() => .trunc()
        Round to the nearest whole number; this cuts off the rest.
    .to(torch.int8) =>
        Codes are torch.int8.
    torch.int8), scales => torch.int8), scales[:, 0]
        Scales have the shape (O, 1).
    (W / scales).round().to(torch.int8), scales => scales, (W / scales).round().to(torch.int8)
        The codes come first.
    .to(torch.int8), scales => * scales, scales
        These are the weights again; the codes are asked for, as whole numbers.
    """,
)
def quantize_rows(W, bits):
    """W (O, I) -> codes (O, I) in torch.int8, scales (O, 1)."""
    highest = 2 ** (bits - 1) - 1
    scales = W.abs().amax(dim=1, keepdim=True) / highest
    return (W / scales).round().to(torch.int8), scales
