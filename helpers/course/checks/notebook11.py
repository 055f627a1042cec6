"""Your turn with a transformer block: its stream, its norms, its layers, its costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook11")
Slip = tuple[Callable, str]
Map = Callable[[Tensor], Tensor]
RESIDUAL = see(11, "Residual connections: add, do not replace")
STREAM = see(11, "The residual stream of one word")
NORM = see(11, "Norms: one vector at a time")
ORDER = see(11, "Before or after the addition")
GATED = see(11, "The feed-forward layer")
COST = see(11, "What a block costs")
GROUPS = see(11, "Grouped-query attention")


def _residual_stream(x: Tensor, layers: Sequence[Map], scale: float) -> list[Tensor]:
    states = [x]
    for layer in layers:
        states.append(states[-1] + scale * layer(states[-1]))
    return states


def _stream(
    x: Tensor, layers: Sequence[Map], scale: float, *, old: float = 1.0, first: bool = False
) -> list[Tensor]:
    """What ``residual_stream`` gives, or would give with a slip."""
    states = [x]
    for layer in layers:
        read = x if first else states[-1]
        states.append(old * states[-1] + scale * layer(read))
    return states


@turns.task(_residual_stream)
def residual_stream(trial: Trial) -> None:
    hint = (
        "Begin with the list [x]; each layer reads the last state, and the next state is that one "
        f"plus scale times what the layer gives. {RESIDUAL}"
    )
    slips: list[Slip] = [
        (partial(_stream, old=0), "Nothing is added to anything here: the old state is missing."),
        (partial(_stream, first=True), "Each layer reads the last state, not the first."),
        (
            lambda x, layers, scale: _stream(x, layers, 1.0),
            "What the layers add is multiplied by scale first.",
        ),
        (
            lambda x, layers, scale: _stream(x, layers, scale, old=scale),
            "The old state stays as it is: only what the layer adds is multiplied by scale.",
        ),
        (
            lambda x, layers, scale: _residual_stream(x, layers, scale)[1:],
            "The list begins with x itself: L layers, L + 1 states.",
        ),
        (
            lambda x, layers, scale: _residual_stream(x, layers, scale)[:-1],
            "The state after the last layer is missing: L layers, L + 1 states.",
        ),
        (
            lambda x, layers, scale: _residual_stream(x, layers, scale)[-1],
            "That is the last state alone; the list of all of them is asked for.",
        ),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    double = [lambda x: 2 * x, lambda x: x * x]
    start = torch.tensor([1.0, -1.0]).double()
    trial.agrees(
        _residual_stream, start, double, 0.5, rule="by hand",
        given="x = [1, -1], the layers 2x and x², scale 0.5: [1, -1], [2, -2], [4, 0]", **look,
    )  # fmt: skip
    for _ in range(3):
        matrices = [trial.normal(4, 4) for _ in range(trial.integer(2, 5))]
        layers = [lambda x, W=W: (x @ W).tanh() for W in matrices]
        trial.agrees(
            _residual_stream, trial.normal(3, 4), layers, 0.3, rule="any layers",
            given=f"{len(layers)} layers tanh(xW), x (3, 4), scale 0.3", **look,
        )  # fmt: skip


def _logit_lens(x: Tensor, norm: Map, output: Map) -> Tensor:
    return output(norm(x)).softmax(-1)


@turns.task(_logit_lens)
def logit_lens(trial: Trial) -> None:
    hint = (
        "What the model does after its last block: the norm, then the output, then a softmax over "
        f"the tokens, the last dimension. {STREAM}"
    )
    slips: list[Slip] = [
        (lambda x, norm, output: output(x).softmax(-1), "The last norm is left out."),
        (
            lambda x, norm, output: output(norm(x)),
            "These are logits; probabilities are asked for.",
        ),
        (
            lambda x, norm, output: output(norm(x)).softmax(-2),
            "The probabilities of all tokens at one position sum to 1: softmax over the last "
            "dimension.",
        ),
        (
            lambda x, norm, output: output(norm(x)).log_softmax(-1),
            "These are log-probabilities; probabilities are asked for.",
        ),
        (
            lambda x, norm, output: output(norm(x))[-1].softmax(-1),
            "That is the last position alone; all positions are asked for.",
        ),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    for size in (1.0, 3.0):
        norm, matrix = nn.RMSNorm(6).double(), trial.normal(11, 6)
        with torch.no_grad():
            norm.weight.copy_(trial.normal(6))
        output = partial(F.linear, weight=matrix)
        trial.agrees(
            _logit_lens, size * trial.normal(4, 6), norm, output, rule="any state",
            given="x (4, 6), an RMSNorm, an output with 11 tokens", **look,
        )  # fmt: skip


def _layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    E = x.mean(-1, keepdim=True)
    V = ((x - E) ** 2).mean(-1, keepdim=True)
    return (x - E) / (V + eps).sqrt() * gamma + beta


def _centred(x: Tensor, dim: int | tuple[int, ...] = -1) -> tuple[Tensor, Tensor]:
    away = x - x.mean(dim, keepdim=True)
    return away, (away**2).mean(dim, keepdim=True)


def _root_mean_square(x: Tensor, eps: float) -> Tensor:
    return ((x**2).mean(-1, keepdim=True) + eps).sqrt()


@turns.task(_layer_norm, without=("layer_norm", "LayerNorm", "native_layer_norm"))
def layernorm(trial: Trial) -> None:
    hint = (
        "E and V are means over the last dimension, with keepdim=True so that the shapes fit; V is "
        f"the mean of the squared distances from E, without a correction. {NORM}"
    )

    def over(dim: int | tuple[int, ...]) -> Callable:
        def wrong(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
            away, V = _centred(x, dim)
            return away / (V + eps).sqrt() * gamma + beta

        return wrong

    slips: list[Slip] = [
        (
            lambda x, g, b, eps: _centred(x)[0] / (x.var(-1, keepdim=True) + eps).sqrt() * g + b,
            "torch.var divides by d - 1; V is the plain mean of the squares: unbiased=False, or "
            "take the mean yourself.",
        ),
        (
            lambda x, g, b, eps: (
                _centred(x)[0] / (x.std(-1, unbiased=False, keepdim=True) + eps) * g + b
            ),
            "ε is added to V before the root, not to the root.",
        ),
        (
            lambda x, g, b, eps: (
                x / (_centred(x)[1] + eps).sqrt() * g + b
            ),
            "The mean has not been subtracted above the line.",
        ),
        (
            lambda x, g, b, eps: _centred(x)[0] / (_centred(x)[1] + eps) * g + b,
            "You divide by the variance: take its root.",
        ),
        (
            lambda x, g, b, eps: _centred(x)[0] / _root_mean_square(x, eps) * g + b,
            "V is the mean of the squared distances from E, not of the squares of x itself.",
        ),
        (
            lambda x, g, b, eps: (
                _centred(x)[0] / (_centred(x)[0].abs().mean(-1, keepdim=True) + eps) * g + b
            ),
            "V is a mean of squares, not of absolute distances; take the root at the end.",
        ),
        (lambda x, g, b, eps: _layer_norm(x, g, 0 * b, eps), "β is missing."),
        (lambda x, g, b, eps: _layer_norm(x, torch.ones_like(g), b, eps), "γ is missing."),
        (
            lambda x, g, b, eps: _layer_norm(x, torch.ones_like(g), 0 * b, eps),
            "γ and β are missing.",
        ),
        (
            lambda x, g, b, eps: (_layer_norm(x, torch.ones_like(g), 0 * b, eps) + b) * g,
            "First times γ, then plus β.",
        ),
        (over(-2), "These are means over the positions; the mean is over k, the last dimension."),
        (over(0), "These are means over the texts; each vector is normalized by itself, over k."),
        (over((-2, -1)), "One mean for a whole text: each position has an E and a V of its own."),
    ]  # fmt: skip
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    # Two rows, so that a mean over the positions is no division by zero; in the first, E = 4, V = 9
    # and the mean distances are all different numbers.
    hand = torch.tensor([[1.0, 3.0, 3.0, 9.0], [0.0, 0.0, 4.0, 4.0]]).double()
    gamma, beta = torch.tensor([1.0, 1.0, 1.0, 2.0]).double(), torch.tensor([0.0, 0, 0, 1]).double()
    trial.agrees(_layer_norm, hand, gamma, beta, 0.0, rule="by hand", **look)
    for _ in range(3):
        d = trial.integer(3, 7)
        arguments = 2 * trial.normal(3, 4, d) + 1, trial.normal(d), trial.normal(d), 0.1
        trial.agrees(_layer_norm, *arguments, rule="any batch", **look)


def _rms_norm(x: Tensor, g: Tensor, eps: float) -> Tensor:
    return x / _root_mean_square(x, eps) * g


@turns.task(_rms_norm, without=("rms_norm", "RMSNorm"))
def rmsnorm(trial: Trial) -> None:
    hint = (
        "Square, take the mean over the last dimension with keepdim=True, add ε, take the root, "
        f"divide, multiply by g. {NORM}"
    )
    ones = torch.ones_like
    slips: list[Slip] = [
        (
            lambda x, g, eps: _layer_norm(x, g, 0 * g, eps),
            "The mean stays where it is: RMSNorm subtracts nothing.",
        ),
        (
            lambda x, g, eps: x / ((x**2).sum(-1, keepdim=True) + eps).sqrt() * g,
            "That is the length of the vector: the mean of the squares is asked for.",
        ),
        (
            lambda x, g, eps: x / ((x**2).mean(-1, keepdim=True) + eps) * g,
            "The root is missing: root of the mean of the squares.",
        ),
        (lambda x, g, eps: _rms_norm(x, ones(g), eps), "The gain g is missing."),
        (
            lambda x, g, eps: x / ((x**2).mean(-1, keepdim=True).sqrt() + eps) * g,
            "ε is added before the root, not after it.",
        ),
        (
            lambda x, g, eps: x / (x.abs().mean(-1, keepdim=True) + eps) * g,
            "That is the mean of the absolute values; square first, and take the root at the end.",
        ),
        (
            lambda x, g, eps: x / ((x**2).mean() + eps).sqrt() * g,
            "One mean for all: each vector is normalized by itself.",
        ),
        (
            lambda x, g, eps: x / ((x**2).mean(-2, keepdim=True) + eps).sqrt() * g,
            "These are means over the positions; the mean is over the last dimension.",
        ),
        (lambda x, g, eps: _rms_norm(x, g, 0.0), "ε is missing: a vector of zeros gives 0/0."),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    hand = torch.tensor([[1.0, 7.0]]).double()
    trial.agrees(_rms_norm, hand, torch.ones(2).double(), 0.0, rule="by hand", **look)
    for _ in range(3):
        d = trial.integer(3, 7)
        arguments = 2 * trial.normal(3, 4, d) + 1, trial.normal(d), 0.1
        trial.agrees(_rms_norm, *arguments, rule="any batch", **look)


def _pre_norm_block(
    x: Tensor, norm_1: Map, attention: Map, norm_2: Map, feed_forward: Map
) -> Tensor:
    x = x + attention(norm_1(x))
    return x + feed_forward(norm_2(x))


@turns.task(_pre_norm_block)
def pre_norm_block(trial: Trial) -> None:
    hint = (
        f"Two lines of the form x = x + part(norm(x)); the second reads the x of the first. {ORDER}"
    )

    def parallel(x: Tensor, n: Map, a: Map, m: Map, f: Map) -> Tensor:
        return x + a(n(x)) + f(m(x))

    def one_skip(x: Tensor, n: Map, a: Map, m: Map, f: Map) -> Tensor:
        return x + f(m(a(n(x))))

    def skips_the_norm(first: bool, second: bool) -> Callable:
        def wrong(x: Tensor, n: Map, a: Map, m: Map, f: Map) -> Tensor:
            x = (n(x) if first else x) + a(n(x))
            return (m(x) if second else x) + f(m(x))

        return wrong

    to_the_norm = "What a part gives is added to the stream itself, not to its norm"

    slips: list[Slip] = [
        (
            lambda x, n, a, m, f: m(n(x + a(x)) + f(n(x + a(x)))),
            "These are the norms of post-norm, on the stream; here they stand on the branches.",
        ),
        (parallel, "The feed-forward layer reads the stream after attention has added to it."),
        (lambda x, n, a, m, f: f(m(a(n(x)))), "Nothing is added to anything here."),
        (one_skip, "Each of the two parts has a residual connection of its own."),
        (skips_the_norm(True, True), f"{to_the_norm}."),
        (skips_the_norm(True, False), f"{to_the_norm}: look at the first addition."),
        (skips_the_norm(False, True), f"{to_the_norm}: look at the second addition."),
        (
            lambda x, n, a, m, f: _pre_norm_block(x, m, a, n, f),
            "norm_1 belongs to attention, norm_2 to the feed-forward layer.",
        ),
        (
            lambda x, n, a, m, f: _pre_norm_block(x, n, f, m, a),
            "Attention comes first, then the feed-forward layer.",
        ),
        (
            lambda x, n, a, m, f: _pre_norm_block(x, lambda y: y, a, lambda y: y, f),
            "No part reads a norm here.",
        ),
        (
            lambda x, n, a, m, f: x + n(a(x)) + m(f(x + n(a(x)))),
            "The norm stands before the part, not behind it.",
        ),
        (
            lambda x, n, a, m, f: _pre_norm_block(x, n, a, n, f),
            "The second part has a norm of its own, norm_2.",
        ),
        (
            lambda x, n, a, m, f: x + f(m(x + a(n(x)))),
            "The last sum forgets what attention has added: x must be the new one.",
        ),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    hand = (torch.tensor([1.0]).double(), lambda x: 3 * x, lambda x: x + 1, lambda x: x - 3)
    trial.agrees(
        _pre_norm_block, *hand, lambda x: 10 * x, rule="by hand",
        given="x = 1, norms 3x and x - 3, attention x + 1, feed-forward 10x: first 5, then 25",
        **look,
    )  # fmt: skip
    for _ in range(3):
        norms = [nn.LayerNorm(6).double() for _ in range(2)]
        with torch.no_grad():
            for norm in norms:
                norm.weight.copy_(trial.normal(6))
                norm.bias.copy_(trial.normal(6))
        A, W = trial.normal(4, 4).softmax(-1), trial.normal(6, 6)
        parts = norms[0], lambda x, A=A: A @ x, norms[1], lambda x, W=W: (x @ W).relu()
        trial.agrees(
            _pre_norm_block, trial.normal(2, 4, 6), *parts, rule="any parts",
            given="x (2, 4, 6), two LayerNorms, a fixed average, a layer relu(xW)", **look,
        )  # fmt: skip


def _swiglu(x: Tensor, W: Tensor, V: Tensor, W_2: Tensor) -> Tensor:
    return (F.silu(x @ W) * (x @ V)) @ W_2


@turns.task(_swiglu)
def swiglu(trial: Trial) -> None:
    hint = f"Two products of x, one of them through F.silu; multiply, then times W_2. {GATED}"
    slips: list[Slip] = [
        (
            lambda x, W, V, W_2: _swiglu(x, V, W, W_2),
            "SiLU is applied to xW, the gate; xV stays linear.",
        ),
        (
            lambda x, W, V, W_2: (torch.sigmoid(x @ W) * (x @ V)) @ W_2,
            "A sigmoid makes a GLU of it: SiLU(z) is z times the sigmoid of z.",
        ),
        (
            lambda x, W, V, W_2: (F.gelu(x @ W) * (x @ V)) @ W_2,
            "That is GEGLU: the gate here is SiLU.",
        ),
        (
            lambda x, W, V, W_2: (F.relu(x @ W) * (x @ V)) @ W_2,
            "That is ReGLU: the gate here is SiLU.",
        ),
        (
            lambda x, W, V, W_2: (F.silu(x @ W) + (x @ V)) @ W_2,
            "The two are multiplied number by number, not added.",
        ),
        (
            lambda x, W, V, W_2: (F.silu(x @ W) * F.silu(x @ V)) @ W_2,
            "Only the gate goes through SiLU; xV stays linear.",
        ),
        (
            lambda x, W, V, W_2: F.silu((x @ W) * (x @ V)) @ W_2,
            "SiLU is applied to xW before the product, not to the product.",
        ),
        (lambda x, W, V, W_2: F.silu(x @ W) @ W_2, "V is left out: nothing is gated."),
        (lambda x, W, V, W_2: F.silu(x @ W) * (x @ V), "W_2 is missing: back to width D."),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    for _ in range(3):
        D, hidden = trial.integer(2, 5), trial.integer(6, 9)
        arguments = (
            trial.normal(2, 3, D), trial.normal(D, hidden), trial.normal(D, hidden),
            trial.normal(hidden, D),
        )  # fmt: skip
        trial.agrees(_swiglu, *arguments, rule="any matrices", **look)


def _block_costs(D: int, T: int) -> tuple[int, int]:
    return 12 * D * D + 9 * D, 24 * T * D * D + 4 * T * T * D


@turns.task(_block_costs)
def block_costs(trial: Trial) -> None:
    hint = (
        "Parameters: four matrices D x D; D x 4D with 4D biases and 4D x D with D biases; two "
        "norms of 2D each. FLOPs: 2 for each parameter of a matrix and each position, and twice "
        f"2 T² D for scores and sums. {COST}"
    )

    def both(parameters: Callable[[int], int], flops: Callable[[int, int], int]) -> Callable:
        return lambda D, T: (parameters(D), flops(D, T))

    def P(D: int) -> int:
        return _block_costs(D, 1)[0]

    def C(D: int, T: int) -> int:
        return _block_costs(D, T)[1]

    slips: list[Slip] = [
        (
            both(lambda D: 12 * D * D, C),
            "Biases and norms are missing: 5 D of the two biases, 4 D of the two norms.",
        ),
        (both(lambda D: 12 * D * D + 4 * D, C), "The biases of the feed-forward layer: 4 D + D."),
        (both(lambda D: 12 * D * D + 5 * D, C), "The two norms: each has a gain and a bias."),
        (
            both(lambda D: 12 * D * D + 7 * D, C),
            "Each of the two norms has a gain *and* a bias, 2 D.",
        ),
        (
            both(lambda D: 12 * D * D + 13 * D, C),
            "The four matrices of attention have no biases here.",
        ),
        (
            both(lambda D: P(D) - D * D, C),
            "Attention has four matrices: queries, keys, values, and the output.",
        ),
        (
            both(P, lambda D, T: C(D, T) // 2),
            "A multiplication and an addition count as two FLOPs.",
        ),
        (
            both(P, lambda D, T: 24 * T * D * D),
            "Scores and weighted sums are missing: T² products of vectors, twice.",
        ),
        (
            both(P, lambda D, T: 24 * T * D * D + 2 * T * T * D),
            "Scores *and* weighted sums cost 2 T² D each.",
        ),
        (both(P, lambda D, T: 24 * D * D + 4 * T * D), "That is one position; there are T."),
        (lambda D, T: _block_costs(D, T)[::-1], "The parameters come first, then the FLOPs."),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    trial.agrees(_block_costs, 2, 3, rule="by hand: 66 parameters, 360 FLOPs", **look)
    for _ in range(3):
        D, T = trial.integer(3, 40), trial.integer(4, 90)
        trial.agrees(_block_costs, D, T, rule="any width, any length", **look)


def _share_heads(k: Tensor, n_heads: int) -> Tensor:
    return k.repeat_interleave(n_heads // k.shape[1], dim=1)


@turns.task(_share_heads)
def share_heads(trial: Trial) -> None:
    hint = (
        "Each of the G heads is repeated n_heads / G times, its copies side by side: "
        f"repeat_interleave along dimension 1. {GROUPS}"
    )

    slips: list[Slip] = [
        (
            lambda k, n: k.repeat(1, n // k.shape[1], 1, 1),
            "The order: k1 k2 k1 k2. Query heads 1 and 2 share the first key head: k1 k1 k2 k2.",
        ),
        (
            lambda k, n: k.repeat_interleave(n, dim=1),
            "Too many: each head is repeated n_heads / G times, so that n_heads are left.",
        ),
        (
            lambda k, n: k.repeat_interleave(k.shape[1], dim=1),
            "How often? n_heads / G times, not G times.",
        ),
        (
            lambda k, n: k.repeat_interleave(n // k.shape[1], dim=2),
            "That repeats positions: the heads are dimension 1.",
        ),
        (
            lambda k, n: k.repeat_interleave(n // k.shape[1], dim=0),
            "That repeats texts: the heads are dimension 1.",
        ),
        (lambda k, n: k[:, :1].expand(-1, n, -1, -1), "All query heads get the first key head."),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    for G, n in ((2, 6), (3, 6), (1, 4), (4, 4)):
        k = trial.normal(2, G, 3, 2)
        trial.agrees(_share_heads, k, n, rule=f"{G} heads for {n}", **look)
