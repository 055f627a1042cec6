"""Your turn with costs: FLOPs, GPU hours, a power law, codes, blocks, a router, a scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook18")
Slip = tuple[Callable[..., Any], str]
Running = tuple[Tensor, Tensor, Tensor]

COUNT = see(18, "Recurrence against attention")
RATE = see(18, "Six operations for each parameter and token")
LAW = see(18, "A law, and a floor that is known")
CODES = see(18, "Weights in eight and in four bits")
BLOCKS = see(18, "Optional: attention by blocks")
EXPERTS = see(18, "Optional: experts")
SCAN = see(18, "Optional: a recurrence that need not wait")


def _layer_flops(kind: str, T: int, D: int) -> int:
    if kind == "attention":
        return 8 * T * D**2 + 4 * T**2 * D
    matrices = {"elman": 2, "lstm": 8}[kind]
    return 2 * matrices * T * D**2


@turns.task(_layer_flops)
def layer_flops(trial: Trial) -> None:
    hint = f"Count the products of matrices: an m x n times an n x p takes 2 m n p. {COUNT}"

    def only(linear: int, square: int) -> Callable[..., int]:
        def slip(kind: str, T: int, D: int) -> int:
            if kind != "attention":
                return _layer_flops(kind, T, D)
            return linear * T * D**2 + square * T**2 * D

        return slip

    def gates(number: float) -> Callable[..., float]:
        def slip(kind: str, T: int, D: int) -> float:
            found = _layer_flops(kind, T, D)
            return found if kind != "lstm" else found * number

        return slip

    def swapped(kind: str, T: int, D: int) -> int:
        return _layer_flops(kind, D, T)

    slips: list[Slip] = [
        (
            lambda kind, T, D: _layer_flops(kind, T, D) / (1 if kind == "lstm" else 2),
            "A multiplication and an addition count as two operations, not as one.",
        ),
        (only(8, 0), "The scores and the sums over the values are missing: T queries meet T keys."),
        (only(0, 4), "The four matrices W_Q, W_K, W_V and W_O are missing: each token is "
         "multiplied by them."),
        (only(8, 2), "Both count: the scores, and the sums over the values."),
        (only(6, 4), "There are four matrices: after W_Q, W_K and W_V also W_O."),
        (gates(0.25), "An LSTM has three gates and a candidate, with two matrices each."),
        (gates(0.5), "Gates and candidate have two matrices each, one for x and one for h."),
        (gates(0.75), "An LSTM has three gates and a candidate; a GRU has one gate fewer."),
        (swapped, "T is the number of tokens and D the width; here they have changed roles."),
    ]  # fmt: skip
    for kind, T, D in (("elman", 4, 2), ("lstm", 4, 2), ("attention", 5, 2), ("attention", 100, 8)):
        given = f"{kind}, T = {T}, D = {D}"
        rule = f"{kind} by hand" if T < 6 else "any length and width"
        trial.agrees(_layer_flops, kind, T, D, rule=rule, hint=hint, slips=slips, given=given)
    for kind in ("elman", "lstm", "attention"):
        T, D = trial.integer(2, 900), trial.integer(2, 300)
        given = f"{kind}, T = {T}, D = {D}"
        rule = "any length and width"
        trial.agrees(_layer_flops, kind, T, D, rule=rule, hint=hint, slips=slips, given=given)


def _training_flops(layers: int, width: int, vocabulary: int, tokens: int) -> int:
    weights = layers * 12 * width**2 + vocabulary * width
    return 6 * weights * tokens


@turns.task(_training_flops)
def training_flops(trial: Trial) -> None:
    hint = (
        "Weights that are multiplied: 12 width^2 in each block, and the output matrix. Each takes "
        f"two operations forward and four backward, for each token. {RATE}"
    )

    def weights_as(
        count: Callable[[int, int, int], float], factor: float = 6
    ) -> Callable[..., Any]:
        def slip(layers: int, width: int, vocabulary: int, tokens: int) -> float:
            return factor * count(layers, width, vocabulary) * tokens

        return slip

    def right(layers: int, width: int, vocabulary: int) -> int:
        return layers * 12 * width**2 + vocabulary * width

    slips: list[Slip] = [
        (weights_as(right, 2), "Two operations are those of the forward pass; the backward pass "
         "takes four more."),
        (weights_as(right, 4), "Four operations are those of the backward pass; the forward pass "
         "adds two."),
        (weights_as(right, 3), "A multiplication and an addition count as two operations."),
        (weights_as(right, 1), "These are the weights: each takes part in six operations for a "
         "token."),
        (weights_as(lambda n, w, v: n * 12 * w**2), "The output matrix is missing: vocabulary "
         "times width."),
        (weights_as(lambda n, w, v: n * 12 * w**2 + 2 * v * w), "The input embedding does not "
         "count: a row of it is looked up, and nothing is multiplied."),
        (weights_as(lambda n, w, v: n * 4 * w**2 + v * w), "The feed-forward part is missing: "
         "8 width^2 in each block."),
        (weights_as(lambda n, w, v: n * 8 * w**2 + v * w), "Attention's four matrices are "
         "missing, or the feed-forward part has only one of its two."),
        (weights_as(lambda n, w, v: 12 * w**2 + v * w), "There are as many blocks as layers: this "
         "counts one."),
        (weights_as(lambda n, w, v: n * (12 * w**2 + v * w)), "There is one output matrix, behind "
         "the last block, and not one in each."),
        (weights_as(lambda n, w, v: n * 12 * w + v * w), "A matrix of width times width has "
         "width^2 weights."),
        (lambda n, w, v, tokens: 6 * right(n, w, v), "That is for one token: multiply by the "
         "number of tokens."),
    ]  # fmt: skip
    for n, w, v, tokens in ((1, 2, 3, 1), (4, 128, 256, 256)):
        given = f"layers = {n}, width = {w}, vocabulary = {v}, tokens = {tokens}"
        rule = "by hand" if tokens == 1 else "the small GPT"
        trial.agrees(
            _training_flops, n, w, v, tokens, rule=rule, hint=hint, slips=slips, given=given
        )
    drawn = (trial.integer(2, 9), 8 * trial.integer(2, 9), trial.integer(50, 900), 1000)
    trial.agrees(_training_flops, *drawn, rule="any GPT", hint=hint, slips=slips)


def _needed_rate(N: float, D: float, gpu_hours: float) -> float:
    return 6 * N * D / (gpu_hours * 3600)


@turns.task(_needed_rate)
def needed_rate(trial: Trial) -> None:
    hint = f"Operations of the whole run, divided by the seconds of all GPUs together. {RATE}"
    slips: list[Slip] = [
        (
            lambda N, D, hours: 6 * N * D / hours,
            "That is for an hour: an hour has 3,600 seconds.",
        ),
        (lambda N, D, hours: 6 * N * D / (hours * 60), "An hour has 3,600 seconds, not 60."),
        (
            lambda N, D, hours: 2 * N * D / (hours * 3600),
            "Two operations are those of the forward pass; training needs the backward pass, too.",
        ),
        (
            lambda N, D, hours: 4 * N * D / (hours * 3600),
            "Four operations are those of the backward pass; the forward pass adds two.",
        ),
        (
            lambda N, D, hours: 3 * N * D / (hours * 3600),
            "Count a multiplication and an addition as two operations.",
        ),
        (
            lambda N, D, hours: 6 * N * D * hours * 3600,
            "The more GPU hours there are, the *less* each GPU has to do in a second.",
        ),
        (lambda N, D, hours: 6 * N * D, "That is the whole run: divide by the seconds it took."),
        (
            lambda N, D, hours: 6 * N * D / (hours * 3600) / 1e12,
            "FLOPs a second are asked for, not tera-FLOPs.",
        ),
        (
            lambda N, D, hours: 6 * N / (hours * 3600),
            "Every token passes all parameters: multiply by the number of tokens.",
        ),
    ]
    for N, D, hours in ((1e6, 7200.0, 2.0), (304e6, 6.3e12, 75_000.0)):
        given = f"N = {N:g}, D = {D:g}, {hours:g} GPU hours"
        rule = "by hand" if hours == 2 else "XLM-R with a tenth of the slide's tokens"
        trial.agrees(_needed_rate, N, D, hours, rule=rule, hint=hint, slips=slips, given=given)
    drawn = 1e6 * trial.integer(1, 999), 1e9 * trial.integer(1, 999), 1.0 * trial.integer(2, 9999)
    trial.agrees(_needed_rate, *drawn, rule="any run", hint=hint, slips=slips)


def _power_law(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return np.exp(intercept), -slope


@turns.task(_power_law)
def power_law(trial: Trial) -> None:
    hint = (
        "log y = log A - alpha log x: fit a line to the logarithms; its slope is -alpha, and its "
        f"value at log x = 0 is log A. {LAW}"
    )

    def fitted(u: Callable, v: Callable, made: Callable) -> Callable[..., Any]:
        def slip(x: np.ndarray, y: np.ndarray) -> Any:
            slope, intercept = np.polyfit(u(x), v(y), 1)
            return made(slope, intercept)

        return slip

    def same(x: np.ndarray) -> np.ndarray:
        return x

    def ends(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        alpha = -np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])
        return y[0] * x[0] ** alpha, alpha

    slips: list[Slip] = [
        (
            fitted(np.log, np.log, lambda s, i: (np.exp(i), s)),
            "The exponent has a minus in front of it: a falling line has a positive alpha.",
        ),
        (
            fitted(np.log, np.log, lambda s, i: (i, -s)),
            "The line gives the logarithm of A: take the exponential.",
        ),
        (
            fitted(np.log, np.log, lambda s, i: (-s, np.exp(i))),
            "A comes first, and then alpha.",
        ),
        (
            fitted(np.log, np.log, lambda s, i: (10**i, -s)),
            "np.log is the natural logarithm; its inverse is np.exp, not a power of ten.",
        ),
        (
            fitted(same, same, lambda s, i: (i, -s)),
            "The line goes through the logarithms, not through x and y themselves.",
        ),
        (
            fitted(same, np.log, lambda s, i: (np.exp(i), -s)),
            "Both axes are logarithmic: that of x, too.",
        ),
        (
            fitted(np.log, same, lambda s, i: (i, -s)),
            "Both axes are logarithmic: that of y, too.",
        ),
        (ends, "All points count, not only the first and the last: fit a line through them."),
    ]
    x = np.array([1.0, 10.0, 100.0])
    for y, rule in ((8 * x**-0.5, "points that lie on a law"), (x**-0.0 * 3, "a flat law")):
        given = f"x = {x.tolist()}, y = {[round(float(v), 3) for v in y]}"
        trial.agrees(_power_law, x, y, rule=rule, hint=hint, slips=slips, given=given)
    x = np.array([float(trial.integer(2, 9)) * 4.0**k for k in range(6)])
    y = 20 * x**-0.3 * np.exp(0.2 * trial.normal(6).numpy())
    trial.agrees(_power_law, x, y, rule="points beside a law", hint=hint, slips=slips)


def _quantize_rows(W: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    highest = 2 ** (bits - 1) - 1
    scales = W.abs().amax(dim=1, keepdim=True) / highest
    return (W / scales).round().to(torch.int8), scales


@turns.task(_quantize_rows)
def quantize_rows(trial: Trial) -> None:
    hint = (
        "The scale of a row is its largest absolute value divided by the largest code, and a code "
        f"is the weight divided by the scale, rounded. {CODES}"
    )

    def made(
        size: Callable[[Tensor], Tensor] = lambda W: W.abs().amax(dim=1, keepdim=True),
        highest: Callable[[int], float] = lambda bits: 2 ** (bits - 1) - 1,
        whole: Callable[[Tensor], Tensor] = torch.round,
    ) -> Callable[..., Any]:
        def slip(W: Tensor, bits: int) -> tuple[Tensor, Tensor]:
            scales = size(W) / highest(bits)
            return whole(W / scales).clamp(-127, 127).to(torch.int8), scales

        return slip

    def changed(change: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
        return lambda W, bits: change(*_quantize_rows(W, bits))

    one = made(size=lambda W: W.abs().max().expand(len(W), 1))
    slips: list[Slip] = [
        (one, "Every row has a scale of its own: this is one scale for the whole matrix."),
        (
            made(size=lambda W: W.amax(dim=1, keepdim=True)),
            "The largest *absolute* value counts: a negative weight may be the largest.",
        ),
        (
            made(highest=lambda bits: 2 ** (bits - 1)),
            "The largest code is 2^(bits - 1) - 1, which is 7 for four bits: 8 has no code.",
        ),
        (
            made(highest=lambda bits: 2**bits - 1),
            "One of the bits is the sign: the largest code is 2^(bits - 1) - 1.",
        ),
        (made(whole=torch.trunc), "Round to the nearest whole number; this cuts off the rest."),
        (made(whole=torch.floor), "Round to the nearest whole number; this always goes down."),
        (changed(lambda codes, scales: (codes.float(), scales)), "Codes are torch.int8."),
        (changed(lambda codes, scales: (codes.long(), scales)), "Codes are torch.int8."),
        (changed(lambda codes, scales: (codes, scales[:, 0])), "Scales have the shape (O, 1)."),
        (changed(lambda codes, scales: (scales, codes)), "The codes come first."),
        (changed(lambda codes, scales: (codes, 1 / scales)), "The scale is the step between two "
         "levels: a weight is about scale times code, so that it is divided by the scale."),
        (changed(lambda codes, scales: (codes * scales, scales)), "These are the weights again; "
         "the codes are asked for, as whole numbers."),
    ]  # fmt: skip
    W = torch.tensor([[0.70, -0.32, 0.13, 0.04], [-0.35, 0.06, 0.0, 0.21]], dtype=torch.float64)
    given = "W = [[0.70, -0.32, 0.13, 0.04], [-0.35, 0.06, 0, 0.21]], 4 bits"
    cases = [(W, 4, "by hand", given)]
    for bits in (8, 3):
        drawn = trial.normal(3, 5)
        drawn[0] = -drawn[0].abs()
        cases.append((drawn, bits, f"a random matrix in {bits} bits", f"random, {bits} bits"))
    for W, bits, rule, given in cases:
        got = trial.call(W, bits, given=given, hint=hint)
        two = isinstance(got, tuple | list) and len(got) == 2
        trial.holds(two, "two tensors", "Hand back codes and scales.", given=given, got=got)
        codes = got[0]
        if isinstance(codes, Tensor) and codes.dtype != torch.int8:
            known = [text for slip, text in slips if _alike(got, slip(W, bits))]
            words = known[0] if known else "Codes are torch.int8."
            trial.holds(False, "codes in torch.int8", words, given=given, got=codes)
        wanted = _quantize_rows(W, bits)
        wrong = ((slip(W, bits), text) for slip, text in slips)
        trial.equals(tuple(got), wanted, rule, hint, slips=wrong, given=given)


def _alike(got: Any, other: Any) -> bool:
    pairs = list(zip(got, other, strict=True))
    if not all(isinstance(a, Tensor) and a.shape == b.shape for a, b in pairs):
        return False
    return all(a.dtype == b.dtype and torch.allclose(a, b) for a, b in pairs)


def _add_block(m: Tensor, total: Tensor, o: Tensor, scores: Tensor, V: Tensor) -> Running:
    new = torch.maximum(m, scores.max())
    keep, weights = torch.exp(m - new), torch.exp(scores - new)
    return new, keep * total + weights.sum(), keep * o + weights @ V


@turns.task(_add_block)
def add_block(trial: Trial) -> None:
    hint = (
        "First the new largest score, then what was there times exp(m - m'), plus the block's own "
        f"sums with exp(s - m'). {BLOCKS}"
    )

    def made(
        keep_l: Callable = lambda keep: keep,
        keep_o: Callable = lambda keep: keep,
        part: Callable = lambda m, new, scores: torch.exp(scores - new),
        largest: Callable = lambda m, scores: torch.maximum(m, scores.max()),
    ) -> Callable[..., Running]:
        def slip(m: Tensor, total: Tensor, o: Tensor, scores: Tensor, V: Tensor) -> Running:
            new = largest(m, scores)
            keep, weights = torch.exp(m - new), part(m, new, scores)
            return new, keep_l(keep) * total + weights.sum(), keep_o(keep) * o + weights @ V

        return slip

    def one(keep: Tensor) -> Tensor:
        return torch.ones_like(keep)

    def divided(*given: Tensor) -> Running:
        m, total, o = _add_block(*given)
        return m, total, o / total

    slips: list[Slip] = [
        (made(keep_l=one, keep_o=one), "What was summed before belongs to the old largest score: "
         "multiply it by exp(m - m')."),
        (made(keep_o=one), "o has to be put right as well as l: multiply it by exp(m - m')."),
        (made(keep_l=one), "l has to be put right as well as o: multiply it by exp(m - m')."),
        (made(keep_l=lambda k: 1 / k, keep_o=lambda k: 1 / k), "The factor is exp(m - m'): what "
         "was there becomes smaller, never larger."),
        (made(part=lambda m, new, scores: torch.exp(scores)), "Subtract the largest score before "
         "the exponential: exp(s - m')."),
        (made(part=lambda m, new, scores: torch.exp(scores - m)), "Subtract the *new* largest "
         "score, m', in the block's own weights."),
        (made(part=lambda m, new, scores: torch.exp(scores - scores.max())), "The largest score "
         "of all blocks so far counts, not that of this block."),
        (made(largest=lambda m, scores: scores.max()), "If this block has no larger score, the "
         "old one stays: the maximum of both."),
        (made(part=lambda m, new, scores: scores.softmax(0)), "Nothing is divided yet: the sums "
         "go on, and o / l is taken at the end."),
        (divided, "Nothing is divided yet: o / l is taken after the last block."),
    ]  # fmt: skip
    log = torch.tensor([2.0, 4.0], dtype=torch.float64).log()
    start = log[0], torch.tensor(1.5).double(), torch.tensor([2.5]).double()
    block = log[1:], torch.tensor([[4.0]]).double()
    given = "m = ln 2, l = 1.5, o = [2.5], scores [ln 4], V [[4]]"
    trial.agrees(_add_block, *start, *block, rule="by hand", hint=hint, slips=slips, given=given)
    for high, words in ((3.0, "a block with smaller scores"), (-3.0, "with a larger score")):
        m, total = torch.tensor(high).double(), torch.tensor(2.0).double()
        drawn = m, total, trial.normal(3), trial.normal(4), trial.normal(4, 3)
        trial.agrees(_add_block, *drawn, rule=words, hint=hint, slips=slips, given=words)
    nothing = torch.tensor(-torch.inf).double(), torch.tensor(0.0).double(), torch.zeros(3).double()
    drawn = *nothing, trial.normal(4), trial.normal(4, 3)
    rule = "the first block, with m = -inf"
    trial.agrees(_add_block, *drawn, rule=rule, hint=hint, slips=slips, given=rule)


def _route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    best, chosen = logits.topk(k, dim=-1)
    return best.softmax(dim=-1), chosen


@turns.task(_route)
def route(trial: Trial) -> None:
    hint = f"Take the k largest logits of each token, and a softmax over these. {EXPERTS}"

    def all_of_them(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return logits.softmax(-1).topk(k, -1)

    def over_tokens(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        best, chosen = logits.topk(k, -1)
        return best.softmax(0), chosen

    def turned(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        weights, chosen = _route(logits, k)
        return weights.flip(-1), chosen.flip(-1)

    def equal(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        weights, chosen = _route(logits, k)
        return torch.full_like(weights, 1 / k), chosen

    def raw(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
        best, chosen = logits.topk(k, -1)
        return best, chosen

    slips: list[Slip] = [
        (all_of_them, "These weights do not sum to 1: the softmax is over the chosen k alone, or "
         "divide by their sum."),
        (over_tokens, "Each token has weights of its own that sum to 1: the softmax goes along the "
         "last dimension."),
        (turned, "The best expert comes first."),
        (equal, "The weights are the router's: a better logit gives a larger weight."),
        (raw, "These are the logits themselves: take a softmax of them."),
        (lambda logits, k: _route(-logits, k), "The *largest* logits are chosen."),
        (lambda logits, k: _route(logits, k)[::-1], "The weights come first, then the experts."),
    ]  # fmt: skip
    by_hand = torch.tensor([[6.0, 1.0, 2.0, 1.0]], dtype=torch.float64).log()
    given = "logits [[ln 6, 0, ln 2, 0]], k = 2"
    trial.agrees(_route, by_hand, 2, rule="by hand", hint=hint, slips=slips, given=given)
    for k in (1, 3, 5):
        logits = trial.normal(4, 5)
        given = f"random logits (4, 5), k = {k}"
        trial.agrees(_route, logits, k, rule=f"k = {k}", hint=hint, slips=slips, given=given)


def _scan(a: Tensor, b: Tensor) -> Tensor:
    step = 1
    while step < len(a):
        b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
        a = torch.cat([a[:step], a[step:] * a[:-step]])
        step *= 2
    return b


@turns.task(_scan)
def scan(trial: Trial) -> None:
    hint = (
        "In each round b becomes a times the b `step` before it plus b itself, a becomes the "
        f"product of both, and step doubles. {SCAN}"
    )

    def once(a: Tensor, b: Tensor) -> Tensor:
        return torch.cat([b[:1], a[1:] * b[:-1] + b[1:]])

    def a_stays(a: Tensor, b: Tensor) -> Tensor:
        step = 1
        while step < len(a):
            b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
            step *= 2
        return b

    def a_first(a: Tensor, b: Tensor) -> Tensor:
        step = 1
        while step < len(a):
            a = torch.cat([a[:step], a[step:] * a[:-step]])
            b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
            step *= 2
        return b

    def other_a(a: Tensor, b: Tensor) -> Tensor:
        step = 1
        while step < len(a):
            b = torch.cat([b[:step], a[:-step] * b[:-step] + b[step:]])
            a = torch.cat([a[:step], a[step:] * a[:-step]])
            step *= 2
        return b

    def one_by_one(a: Tensor, b: Tensor) -> Tensor:
        for step in range(1, len(a)):
            b = torch.cat([b[:step], a[step:] * b[:-step] + b[step:]])
            a = torch.cat([a[:step], a[step:] * a[:-step]])
        return b

    slips: list[Slip] = [
        (once, "One round combines neighbours only: go on with steps of 2, 4, ... until all "
         "positions reach back to the first."),
        (a_stays, "a changes, too: two steps together have the product of their a's."),
        (a_first, "b must be made with the *old* a: compute b first, or keep the old a."),
        (other_a, "The *later* a is multiplied with the earlier b: a[step:], not a[:-step]."),
        (one_by_one, "The step doubles in each round: after round r a position already holds "
         "2^r steps."),
        (lambda a, b: b.cumsum(0), "This adds the b's only: each state is multiplied by the next "
         "a before."),
        (lambda a, b: a * b, "The states before are missing: h_t needs h_{t-1}."),
    ]  # fmt: skip
    a, b = torch.tensor([2.0, 3.0]).double(), torch.tensor([1.0, 5.0]).double()
    given = "a = [2, 3], b = [1, 5]"
    trial.agrees(_scan, a, b, rule="by hand", hint=hint, slips=slips, given=given)
    for T in (1, 3, 8, 13):
        a, b = trial.normal(T), trial.normal(T)
        given = f"random a and b of length {T}"
        trial.agrees(_scan, a, b, rule=f"length {T}", hint=hint, slips=slips, given=given)
